package seckill

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/big"
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestParseYuan(t *testing.T) {
	for in, want := range map[string]Fen{
		"0": 0, "0.01": 1, "88.88": 8888, "88.8": 8880, "88": 8800, "1.00": 100, "100000000.00": MaxFen,
		"": -1, ".5": -1, "5.": -1, "1e2": -1, "88.880": -1, "-1": -1, "+1": -1, " 88.88": -1, "88.88 ": -1,
		"８８.８８": -1, "01.00": -1,
		"00": -1, "1,000": -1, "0x10": -1, "100000000.01": -1, "9999999999999": -1, "1.2.3": -1, "NaN": -1,
		"1.\x00": -1,
	} {
		got, err := ParseYuan(in)
		if want < 0 && err == nil || want >= 0 && (err != nil || got != want) {
			t.Errorf("ParseYuan(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
}

// FuzzParseYuan compares ParseYuan with a pattern and with exact fractions.
func FuzzParseYuan(f *testing.F) {
	for _, s := range []string{"88.88", "0.1", "1e2", "88.880", "-1", " 88.88", "８８.８８", "100000000.00", "100000000.01",
		"00.1"} {
		f.Add(s)
	}
	form := regexp.MustCompile(`^(0|[1-9][0-9]*)(\.[0-9][0-9]?)?$`)
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ParseYuan(s)
		want := new(big.Rat)
		if form.MatchString(s) {
			want.SetString(s)
			want.Mul(want, big.NewRat(100, 1))
		}
		if taken := form.MatchString(s) && want.Cmp(new(big.Rat).SetInt64(int64(MaxFen))) <= 0; taken != (err == nil) {
			t.Fatalf("ParseYuan(%q) = %d, %v; want it taken %v", s, n, err, taken)
		}
		if err != nil {
			return
		}
		again, err := ParseYuan(n.Yuan())
		if want.Cmp(new(big.Rat).SetInt64(int64(n))) != 0 || err != nil || again != n {
			t.Errorf("ParseYuan(%q) = %d, want %s; written %q, read again %d, %v", s, n, want, n.Yuan(), again, err)
		}
	})
}

func TestFenJSON(t *testing.T) {
	for in, want := range map[Fen]string{0: "0.00", 5: "0.05", 8880: "88.80", -5: "-0.05", -105: "-1.05",
		7 * MaxFen: "700000000.00"} {
		got, err := json.Marshal(in)
		if err != nil || string(got) != want {
			t.Errorf("%d fen as JSON: %s, %v; want %s", int64(in), got, err, want)
		}
		again := Fen(1)
		if err := json.Unmarshal(got, &again); err != nil || again != in {
			t.Errorf("%s read again: %d, %v; want %d", got, int64(again), err, int64(in))
		}
	}
	for in, want := range map[string]Fen{"88": 88_00, "88.8": 88_80, "0.0": 0, "-0.5": -50} {
		got := Fen(1)
		if err := json.Unmarshal([]byte(in), &got); err != nil || got != want {
			t.Errorf("%s is read as %d fen, %v; want %d", in, int64(got), err, int64(want))
		}
	}
	for _, in := range []string{"88.805", "88.800", "8e1", "1.5e3", `"88.80"`, "true", "99999999999999999.00"} {
		got := Fen(1)
		if err := json.Unmarshal([]byte(in), &got); err == nil || got != 1 {
			t.Errorf("%s is read as %d fen, %v; want it refused", in, int64(got), err)
		}
	}
}

func TestDay(t *testing.T) {
	for in, want := range map[string]string{
		"2026-01-01T15:59:59.999Z": "2026-01-01", "2026-01-01T16:00:00Z": "2026-01-02",
		"2026-01-02T00:00:00+08:00": "2026-01-02", "2025-12-31T16:00:00Z": "2026-01-01",
	} {
		at, err := time.Parse(time.RFC3339, in)
		if got := Day(at); err != nil || got != want {
			t.Errorf("%s falls on %s, %v; want %s", in, got, err, want)
		}
	}
}

func item() Item {
	start := time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	return Item{ID: "1001", Commodity: Commodity{ID: "5", Title: "手机", Price: 99900}, Price: 8888, Start: start,
		End: start.Add(time.Hour), CreateTime: start, Stock: 10, Limit: 1, Buckets: BucketsFor(10), Version: 1}
}

func TestItemValidate(t *testing.T) {
	good := item()
	if err := good.Validate(); err != nil {
		t.Fatalf("good item: %v", err)
	}
	for name, spoil := range map[string]func(*Item){
		"id":        func(i *Item) { i.ID = "01" },
		"id ":       func(i *Item) { i.ID = "abc" },
		"commodity": func(i *Item) { i.Commodity.ID = "" },
		"title":     func(i *Item) { i.Commodity.Title = "" },
		"title ":    func(i *Item) { i.Commodity.Title = strings.Repeat("机", MaxTitle+1) },
		"sk_price":  func(i *Item) { i.Price = 0 },
		"sk_price ": func(i *Item) { i.Price = MaxFen },
		"price":     func(i *Item) { i.Commodity.Price = -1 },
		"start":     func(i *Item) { i.End = i.Start },
		"stock":     func(i *Item) { i.Stock = 0 },
		"stock ":    func(i *Item) { i.Stock = MaxStock + 1 },
		"limit":     func(i *Item) { i.Limit = 0 },
		"buckets":   func(i *Item) { i.Buckets = 0 },
	} {
		it := item()
		spoil(&it)
		if err := it.Validate(); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(name)) {
			t.Errorf("%s spoilt: error %v does not name it", name, err)
		}
	}
}

func TestDescriptionValidate(t *testing.T) {
	good := Listing{Item: item(), Description: Description{Detail: strings.Repeat("机", MaxDetail),
		Covers: slices.Repeat([]string{"/a.svg"}, MaxCovers)}}
	if err := good.Validate(); err != nil {
		t.Fatalf("good listing: %v", err)
	}
	for name, spoil := range map[string]func(*Listing){
		"limit":  func(l *Listing) { l.Limit = 0 },
		"detail": func(l *Listing) { l.Detail += "x" },
		"covers": func(l *Listing) { l.Covers = append(l.Covers, "/a.svg") },
		"cover":  func(l *Listing) { l.Covers = []string{""} },
		"cover ": func(l *Listing) { l.Covers = []string{strings.Repeat("c", MaxCoverLength+1)} },
	} {
		l := good
		spoil(&l)
		if err := l.Validate(); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(name)) {
			t.Errorf("%s spoilt: error %v does not name it", name, err)
		}
	}
}

func TestItemState(t *testing.T) {
	it := item()
	for _, c := range []struct {
		at      time.Time
		stopped bool
		want    ItemState
	}{
		{it.Start.Add(-time.Millisecond), false, ItemWaiting},
		{it.Start, false, ItemOnline},
		{it.End.Add(-time.Millisecond), false, ItemOnline},
		{it.End, false, ItemEnded},
		{it.Start, true, ItemStopped},
		{it.End, true, ItemEnded},
	} {
		it.Stopped = c.stopped
		if got := it.StateAt(c.at); got != c.want {
			t.Errorf("at %s, stopped %v: %s, want %s", c.at, c.stopped, got, c.want)
		}
	}
	for at, want := range map[time.Time]bool{
		it.Start.Add(-StageLead - 1): false, it.Start.Add(-StageLead): true, it.End.Add(KeepLoaded - 1): true,
		it.End.Add(KeepLoaded): false,
	} {
		if got := it.Loadable(at); got != want {
			t.Errorf("loadable at %s: %v, want %v", at, got, want)
		}
	}
}

func TestBuckets(t *testing.T) {
	for stock, want := range map[int]int{1: 16, 8000: 16, 8001: 17, 1_000_000: 2000} {
		if got := BucketsFor(stock); got != want {
			t.Errorf("BucketsFor(%d) = %d, want %d", stock, got, want)
		}
	}
}

func TestOrderIDs(t *testing.T) {
	a := KeyedOrderID("1001", "7", "k")
	if !ValidOrderID(a) || len(a) != 32 {
		t.Errorf("keyed id %q is not a valid order id", a)
	}
	if a != KeyedOrderID("1001", "7", "k") {
		t.Error("the same item, user and key make another order")
	}
	for _, other := range []string{KeyedOrderID("1001", "7", "K"), KeyedOrderID("1001", "8", "k"),
		KeyedOrderID("1002", "7", "k"), KeyedOrderID("100", "17", "k")} {
		if other == a {
			t.Errorf("another item, user or key makes the same order %s", a)
		}
	}
	if r := RandomOrderID("1001", [17]byte{0: 255, 16: 255}); !ValidOrderID(r) || OrderTag(r) != ItemTag("1001") {
		t.Errorf("random id %q is not a valid order id", r)
	}
	for _, bad := range []string{"", "o", a + "a", a[:31], a[:28], a[:26], "x" + a[1:], a[:31] + "A", a[:31] + "1",
		a[:26] + "1"} {
		if ValidOrderID(bad) {
			t.Errorf("ValidOrderID(%q)", bad)
		}
	}
	if old := a[:27]; !ValidOrderID(old) || OrderTag(old) != "" {
		t.Errorf("%q, as ids were before they said their item: valid %t, tag %q", old, ValidOrderID(old), OrderTag(old))
	}
	others := 0
	for item := range 10_000 {
		if id := strconv.Itoa(item + 1); (OrderTag(a) == ItemTag(id)) != (id == "1001") {
			others++
		}
	}
	if others > 0 {
		t.Errorf("order %s may be of %d other items, or not of its own", a, others)
	}
}

func TestKeys(t *testing.T) {
	for in, want := range map[string]bool{"a": true, "a b~": true, "": false, "é": false, "a\n": false, "\x7f": false,
		strings.Repeat("k", MaxKey): true, strings.Repeat("k", MaxKey+1): false} {
		if got := ValidKey(in); got != want {
			t.Errorf("ValidKey(%q) = %v", in, got)
		}
	}
}

func request() Request {
	return Request{Order: KeyedOrderID("1001", "7", "k"), Item: "1001", User: "7", Count: 2,
		Given: Given{Address: "杭州市 西湖区|1号"}, Created: time.UnixMilli(1_762_826_400_123).UTC(), Trace: "t-1"}
}

// TestWire holds what waits in Redis and in queues while a release is deployed: the other one reads it.
func TestWire(t *testing.T) {
	bare, full := request(), request()
	full.Name, full.Network = "李雷", netip.MustParseAddr("2001:db8::7")
	order := `{"v":1,"kind":"order","order":"ovlg5iqsp23zials6oi3ot6ipq47ztv7","item":"1001","user":"7","count":2,` +
		`"address":"杭州市 西湖区|1号",%s"created":1762826400123,"units":[4],"trace":"t-1"}`
	message := func(r Request) string {
		m := Message{Kind: MessageOrder, Reservation: Reservation{Request: r, Units: []int{4}}}
		return string(m.Encode())
	}
	known := `"shopper_name":"李雷","network_address":"2001:db8::7",`
	for want, got := range map[string]string{
		`{"address":"杭州市 西湖区|1号","trace":"t-1"}`:              bare.Body(),
		`{"address":"杭州市 西湖区|1号",` + known + `"trace":"t-1"}`: full.Body(),
		fmt.Sprintf(order, ""):                message(bare),
		fmt.Sprintf(order, known):             message(full),
		`{"v":1,"kind":"wake","item":"1001"}`: string((&Message{Kind: MessageWake, Item: "1001"}).Encode()),
	} {
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestRequest(t *testing.T) {
	r := request()
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	var back Request
	if err := back.SetBody(r.Body()); err != nil || back.Address != r.Address || back.Trace != r.Trace {
		t.Errorf("body round trip: %+v, %v", back, err)
	}
	if strings.Contains(r.Body(), "network") {
		t.Errorf("the body of a shop that keeps no network addresses: %s", r.Body())
	}
	r.Network = netip.MustParseAddr("2001:db8:1:2:3:4:5:6")
	if err := back.SetBody(r.Body()); err != nil || back.Network != r.Network {
		t.Errorf("body round trip: %+v, %v", back, err)
	}
	other := r
	if other.Network = netip.MustParseAddr("203.0.113.7"); other.BodyHash() != r.BodyHash() {
		t.Error("the same purchase from another network address is another request")
	}
	if other.Address += "x"; other.BodyHash() == r.BodyHash() {
		t.Error("another address has the same body hash")
	}
	other = r
	if other.Count++; other.BodyHash() == r.BodyHash() {
		t.Error("another count has the same body hash")
	}
	long := r
	long.Address = strings.Repeat("国", MaxAddress)
	if long.Validate() != nil || len(long.BodyHash()) != 16 {
		t.Error("an address of 500 characters is refused")
	}
	for name, spoil := range map[string]func(*Request){
		"seckill_id": func(r *Request) { r.Item = "0" },
		"count":      func(r *Request) { r.Count = 0 },
		"count ":     func(r *Request) { r.Count = MaxCount + 1 },
		"address":    func(r *Request) { r.Address = " \n" },
		"address ":   func(r *Request) { r.Address = strings.Repeat("国", MaxAddress+1) },
		"address  ":  func(r *Request) { r.Address = "\xff" },
	} {
		bad := request()
		spoil(&bad)
		err := bad.Validate()
		var e *Error
		if !errors.As(err, &e) || e.Code != CodeInvalid || e.Field != strings.TrimSpace(name) {
			t.Errorf("%s spoilt: %v", name, err)
		}
	}
}

func TestMessages(t *testing.T) {
	r := Reservation{Request: request(), Units: []int{3, 9}}
	from := r
	from.Network = netip.MustParseAddr("2001:db8:1:2:3:4:5:6")
	for _, m := range []Message{
		{Kind: MessageOrder, Reservation: r},
		{Kind: MessageOrder, Reservation: from},
		{Kind: MessageReturn, Order: r.Order},
		{Kind: MessageClose, Order: r.Order},
		{Kind: MessageWake, Item: "1001"},
		{Kind: MessageReturn, Order: r.Order, Trace: "Root=1-abc"},
		{Kind: MessageClose, Order: r.Order, Trace: "Root=1-abc"},
		{Kind: MessageWake, Item: "1001", Trace: "Root=1-abc"},
	} {
		got, err := DecodeMessage(m.Encode())
		if err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%s: got %+v, %v; want %+v", m.Kind, got, err, m)
		}
	}
	good := string((&Message{Kind: MessageOrder, Reservation: r}).Encode())
	if want := `{"v":1,"kind":"order","order":"` + r.Order + `","item":"1001","user":"7","count":2,"address":"杭州市 西湖区|1号",` +
		`"created":1762826400123,"units":[3,9],"trace":"t-1"}`; good != want {
		t.Errorf("the message of a shop that keeps no network addresses:\n%s\nwant\n%s", good, want)
	}
	for name, bad := range map[string]string{
		"empty":         "",
		"not json":      "{",
		"newer":         strings.Replace(good, `"v":1`, `"v":2`, 1),
		"no version":    strings.Replace(good, `"v":1,`, "", 1),
		"kind":          strings.Replace(good, `"order"`, `"other"`, 1),
		"order id":      strings.Replace(good, r.Order, "o1", 1),
		"count":         strings.Replace(good, `"count":2`, `"count":0`, 1),
		"too many":      strings.Replace(good, "[3,9]", "[3,9,11]", 1),
		"not ascending": strings.Replace(good, "[3,9]", "[9,3]", 1),
		"twice":         strings.Replace(good, "[3,9]", "[3,3]", 1),
		"zero unit":     strings.Replace(good, "[3,9]", "[0,3]", 1),
		"time":          strings.Replace(good, `"created":1762826400123`, `"created":0`, 1),
		"network":       strings.Replace(good, `"count"`, `"network_address":"203.0.113.7 ","count"`, 1),
		"huge":          `{"v":1,"x":"` + strings.Repeat("x", MaxMessage) + `"}`,
		"wake":          `{"v":1,"kind":"wake","item":"x"}`,
		"close":         `{"v":1,"kind":"close","order":"x"}`,
	} {
		if bad == good {
			t.Fatalf("%s: the test spoils nothing", name)
		}
		if m, err := DecodeMessage([]byte(bad)); err == nil {
			t.Errorf("%s: read as %+v", name, m)
		}
	}
}

func TestWhatALogMayTellOfAMessage(t *testing.T) {
	r := Reservation{Request: request(), Units: []int{3, 9}}
	for name, c := range map[string]struct{ body, order, trace string }{
		"order": {string((&Message{Kind: MessageOrder, Reservation: r}).Encode()), r.Order, r.Trace},
		"close": {string((&Message{Kind: MessageClose, Order: r.Order, Trace: "t-2"}).Encode()), r.Order,
			"t-2"},
		"return": {string((&Message{Kind: MessageReturn, Order: r.Order, Trace: "t-3"}).Encode()), r.Order,
			"t-3"},
		"wake":                {string((&Message{Kind: MessageWake, Item: "1001", Trace: "t-4"}).Encode()), "", "t-4"},
		"close of before ids": {`{"v":1,"kind":"close","order":"` + r.Order + `"}`, r.Order, ""},
		"unreadable":          {`{"v":2,"kind":"close","order":"` + r.Order + `","trace":"t-5"}`, "", ""},
	} {
		d := Delivery{Body: []byte(c.body)}
		if order, trace := d.Subject(); order != c.order || trace != c.trace {
			t.Errorf("%s: %s: order %q, trace %q; want %q, %q", name, c.body, order, trace, c.order, c.trace)
		}
	}
}

func FuzzDecodeMessage(f *testing.F) {
	f.Add((&Message{Kind: MessageOrder, Reservation: Reservation{Request: request(), Units: []int{1}}}).Encode())
	f.Add([]byte(`{"v":1,"kind":"wake","item":"1"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := DecodeMessage(b)
		if err != nil {
			return
		}
		again, err := DecodeMessage(m.Encode())
		if err != nil || !bytes.Equal(again.Encode(), m.Encode()) {
			t.Errorf("%q: read as %+v, written and read again %+v, %v", b, m, again, err)
		}
	})
}

// TestCodes checks that Codes lists every constant of type Code in errors.go.
func TestCodes(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "errors.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var declared []Code
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "Code" {
				text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				declared = append(declared, Code(text))
			}
		}
		return true
	})
	listed := Codes()
	slices.Sort(declared)
	slices.Sort(listed)
	if len(declared) < 20 || !slices.Equal(declared, listed) {
		t.Errorf("errors.go declares %q, Codes lists %q", declared, listed)
	}
}

// TestStopsAreKept checks that an item keeps its latest MaxStops stops with their ends, and that a copy does not
// share them.
func TestStopsAreKept(t *testing.T) {
	t.Parallel()
	at := func(s int) time.Time { return time.Unix(int64(s), 0).UTC() }
	var it Item
	if it.SetStopped(false, at(1)) || len(it.Stops) > 0 {
		t.Errorf("resumed without a stop: %+v", it.Stops)
	}
	for n := range 2 * MaxStops {
		before := it
		if !it.SetStopped(true, at(10*n)) || it.SetStopped(true, at(10*n+1)) || !it.SetStopped(false, at(10*n+5)) {
			t.Fatalf("stop %d: not changed, or twice", n)
		}
		if len(before.Stops) > 0 && before.Stops[len(before.Stops)-1] != (Stop{From: at(10*n - 10), To: at(10*n - 5)}) {
			t.Errorf("a copy was changed: %+v", before.Stops)
		}
	}
	it.SetStopped(true, at(500))
	if n := len(it.Stops); n != MaxStops || it.Stops[0].From != at(110) || it.Stops[n-1] != (Stop{From: at(500)}) {
		t.Errorf("%d stops kept: %+v, want the latest %d", n, it.Stops, MaxStops)
	}
}
