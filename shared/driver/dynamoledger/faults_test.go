package dynamoledger_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

var (
	ctx   = context.Background()
	begun = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
)

// sample returns an order of two units of an item.
func sample(item string) seckill.Order {
	return seckill.Order{ID: seckill.KeyedOrderID(item, "7", "k"), Item: item, User: "7", Count: 2, Units: []int{1, 2},
		Price:  100,
		Amount: 200, Given: seckill.Given{Address: "secret street"}, Title: "t", Buckets: 4, CloseTo: seckill.Expired,
		Created: begun, Placed: begun, PayBy: begun.Add(seckill.DefaultHold)}
}

// operation is a transaction of the ledger, and its error if it was executed before.
type operation struct {
	name   string
	run    func(l *ledger.Ledger, o seckill.Order) error
	before error
}

var operations = []operation{
	{"Place", func(l *ledger.Ledger, o seckill.Order) error { return l.Place(ctx, o, 5) }, seckill.ErrOrderExists},
	{"RecordPayment", func(l *ledger.Ledger, o seckill.Order) error {
		p := seckill.Payment{Order: o.ID, TradeNo: "t1", Amount: 200, State: seckill.Captured, At: begun,
			Cause: "notify"}
		return l.RecordPayment(ctx, p, seckill.PendingPayment, seckill.Paid)
	}, seckill.ErrPaymentExists},
	{"GiveBack", func(l *ledger.Ledger, o seckill.Order) error {
		return l.GiveBack(ctx, o, begun, "c")
	}, seckill.ErrStateChanged},
}

// outcome is a way in which a call may end.
type outcome string

const (
	done   outcome = "done"
	before outcome = "carried out before"
	broken outcome = "fault"
)

func (op operation) outcome(err error) outcome {
	switch {
	case err == nil:
		return done
	case errors.Is(err, op.before):
		return before
	default:
		return broken
	}
}

// result is how a call ended: its outcome, its number of requests, and how often the server executed it.
type result struct {
	outcome outcome
	calls   int
	commits int
}

// faultCases are the faults of AWS. Place has one second in total (seckill.PlaceTimeout), as long as a single request
// may take, so a request without an answer is its last.
var faultCases = []struct {
	name   string
	script []fault
	want   result
	place  result // if it differs
}{
	{name: "no fault", want: result{done, 1, 1}},
	{name: "another transaction has a row", script: times(1, cancel("TransactionConflict")), want: result{done, 2, 1}},
	{name: "another transaction has a later row", script: times(1, cancel("None", "TransactionConflict")),
		want: result{done, 2, 1}},
	{name: "three others in turn have a row", script: times(3, cancel("TransactionConflict")),
		want: result{done, 4, 1}},
	{name: "others always have a row", script: times(99, cancel("None", "TransactionConflict")),
		want: result{broken, 4, 0}},
	{name: "a row is throttled", script: times(2, cancel("ThrottlingError")), want: result{done, 3, 1}},
	{name: "a row's partition is over its throughput",
		script: times(2, cancel("None", "ProvisionedThroughputExceeded")), want: result{done, 3, 1}},
	{name: "a condition failed before a row that another has",
		script: times(1, cancel("ConditionalCheckFailed", "TransactionConflict")), want: result{before, 1, 0}},
	{name: "a condition failed after a row that another has",
		script: times(1, cancel("TransactionConflict", "ConditionalCheckFailed")), want: result{done, 2, 1}},
	{name: "a condition failed and a later row is throttled",
		script: times(1, cancel("ConditionalCheckFailed", "ThrottlingError")), want: result{before, 1, 0}},
	{name: "a row is refused as invalid", script: times(1, cancel("ValidationError")), want: result{broken, 1, 0}},
	{name: "a row is refused as invalid before one that another has",
		script: times(1, cancel("ValidationError", "TransactionConflict")), want: result{broken, 1, 0}},
	{name: "cancelled without a reason", script: times(1, cancel()), want: result{broken, 1, 0}},
	{name: "throttled twice", script: times(2, refuse(400, "ThrottlingException")), want: result{done, 3, 1}},
	{name: "the table is over its throughput twice",
		script: times(2, refuse(400, "ProvisionedThroughputExceededException")), want: result{done, 3, 1}},
	{name: "throttled always", script: times(99, refuse(400, "ThrottlingException")), want: result{broken, 3, 0}},
	{name: "throttled, then a conflict, then throttled", script: []fault{refuse(400, "ThrottlingException"),
		cancel("TransactionConflict"), refuse(400, "ThrottlingException")}, want: result{done, 4, 1}},
	{name: "this transaction is still under way", script: times(2, refuse(400, "TransactionInProgressException")),
		want: result{done, 3, 1}},
	{name: "500, then success", script: times(1, refuse(500, "InternalServerError")), want: result{done, 2, 1}},
	{name: "503 always", script: times(99, answer(503, "")), want: result{broken, 3, 0}},
	{name: "carried out, answered 500", script: times(1, done500), want: result{done, 2, 1}},
	{name: "no connection, then one", script: times(2, unreachable), want: result{done, 3, 1}},
	{name: "no connection", script: times(99, unreachable), want: result{broken, 3, 0}},
	{name: "carried out, the answer is lost", script: times(1, lost), want: result{done, 2, 1}},
	{name: "carried out, the answer is lost twice", script: times(2, lost), want: result{done, 3, 1}},
	{name: "carried out, every answer is lost", script: times(99, lost), want: result{broken, 3, 1}},
	{name: "carried out, the answer is lost, the repeat meets a conflict",
		script: []fault{lost, cancel("TransactionConflict")}, want: result{before, 3, 1}},
	{name: "carried out, the answer ends in its middle", script: times(1, half), want: result{broken, 1, 1}},
	{name: "an answer that is none", script: times(1, answer(200, "<html>")), want: result{broken, 1, 0}},
	{name: "never arrives", script: times(1, slow), want: result{done, 2, 1}, place: result{broken, 1, 0}},
	{name: "carried out, half closed", script: times(1, mute), want: result{done, 2, 1}, place: result{broken, 1, 1}},
	{name: "nothing ever arrives", script: times(99, slow), want: result{broken, 3, 0}, place: result{broken, 1, 0}},
	{name: "not allowed", script: times(1, refuse(400, "AccessDeniedException")), want: result{broken, 1, 0}},
	{name: "a table is missing", script: times(1, refuse(400, "ResourceNotFoundException")),
		want: result{broken, 1, 0}},
}

func TestFaults(t *testing.T) {
	for _, c := range faultCases {
		for _, op := range operations {
			t.Run(c.name+"/"+op.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &store{tokens: map[string]string{}, written: map[string]bool{}}
					w := &wire{server: s, script: c.script}
					l := ledger.New(dynamoledger.New(w.config(), dynamoledger.Options{}))
					started := time.Now()
					err := op.run(l, sample("1"))
					took := time.Since(started)

					want, longest := c.want, dynamoledger.DefaultCallTimeout
					if op.name == "Place" {
						longest = seckill.PlaceTimeout
						if c.place.outcome != "" {
							want = c.place
						}
					}
					if got := (result{op.outcome(err), w.calls(), s.commits}); got != want || took > longest {
						t.Errorf("got %+v after %v, want %+v within %v; error %v", got, took, want, longest, err)
					}
					if want.calls > 1 && took == 0 {
						t.Errorf("%d requests without a wait between them", want.calls)
					}
					if err != nil && strings.Contains(err.Error(), "secret") {
						t.Errorf("the error shows an address: %v", err)
					}

					// The caller repeats after a fault; whatever happened before, the operation is now executed once.
					if err := op.run(l, sample("1")); err != nil && !errors.Is(err, op.before) && len(c.script) < 99 {
						t.Errorf("repeated: %v", err)
					}
					if s.commits > 1 || s.commits == 0 && len(c.script) < 99 {
						t.Errorf("carried out %d times, want once", s.commits)
					}
				})
			})
		}
	}
}

func TestTokensAreKeptByRepeatsAndNewInEachTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{tokens: map[string]string{}, written: map[string]bool{}}
		w := &wire{server: s, script: []fault{unreachable, cancel("TransactionConflict"), unreachable}}
		l := ledger.New(dynamoledger.New(w.config(), dynamoledger.Options{}))
		if err := operations[0].run(l, sample("1")); err != nil {
			t.Fatal(err)
		}
		var tokens []string
		for _, r := range w.requests {
			_, token, _ := strings.Cut(r.Body, `"ClientRequestToken":"`)
			token, _, _ = strings.Cut(token, `"`)
			tokens = append(tokens, token)
		}
		if len(tokens) != 4 || tokens[0] != tokens[1] || tokens[2] != tokens[3] || tokens[1] == tokens[2] ||
			tokens[0] == "" {
			t.Errorf("got tokens %q, want one for the first two requests and another for the last two", tokens)
		}
		if slices.ContainsFunc(tokens, func(token string) bool { return strings.Contains(token, sample("1").ID) }) {
			t.Errorf("a token of %q has the order's id", tokens)
		}
	})
}

func TestACallEndsWithItsContext(t *testing.T) {
	for name, script := range map[string][]fault{"slow": times(99, slow),
		"conflicts":     times(99, cancel("TransactionConflict")),
		"no connection": times(99, unreachable)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &wire{script: script}
				rows := dynamoledger.New(w.config(), dynamoledger.Options{})
				short, stop := context.WithTimeout(ctx, 10*time.Millisecond)
				defer stop()
				started := time.Now()
				err := rows.Transact(short, []ledger.Write{{Key: ledger.Key{Table: ledger.TableOrders, PK: "o"},
					Op: ledger.OpPut}})
				if took := time.Since(started); err == nil || took > 10*time.Millisecond {
					t.Errorf("got error %v after %v, want a fault within 10ms", err, took)
				}
			})
		})
	}
}

func TestACallIsBoundedWhateverIsTriedInIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{script: slices.Repeat([]fault{slow, slow, cancel("TransactionConflict")}, 33)}
		started := time.Now()
		err := operations[1].run(ledger.New(dynamoledger.New(w.config(), dynamoledger.Options{})), sample("1"))
		if took := time.Since(started); err == nil || took != dynamoledger.DefaultCallTimeout || w.calls() != 7 {
			t.Errorf("got error %v after %v and %d requests, want a fault after %v and 7", err, took, w.calls(),
				dynamoledger.DefaultCallTimeout)
		}
	})
}

func TestATransactionThatCannotBeRightReachesNobody(t *testing.T) {
	put := func(id string, row ledger.Row) ledger.Write {
		return ledger.Write{Key: ledger.Key{Table: ledger.TableOrders, PK: id}, Op: ledger.OpPut, Row: row}
	}
	update := put("a", nil)
	update.Op, update.Set = ledger.OpUpdate, ledger.Row{"x": 1.5}
	ended, end := context.WithCancel(ctx)
	end()
	for _, c := range []struct {
		name   string
		ctx    context.Context
		writes []ledger.Write
	}{
		{"no write", ctx, nil},
		{"a context that has ended", ended, []ledger.Write{put("a", nil)}},
		{"one row twice", ctx, []ledger.Write{put("a", nil), put("b", nil), put("a", nil)}},
		{"a float", ctx, []ledger.Write{put("a", ledger.Row{"x": 1.5})}},
		{"a float in an update", ctx, []ledger.Write{update}},
		{"no key", ctx, []ledger.Write{put("", nil)}},
		{"no such table", ctx, []ledger.Write{{Key: ledger.Key{Table: "nonsense", PK: "a"}}}},
		{"more than 100 writes", ctx, make([]ledger.Write, ledger.MaxWrites+1)},
	} {
		w := &wire{script: times(9, answer(200, "{}"))}
		err := dynamoledger.New(w.config(), dynamoledger.Options{}).Transact(c.ctx, c.writes)
		if err == nil || w.calls() != 0 {
			t.Errorf("%s: got error %v and %d requests, want a fault and none", c.name, err, w.calls())
		}
	}
}
