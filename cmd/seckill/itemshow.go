package main

import (
	"encoding/json"
	"fmt"
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
