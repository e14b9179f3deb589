package seckill

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

func TestSplitUnreadable(t *testing.T) {
	one, two := &Unreadable{Table: "items", PK: "1", Why: ": a"}, &Unreadable{Table: "orders", PK: "2", SK: "x",
		Why: ": b"}
	fault := errors.New("no answer")
	for _, c := range []struct {
		name string
		err  error
		rows []string
		rest error // compared by errors.Is
	}{
		{"nothing", nil, nil, nil},
		{"one", one, []string{"items row 1: a"}, nil},
		{"two, deep within", errors.Join(nil, fmt.Errorf("item 7: %w", one), errors.Join(two)),
			[]string{"item 7: items row 1: a", "orders row 2/x: b"}, nil},
		{"a fault", fault, nil, fault},
		{"a fault beside one", errors.Join(one, fault), []string{"items row 1: a"}, fault},
		{"a fault that is wrapped with one", fmt.Errorf("item 7: %w", errors.Join(one, fault)), nil, fault},
		{"a refusal", Refuse(CodeItemUnknown), nil, Refuse(CodeItemUnknown)},
	} {
		rows, rest := SplitUnreadable(c.err)
		if !slices.Equal(rows, c.rows) || !errors.Is(rest, c.rest) || (rest == nil) != (c.rest == nil) {
			t.Errorf("%s: %q, %v; want %q, %v", c.name, rows, rest, c.rows, c.rest)
		}
	}
}
