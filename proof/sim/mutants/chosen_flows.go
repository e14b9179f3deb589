package main

const (
	buyGo          = "shared/flow/sale/buy/buy.go"
	consumeGo      = "shared/flow/sale/consume/consume.go"
	paymentGo      = "shared/flow/internal/payment/payment.go"
	expireGo       = "shared/flow/sale/expire/expire.go"
	repairGo       = "shared/flow/sale/repair/repair.go"
	givebackGo     = "shared/flow/internal/upkeep/giveback.go"
	driftGo        = "shared/flow/sale/repair/drift.go"
	itemGo         = "shared/seckill/item.go"
	stageGo        = "shared/flow/sale/stage/stage.go"
	refundGo       = "shared/flow/money/refund/refund.go"
	operatorGo     = "shared/flow/money/refund/operator.go"
	shopListGo     = "shared/flow/front/shop/list.go"
	stagePublishGo = "shared/flow/sale/stage/publish.go"
	reconcileGo    = "shared/flow/money/reconcile/reconcile.go"
	notifyGo       = "shared/flow/money/notify/notify.go"
	eraseGo        = "shared/flow/office/erase/erase.go"
	retentionGo    = "shared/flow/office/erase/retention.go"
	cacheGo        = "shared/flow/internal/itemcache/itemcache.go"
)

// chosenFlows change the decisions of the flows.
var chosenFlows = []choice{
	{"order-of-another-item", "a queued order is looked for by another part of its id than names the item",
		"shared/seckill/reservation.go",
		`return id[idOld:]`, `return id[:idTag]`},
	{"list-fresh-forever", "an instance of shop shows the list that it read first", shopListGo,
		`case !l.tried.IsZero() && itemcache.Fresh(l.tried, now):`,
		`case !l.tried.IsZero() && (itemcache.Fresh(l.tried, now) || l.known != nil):`},
	{"list-shown-forever", "while no list can be read the last one is shown, however old",
		shopListGo,
		`age < 0 || age >= maxAge {`, `age < 0 {`},
	{"list-published-once", "a list that was published is never replaced", stagePublishGo,
		`if l.Version > 0 && !lost && slices.EqualFunc(l.Items, items, sameVersion) &&`,
		`if l.Version > 0 && !lost && (slices.EqualFunc(l.Items, items, sameVersion) || l.Items != nil) &&`},
	{"list-compared-by-id", "a list is published anew only when items come or go", stagePublishGo,
		`return a.ID == b.ID && a.Version == b.Version`, `return a.ID == b.ID`},
	{"key-ignored", "the order id of a keyed request is random: a repeat makes a second order", buyGo,
		`if p.Key != "" {`, `if p.Key == "never" {`},
	{"ack-without-message", "buy answers yes though the message was not sent, or nobody knows", buyGo,
		`if err := f.Orders.Send(ctx, m, 0); err != nil {`, `if _ = f.Orders.Send(ctx, m, 0); err != nil {`},
	{"unknown-send-undone", "buy treats an unknown send as failed and frees the reservation", buyGo,
		`			return "", unconfirmed(res.Order, err)`,
		`			_ = f.Stock.(seckill.ReservationKeeper).Confirm(ctx, seckill.Verdict{Item: p.Item, Order: res.Order, User: p.User})
			return "", unconfirmed(res.Order, err)`},
	{"refusal-fresh-forever", "buy keeps in memory for ever what the stock said about an item", buyGo,
		`!ok || !itemcache.Fresh(r.at, now) ||`, `!ok ||`},
	{"refusal-untold", "the stock does not hear that the ledger refused the user", consumeGo,
		`		v.Refused = o.Placed`, `		_ = o.Placed`},
	{"refusal-unread", "reserve does not look whom the ledger refused", "shared/driver/redisstock/reserve.lua",
		`if it[9] and`, `if it[9] == '' and`},
	{"ack-before-place", "consume deletes the message before it has placed the order", consumeGo,
		`		err = f.order(ctx, d, m.Reservation)`,
		`		_ = f.Orders.Delete(ctx, d)
		err = f.order(ctx, d, m.Reservation)`},
	{"sold-at-the-list-price", "an order keeps the sale's price as its item's ordinary one", consumeGo,
		"ListPrice: it.Commodity.Price,",
		"ListPrice: it.Price,"},
	{"existing-row-is-duplicate", "consume takes an existing order row for a mere duplicate and confirms nothing",
		consumeGo,
		`	return f.confirmOf(ctx, &o)
}

func (f *Flow) confirmOf`,
		`	return nil
}

func (f *Flow) confirmOf`},
	{"existing-row-confirmed-empty", "consume frees all units of an order that was placed before", consumeGo,
		`	return f.confirmOf(ctx, &o)
}

func (f *Flow) confirmOf`,
		`	o.Units = nil
	return f.confirmOf(ctx, &o)
}

func (f *Flow) confirmOf`},
	{"free-before-rejected", "a rejected reservation's units are freed before the row says rejected", consumeGo,
		`	err := f.Ledger.Reject(`,
		`	if err := f.confirmOf(ctx, &o); err != nil {
		return err
	}
	err := f.Ledger.Reject(`},
	{"wait-is-none", "consume believes \"no number left\" at once, before a drift pass has looked", consumeGo,
		`		return m, true, errLater
`, `		return m, true, f.reject(ctx, m, seckill.CodeSoldOut)
`},
	{"place-on-old-item", "consume places on an item read at any time", consumeGo,
		`if !f.items.Fresh(checked) {`, `if !f.items.Fresh(checked) && f.Hold < 0 {`},
	{"stopped-placed", "consume places orders of a stopped item", consumeGo,
		`if it.Stopped {`, `if it.Stopped && it.ID == "" {`},
	{"late-money-kept", "money for an order that is not open is kept, not refunded", paymentGo,
		`		to, state := o.State.OnMoney()`,
		`		to, state := o.State.OnMoney()
		state = seckill.Captured`},
	{"second-trade-forgotten", "a second trade's money is not recorded when the order is paid", paymentGo,
		`		to, state := o.State.OnMoney()`,
		`		to, state := o.State.OnMoney()
		if o.State == seckill.Paid {
			return nil
		}`},
	{"amount-ignored", "money of any amount pays an order", paymentGo,
		`if err == nil && amount != o.Amount {`, `if amount < 0 {`},
	{"moved-order-swallows-money", "money that meets an order on the move is taken for recorded", paymentGo,
		`		case !errors.Is(err, seckill.ErrStateChanged):
			return err
		}`,
		`		case !errors.Is(err, seckill.ErrStateChanged):
			return err
		default:
			return nil
		}`},
	{"release-before-close", "expire gives units back without asking the provider", expireGo,
		`	return f.finish(ctx, o)`, `	return f.giveBack(ctx, o)`},
	{"unknown-close-is-closed", "expire treats an unknown close as done", expireGo,
		`			answer, err := f.Payments.Close(ctx, o.ID)
			if err != nil {
				return f.unknown(err)
			}`,
		`			answer, err := f.Payments.Close(ctx, o.ID)
			if err != nil {
				return f.giveBack(ctx, o)
			}`},
	{"unknown-query-is-unpaid", "expire treats an unknown query as not paid", expireGo,
		`		t, err := f.Payments.Query(ctx, o.ID)
		if err != nil {
			return f.unknown(err)
		}
		if t.State == seckill.TradePaid {
			return f.recorder.Record(ctx, o.ID, t.TradeNo, t.Amount, "query")
		}
		if t.State`,
		`		t, err := f.Payments.Query(ctx, o.ID)
		if err != nil {
			return f.giveBack(ctx, o)
		}
		if t.State == seckill.TradePaid {
			return f.recorder.Record(ctx, o.ID, t.TradeNo, t.Amount, "query")
		}
		if t.State`},
	{"no-query-after-close", "expire does not ask again after close: another trade may have been paid", expireGo,
		`				if t.State == seckill.TradePaid {
					return f.recorder.Record(ctx, o.ID, t.TradeNo, t.Amount, "query")
				}
			case answer`,
		`				_ = t
			case answer`},
	{"sweep-finds-nothing", "no sweep looks at due orders: a lost message closes nothing", expireGo,
		`return f.Ledger.DueOrders(ctx, shard, now, after, pageRows)`,
		`return f.Ledger.DueOrders(ctx, shard, now.AddDate(-1, 0, 0), after, pageRows)`},
	{"early-closing-forgotten", "a closing message that comes early is not sent again, nor does a sweep look", expireGo,
		`	if o.State == seckill.PendingPayment {
		now := f.Clock.Now()
		if now.Before(o.Due()) {`,
		`	if o.State == seckill.PendingPayment {
		now := f.Clock.Now()
		if again && now.Before(o.Due()) {
			return nil
		}
		if !again {
			return nil
		}
		if now.Before(o.Due()) {`},
	{"outbox-forgotten", "repair never sends a stranded reservation's message again", repairGo,
		`			if err := f.Orders.Send(ctx, seckill.Message{Kind: seckill.MessageOrder, Reservation: r}, 0); err != nil {`,
		`			if err := ctx.Err(); r.Count < 0 {`},
	{"rebuild-misses-a-bucket", "the rebuild leaves out the units of one bucket", repairGo,
		`	for b := range it.Buckets {`, `	for b := range it.Buckets - 1 {`},
	{"rebuild-without-gaps", "the rebuild leaves the numbers between sold ones in no list, and does not count them",
		repairGo,
		`f.Stock.BuildGaps(ctx, f.Clock.Now(), it.ID, token, 1, highWater)`,
		`f.Stock.BuildGaps(ctx, f.Clock.Now(), it.ID, token, 2, highWater)`},
	{"ledger-before-stock", "the drift pass reads the ledger first, the stock after it", driftGo,
		`	seen, err := f.Stock.Scan(ctx, it.ID, bucket, it.Buckets)
	if err != nil {
		return err
	}
	rows, err := f.Ledger.Units(ctx, it.ID, bucket)
	if err != nil {
		return err
	}`,
		`	rows, err := f.Ledger.Units(ctx, it.ID, bucket)
	if err != nil {
		return err
	}
	seen, err := f.Stock.Scan(ctx, it.ID, bucket, it.Buckets)
	if err != nil {
		return err
	}`},
	{"drift-ends-unfinished", "a drift pass counts as done though a bucket could not be read", driftGo,
		`		if err := f.driftBucket(ctx, it, b); err != nil {
			return err
		}`, `		_ = f.driftBucket(ctx, it, b)`},
	{"no-drift", "no drift pass corrects a number", driftGo,
		`	changed, err := f.Stock.Correct(ctx, item, c)`, `	changed, err := false, error(nil)`},
	{"no-user-drift", "no drift pass corrects a user's entries", driftGo,
		`		if u.Busy || maps.Equal(u.Orders, want) {`, `		if !u.Busy || maps.Equal(u.Orders, want) {`},
	{"removed-within-a-day", "an ended item leaves the stock within a day of its time, or never", stageGo,
		`err := f.Stock.Remove(ctx, it.ID)`, `err := error(nil)
		if now.Before(it.End.Add(seckill.KeepLoaded + 24*time.Hour)) {
			err = f.Stock.Remove(ctx, it.ID)
		}`},
	{"removed-once", "an ended item that a restored stock has again stays there", stageGo,
		`it.Retired(now.Add(-removeFor))`, `it.Retired(now.Add(-removeFor / removeFor))`},
	{"stop-without-stock", "a stop is acknowledged when only the items table has it", stageGo,
		`	err := f.Stock.Assert(ctx, it)
	if errors.Is(err, seckill.ErrNotInstalled) {
		if !it`,
		`	err := error(nil)
	if errors.Is(err, seckill.ErrNotInstalled) {
		if !it`},
	{"stop-not-installed-acked", "a stop is acknowledged though the stock does not have the item", stageGo,
		`		if !it.Loadable(f.Clock.Now()) {
			return nil // long before its sale: stage will load this version
		}`, `		if it.ID != "" {
			return nil
		}`},
	{"stop-without-its-time", "a stop is written, and not since when", stageGo,
		`return it.SetStopped(stopped, f.Clock.Now()) })`, `changed := it.Stopped != stopped
		it.Stopped = stopped
		return changed
	})`},
	{"resumption-not-kept", "an item that is on sale again keeps its last stop as one that lasts", itemGo,
		`it.Stops[n-1].To = now`, `it.Stops[n-1].To = time.Time{}`},
	{"version-not-raised", "the operator's change keeps the old version", stageGo,
		`			it.Version++
`, ``},
	{"erase-of-what-is-to-be-shipped", "an operator's erase takes the address of a paid order, too", eraseGo,
		`return slices.Contains(toShip, o.State)`,
		`return slices.Contains(toShip, o.State) && o.State != seckill.Paid`},
	{"signed-out-buys", "an order of an ended session is placed", ledgerGo,
		`loginKey(o.User, o.Session), Op: OpCheck, If: []Cond{Eq("v", Version)}})`,
		`loginKey(o.User, o.Session), Op: OpCheck, If: []Cond{AtMost("x", 0)}})`},
	{"name-outlives-the-address", "who has an address erased leaves the name", ledgerGo,
		`Remove: Personal(),`, `Remove: slices.DeleteFunc(Personal(), func(a string) bool { return a == "shopper_name" }),`},
	{"network-outlives-the-address", "who has an address erased leaves the network address",
		ledgerGo, `Remove: Personal(),`,
		`Remove: slices.DeleteFunc(Personal(), func(a string) bool { return a == "network_address" }),`},
	{"network-kept-unasked", "a shop that keeps no network addresses keeps them", buyGo,
		`	if !f.KeepNetworks {`, `	if !f.KeepNetworks && !p.Network.IsValid() {`},
	{"network-kept-on-the-way", "consume keeps the address of a message though the shop keeps none", consumeGo,
		`	if !f.KeepNetworks {`, `	if !f.KeepNetworks && !m.Network.IsValid() {`},
	{"network-kept-too-long", "network addresses stay as long as delivery addresses", retentionGo,
		`f.ended(ctx, seckill.KeptNetworks, f.KeepNetworks)`, `f.ended(ctx, seckill.KeptNetworks, f.Keep)`},
	{"network-spares-the-open", "network addresses of orders that are not paid stay", retentionGo,
		`keeps = never`, `keeps = open`},
	{"erase-while-queued", "an operator's erase does not look for orders that wait in the stock", eraseGo,
		`		if r.Order != "" {`, `		if r.Order == "never" {`},
	{"retention-too-short", "addresses go a day before their time is over", retentionGo,
		`now.Add(-keep))`, `now.Add(24*time.Hour-keep))`},
	{"retention-spares-the-paid", "addresses of orders that were paid stay for ever", retentionGo,
		`r.left, open`, `r.left, needs`},
	{"retention-marks-unread", "an item says that its addresses are erased when its first orders are", retentionGo,
		`if page.Next != "" || left > 0 {`, `if left > 0 {`},
	{"notification-not-kept", "a notification is answered with success, and not kept as it came", notifyGo,
		`	err = f.Ledger.KeepNotification(ctx,`,
		`	err = func(context.Context, seckill.KeptNotification) error { return nil }(ctx,`},
	{"unpaid-notification-is-money", "a notification is taken for money though it says that its trade is closed",
		notifyGo,
		`if n.Paid || n.Back > 0 {`, `if n.Paid || n.ID != "" {`},
	{"refund-unconfirmed", "a refund that was asked for counts as made", refundGo,
		`	case a.State == seckill.RefundMade:`,
		`	case a.State == seckill.RefundMade || a.State == seckill.RefundPending:`},
	{"refund-refused-is-made", "a refund that was refused counts as made", refundGo,
		`	return f.later(ctx, p, a.Code)`, `	if a.State == seckill.RefundRefused {
		return f.made(ctx, p)
	}
	return f.later(ctx, p, a.Code)`},
	{"refund-refused-is-dropped", "a refund that was refused is tried again by nobody and told to nobody", refundGo,
		`	return f.later(ctx, p, a.Code)`, `	if a.State == seckill.RefundRefused {
		return f.Ledger.DeferRefund(ctx, p, f.Clock.Now().Add(1e6*time.Hour), "")
	}
	return f.later(ctx, p, a.Code)`},
	{"refund-by-another-id", "each try of a refund is another refund", refundGo,
		`	r := p.Refund()`, `	r := p.Refund()
	r.ID += f.Clock.Now().Format("150405")`},
	{"refund-status-unasked", "nobody asks what became of a refund that the provider does not say it made", refundGo,
		`	if err == nil && a.State != seckill.RefundMade {`, `	if err == nil && a.State == "never" {`},
	{"refund-wanted-again-by-nobody", "an operator who wants a refused refund again is told that none is owed",
		refundGo,
		`		if p.State != seckill.RefundDue {`, `		if p.State == seckill.RefundDue {`},
	{"recorded-from-any-trade",
		"an operator has a trade recorded as money though the provider does not say that it is paid", operatorGo,
		`	if t.State != seckill.TradePaid {`, `	if t.State == seckill.TradeUnknown {`},
	{"trade-not-recorded", "a trade that an operator has recorded is only looked at", operatorGo,
		`	err = recorder.Record(ctx, id, t.TradeNo, t.Amount, "query by "+who+": "+why)`, `	_ = recorder`},
	{"trade-unrecorded-but-confirmed",
		"an operator hears that a trade is recorded when the ledger did not take it, or nobody knows", operatorGo,
		`	if err != nil {
		return false, seckill.AsError(err)
	}
	return !slices`, `	return !slices`},
	{"bill-payment-amount-uncompared", "a payment on the bill is not compared with the ledger's amount", reconcileGo,
		`	case !l.Refund && l.Amount != p.Amount:`, `	case !l.Refund && l.Amount < 0:`},
	{"bill-refund-amount-uncompared", "a refund on the bill is not compared with the ledger's amount", reconcileGo,
		`	case l.Amount != p.Rest():`, `	case l.Amount < 0:`},
	{"bill-refund-anybodys", "a refund that the shop did not make is taken for its own", reconcileGo,
		`	case l.Refund && !own(l):`,
		`	case l.Refund && l.RefundID == "never":`},
	{"bill-line-twice-unseen", "a line that is twice on a bill counts once", reconcileGo,
		`	if m.billed[moved] && (!l.Refund || l.RefundID != "") {`, `	if m.billed[moved] && l.Amount < 0 {`},
	{"bill-by-index-alone", "what the index does not have yet is not looked up in the table", reconcileGo,
		`	all, err := m.Ledger.Payments(ctx, l.Order)
	if errors`, `	var all []seckill.Payment
	var err error
	if errors`},
	{"bill-lacks-nothing", "what the ledger recorded and no bill has is not a difference", reconcileGo,
		`	for _, a := range absent {`, `	clear(absent)
	for _, a := range absent {`},
	{"earlier-bills-unasked", "what a day's bill lacks is called missing though an earlier bill has it", reconcileGo,
		`	for back := 1; back <= maxBack; back++ {`, `	for back := 1; back <= 0; back++ {`},
	{"bill-line-unread-unlisted", "a line of the bill that cannot be read is not a difference", reconcileGo,
		`	for _, u := range unread {`, `	for _, u := range unread[:0] {`},
	{"bill-others-uncounted", "lines of other shops are not counted", reconcileGo,
		`	m.out.Others = bill.Others
`, ``},
	{"bill-refunds-unlisted", "what went back by the ledger is not looked for on the bill", reconcileGo,
		`	if err := m.missing(ctx, paid, back); err != nil {`,
		`	if err := m.missing(ctx, paid, back[:0]); err != nil {`},
	{"item-fresh-forever", "an instance keeps an item in memory for ever", cacheGo,
		`return age >= 0 && age < seckill.ItemFresh`, `return age >= 0`},
	{"item-age-from-the-end", "an item's age counts from the end of its read", cacheGo,
		`	e = &entry{it, err, now}`, `	now = c.now()
	e = &entry{it, err, now}`},
}
