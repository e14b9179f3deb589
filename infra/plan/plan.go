// Package plan computes what a sale on AWS needs and costs: requests by second, quotas to raise, settings of the
// deployed stack, waits, the bill. It is pure: it makes no calls.
//
// It is a fluid model: crowds are amounts, moved in steps of 10 ms from the page through the API's token buckets,
// Lambda's instances, Redis and the queue into the tables. The assumptions about AWS are in limits.go, those about this
// system in speeds.go, and prices in prices.go, each with its source. docs/DEPLOY.md shows a plan and what of it was
// checked.
package plan

// Plan is what a sale needs and costs.
type Plan struct {
	Sale    Sale    `json:"sale"`
	Today   Setting `json:"today"` // defaults of template.yaml, and a new account's quotas
	Planned Setting `json:"planned"`
	Free    Outcome `json:"unlimited"` // without limits
	Redis   Redis   `json:"redis"`
	Tables  []Table `json:"tables"`
	Reads   Reads   `json:"reads"`
	// Admission is nil for an item without checks. Door are the tables that checks and blocks use.
	Admission *Admission `json:"admission,omitempty"`
	Door      []Access   `json:"door,omitempty"`
	// Spans is nil unless the item's limit spans a family.
	Spans *Access `json:"spans,omitempty"`
	Bill  []Line  `json:"bill"`
	Total float64 `json:"total_usd"`
	// Size is the value of template.yaml's parameter that has the plan's numbers. Overrides are those that differ from
	// small's.
	Size      string     `json:"size"`
	Overrides []Override `json:"overrides"`
	// Quotas are those to raise at AWS.
	Quotas []Quota  `json:"quotas"`
	Notes  []string `json:"notes"` // what settings cannot solve
}

// Override is a number of Plan, a parameter of template.yaml.
type Override struct {
	Name  string `json:"name"`
	Value int    `json:"value"`
}

// Quota is a quota of the account in a region.
type Quota struct {
	Name string `json:"name"`
	Code string `json:"code"` // of Service Quotas; "" if there is none
	Have int    `json:"default"`
	Want int    `json:"want"`
}

// Line is a line of the bill.
type Line struct {
	What string  `json:"what"`
	How  string  `json:"how"` // the arithmetic
	USD  float64 `json:"usd"`
}
