package difftest

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/your-org/seckill/shared/adapter/memory"
)

// Outcome is how another Redis answered a history's calls, and its keys at the end, as memory.Redis.Dump has them.
type Outcome struct {
	Replies []any
	Errs    []error
	Keys    map[string]any
}

// Other replays calls on an empty Redis; an error is trouble with the replay itself.
type Other func(calls []Call) (Outcome, error)

// Difference says where the two part, in one line; "" when nowhere.
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

// canonical puts the users that one HSCAN page gives in the order of their names: Redis promises none.
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

// Shrink drops steps for as long as the history still differs. It gives the shorter history and its difference.
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

// Report is what a failing test prints.
func Report(seed uint64, h []Step, difference string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %s\nshrunk to %d steps:\n", seed, difference, len(h))
	for _, s := range h {
		fmt.Fprintln(&b, "  ", s)
	}
	return b.String()
}
