package operator

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/your-org/seckill/shared/api/itemfile"
	"github.com/your-org/seckill/shared/flow/sale/stage"
	"github.com/your-org/seckill/shared/seckill"
)

const maxToldValue = 24 // characters of a field that the audit log has of an import

// linesOf returns what a flow refused, at its places in the file; nil for any other error.
func linesOf(err error, items []seckill.Listing, places []itemfile.Place) (lines []itemfile.Line) {
	var refused *stage.ImportError
	if !errors.As(err, &refused) {
		return nil
	}
	for _, f := range refused.Faults {
		at := slices.IndexFunc(items, func(l seckill.Listing) bool { return l.ID == f.Item })
		lines = append(lines, itemfile.Line{Place: places[at], What: "item " + f.Item + ": " + f.What})
	}
	return lines
}

// differences returns the fields that an import changed, as ID.FIELD, in at most most bytes before and after; it counts
// the rest.
func differences(changes []stage.Change, most int) (before, after []slog.Attr) {
	left := most - len(" and_more_fields=15000 ")
	more := 0
	for i := range changes {
		c := &changes[i]
		if left < 0 { // nothing fits any more
			more += len(c.Fields)
			continue
		}
		was, is := columnsOf(c.Before), columnsOf(c.After)
		for _, field := range c.Fields {
			key, b, a := c.After.ID+"."+field, told(was, field), told(is, field)
			if left -= len(key) + len("= ") + max(len(b), len(a)); left < 0 {
				more++
				continue
			}
			if after = append(after, slog.String(key, a)); c.Before.ID != "" {
				before = append(before, slog.String(key, b))
			}
		}
	}
	if more > 0 {
		rest := slog.Int("and_more_fields", more)
		if after = append(after, rest); len(before) > 0 {
			before = append(before, rest)
		}
	}
	return before, after
}

// columnsOf returns an item's columns as an items file has them.
func columnsOf(l seckill.Listing) (columns map[string]json.RawMessage) {
	_ = json.Unmarshal(asFile(l), &columns) // it is an object
	return columns
}

// told writes a column of an item: of a long text its beginning and length, of questions, whose
// answers are a secret, how many there are.
func told(columns map[string]json.RawMessage, field string) string {
	raw := columns[field]
	var text string
	var list []json.RawMessage
	switch {
	case field == "questions":
		_ = json.Unmarshal(raw, &list) // an array, or missing if there are no questions
		return fmt.Sprint(len(list))
	case json.Unmarshal(raw, &text) != nil:
		text = string(raw)
	}
	text = strings.Join(strings.Fields(text), " ")
	if n := utf8.RuneCountInString(text); n > maxToldValue {
		return fmt.Sprintf("%s…(%d)", string([]rune(text)[:maxToldValue]), n)
	}
	return text
}
