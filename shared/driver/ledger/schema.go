package ledger

// Names of the ledger's tables and indexes.
const (
	TableUnits           = "units"
	TableOrders          = "orders"
	TableQuotas          = "quotas"
	TablePayments        = "payments"
	TableReturns         = "returns"
	TableNotifications   = "notifications"
	TableReconciliations = "reconciliations"
	TableCounts          = "counts"
	TableCounted         = "counted"
	TableIdentities      = "identities"
	TableDeliveries      = "deliveries"
	TableBlocks          = "blocks"
	TableAttempts        = "attempts"
	TableQuestions       = "questions"
	TableActs            = "acts"
	TableAudit           = "audit"
	TableProposals       = "proposals"
	TableActivities      = "activities"
	TableSessions        = "sessions" // of staff
	TableLogins          = "logins"   // sessions of shoppers
	TableLive            = "live"

	IndexOrdersByUser = "orders_by_user"
	IndexOrdersByItem = "orders_by_item"
	IndexOrdersByTime = "orders_by_time"
	IndexOrdersDue    = "orders_due"
	IndexRefundsDue   = "refunds_due"
	IndexPaymentsOn   = "payments_by_day"
	IndexRefundsOn    = "refunds_by_day"

	IndexDeliveriesDue = "deliveries_due"
	IndexBlocksListed  = "blocks_listed"

	IndexActivitiesListed = "activities_listed"
)

// Table declares a table: its name and the names of its key attributes (strings).
type Table struct {
	Name    string
	PK      string
	SK      string // if "", a partition has one row
	Indexes []Index
	// TTL is the attribute with the time, in Unix seconds, after which DynamoDB deletes a row; if "", rows stay. Other
	// drivers ignore it.
	TTL string
}

// Index declares an index. It has only the rows that have both its key attributes (strings).
type Index struct {
	Name     string
	PK, SK   string
	KeysOnly bool // its rows have only the keys of table and index; otherwise every attribute
}

// Schema declares every table and index of the ledger. A test compares docs/DATA.md with it.
var Schema = []Table{
	{Name: TableUnits, PK: "bucket", SK: "unit"},
	{Name: TableOrders, PK: "id", Indexes: []Index{
		{Name: IndexOrdersByUser, PK: "placed_by", SK: "created_id"},
		{Name: IndexOrdersByItem, PK: "item_shard", SK: "created_id"},
		{Name: IndexOrdersByTime, PK: "time_shard", SK: "created_id", KeysOnly: true},
		{Name: IndexOrdersDue, PK: "due_shard", SK: "due_at", KeysOnly: true},
	}},
	{Name: TableQuotas, PK: "user", SK: "item"},
	{Name: TablePayments, PK: "order", SK: "trade_no", Indexes: []Index{
		{Name: IndexRefundsDue, PK: "refund_shard", SK: "refund_at"},
		{Name: IndexPaymentsOn, PK: "paid_day", SK: "trade_no"},
		{Name: IndexRefundsOn, PK: "back_day", SK: "trade_no"},
	}},
	{Name: TableReturns, PK: "shard", SK: "order"},
	{Name: TableNotifications, PK: "order", SK: "id", TTL: attrExpires},
	{Name: TableReconciliations, PK: "day", SK: "at"},
	{Name: TableCounts, PK: "item"},
	{Name: TableCounted, PK: "order"},
	{Name: TableIdentities, PK: "id"},
	{Name: TableDeliveries, PK: "order", Indexes: []Index{
		{Name: IndexDeliveriesDue, PK: "due_shard", SK: "due_at"},
	}},
	{Name: TableBlocks, PK: "subject", SK: "item", Indexes: []Index{
		{Name: IndexBlocksListed, PK: "shard", SK: "name"},
	}},
	{Name: TableAttempts, PK: "user", SK: "item_minute", TTL: attrExpires},
	{Name: TableQuestions, PK: "item", SK: "id"},
	{Name: TableActs, PK: "day", SK: "id", TTL: attrExpires},
	{Name: TableAudit, PK: "day", SK: "seq"},
	{Name: TableProposals, PK: "list", SK: "entry", TTL: attrExpires},
	{Name: TableActivities, PK: "id", Indexes: []Index{
		{Name: IndexActivitiesListed, PK: "list", SK: "end_id"},
	}},
	{Name: TableSessions, PK: "list", SK: "session", TTL: attrExpires},
	{Name: TableLogins, PK: "user", SK: "session", TTL: attrExpires},
	{Name: TableLive, PK: "item", TTL: attrExpires},
}
