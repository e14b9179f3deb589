package operator

import "slices"

// command has a name, required arguments and optional ones.
type command struct {
	name     string
	has, may []string
	quiet    bool // it is given each second, so only failures have a line in the log
	file     bool // it has a file, and may be large
}

// The commands about items.
const (
	cmdImport   = "import"
	cmdExport   = "export"
	cmdStop     = "stop"
	cmdResume   = "resume"
	cmdAddStock = "add-stock"
	cmdHealth   = "health"
	cmdLevel    = "level"
	cmdItem     = "item"
	cmdItems    = "items"
)

var itemCommands = []command{
	{name: cmdImport, has: []string{"items"}, may: []string{"dry"}, file: true},
	{name: cmdExport, may: []string{"after"}},
	{name: cmdStop, has: []string{"item"}},
	{name: cmdResume, has: []string{"item"}},
	{name: cmdAddStock, has: []string{"item", "stock"}},
	{name: cmdHealth},
	{name: cmdLevel, has: []string{"item"}, quiet: true},
	{name: cmdItem, has: []string{"item"}},
	{name: cmdItems},
}

// The commands about activities.
const (
	cmdActivities     = "activities"
	cmdActivity       = "activity"
	cmdSaveActivity   = "save-activity"
	cmdDeleteActivity = "delete-activity"
	cmdCopyActivity   = "copy-activity"
	cmdOffline        = "offline"
	cmdOnline         = "online"
)

var activityCommands = []command{
	{name: cmdActivities, has: []string{"limit"}, may: []string{"all", "cursor"}},
	{name: cmdActivity, has: []string{"activity"}},
	{name: cmdSaveActivity, has: []string{"save"}, may: []string{"via"}},
	{name: cmdDeleteActivity, has: []string{"activity"}, may: []string{"undo"}},
	{name: cmdCopyActivity, has: []string{"activity", "start"}, may: []string{"via"}},
	{name: cmdOffline, has: []string{"activity"}},
	{name: cmdOnline, has: []string{"activity"}},
}

// The commands about money.
const (
	cmdOpen        = "open"
	cmdCase        = "case"
	cmdRefund      = "refund"
	cmdWithdraw    = "withdraw"
	cmdAgain       = "again"
	cmdAsk         = "ask"
	cmdRecordTrade = "record-trade"
)

var moneyCommands = []command{
	{name: cmdOpen},
	{name: cmdCase, has: []string{"order"}, may: []string{"raw"}},
	{name: cmdRefund, has: []string{"order", "why"}, may: []string{"restock"}},
	{name: cmdWithdraw, has: []string{"order", "why"}},
	{name: cmdAgain, has: []string{"order", "why"}},
	{name: cmdAsk, has: []string{"order", "why"}},
	{name: cmdRecordTrade, has: []string{"order", "trade_no", "why"}},
}

// The commands about bills.
const (
	cmdReconcile  = "reconcile"
	cmdReconciled = "reconciled"
)

var billCommands = []command{
	{name: cmdReconcile, has: []string{"day"}},
	{name: cmdReconciled, has: []string{"day"}},
}

// The command about a user.
const cmdErase = "erase"

var userCommands = []command{{name: cmdErase, has: []string{"user"}, may: []string{"cursor"}}}

// The commands about events.
const (
	cmdTell     = "tell"
	cmdReplay   = "replay"
	cmdDelivery = "delivery"
)

var eventCommands = []command{
	{name: cmdTell, has: []string{"order"}},
	{name: cmdReplay, has: []string{"item", "day"}, may: []string{"cursor"}},
	{name: cmdDelivery, has: []string{"order"}},
}

// The commands about counts.
const (
	cmdCounts  = "counts"
	cmdRecount = "recount"
)

var countCommands = []command{
	{name: cmdCounts, has: []string{"item"}},
	{name: cmdRecount, has: []string{"item"}, may: []string{"cursor"}},
}

// The commands about blocks.
const (
	cmdBlock   = "block"
	cmdUnblock = "unblock"
	cmdBlocks  = "blocks"
)

var blockCommands = []command{
	{name: cmdBlock, has: []string{"blocks"}, may: []string{"dry"}, file: true},
	{name: cmdUnblock, has: []string{"subject"}, may: []string{"item"}},
	{name: cmdBlocks, has: []string{"limit"}, may: []string{"subject", "cursor"}},
}

// The command about webhooks.
const cmdRedeliver = "redeliver"

var webhookCommands = []command{{name: cmdRedeliver}}

// The commands about suspicious acts.
const (
	cmdActs   = "acts"
	cmdAct    = "act"
	cmdHandle = "handle"
)

var actCommands = []command{
	{name: cmdActs, has: []string{"limit"}, may: []string{"day", "item", "all", "cursor"}},
	{name: cmdAct, has: []string{"act"}},
	{name: cmdHandle, has: []string{"act", "why"}},
}

// The commands about orders.
const (
	cmdOrders  = "orders"
	cmdOrder   = "order"
	cmdConfirm = "confirm"
	cmdShip    = "ship"
	cmdNote    = "note"
	cmdHide    = "hide"
)

var orderCommands = []command{
	{name: cmdOrders, has: []string{"limit"}, may: []string{"item", "user", "state", "from", "to", "asked", "all",
		"cursor"}},
	{name: cmdOrder, has: []string{"order"}},
	{name: cmdConfirm, has: []string{"order"}},
	{name: cmdShip, has: []string{"parcels"}, may: []string{"confirm", "dry"}, file: true},
	{name: cmdNote, has: []string{"order", "why"}},
	{name: cmdHide, has: []string{"order", "why"}, may: []string{"undo"}},
}

// The command about the audit log.
const cmdAudit = "audit"

var auditCommands = []command{{name: cmdAudit, has: []string{"limit"}, may: []string{"day", "cursor"}}}

// The commands about staff who are signed in in a browser.
const (
	cmdSessions    = "sessions"
	cmdEndSessions = "end-sessions"
)

var sessionCommands = []command{
	{name: cmdSessions},
	{name: cmdEndSessions, has: []string{"person"}},
}

// The commands about a running sale.
const (
	cmdLive    = "live"
	cmdRedrive = "redrive"
)

var liveCommands = []command{
	{name: cmdLive, has: []string{"item"}, quiet: true},
	{name: cmdRedrive, has: []string{"queue"}},
}

// Queues are the names of the queues whose dead letters can be moved back.
var Queues = []string{"orders", "closings"}

// The command about pictures.
const cmdPicture = "picture"

var pictureCommands = []command{{name: cmdPicture, has: []string{"data"}, file: true}}

// allCommands returns the commands of every handler.
func allCommands() []command {
	return slices.Concat(itemCommands, activityCommands, moneyCommands, billCommands, userCommands, eventCommands,
		countCommands, webhookCommands, blockCommands, actCommands, auditCommands, orderCommands, sessionCommands,
		liveCommands, pictureCommands)
}

// large reports whether a command may be large.
func large(name string) bool {
	return slices.ContainsFunc(allCommands(), func(c command) bool { return c.name == name && c.file })
}

// Acts returns the names of all commands.
func Acts() []string {
	var names []string
	for _, c := range allCommands() {
		names = append(names, c.name)
	}
	return names
}
