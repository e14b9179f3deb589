package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/seckill"
)

const shownValue = 60 // characters of a field

// item prints an item with its rules.
func (p *page) item(it *operator.ItemView, state string) {
	p.line("Item %s: %s.", it.ID, state)
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(it.Item, &fields) // without them, the rules are still shown
	p.row("field", "value", "may change")
	for _, r := range it.Rules {
		p.row(r.Field, value(r.Field, fields[r.Field]), inWords(&r))
	}
}

// value is a field's value in a line.
func value(field string, raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	if field == "questions" && text != "" { // answers are a secret
		var all []json.RawMessage
		_ = json.Unmarshal(raw, &all)
		return counted(len(all), "question", "questions")
	}
	text = strings.Join(strings.Fields(text), " ")
	if n := utf8.RuneCountInString(text); n > shownValue {
		return fmt.Sprintf("%s… (%d characters)", string([]rune(text)[:shownValue]), n)
	}
	return text
}

// inWords says what a rule allows.
func inWords(r *seckill.Rule) string {
	since := ", since " + at(r.Since)
	switch {
	case r.May == seckill.MayChange:
		return "yes"
	case r.May == seckill.MayGrow:
		return "only to more"
	case r.Why == seckill.WhyEnded:
		return "no: the sale is over" + since
	case r.Why == seckill.WhyTickets:
		return "no: shoppers pass the checks" + since
	default:
		return "no: it is loaded for sale" + since
	}
}

// itemRows prints a list of items.
func (p *page) itemRows(list *operator.ItemRows) {
	if len(list.Items) == 0 {
		p.line("No items.")
	} else {
		p.row("id", "state", "left", "of", "start", "end", "title")
	}
	for i := range list.Items {
		it, left := &list.Items[i], ""
		if it.Left != nil {
			left = strconv.Itoa(*it.Left)
		}
		p.row(it.ID, string(it.State), left, strconv.Itoa(it.Stock), at(it.Start), at(it.End),
			strings.TrimSpace(it.Title+" "+it.Options))
	}
	for _, row := range list.Unreadable {
		p.line("Left out: %s", printable(row))
	}
}
