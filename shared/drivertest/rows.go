package drivertest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/your-org/seckill/shared/driver/ledger"
)

// The tests of rows use the returns table: it has both keys, no index, and no rule about its attributes.
func key(sk string) ledger.Key { return ledger.Key{Table: ledger.TableReturns, PK: "p", SK: sk} }

func putRow(sk string, row ledger.Row, conds ...ledger.Cond) ledger.Write {
	return ledger.Write{Key: key(sk), Op: ledger.OpPut, Row: row, If: conds}
}

func stored(sk string, row ledger.Row) ledger.Row {
	out := ledger.Row{"shard": "p", "order": sk}
	for attr, v := range row {
		out[attr] = v
	}
	return out
}

func (s *suite) transact(writes ...ledger.Write) {
	s.Helper()
	s.ok(s.Rows.Transact(s.ctx, writes))
}

// wantRows compares the whole partition that the tests of rows use.
func (s *suite) wantRows(want ...ledger.Row) {
	s.Helper()
	got, err := s.Rows.Query(s.ctx, ledger.TableReturns, "p", "", 1000)
	s.ok(err)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		s.Fatalf("rows: got (+), want (-):\n%s", diff)
	}
}

// canceled checks that the error is a cancellation with these reasons.
func (s *suite) canceled(err error, want ...ledger.Reason) {
	s.Helper()
	var c *ledger.Canceled
	if !errors.As(err, &c) {
		s.Fatalf("got error %v, want *Canceled", err)
	}
	s.same("reasons", c.Reasons, want)
}

// fault checks that the error is not a cancellation.
func (s *suite) fault(what string, err error) {
	s.Helper()
	var c *ledger.Canceled
	if err == nil || errors.As(err, &c) {
		s.Fatalf("%s: got error %v, want a plain one", what, err)
	}
}

func puts(n int) []ledger.Write {
	writes := make([]ledger.Write, n)
	for i := range writes {
		writes[i] = putRow(fmt.Sprintf("%03d", i), ledger.Row{"a": int64(i)})
	}
	return writes
}

var (
	none   = ledger.Reason{Code: ledger.ReasonNone}
	failed = func(old ledger.Row) ledger.Reason { return ledger.Reason{Code: ledger.ReasonCondition, Old: old} }
)

var rowCases = []ledgerCase{
	{"a transaction holds 1 to 100 writes", func(s *suite) {
		s.fault("no write", s.Rows.Transact(s.ctx, nil))
		s.fault("101 writes", s.Rows.Transact(s.ctx, puts(ledger.MaxWrites+1)))
		s.wantRows()
		s.transact(puts(ledger.MaxWrites)...)
		rows, err := s.Rows.Query(s.ctx, ledger.TableReturns, "p", "", 1000)
		s.ok(err)
		if len(rows) != ledger.MaxWrites {
			s.Fatalf("got %d rows, want %d", len(rows), ledger.MaxWrites)
		}
	}},
	{"a transaction names no row twice", func(s *suite) {
		s.fault("two puts", s.Rows.Transact(s.ctx, []ledger.Write{putRow("1", nil), putRow("2", nil),
			putRow("1", nil)}))
		s.fault("put and check", s.Rows.Transact(s.ctx, []ledger.Write{putRow("1", nil),
			{Key: key("1"), Op: ledger.OpCheck, If: []ledger.Cond{ledger.Absent()}}}))
		s.wantRows()
	}},
	{"each condition holds or fails as it says", func(s *suite) {
		row := ledger.Row{"n": int64(5), "t": "x", "set": ledger.Set{"a", "b"}, "list": []string{"a"}}
		s.transact(putRow("there", row))
		for _, c := range []struct {
			sk   string
			cond ledger.Cond
			want bool
		}{
			{"there", ledger.Absent(), false},
			{"gone", ledger.Absent(), true},
			{"there", ledger.Eq("t", "x"), true},
			{"there", ledger.Eq("t", "y"), false},
			{"there", ledger.Eq("n", int64(5)), true},
			{"there", ledger.Eq("n", int64(6)), false},
			{"there", ledger.Eq("n", "5"), false},
			{"there", ledger.Eq("other", ""), false},
			{"there", ledger.Eq("order", "there"), true},
			{"gone", ledger.Eq("t", "x"), false},
			{"there", ledger.AtMost("n", 5), true},
			{"there", ledger.AtMost("n", 4), false},
			{"there", ledger.AtMost("other", 0), true},
			{"there", ledger.AtMost("other", -1), false},
			{"there", ledger.AtMost("t", 9), false},
			{"gone", ledger.AtMost("n", 0), true},
			{"gone", ledger.AtMost("n", -1), false},
			{"there", ledger.Has("set", "b"), true},
			{"there", ledger.Has("set", "c"), false},
			{"there", ledger.Has("other", "a"), false},
			{"there", ledger.Has("list", "a"), false},
			{"there", ledger.Has("t", "x"), false},
			{"gone", ledger.Has("set", "a"), false},
		} {
			err := s.Rows.Transact(s.ctx, []ledger.Write{
				{Key: key(c.sk), Op: ledger.OpCheck, If: []ledger.Cond{c.cond}}})
			if c.want {
				s.ok(err)
				continue
			}
			var old ledger.Row
			if c.sk == "there" {
				old = stored("there", row)
			}
			s.Logf("condition %+v on %s", c.cond, c.sk)
			s.canceled(err, failed(old))
		}
	}},
	{"a cancelled transaction writes nothing and names every row that stood against it", func(s *suite) {
		s.transact(putRow("1", ledger.Row{"a": "one"}), putRow("2", ledger.Row{"a": "two"}))
		err := s.Rows.Transact(s.ctx, []ledger.Write{
			putRow("0", ledger.Row{"a": "new"}, ledger.Absent()),
			putRow("2", ledger.Row{"a": "new"}, ledger.Absent()),
			{Key: key("1"), Op: ledger.OpDelete, If: []ledger.Cond{ledger.Eq("a", "one"), ledger.Eq("a", "uno")}},
			{Key: key("3"), Op: ledger.OpUpdate, Set: ledger.Row{"a": "new"}},
			{Key: key("4"), Op: ledger.OpDelete, If: []ledger.Cond{ledger.Eq("a", "four")}},
		})
		s.canceled(err, none, failed(stored("2", ledger.Row{"a": "two"})), failed(stored("1", ledger.Row{"a": "one"})),
			none, failed(nil))
		s.wantRows(stored("1", ledger.Row{"a": "one"}), stored("2", ledger.Row{"a": "two"}))
	}},
	{"a check guards the other rows", func(s *suite) {
		s.transact(putRow("1", ledger.Row{"a": "one"}))
		check := ledger.Write{Key: key("1"), Op: ledger.OpCheck, If: []ledger.Cond{ledger.Eq("a", "one")}}
		s.transact(check, putRow("2", ledger.Row{}))
		check.If[0].Value = "uno"
		s.canceled(s.Rows.Transact(s.ctx, []ledger.Write{check, putRow("3", ledger.Row{})}),
			failed(stored("1", ledger.Row{"a": "one"})), none)
		s.wantRows(stored("1", ledger.Row{"a": "one"}), stored("2", nil))
	}},
	{"an update makes and changes what it names, and nothing else", func(s *suite) {
		up := ledger.Write{Key: key("1"), Op: ledger.OpUpdate, Set: ledger.Row{"t": "x"}, Add: map[string]int64{"n": 2},
			AddSet: map[string]ledger.Set{"set": {"b"}}, Append: map[string][]string{"list": {"p"}},
			DelSet: map[string]ledger.Set{"gone": {"x"}}, Remove: []string{"nothing"}}
		s.transact(up)
		s.wantRows(stored("1", ledger.Row{"t": "x", "n": int64(2), "set": ledger.Set{"b"}, "list": []string{"p"}}))
		s.transact(ledger.Write{Key: key("1"), Op: ledger.OpUpdate, Set: ledger.Row{"more": int64(1)},
			Add: map[string]int64{"n": -5}, AddSet: map[string]ledger.Set{"set": {"a", "b"}},
			Append: map[string][]string{"list": {"q", "p"}}})
		s.wantRows(stored("1", ledger.Row{"t": "x", "n": int64(-3), "set": ledger.Set{"a", "b"},
			"list": []string{"p", "q", "p"}, "more": int64(1)}))
		s.transact(ledger.Write{Key: key("1"), Op: ledger.OpUpdate, DelSet: map[string]ledger.Set{"set": {"b", "z"}},
			Remove: []string{"t", "list"}})
		s.wantRows(stored("1", ledger.Row{"n": int64(-3), "set": ledger.Set{"a"}, "more": int64(1)}))
		s.transact(ledger.Write{Key: key("1"), Op: ledger.OpUpdate, DelSet: map[string]ledger.Set{"set": {"a"}}})
		s.wantRows(stored("1", ledger.Row{"n": int64(-3), "more": int64(1)}))
	}},
	{"a put replaces the whole row, a delete of nothing is not an error", func(s *suite) {
		s.transact(putRow("1", ledger.Row{"a": "one", "b": "two"}))
		s.transact(putRow("1", ledger.Row{"c": ""}))
		s.wantRows(stored("1", ledger.Row{"c": ""}))
		for range 2 {
			s.transact(ledger.Write{Key: key("1"), Op: ledger.OpDelete})
			s.wantRows()
		}
	}},
	{"a write that no table could take is a fault", func(s *suite) {
		s.transact(putRow("1", ledger.Row{"t": "x"}))
		update := func(w ledger.Write) ledger.Write { w.Key, w.Op = key("1"), ledger.OpUpdate; return w }
		due := func(v any) ledger.Write {
			return ledger.Write{Key: ledger.Key{Table: ledger.TableOrders, PK: "o"}, Op: ledger.OpPut,
				Row: ledger.Row{"due_shard": v, "due_at": "1"}}
		}
		for what, w := range map[string]ledger.Write{
			"a key set":              update(ledger.Write{Set: ledger.Row{"shard": "q"}}),
			"an attribute twice":     update(ledger.Write{Set: ledger.Row{"a": "x"}, Remove: []string{"a"}}),
			"adding to a text":       update(ledger.Write{Add: map[string]int64{"t": 1}}),
			"a member into a text":   update(ledger.Write{AddSet: map[string]ledger.Set{"t": {"a"}}}),
			"a member out of a text": update(ledger.Write{DelSet: map[string]ledger.Set{"t": {"a"}}}),
			"appending to a text":    update(ledger.Write{Append: map[string][]string{"t": {"a"}}}),
			"an empty set":           putRow("2", ledger.Row{"a": ledger.Set{}}),
			"a set with a repeat":    putRow("2", ledger.Row{"a": ledger.Set{"x", "x"}}),
			"a float":                putRow("2", ledger.Row{"a": 1.5}),
			"no partition key":       {Key: ledger.Key{Table: ledger.TableReturns, SK: "2"}, Op: ledger.OpPut},
			"no sort key":            {Key: key(""), Op: ledger.OpPut},
			"a sort key too many":    {Key: ledger.Key{Table: ledger.TableOrders, PK: "o", SK: "2"}, Op: ledger.OpPut},
			"no such table":          {Key: ledger.Key{Table: "nonsense", PK: "p", SK: "2"}, Op: ledger.OpPut},
			"a check of nothing":     {Key: key("2"), Op: ledger.OpCheck},
			"an unknown op":          {Key: key("2"), Op: ledger.OpCheck + 1},
			"an unknown condition":   putRow("2", nil, ledger.Cond{Kind: ledger.CondHas + 1, Attr: "a"}),
			"an index key of digits": due(int64(1)),
			"an empty index key":     due(""),
			"a row over 400 KB":      putRow("2", ledger.Row{"a": strings.Repeat("x", ledger.MaxRow)}),
			"a partition key over 2 KB": {Key: ledger.Key{Table: ledger.TableReturns,
				PK: strings.Repeat("p", ledger.MaxPK+1), SK: "2"}, Op: ledger.OpPut},
		} {
			s.fault(what, s.Rows.Transact(s.ctx, []ledger.Write{putRow("0", ledger.Row{}), w}))
			s.wantRows(stored("1", ledger.Row{"t": "x"}))
		}
	}},
	{"a transaction over 4 MB is a fault", func(s *suite) {
		writes := puts(12)
		for i := range writes {
			writes[i].Row["a"] = strings.Repeat("x", ledger.MaxRow-2000)
		}
		s.fault("12 rows of almost 400 KB", s.Rows.Transact(s.ctx, writes))
		s.wantRows()
	}},
	{"a call whose context has ended does nothing", func(s *suite) {
		ctx, cancel := context.WithCancel(s.ctx)
		cancel()
		s.fault("transact", s.Rows.Transact(ctx, puts(1)))
		_, _, err := s.Rows.Get(ctx, key("1"))
		s.fault("get", err)
		_, err = s.Rows.GetBatch(ctx, []ledger.Key{key("1")})
		s.fault("get batch", err)
		_, err = s.Rows.PeekBatch(ctx, []ledger.Key{key("1")})
		s.fault("peek batch", err)
		s.fault("update", s.Rows.Update(ctx, ledger.Write{Key: key("1"), Op: ledger.OpUpdate,
			Set: ledger.Row{"a": int64(1)}}))
		_, err = s.Rows.Query(ctx, ledger.TableReturns, "p", "", 1)
		s.fault("query", err)
		_, _, err = s.Rows.Index(ctx, ledger.IndexOrdersDue, "00", "", 1, false)
		s.fault("index", err)
		_, err = s.Rows.Newest(ctx, ledger.IndexOrdersByTime, "00", "", 1)
		s.fault("newest", err)
		s.wantRows()
	}},
	{"an update alone changes the row if its conditions hold", func(s *suite) {
		update := ledger.Write{Key: key("1"), Op: ledger.OpUpdate, Set: ledger.Row{"t": "x"},
			Add: map[string]int64{"n": 1}, If: []ledger.Cond{ledger.AtMost("n", 1)}}
		for n := range 2 {
			s.ok(s.Rows.Update(s.ctx, update))
			s.wantRows(stored("1", ledger.Row{"t": "x", "n": int64(n + 1)}))
		}
		s.canceled(s.Rows.Update(s.ctx, update), failed(stored("1", ledger.Row{"t": "x", "n": int64(2)})))
		update.Key, update.If = key("2"), []ledger.Cond{ledger.Eq("t", "x")}
		s.canceled(s.Rows.Update(s.ctx, update), failed(nil))
		s.fault("a put", s.Rows.Update(s.ctx, putRow("2", nil)))
		update.Add = map[string]int64{"t": 1}
		s.fault("an attribute named twice", s.Rows.Update(s.ctx, update))
		s.wantRows(stored("1", ledger.Row{"t": "x", "n": int64(2)}))
	}},
	{"rows that are read belong to the caller", func(s *suite) {
		row := func() ledger.Row { return ledger.Row{"set": ledger.Set{"a"}, "list": []string{"p"}} }
		spoil := func(r ledger.Row) {
			r["set"].(ledger.Set)[0], r["list"].([]string)[0], r["more"] = "spoilt", "spoilt", "spoilt"
		}
		s.transact(putRow("1", row()))
		got, _, err := s.Rows.Get(s.ctx, key("1"))
		s.ok(err)
		spoil(got)
		var c *ledger.Canceled
		if errors.As(s.Rows.Transact(s.ctx, []ledger.Write{putRow("1", nil, ledger.Absent())}), &c) {
			spoil(c.Reasons[0].Old)
		}
		s.wantRows(stored("1", row()))
	}},
	{"a partition is read by its sort key, page by page", func(s *suite) {
		s.transact(puts(7)...)
		s.transact(ledger.Write{Key: ledger.Key{Table: ledger.TableReturns, PK: "q", SK: "0"}, Op: ledger.OpPut})
		for limit := 1; limit <= 8; limit++ {
			after, n := "", 0
			for {
				page, err := s.Rows.Query(s.ctx, ledger.TableReturns, "p", after, limit)
				s.ok(err)
				for _, row := range page {
					s.same("row", row, stored(fmt.Sprintf("%03d", n), ledger.Row{"a": int64(n)}))
					n++
				}
				if len(page) < limit {
					break
				}
				after = page[limit-1]["order"].(string)
			}
			if n != 7 {
				s.Fatalf("pages of %d: got %d rows, want 7", limit, n)
			}
		}
		page, err := s.Rows.Query(s.ctx, ledger.TableReturns, "p", "0045", 1)
		s.ok(err)
		s.same("after a key that is not there", page, []ledger.Row{stored("005", ledger.Row{"a": int64(5)})})
	}},
	{"a batch of reads gives the rows that are there", func(s *suite) {
		s.transact(puts(3)...)
		s.CatchUp()
		keys := []ledger.Key{key("002"), key("gone"), key("000")}
		many := make([]ledger.Key, ledger.MaxBatch+1)
		for i := range many {
			many[i] = key(fmt.Sprint(i))
		}
		for _, read := range []func(context.Context, []ledger.Key) ([]ledger.Row, error){s.Rows.GetBatch,
			s.Rows.PeekBatch} {
			rows, err := read(s.ctx, keys)
			s.ok(err)
			got := map[string]ledger.Row{}
			for _, row := range rows {
				got[row["order"].(string)] = row
			}
			s.same("rows", got, map[string]ledger.Row{"000": stored("000", ledger.Row{"a": int64(0)}),
				"002": stored("002", ledger.Row{"a": int64(2)})})
			_, err = read(s.ctx, append(keys, key("000")))
			s.fault("a row twice", err)
			_, err = read(s.ctx, nil)
			s.fault("no row", err)
			_, err = read(s.ctx, many)
			s.fault("101 rows", err)
		}
	}},
	{"a read that makes no sense is a fault", func(s *suite) {
		_, err := s.Rows.Query(s.ctx, "nonsense", "p", "", 1)
		s.fault("query of no table", err)
		_, err = s.Rows.Query(s.ctx, ledger.TableReturns, "p", "", 0)
		s.fault("query of no rows", err)
		_, _, err = s.Rows.Index(s.ctx, "nonsense", "p", "", 1, false)
		s.fault("read of no index", err)
		_, _, err = s.Rows.Index(s.ctx, ledger.IndexOrdersDue, "00", "", 0, false)
		s.fault("read of no rows", err)
		_, err = s.Rows.Newest(s.ctx, "nonsense", "00", "", 1)
		s.fault("newest of no index", err)
		_, err = s.Rows.Newest(s.ctx, ledger.IndexOrdersByTime, "00", "", 0)
		s.fault("newest of no rows", err)
		_, _, err = s.Rows.Get(s.ctx, key(""))
		s.fault("get without a sort key", err)
		_, found, err := s.Rows.Get(s.ctx, key("gone"))
		s.ok(err)
		if found {
			s.Fatal("got a row that was never written")
		}
	}},
}
