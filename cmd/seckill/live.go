package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/flow/office/livescreen"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	liveEvery    = time.Second
	liveSlowest  = 16 * time.Second // after faults
	clearScreen  = "\x1b[H\x1b[2J"
	shownReasons = 5
)

func liveCommand() *cobra.Command {
	var f shopFlags
	var once bool
	cmd := &cobra.Command{
		Use:   "live ITEM",
		Short: "Watch the sale of an item: stock, orders, requests, queues, refunds",
		Long: `Watch the sale of an item, once a second until Ctrl-C: each figure with its age. Stock, counts, queues and
refunds are renewed each second; requests, refusals, times and lag are of the whole shop, and with --stack
come from CloudWatch each minute, for the last hour. All who watch share one reading.

Before the sale, the last lines say what is not ready; "doctor" checks a stack's settings, too.`,
		Example: `  seckill live 2002
  seckill live 2002 --once --stack seckill-prod`,
		Args: itemArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.shop(cmd)
			if err != nil {
				return err
			}
			return f.live(cmd, s, args[0], once || f.json)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&once, "once", false, "print the figures once")
	return cmd
}

// live prints an item's figures, each second unless once. After a fault it asks again, less and less often.
func (f *shopFlags) live(cmd *cobra.Command, s *shop, item string, once bool) error {
	ctx, pause := cmd.Context(), liveEvery
	screen := waitingOn(cmd.OutOrStdout()).w != nil && !once
	for first := true; ; first = false {
		seen, err := give[livescreen.Seen](cmd, s, "item "+item, &operator.ReadLive{Item: item})
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // Ctrl-C ends the watching
		case err != nil && (first || !errors.As(err, new(faultError))):
			return err
		case err != nil:
			fmt.Fprintf(cmd.ErrOrStderr(), "seckill: %v\n", err)
			pause = min(2*pause, liveSlowest)
		default:
			if pause = liveEvery; screen {
				fmt.Fprint(bare(cmd.OutOrStdout()), clearScreen)
			}
			if err := f.print(cmd, nil, &seen, func(p *page) { p.live(&seen) }); err != nil || once {
				return err
			}
		}
		if wait(ctx, pause) != nil {
			return nil //nolint:nilerr // Ctrl-C ends the watching
		}
	}
}

// figures prints the figures of a part, all of the same age.
type figures struct {
	p      *page
	age    string
	failed seckill.Code
}

// figuresOf begins a part.
func figuresOf[T any](p *page, now time.Time, of *seckill.Figures[T]) figures {
	age := "never read"
	if !of.At.IsZero() {
		age = max(0, now.Sub(of.At)).Round(100 * time.Millisecond).String()
	}
	return figures{p, age, of.Failed}
}

func (f figures) row(name, value string) {
	age := f.age
	if f.failed != "" {
		age += ", failed: " + string(f.failed)
	}
	f.p.row(name, value, age)
}

func (f figures) number(name string, n int) { f.row(name, strconv.Itoa(n)) }

// live prints what a viewer sees.
func (p *page) live(seen *livescreen.Seen) {
	s := &seen.Stock.Value
	p.line("Item %s, %s: %s, %s to %s, seen at %s UTC+8", seen.Item, printable(s.Title),
		cmp.Or(string(s.State), "unknown"), s.Opens.In(seckill.Zone).Format(time.DateTime),
		s.Closes.In(seckill.Zone).Format(time.DateTime), seen.Now.In(seckill.Zone).Format(time.TimeOnly))
	p.row("figure", "value", "age")
	f := figuresOf(p, seen.Now, &seen.Stock)
	f.number("stock", s.Stock)
	f.number("left", s.Left)
	f.number("held by orders", s.Held)
	f.number("waiting to be placed", s.Awaiting)
	c := &seen.Counts.Value
	f = figuresOf(p, seen.Now, &seen.Counts)
	f.number("placed", c.Total.Placed)
	f.number("paid", c.Total.Paid)
	f.number("given back", c.Total.GivenBack)
	m := &seen.Metrics.Value
	f = figuresOf(p, seen.Now, &seen.Metrics)
	f.number("presses", m.Presses)
	f.row("requests a second", strconv.FormatFloat(m.PerSecond, 'f', 1, 64))
	f.row("p99 of a press", milliseconds(m.P99))
	f.number("errors", m.Errors)
	for _, r := range mostRefused(m.Refusals) {
		f.number("refused: "+string(r), m.Refusals[r])
	}
	lag := milliseconds(m.Lag)
	if !m.LagAt.IsZero() {
		lag += " at " + m.LagAt.In(seckill.Zone).Format("15:04")
	}
	f.row("counts behind orders", lag)
	for _, name := range slices.Sorted(maps.Keys(m.Age)) {
		f.row("oldest in "+name, strconv.Itoa(m.Age[name])+" s")
	}
	f.number("drift", m.Drift)
	f.number("unknown payments", m.Unknown)
	f = figuresOf(p, seen.Now, &seen.Queues)
	for _, q := range seen.Queues.Value {
		f.row("queue "+q.Name, fmt.Sprintf("%d wait, %d in flight, %d delayed", q.Visible, q.InFlight, q.Delayed))
		f.number("dead letters of "+q.Name, q.Parked)
	}
	f = figuresOf(p, seen.Now, &seen.Money)
	f.row("refunds due", atLeast(seen.Money.Value.Due, seen.Money.Value.MoreDue))
	f.row("refunds refused", atLeast(seen.Money.Value.Refused, seen.Money.Value.MoreRefused))
	f = figuresOf(p, seen.Now, &seen.Acts)
	for _, a := range seen.Acts.Value.List {
		f.row(printable(a.Act+" "+a.Subject), printable(a.Result+", by "+a.Who+" at "+
			at(a.At)))
	}
	var not []string
	for _, c := range seen.Ready {
		if !c.OK {
			not = append(not, strings.TrimSpace(c.Check+" "+c.Detail))
		}
	}
	switch {
	case c.Recounting:
		p.line("A recount is under way: orders are missing.")
	case len(not) == 0:
		p.line("Ready.")
	default:
		p.line("Not ready or not known: %s.", strings.Join(not, ", "))
	}
}

// mostRefused returns the most frequent reasons.
func mostRefused(n map[seckill.Reason]int) []seckill.Reason {
	all := slices.SortedFunc(maps.Keys(n), func(a, b seckill.Reason) int {
		return cmp.Or(cmp.Compare(n[b], n[a]), cmp.Compare(a, b))
	})
	all = slices.DeleteFunc(all, func(r seckill.Reason) bool { return n[r] == 0 })
	return all[:min(len(all), shownReasons)]
}

func milliseconds(ms *float64) string {
	if ms == nil {
		return "unknown"
	}
	return strconv.FormatFloat(*ms, 'f', 1, 64) + " ms"
}

func atLeast(n int, more bool) string {
	if more {
		return "at least " + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}
