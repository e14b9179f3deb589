package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/office/fulfil"
	"github.com/your-org/seckill/shared/seckill"
)

// orderShop is a shop of item 2002 that knows commands about orders and items.
type orderShop struct {
	t      *testing.T
	url    string
	ledger *ledger.Ledger
	clock  *memory.Clock
	made   int
	before func(event []byte) bool // is called before each command; if it returns false, the command fails
}

func newOrderShop(t *testing.T) *orderShop {
	clock := memory.NewClock(time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC))
	s := &orderShop{t: t, ledger: ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock})), clock: clock,
		before: func([]byte) bool { return true }}
	s.url = running(t, func(event []byte) bool { return s.before(event) }, itemHandler(t, upcoming("2002", 5)),
		operator.NewOrderHandler(fulfil.New(fulfil.Deps{Ledger: s.ledger, Clock: clock})))
	return s
}

// order places an order of a user of its own, and pays it if paid.
func (s *orderShop) order(paid bool) string {
	s.t.Helper()
	return s.orderOf(fmt.Sprint(1001+s.made), "=1+1", paid).ID
}

// orderOf places an order of a user who has none, and pays it if paid.
func (s *orderShop) orderOf(user, title string, paid bool) seckill.Order {
	s.t.Helper()
	s.made++
	now := s.clock.Now()
	o := seckill.Order{ID: seckill.KeyedOrderID("2002", user, "k"), Item: "2002", User: user, Count: 1,
		Units: []int{s.made}, Price: 9900, Amount: 9900, Given: seckill.Given{Address: "a"}, Title: title,
		Created: now, Placed: now, PayBy: now.Add(time.Hour), Buckets: 1}
	err := s.ledger.Place(s.t.Context(), o, 1)
	if paid {
		p := seckill.Payment{Order: o.ID, TradeNo: "t", Amount: 9900, State: seckill.Captured, At: now, Cause: "notify"}
		err = errors.Join(err, s.ledger.RecordPayment(s.t.Context(), p, seckill.PendingPayment, seckill.Paid))
	}
	must.OK(s.t, err)
	return o
}

func (s *orderShop) try(steps ...step) {
	s.t.Helper()
	for _, st := range steps {
		st.line = "orders " + st.line + " --url " + s.url
		try(s.t, st)
	}
}

// counts returns how many orders are in each state.
func (s *orderShop) states() map[seckill.State]int {
	s.t.Helper()
	out := map[seckill.State]int{}
	for after := ""; ; {
		p, err := s.ledger.OrdersByItem(s.t.Context(), "2002", after, 1000)
		must.OK(s.t, err)
		for i := range p.Orders {
			out[p.Orders[i].State]++
		}
		if after = p.Next; after == "" {
			return out
		}
	}
}

func TestOrdersCommands(t *testing.T) {
	t.Parallel()
	s := newOrderShop(t)
	s.try(step{"list --item 2002", exitOK, "No orders.\n", ""})
	unpaid := s.order(false)
	o, err := s.ledger.Order(t.Context(), unpaid)
	err = errors.Join(err, s.ledger.BeginClosing(t.Context(), o, seckill.Expired, s.clock.Now(), "not paid in time"))
	closing, e := s.ledger.Order(t.Context(), unpaid)
	must.OK(t, errors.Join(err, e, s.ledger.GiveBack(t.Context(), closing, s.clock.Now(), "closed")))
	s.try(step{"hide " + unpaid + " --why a~test", exitOK, "Order ORDER: hidden. It is expired.\n", ""},
		step{"list --item 2002", exitOK, "No orders.\n", ""},
		step{"hide " + unpaid + " --why a~test --undo", exitOK, "Order ORDER: on the lists. It is expired.\n", ""},
		step{"hide " + unpaid + " --why a~test", exitOK, "Order ORDER: hidden. It is expired.\n", ""})
	shows(t, step{"orders list --item 2002 --hidden --url " + s.url, exitOK, "expired  6 ", ""})
	id, open := s.order(true), s.order(false)
	header := "  order  item  user  count  yuan  state  older  made  changed  carrier  number  refund asked\n"
	s.try(
		step{"list --item 2002 --state paid", exitOK, header +
			"  ORDER  2002  1002  1  99.00  paid  2  TIME  TIME  -  -  -\n", ""},
		step{"list --user 1003", exitOK, header +
			"  ORDER  2002  1003  1  99.00  pending_payment  1  TIME  TIME  -  -  -\n", ""},
		step{"list --item 2002 --user 1003 --state paid", exitOK, "No orders.\n", ""},
		step{"list --state paid", exitOK, header +
			"  ORDER  2002  1002  1  99.00  paid  2  TIME  TIME  -  -  -\n", ""},
		step{"list --activity 12", exitOK, "No orders.\n", ""},
		step{"list --item 2002 --refund-asked", exitOK, "No orders.\n", ""},
		step{"list --item 2002 --to 2026-11-11T02:00:00Z", exitOK, "No orders.\n", ""},
		step{"confirm " + id + " --who ann", exitOK, "Order ORDER: confirmed. It is confirmed.\n", ""},
		step{"confirm " + id + " --who bob", exitOK,
			"Nothing to do: order ORDER is confirmed already. It is confirmed.\n", ""},
		step{"note " + id + " --why a~gift --who ann", exitOK, "Order ORDER: noted. It is confirmed.\n", ""},
		step{"ship " + id + " --carrier SF --number 1 --who ann", exitOK, "Shipped: order ORDER, with SF, 1.\n", ""},
		step{"ship " + id + " --carrier SF --number 1", exitOK,
			"Nothing to do: order ORDER is shipped so already.\n", ""},
		step{"show " + id, exitOK, "Order ORDER\n  item  2002, =1+1\n  user  1002\n" +
			"  units  1, of which 1 are not for sale\n  yuan  99.00\n  state  shipped, older 7\n  parcel  SF, 1\n\n" +
			"  time  state  by\n  TIME  pending_payment  placed\n  TIME  paid  notify\n" +
			"  TIME  confirmed  confirmed by ann\n  TIME  confirmed  note by ann: a gift\n" +
			"  TIME  shipped  shipped by ann\n", ""})
	refuses(t, exitUsage, "orders * --url "+s.url, [][2]string{
		{"list --activity x", `--activity "x": want 1 to 19 digits`},
		{"list --item 9999", "item 9999: " + s.url + " has no such item"},
		{"list --item x", `--item "x": want 1 to 19 digits`},
		{"list --user x", `--user "x": want a user id`},
		{"list --item 2002 --state lost", `--state "lost": want pending_payment, closing, paid,`},
		{"list --item 2002 --from noon", `--from "noon": want a time such as`},
		{"list --item 2002 --from 2026-11-11T02:00:00Z --to 2026-11-11T02:00:00Z", "--from before --to"},
		{"list --item 2002 --limit 0", "--limit 0: want 1 to 100000"},
		{"show x", `ORDER "x": want an order id`},
		{"show " + someOrder, "has no such order"},
		{"confirm " + open, "it is pending_payment"},
		{"note " + id, "--why is missing"},
		{"hide " + id + " --why x", "one for which nothing is left to do; it is shipped"},
		{"ship " + open + " --carrier SF --number 1 --confirm", "it is pending_payment"},
		{"ship " + id + " --carrier SF --number 2", "stays as it is: want one that is not shipped; it is, with SF, 1"},
		{"ship " + id + " --carrier SF", "--carrier and --number are missing"},
		{"ship --carrier SF --number 1", "ORDER is missing"},
		{"ship " + id + " --csv x.csv", "--csv goes with no ORDER"},
		{"ship --csv none.csv", "no such file"},
		{"ship --csv " + written(t, "a.csv", []byte("order,carrier\nx,SF\n")),
			"the line has \"order,carrier\"; nothing was changed"},
		{"export --item 2002", "--csv FILE is missing"},
		{"export --item 2002 --csv " + filepath.Join(t.TempDir(), "no", "x.csv"), "no such file"},
	})
}

// TestOrdersPages: a page says how to get the next one, and the pages together have every order once.
func TestOrdersPages(t *testing.T) {
	t.Parallel()
	s := newOrderShop(t)
	for range 7 {
		s.order(true)
	}
	seen := map[string]bool{}
	for pages, args := 1, []string{}; ; pages++ {
		_, stdout, stderr := command(t, append([]string{"orders", "list", "--item", "2002", "--limit", "3", "--url",
			s.url}, args...)...)
		for _, id := range regexp.MustCompile(`(?m)^  (o[a-z2-7]{31}) `).FindAllStringSubmatch(stdout, -1) {
			if seen[id[1]] {
				t.Errorf("%s is there twice", id[1])
			}
			seen[id[1]] = true
		}
		more := regexp.MustCompile(`--after '(.*)'`).FindStringSubmatch(stdout)
		if more == nil {
			if pages != 3 || len(seen) != 7 || stderr != "" {
				t.Errorf("%d pages, %d orders\n%s", pages, len(seen), stderr)
			}
			return
		}
		args = []string{"--after", more[1]}
	}
}

// parcels is a file with a line for each order.
func parcels(t *testing.T, ids []string, more ...string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("order,carrier,number,title\n")
	for i, id := range ids {
		fmt.Fprintf(&b, []string{"%s,SF,%d,x\n", "%s,SF,=\"%d\",x\n", "%s,SF,\"=\"\"%d\"\"\",x\n", "%s,SF,`%d\t,x\n"}[i%4], id, i)
	}
	return written(t, "day.csv", []byte(b.String()+strings.Join(more, "")))
}

// TestShipFile: of 5,000 lines, fifty calls, one is wrong, and nothing is changed; without it all are shipped, once.
func TestShipFile(t *testing.T) {
	t.Parallel()
	const n = 5_000
	s := newOrderShop(t)
	ids := make([]string, n-1)
	for i := range ids {
		ids[i] = s.order(true)
	}
	ship := func(file string) (int, string, string) {
		return command(t, "orders", "ship", "--csv", file, "--confirm", "--who", "ann", "--url", s.url)
	}
	open := s.order(false)
	for _, bad := range []struct {
		ids  []string
		line string
		want string
	}{{ids, open + ",SF,1,x", "line 5001: order: want confirmed; it is pending_payment\n"},
		{ids[:2], someOrder + ",SF,1,x", "line 4: no such order\n"},
		{ids[:2], ids[0] + ",SF,1,x", "line 4: order " + ids[0] + " is on line 2 already\n"},
		{ids[:2], ids[5] + ",,1,x", "line 4: carrier: want "},
		{ids[:2], ids[5] + ",SF,1.23457E+14,x", "line 4: number 1.23457E+14: a spreadsheet shortened it; "},
		{ids[:2], ids[5] + ",SF,=\"1.0\",x", "line 4: number: want the carrier's: 1.0 was made a decimal number by a program; "},
		{ids[:2], ids[5] + ",S\u202eF,1,x", "line 4: carrier: want 1..64 characters on one line; it has the character U+202E\n"},
		{ids[:2], ids[5] + ",SF,1,\xb2\xe8", "line 4: not UTF-8 text: save the file as CSV UTF-8\n"},
		{ids[:2], ids[5] + ",SF", "line 4: 2 fields, and the first line has 4\n"}} {
		code, stdout, stderr := ship(parcels(t, bad.ids, bad.line+"\n"))
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, "day.csv: "+bad.want) ||
			!strings.Contains(stderr, "day.csv: 1 line is wrong; nothing was changed") {
			t.Errorf("%s: exit %d\n%s%s", bad.line, code, stdout, stderr)
		}
	}
	if got := s.states(); got[seckill.Paid] != n-1 || got[seckill.Shipped] != 0 {
		t.Fatalf("a file with a bad line changed something: %v", got)
	}
	for _, c := range []struct {
		ids  []string
		want string
	}{{ids, "Shipped: 4999 orders; 0 were shipped so already.\n"},
		{ids[:300], "Shipped: 0 orders; 300 were shipped so already.\n"}} {
		if code, stdout, stderr := ship(parcels(t, c.ids)); code != exitOK || stdout != c.want {
			t.Errorf("exit %d\n%s%s", code, stdout, stderr)
		}
	}
	if got := s.states(); got[seckill.Shipped] != n-1 {
		t.Errorf("shipped: %v", got)
	}
}

// TestShipFileGoesOn: a call that fails is repeated; one that fails for good breaks off, and the same command goes on.
// An order that is refunded after the check is named, and the others are shipped.
func TestShipFileGoesOn(t *testing.T) {
	defer func(pause, wait time.Duration) { batchPause, patience = pause, wait }(batchPause, patience)
	batchPause, patience = time.Millisecond, 0
	s := newOrderShop(t)
	var ids []string
	for range 250 {
		ids = append(ids, s.order(true))
	}
	file, calls := parcels(t, ids), 0
	ship := func() (int, string, string) {
		calls = 0
		return command(t, "orders", "ship", "--csv", file, "--confirm", "--url", s.url)
	}
	s.before = func([]byte) bool { calls++; return calls < 5 } // three calls check, one ships
	code, stdout, stderr := ship()
	if code != exitFault || stdout != "" || strings.Count(stderr, "; again in ") != 4 ||
		!strings.Contains(stderr, "seckill: 100 of 250 lines checked\n") ||
		!strings.Contains(stderr, "broken off at line 102, with 100 shipped: ") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	s.before = func([]byte) bool {
		if calls++; calls == 5 {
			o, err := s.ledger.Order(t.Context(), ids[150])
			p := seckill.Payment{Order: o.ID, TradeNo: "t"}
			err = errors.Join(err, s.ledger.StartRefund(t.Context(), o, p, true, seckill.Decision{}, s.clock.Now(),
				"back"))
			if err != nil {
				t.Error(err)
			}
		}
		return calls != 2
	}
	code, stdout, stderr = ship()
	if code != exitFault || stdout != "" || strings.Count(stderr, "; again in ") != 1 ||
		!strings.Contains(stderr, "day.csv: line 152: order: want confirmed; it is refund_due\n") ||
		!strings.Contains(stderr, "149 shipped, 100 were so already, and 1 order changed in the meantime") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	if got := s.states(); got[seckill.Shipped] != 249 || got[seckill.RefundOwed] != 1 {
		t.Errorf("%v", got)
	}
}

// TestExport: each order once, cells that a spreadsheet would change marked as text, and the file can be shipped.
func TestExport(t *testing.T) {
	t.Parallel()
	s := newOrderShop(t)
	ids := []string{s.order(true), s.order(true)}
	for i, number := range []string{"00753123456789012345", "+86,\"x\""} {
		if code, _, stderr := command(t, "orders", "ship", ids[i], "--carrier", "@SF", "--number", number, "--confirm",
			"--url", s.url); code != exitOK {
			t.Fatal(stderr)
		}
	}
	file := filepath.Join(t.TempDir(), "orders.csv")
	s.try(step{"export --item 2002 --csv " + file, exitOK, "Exported 2 orders to " + file + ".\n", ""})
	text, err := os.ReadFile(file)
	rows, e := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff")))).ReadAll()
	if err = errors.Join(err, e); err != nil || len(rows) != 3 || !bytes.HasPrefix(text, []byte("\ufefforder,")) {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, r := range rows[1:] {
		if r[1] != "'@SF" || r[2] != "'00753123456789012345" && r[2] != "'+86,\"x\"" ||
			r[3] != "shipped" || r[4] != "3" || r[5] != "7" ||
			r[7] != "'=1+1" || r[11] != "99.00" {
			t.Errorf("%q", r)
		}
	}
	s.try(step{"ship --csv " + file, exitOK, "Shipped: 0 orders; 2 were shipped so already.\n", ""})
	s.before = func([]byte) bool { return false }
	code, _, _ := command(t, "orders", "export", "--item", "2002", "--csv", file, "--url", s.url)
	again, err := os.ReadFile(file)
	left, _ := filepath.Glob(file + ".*")
	if code != exitFault || err != nil || !bytes.Equal(again, text) || left != nil {
		t.Errorf("an export that fails: exit %d, %v, left %v", code, err, left)
	}
}

// TestExportThatHasFoundNothingGoesOn: once the shop has answered, a call that fails is repeated, whatever the pages
// before had.
func TestExportThatHasFoundNothingGoesOn(t *testing.T) {
	defer func(pause, wait time.Duration) { batchPause, patience = pause, wait }(batchPause, patience)
	batchPause, patience = time.Millisecond, 0
	calls := 0
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls++
		list := operator.OrderList{Orders: []operator.Order{}, Looked: 100, Next: "2"}
		switch at := askedPage(t, r); {
		case at == 2 && calls == 2:
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		case at == 2:
			list.Next = ""
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"result": list})
	}))
	defer shop.Close()
	file := filepath.Join(t.TempDir(), "orders.csv")
	code, stdout, stderr := command(t, "orders", "export", "--refund-asked", "--csv", file, "--url", shop.URL)
	if code != exitOK || calls != 3 || !strings.Contains(stdout, "Exported 0 orders") ||
		strings.Count(stderr, "; again in ") != 1 {
		t.Errorf("exit %d after %d calls\n%s%s", code, calls, stdout, stderr)
	}
}

// askedPage returns the number of the page that a request's cursor asks for, or 0 without a cursor.
func askedPage(t *testing.T, r *http.Request) (at int) {
	t.Helper()
	var ask struct {
		Operator struct{ Cursor string }
	}
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
		t.Error(err)
	}
	_, _ = fmt.Sscan(ask.Operator.Cursor, &at)
	return at
}

// TestExportTakesConstantMemory exports 100,000 orders, in pages that the shop makes as they are asked for. The heap
// after the last page is the heap after the tenth.
func TestExportTakesConstantMemory(t *testing.T) {
	const pages = 200
	var heap [2]uint64
	var buf bytes.Buffer
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := askedPage(t, r)
		if at == 10 || at == pages-1 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			heap[at/(pages-1)] = m.HeapAlloc
		}
		buf.Reset()
		madePage(&buf, at, pages, 0)
		_, _ = w.Write(buf.Bytes())
	}))
	defer srv.Close()
	file := filepath.Join(t.TempDir(), "orders.csv")
	code, stdout, stderr := command(t, "orders", "export", "--item", "2002", "--csv", file, "--url", srv.URL)
	if code != exitOK || stdout != "Exported 100000 orders to "+file+".\n" {
		t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
	}
	t.Logf("heap after 5,000 orders %d KiB, after 100,000 %d KiB", heap[0]>>10, heap[1]>>10)
	if heap[0] == 0 || heap[1] > heap[0]+(2<<20) {
		t.Errorf("the heap grows from %d to %d bytes", heap[0], heap[1])
	}
}

// madePage writes page at of pages of a list of orders, 500 on each, beside some that cannot be read.
func madePage(w io.Writer, at, pages, unreadable int) {
	list := operator.OrderList{Orders: make([]operator.Order, fulfil.MaxPage), Unreadable: unreadable}
	for i := range list.Orders {
		n := at*fulfil.MaxPage + i
		list.Orders[i] = operator.Order{ID: fmt.Sprintf("o%031d", n), Item: "2002", Title: "一部手机 128 GB", Count: 1,
			Held: 1, User: fmt.Sprint(1000 + n), Price: 9900, Amount: 9900, State: seckill.Paid,
			Created: time.Unix(1, 0), Changed: time.Unix(int64(n), 0)}
	}
	if at+1 < pages {
		list.Next = fmt.Sprint(at + 1)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"result": list}) // to memory, or to a client that hung up
}
