package admit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/sale/admit"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	alice = "42"
	item  = "1001"
)

var (
	start = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	end   = start.Add(90 * time.Minute)
	opens = start.Add(-seckill.TicketLead)
)

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// shop has one item, and is every port of the flow.
type shop struct {
	seckill.Items // only Get is called
	clock         *clock
	meter         memory.Meter
	item          seckill.Item
	blocks        []seckill.Block
	pool          []seckill.Question
	attempts      map[string]int // by user, item and minute
	fault         map[string]error
	ranges        []seckill.Block
	asked         []seckill.Subject // ranges, of which blocks were read
	reads         int               // of questions
}

func (w *shop) Get(_ context.Context, id string) (seckill.Item, error) {
	if id != item {
		return seckill.Item{}, seckill.Refuse(seckill.CodeItemUnknown)
	}
	return w.item, w.fault["item"]
}

func (w *shop) UserBlocks(_ context.Context, _, of string) ([]seckill.Block, error) {
	if of != item {
		return nil, errors.New("another item")
	}
	return w.blocks, w.fault["blocks"]
}

func (w *shop) RangeBlocks(_ context.Context, ranges []seckill.Subject, of string) (out []seckill.Block, err error) {
	w.asked = append(w.asked, ranges...)
	for _, b := range w.ranges {
		if slices.Contains(ranges, b.Subject) && of == item {
			out = append(out, b)
		}
	}
	return out, w.fault["ranges"]
}

func (w *shop) CountAttempt(_ context.Context, user, item string, now time.Time) error {
	key := user + item + now.Truncate(time.Minute).String()
	if w.attempts[key] >= seckill.MaxAttempts {
		return seckill.ErrAttempts
	}
	w.attempts[key]++
	return w.fault["attempts"]
}

func (w *shop) Questions(context.Context, string) ([]seckill.Question, error) {
	w.reads++
	return w.pool, w.fault["questions"]
}

// Pick gives each user another question each half hour.
func (w *shop) Pick(user, _ string, slot int64, n int) int { return (len(user) + int(slot)) % n }

// proofs are texts that say what they are for.
type proofs struct{ clock *clock }

func (p proofs) Make(user, item string, w seckill.Work, expires time.Time) ([]byte, error) {
	return fmt.Appendf(nil, "%s|%s|%d|%d", user, item, w.Tries, expires.Unix()), nil
}

func (p proofs) Check(solution []byte, user, item string) (time.Duration, bool) {
	var tries, expires int64
	rest, ok := strings.CutPrefix(string(solution), user+"|"+item+"|")
	n, err := fmt.Sscanf(rest, "%d|%d", &tries, &expires)
	return time.Second, ok && n == 2 && err == nil && p.clock.now.Unix() < expires
}

type tickets struct{}

func (tickets) Make(user, item string, expires time.Time) (string, error) {
	return fmt.Sprintf("ticket %s %s %d", user, item, expires.Unix()), nil
}

func newShop(checks seckill.Checks) (*shop, *admit.Flow) {
	w := &shop{clock: &clock{start.Add(-time.Minute)}, meter: memory.Meter{}, attempts: map[string]int{},
		fault: map[string]error{}, item: seckill.Item{ID: item, Start: start, End: end, Checks: checks},
		pool: []seckill.Question{{ID: "a", Text: "2 + 2?", Answers: []string{"4", "four"}},
			{ID: "b", Text: "3 + 3?", Answers: []string{"6"}}, {ID: "c", Text: "4 + 4?", Answers: []string{"8"}}}}
	return w, admit.New(admit.Deps{Ledger: w, Items: w, Questions: w, Proofs: proofs{w.clock}, Tickets: tickets{},
		Picker: w, Clock: w.clock, Meter: w.meter, Work: seckill.Work{Cost: 10, Tries: 20}, Painter: painter{}})
}

type painter struct{}

func (painter) Paint(s seckill.Sum, seed int) []byte {
	return fmt.Appendf(nil, "%d+%d %d", s.A, s.B, seed)
}

func caller() admit.Caller {
	return admit.Caller{User: alice, Networks: []seckill.Subject{"net:203.0.113.7/32"}}
}

// TestChallenge: who gets a challenge, and when.
func TestChallenge(t *testing.T) {
	t.Parallel()
	fault := errors.New("no answer")
	at := func(now time.Time) func(*shop, *admit.Caller) {
		return func(s *shop, _ *admit.Caller) { s.clock.now = now }
	}
	blocked := func(until time.Time) func(*shop, *admit.Caller) {
		return func(s *shop, _ *admit.Caller) { s.blocks = []seckill.Block{{Until: until}} }
	}
	created := func(ago time.Duration) func(*shop, *admit.Caller) {
		return func(s *shop, c *admit.Caller) { c.Created = s.clock.now.Add(-ago) }
	}
	fails := func(port string) func(*shop, *admit.Caller) {
		return func(s *shop, _ *admit.Caller) { s.fault[port] = fault }
	}
	young := created(seckill.MinAccountAge - 1)
	empty := func(s *shop, _ *admit.Caller) { s.pool = nil }
	stopped := func(s *shop, _ *admit.Caller) { s.item.Stopped = true }
	for name, c := range map[string]struct {
		checks seckill.Checks
		change func(*shop, *admit.Caller)
		want   seckill.Code
	}{
		"standard":                      {seckill.ChecksStandard, nil, ""},
		"strict":                        {seckill.ChecksStrict, nil, ""},
		"off":                           {seckill.ChecksOff, nil, seckill.CodeNoChecks},
		"as soon as tickets are given":  {seckill.ChecksStandard, at(opens), ""},
		"a moment before":               {seckill.ChecksStandard, at(opens.Add(-1)), seckill.CodeNotStarted},
		"during the sale":               {seckill.ChecksStandard, at(end.Add(-1)), ""},
		"after it":                      {seckill.ChecksStandard, at(end), seckill.CodeEnded},
		"stopped":                       {seckill.ChecksStandard, stopped, seckill.CodeStopped},
		"blocked":                       {seckill.ChecksStandard, blocked(time.Time{}), seckill.CodeBlocked},
		"a block that is over":          {seckill.ChecksStandard, blocked(start.Add(-time.Minute)), ""},
		"a new account":                 {seckill.ChecksStrict, young, seckill.CodeAccountNew},
		"an account that is old enough": {seckill.ChecksStrict, created(seckill.MinAccountAge), ""},
		"a new account, standard":       {seckill.ChecksStandard, created(0), ""},
		"the item cannot be read":       {seckill.ChecksStandard, fails("item"), seckill.CodeUnavailable},
		"the blocks cannot be read":     {seckill.ChecksStandard, fails("blocks"), seckill.CodeUnavailable},
		"blocks of ranges are unknown":  {seckill.ChecksStandard, fails("ranges"), seckill.CodeUnavailable},
		"the questions cannot be read":  {seckill.ChecksStrict, fails("questions"), seckill.CodeUnavailable},
		"no questions: a sum":           {seckill.ChecksStrict, empty, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, f := newShop(c.checks)
			who := caller()
			if c.change != nil {
				c.change(w, &who)
			}
			got, err := f.Challenge(t.Context(), who, item)
			if c.want != "" {
				if seckill.CodeOf(err) != c.want {
					t.Errorf("%v, want %s", err, c.want)
				}
				return
			}
			asks := c.checks == seckill.ChecksStrict && w.pool != nil
			if got.Item != item || got.Checks != c.checks {
				t.Errorf("%s, %s", got.Item, got.Checks)
			}
			if err != nil || len(got.Proof) == 0 || (got.Question != "") != asks ||
				(got.Alternative != "") != (c.checks == seckill.ChecksStrict && !asks) ||
				(got.Alternative == "") != (got.Picture == nil) {
				t.Errorf("%+v, %v", got, err)
			}
			left := got.Expires.Sub(w.clock.now)
			if left <= 0 || left > 2*seckill.ChallengeLife || got.Expires.After(end) {
				t.Errorf("it expires after %v, at %v", left, got.Expires)
			}
			if !slices.Equal(w.asked, caller().Networks) {
				t.Errorf("blocks of %v were read", w.asked)
			}
		})
	}
	_, f := newShop(seckill.ChecksStandard)
	if _, err := f.Challenge(t.Context(), caller(), "1002"); seckill.CodeOf(err) != seckill.CodeItemUnknown {
		t.Errorf("an unknown item: %v", err)
	}
}

// TestRanges: whoever comes from a blocked range gets nothing. An instance reads a range's blocks every ten seconds,
// however many shoppers it has.
func TestRanges(t *testing.T) {
	t.Parallel()
	const narrow, wide, other = "net:203.0.113.7/32", "net:203.0.0.0/16", "net:203.0.113.8/32"
	w, f := newShop(seckill.ChecksStandard)
	ask := func(what string, want seckill.Code, reads []seckill.Subject, from ...seckill.Subject) {
		t.Helper()
		w.asked = nil
		_, err := f.Challenge(t.Context(), admit.Caller{User: alice, Networks: from}, item)
		if (err != nil || want != "") && seckill.CodeOf(err) != want || !slices.Equal(w.asked, reads) {
			t.Errorf("%s: %v, blocks of %v were read; want %q, %v", what, err, w.asked, want, reads)
		}
	}
	block := func(s seckill.Subject, until time.Time) { w.ranges = []seckill.Block{{Subject: s, Until: until}} }
	ask("first", "", []seckill.Subject{narrow, wide}, narrow, wide)
	block(wide, time.Time{})
	w.clock.now = w.clock.now.Add(admit.RangesFresh - 1)
	ask("from memory", "", nil, narrow, wide)
	ask("another address of the range", "", []seckill.Subject{other}, other, wide)
	w.clock.now = w.clock.now.Add(1)
	ask("after ten seconds", seckill.CodeBlocked, []seckill.Subject{narrow, wide}, narrow, wide)
	ask("a blocked range is remembered", seckill.CodeBlocked, nil, other, wide)
	ask("a block is of its range only", "", nil, narrow)
	block(wide, w.clock.now.Add(admit.RangesFresh+time.Second))
	w.clock.now = w.clock.now.Add(admit.RangesFresh)
	ask("a block with an end", seckill.CodeBlocked, []seckill.Subject{wide}, wide)
	w.clock.now = w.clock.now.Add(time.Second)
	ask("after its end, from memory", "", nil, wide)
	w.clock.now = w.clock.now.Add(-time.Minute)
	ask("the clock was set back", seckill.CodeBlocked, []seckill.Subject{wide}, wide)
	w.fault["ranges"] = errors.New("no answer")
	ask("what is known holds while nothing can be read", seckill.CodeBlocked, nil, wide)
	w.clock.now = w.clock.now.Add(admit.RangesFresh)
	ask("and not for longer", seckill.CodeUnavailable, []seckill.Subject{wide}, wide)
}

// TestSaleMovedLater: a ticket ends with the end that was known when it was made. When the sale is moved, the same
// answer gets another one, which counts as an answer and is refused for no other reason.
func TestSaleMovedLater(t *testing.T) {
	t.Parallel()
	w, f := newShop(seckill.ChecksStandard)
	challenge, err := f.Challenge(t.Context(), caller(), item)
	must.OK(t, err)
	a := seckill.Answer{Item: item, Proof: challenge.Proof}
	renew := func(want time.Time) {
		t.Helper()
		got, err := f.Ticket(t.Context(), caller(), a)
		if err != nil || !got.Expires.Equal(want) || got.Text != fmt.Sprintf("ticket 42 1001 %d", want.Unix()) {
			t.Errorf("%+v, %v; want one until %s", got, err, want)
		}
	}
	renew(end)
	w.item.Start, w.item.End = start.Add(20*time.Minute), end.Add(20*time.Minute)
	w.clock.now = w.clock.now.Add(2 * time.Second)
	for range seckill.MaxAttempts - 1 {
		renew(w.item.End)
	}
	if _, err := f.Ticket(t.Context(), caller(), a); seckill.CodeOf(err) != seckill.CodeTooMany {
		t.Errorf("a sixth ticket within a minute: %v", err)
	}
	w.clock.now = w.clock.now.Add(time.Minute)
	renew(w.item.End)
	w.clock.now = end // the first proof is over; whoever comes now solves another
	if challenge, err = f.Challenge(t.Context(), caller(), item); err != nil {
		t.Fatal(err)
	}
	a.Proof = challenge.Proof
	renew(w.item.End)
}

// TestTicket: a right answer gets a ticket until the sale ends, each time; a wrong one gets none.
func TestTicket(t *testing.T) {
	t.Parallel()
	proof := func(text string) func(*shop, *seckill.Answer) {
		return func(_ *shop, a *seckill.Answer) { a.Proof = []byte(text) }
	}
	for name, c := range map[string]struct {
		answer string
		change func(*shop, *seckill.Answer)
		want   seckill.Reason
	}{
		"right":                       {"4", nil, ""},
		"right in other words":        {" ＦＯＵＲ ", nil, ""},
		"wrong":                       {"5", nil, seckill.CheckQuestion},
		"none":                        {"", nil, seckill.CheckQuestion},
		"the other question's answer": {"6", nil, seckill.CheckQuestion},
		"long":                        {strings.Repeat("4", 1000), nil, seckill.CheckQuestion},
		"no proof":                    {"4", proof(""), seckill.CheckProof},
		"another's proof":             {"4", proof("43|1001|20|9999999999"), seckill.CheckProof},
		"another item's proof":        {"4", proof("42|1002|20|9999999999"), seckill.CheckProof},
		"the half hour ended while typing": {"4", func(w *shop, _ *seckill.Answer) {
			w.clock.now = w.clock.now.Add(seckill.ChallengeLife)
		}, ""},
		"an hour later": {"4", func(w *shop, _ *seckill.Answer) {
			w.clock.now = w.clock.now.Add(2 * seckill.ChallengeLife)
		}, seckill.CheckProof},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, f := newShop(seckill.ChecksStrict)
			for range w.Pick(alice, item, w.clock.now.Unix()/1800, 3) { // until it is the first question's turn
				w.pool = append(w.pool[2:], w.pool[:2]...)
			}
			challenge, err := f.Challenge(t.Context(), caller(), item)
			if err != nil || challenge.Question != "2 + 2?" {
				t.Fatalf("%+v, %v", challenge, err)
			}
			a := seckill.Answer{Item: item, Proof: challenge.Proof, Answer: c.answer}
			if c.change != nil {
				c.change(w, &a)
			}
			got, err := f.Ticket(t.Context(), caller(), a)
			if c.want != "" {
				e := seckill.AsError(orNil(err))
				if e.Code != seckill.CodeCheck || e.Token != c.want || got.Text != "" {
					t.Errorf("%+v, %v; want %s", got, err, c.want)
				}
				return
			}
			want := seckill.Ticket{Text: fmt.Sprintf("ticket 42 1001 %d", w.item.End.Unix()), Expires: w.item.End,
				Took: time.Second}
			if err != nil || got != want || w.meter[seckill.EventAdmitted] != 1 {
				t.Errorf("%+v, %v; want %+v", got, err, want)
			}
		})
	}
}

// TestSum: without questions a shopper is asked a sum, the same one for half an hour; its result is right in digits and
// words, until the half hour after.
func TestSum(t *testing.T) {
	t.Parallel()
	w, f := newShop(seckill.ChecksStrict)
	w.pool, w.clock.now = nil, start // where a half hour begins
	ask := func(english bool) seckill.Challenge {
		t.Helper()
		c := caller()
		c.English = english
		return must.Get(f.Challenge(t.Context(), c, item))
	}
	chinese, english := ask(false), ask(true)
	var a, b, seed int
	must.Get(fmt.Sscanf(string(chinese.Picture), "%d+%d %d", &a, &b, &seed))
	sum := seckill.Sum{A: a, B: b}
	if sum != seckill.SumOf(seed) || chinese.Alternative != sum.Question(false).Text ||
		english.Alternative != sum.Question(true).Text || string(english.Picture) != string(chinese.Picture) {
		t.Errorf("%+v and %+v of the seed %d", chinese, english, seed)
	}
	try := func(answer string) error {
		_, err := f.Ticket(t.Context(), caller(), seckill.Answer{Item: item, Proof: chinese.Proof, Answer: answer})
		return err
	}
	for i, right := range sum.Question(true).Answers {
		if err := try(" " + right); err != nil {
			t.Errorf("%s: %v", right, err)
		}
		w.clock.now = w.clock.now.Add(time.Duration(i) * time.Minute)
	}
	w.clock.now = w.clock.now.Add(time.Minute)
	for _, wrong := range []string{"", fmt.Sprint(a + b + 1), fmt.Sprint(a), fmt.Sprintf("%d+%d", a, b)} {
		if err := try(wrong); seckill.CodeOf(err) != seckill.CodeCheck {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	w.clock.now = chinese.Expires.Add(-1)
	if err := try(fmt.Sprint(a + b)); err != nil {
		t.Errorf("in the half hour after: %v", err)
	}
}

// TestQuestionsAreRemembered: an item's questions are read once a minute, again when the clock was set back; a fault is
// not remembered.
func TestQuestionsAreRemembered(t *testing.T) {
	t.Parallel()
	w, f := newShop(seckill.ChecksStrict)
	ask := func() error {
		_, err := f.Challenge(t.Context(), caller(), item)
		return err
	}
	for i, c := range []struct {
		later time.Duration
		fault error
		reads int
	}{{0, errors.New("no answer"), 1}, {0, nil, 2}, {0, nil, 2}, {time.Minute - 1, nil, 2}, {1, nil, 3},
		{-time.Second, nil, 4}} {
		w.clock.now, w.fault["questions"] = w.clock.now.Add(c.later), c.fault
		if err := ask(); (err == nil) != (c.fault == nil) || w.reads != c.reads {
			t.Errorf("%d: %v, %d reads, want %d", i, err, w.reads, c.reads)
		}
	}
}

// BenchmarkTicket: the flow without its proof of work, on a ledger in memory, as many tickets a second.
func BenchmarkTicket(b *testing.B) {
	w, _ := newShop(seckill.ChecksStrict)
	rows := ledger.New(memory.NewRows(memory.RowsOptions{Clock: memory.NewClock(w.clock.now)}))
	for i := range 100 {
		q := seckill.Question{ID: seckill.QuestionID(i + 1), Text: fmt.Sprint(i), Answers: []string{"right", "richtig"}}
		must.OK(b, rows.PutQuestion(b.Context(), item, q))
	}
	f := admit.New(admit.Deps{Ledger: rows, Items: w, Questions: rows, Proofs: proofs{w.clock}, Tickets: tickets{},
		Picker: w, Clock: w.clock, Meter: w.meter, Work: seckill.Work{Cost: 10, Tries: 20}})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c := caller()
		c.User = fmt.Sprint(i)
		got := must.Get(f.Challenge(b.Context(), c, item))
		a := seckill.Answer{Item: item, Proof: got.Proof, Answer: "right"}
		must.Get(f.Ticket(b.Context(), c, a))
	}
}

// TestAttempts: right and wrong answers count alike; over the limit nothing is checked, and the wait is exact; a fault
// of the count gives no ticket.
func TestAttempts(t *testing.T) {
	t.Parallel()
	w, f := newShop(seckill.ChecksStandard)
	w.clock.now = start.Add(20 * time.Second)
	c := must.Get(f.Challenge(t.Context(), caller(), item))
	right := seckill.Answer{Item: item, Proof: c.Proof}
	for i := range seckill.MaxAttempts {
		a := right
		if i%2 == 0 {
			a.Proof = nil
		}
		if _, err := f.Ticket(t.Context(), caller(), a); (err == nil) != (i%2 == 1) {
			t.Errorf("attempt %d: %v", i, err)
		}
	}
	_, err := f.Ticket(t.Context(), caller(), right)
	if e := seckill.AsError(orNil(err)); e.Code != seckill.CodeTooMany || e.Token != seckill.LimitAttempts ||
		e.RetryAfter != 40*time.Second {
		t.Errorf("one more: %+v", e)
	}
	w.clock.now = w.clock.now.Add(40 * time.Second)
	if _, err := f.Ticket(t.Context(), caller(), right); err != nil {
		t.Errorf("a minute later: %v", err)
	}
	w.fault["attempts"] = errors.New("no answer")
	got, err := f.Ticket(t.Context(), caller(), right)
	if seckill.CodeOf(err) != seckill.CodeUnavailable || got.Text != "" {
		t.Errorf("when answers cannot be counted: %+v, %v", got, err)
	}
}

func orNil(err error) error {
	if err == nil {
		return &seckill.Error{}
	}
	return err
}

// TestTooFast: a ticket says how long its proof took, and whether that is too little for its work.
func TestTooFast(t *testing.T) {
	t.Parallel()
	for cost, want := range map[int]bool{100_000: false, 10_000_000: false,
		10_000_001: true} { // a second is 100 million rounds
		_, f := newShop(seckill.ChecksStandard)
		f.Work.Cost = cost
		c := must.Get(f.Challenge(t.Context(), caller(), item))
		got, err := f.Ticket(t.Context(), caller(), seckill.Answer{Item: item, Proof: c.Proof})
		if err != nil || got.Took != time.Second || got.TooFast != want {
			t.Errorf("10 times %d rounds: %+v, %v; want %v", cost, got, err, want)
		}
	}
}
