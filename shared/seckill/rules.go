package seckill

import (
	"slices"
	"time"
)

// May is how far a save may change a field.
type May string

// How far.
const (
	MayChange May = "free"
	MayWithin May = "within" // the bounds that the reason names
	MayGrow   May = "up"
	MayNot    May = "fixed"
)

// Why a field may not be changed freely.
const (
	WhyGrows   = "only_grows"    // units have numbers, and those that were given stay
	WhyTickets = "tickets_given" // shoppers pass the item's checks since TicketLead before its start
	WhyLoaded  = "loaded"        // the item is in the stock since StageLead before its start
	WhyEnded   = "ended"         // the window is over
)

// Rule says how far a save may change one field at a time.
type Rule struct {
	Field string    `json:"field"` // its name in a file
	May   May       `json:"may"`
	Why   string    `json:"why,omitempty"`
	Since time.Time `json:"since,omitzero"` // since when it is fixed
	Until time.Time `json:"until,omitzero"` // until when it is not
}

// itemFields are the fields of an item, by their names in an items file.
var itemFields = []string{"title", "covers", "detail", "stock", "checks", "questions", "price", "sk_price",
	"start_time", "end_time", "limit", "commodity_id", "family", "options", "limit_spans"}

// Rules says how far a save may change each field of the item at a time. What a shopper reads can be mended until the
// sale ends; what the stock has is fixed while the stock has it.
func (it *Item) Rules(now time.Time) []Rule {
	loads, tickets := it.Start.Add(-StageLead), it.Start.Add(-TicketLead)
	made := func(t time.Time) time.Time { // an item may be made late
		if t.Before(it.CreateTime) {
			return it.CreateTime
		}
		return t
	}
	rules := make([]Rule, len(itemFields))
	for i, field := range itemFields {
		rules[i] = Rule{Field: field, May: MayChange, Until: loads}
		r := &rules[i]
		text := field == "title" || field == "covers" || field == "detail" || field == "options"
		if text || field == "stock" {
			r.Until = it.End
		} else if field == "checks" || field == "questions" {
			r.Until = tickets
		}
		switch {
		case !now.Before(it.End):
			r.May, r.Why, r.Since = MayNot, WhyEnded, it.End
		case text:
		case field == "stock":
			r.May, r.Why = MayGrow, WhyGrows
		case (field == "checks" || field == "questions") && !now.Before(tickets):
			r.May, r.Why, r.Since = MayNot, WhyTickets, made(tickets)
		case !now.Before(loads): // all others: limit, prices, times, …
			r.May, r.Why, r.Since = MayNot, WhyLoaded, made(loads)
		}
		if r.May == MayNot {
			r.Until = time.Time{}
		}
	}
	return rules
}

// Keep takes over from the stored item what the listing does not say, except questions: nil says that they stay.
func (l *Listing) Keep(old *Listing) {
	if l.KeepsCovers {
		l.Covers = old.Covers
	}
	if l.KeepsDetail {
		l.Detail = old.Detail
	}
	if l.KeepsChecks {
		l.Checks = old.Checks
	}
	if l.KeepsCommodity {
		l.Commodity.ID = old.Commodity.ID
	}
	switch {
	case l.KeepsVariant:
		l.Variant = old.Variant
	case l.KeepsSpans:
		l.Variant.LimitSpans = l.Variant.Family != "" && old.Variant.LimitSpans
	}
}

// Differs returns the fields of a listing that differ from a stored one, in the order of Rules. A listing without
// questions keeps the stored ones.
func (l *Listing) Differs(old *Listing) []string {
	asked := slices.EqualFunc(l.Questions, old.Questions, func(a, b Question) bool { return a.Equal(&b) })
	same := map[string]bool{
		"title":  l.Commodity.Title == old.Commodity.Title,
		"covers": slices.Equal(l.Covers, old.Covers), "detail": l.Detail == old.Detail,
		"stock": l.Stock == old.Stock, "checks": l.Checks == old.Checks, "questions": l.Questions == nil || asked,
		"price": l.Commodity.Price == old.Commodity.Price, "sk_price": l.Price == old.Price,
		"start_time": l.Start.Equal(old.Start), "end_time": l.End.Equal(old.End), "limit": l.Limit == old.Limit,
		"commodity_id": l.Commodity.ID == old.Commodity.ID, "family": l.Variant.Family == old.Variant.Family,
		"options":     slices.Equal(l.Variant.Options, old.Variant.Options),
		"limit_spans": l.Variant.LimitSpans == old.Variant.LimitSpans,
	}
	var fields []string
	for _, field := range itemFields {
		if !same[field] {
			fields = append(fields, field)
		}
	}
	return fields
}
