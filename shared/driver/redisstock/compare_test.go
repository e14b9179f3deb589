package redisstock_test

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/your-org/seckill/shared/fake/memory"
)

// Outcome holds another Redis's answers to a history's calls, and its final keys in the form of memory.Redis.Dump.
type Outcome struct {
	Replies []any
	Errs    []error
	Keys    map[string]any
}

// Other replays calls on an empty Redis; an error means that the replay itself failed.
type Other func(calls []Call) (Outcome, error)

// Difference returns the first difference on one line, or "" if there is none.
func Difference(calls []Call, keys map[string]any, o Outcome) string {
	for i, c := range calls {
		if (c.Err == nil) != (o.Errs[i] == nil) {
			return fmt.Sprintf("call %d, %s %q: embedded error %v, other error %v", i, c.Script.Name, c.Args, c.Err,
				o.Errs[i])
		}
		if a, b := canonical(c.Script.Name, c.Reply), canonical(c.Script.Name, o.Replies[i]); c.Err == nil &&
			!reflect.DeepEqual(a, b) {
			return fmt.Sprintf("call %d, %s %q: embedded %q, other %q", i, c.Script.Name, c.Args, a, b)
		}
	}
	if !reflect.DeepEqual(keys, o.Keys) {
		return fmt.Sprintf("keys: embedded %q, other %q", keys, o.Keys)
	}
	return ""
}

// canonical sorts the users in an HSCAN page by name: Redis guarantees no order.
func canonical(script string, reply any) any {
	list, ok := reply.([]any)
	const head, each = 2, 3 // ok, cursor; then user, entries, busy
	if script != "users" || !ok || len(list) < head {
		return reply
	}
	rows := slices.Collect(slices.Chunk(list[head:], each))
	slices.SortFunc(rows, func(a, b []any) int { return cmp.Compare(fmt.Sprint(a[0]), fmt.Sprint(b[0])) })
	return slices.Concat(append([][]any{list[:head]}, rows...)...)
}

// Shrink removes steps as long as the history still differs. It returns the shorter history and its difference.
func Shrink(h []Step, other Other) ([]Step, string) {
	m := memory.NewRedis()
	differs := func(h []Step) string {
		calls, keys := Play(m, h)
		o, err := other(calls)
		if err != nil {
			return ""
		}
		return Difference(calls, keys, o)
	}
	difference := differs(h)
	for again := true; again; {
		again = false
		for i := len(h) - 1; i >= 0; i-- {
			shorter := slices.Delete(slices.Clone(h), i, i+1)
			if d := differs(shorter); d != "" {
				h, difference, again = shorter, d, true
			}
		}
	}
	return h, difference
}

// Report formats the output of a failing test.
func Report(seed uint64, h []Step, difference string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %s\nshrunk to %d steps:\n", seed, difference, len(h))
	for _, s := range h {
		fmt.Fprintln(&b, "  ", s)
	}
	return b.String()
}
