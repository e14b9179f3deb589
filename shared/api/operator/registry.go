package operator

// A new command has its line here, and all else in a file of its own.
func init() {
	all = []Command{
		&Import{}, &Export{}, &Stop{}, &Resume{}, &AddStock{}, &ReadHealth{}, &ReadLevel{}, &ReadItem{}, &ListItems{},
		&ListActivities{}, &ReadActivity{}, &SaveActivity{}, &DeleteActivity{}, &CopyActivity{}, &Offline{}, &Online{},
		&ListMoney{}, &ReadCase{}, &Refund{}, &Withdraw{}, &Again{}, &Ask{}, &RecordTrade{}, &Accept{},
		&Reconcile{}, &ListReconciled{},
		&Erase{}, &SignOut{},
		&Tell{}, &Replay{}, &ReadDelivery{},
		&ReadCounts{}, &Recount{},
		&Redeliver{},
		&PutBlocks{}, &DropBlock{}, &ListBlocks{},
		&ListActs{}, &ReadAct{}, &HandleAct{},
		&ListAudit{},
		&ListOrders{}, &ReadOrder{}, &Confirm{}, &Ship{}, &CorrectParcel{}, &Note{}, &Hide{},
		&ListSessions{}, &EndSessions{},
		&ReadLive{}, &Redrive{},
		&KeepPicture{},
	}
}
