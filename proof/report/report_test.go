package report_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/your-org/seckill/proof/report"
	"github.com/your-org/seckill/shared/seckill"
)

func TestReport(t *testing.T) {
	t.Parallel()
	key := newKey(t, "shop.example")
	text := made(t, key, 60)
	c := verified(t, text, key.Verifier)
	if !c.OK() || !c.Known || c.Orders != 120 || len(c.Items) != 2 {
		t.Fatalf("%+v", c)
	}
	if c := verified(t, text, ""); !c.OK() || c.Known || c.Verifier != key.Verifier {
		t.Errorf("without a key: %+v", c)
	}
	s := c.Items[0].Sums
	// Of 60 orders, ten have each outcome. One payment has no order.
	if s.Units.Count != (seckill.Count{Placed: 50, Paid: 20, GivenBack: 20}) || s.Units.Sold != 20 ||
		s.Units.Held != 10 || s.Units.Never != 35 {
		t.Errorf("units %+v", s.Units)
	}
	if want := (report.Totals{Captured: 41 * 129_900, Kept: 21 * 129_900, Due: 10 * 129_900, Refunded: 10 * 129_900,
		Payments: 41}); s.Money != want {
		t.Errorf("money %+v, want %+v", s.Money, want)
	}
	if s.Orders[seckill.Paid] != 10 || s.Orders[seckill.Shipped] != 10 ||
		s.Ever[seckill.Expired] != 20 || s.Rejected["sold_out"] != 10 ||
		len(c.Items[0].Minutes) != 3 || len(c.Items[0].Guarantees) < 15 {
		t.Errorf("%+v, minutes %+v, %d guarantees", s, c.Items[0].Minutes, len(c.Items[0].Guarantees))
	}
	wait := func(list []report.Wait, seconds int) int {
		return list[slices.IndexFunc(list, func(w report.Wait) bool { return w.Seconds == seconds })].Orders
	}
	if wait(s.Holding, 900) != 20 || wait(s.Shipping, 21600) != 10 || wait(s.Paying, 900) != 20 {
		t.Errorf("waits %+v, %+v, %+v", s.Holding, s.Shipping, s.Paying)
	}
	// Nobody's name, address or trade is in it, and no two orders of one user look alike.
	for _, secret := range []string{userID(3), tradeNo(0, 0), "Main St"} {
		if strings.Contains(text, secret) {
			t.Errorf("the report has %s", secret)
		}
	}
	buyers := map[string]bool{}
	for line := range strings.Lines(text) {
		var o report.Order
		if json.Unmarshal([]byte(line), &o) == nil && o.Kind == "order" {
			buyers[o.Buyer] = true
		}
	}
	if len(buyers) != 60 { // the same 60 orders in both items
		t.Errorf("%d buyers, want 60", len(buyers))
	}
}

// TestRefusedRequests: they are in the report with their source and time, of which the sale's end or its reading is the
// last moment; a changed figure is found in its line, and one that was changed together with its hash by the signature.
func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	key := newKey(t, "shop.example")
	text := made(t, key, 6)
	r := verified(t, text, key.Verifier).Items[0].Refused
	if r == nil || r.Source != report.RefusedMetrics || len(r.Requests) != 2 || r.Requests["sold_out"] != 70_000 ||
		!r.From.Equal(opens) || !r.Until.Equal(opens.Add(10*time.Minute)) {
		t.Fatalf("%+v", r)
	}
	flipped := strings.Replace(text, `"sold_out":70000`, `"sold_out":10000`, 1)
	c := verified(t, flipped, key.Verifier)
	if c.OK() || c.Signed || len(c.Findings) == 0 || c.Findings[0].Line == 0 ||
		!strings.Contains(c.Findings[0].What, "was changed") {
		t.Errorf("a flipped figure: %v", c.Findings)
	}
	for what, tt := range map[string]struct{ old, new, want string }{
		"rewritten":  {`"sold_out":70000`, `"sold_out":10000`, "somebody rewrote some of them"},
		"none":       {`"sold_out":70000`, `"sold_out":0`, "0 requests refused"},
		"nobody's":   {`"source":"cloudwatch"`, `"source":""`, "counted by"},
		"turned":     {`"until":"2026-11-11T02:10`, `"until":"2025-11-11T02:10`, "refused requests until"},
		"of version": {`"version":3`, `"version":2`, "version 2 of the format, this program reads 3"},
	} {
		c := verified(t, rehashed(text, tt.old, tt.new), key.Verifier)
		if c.OK() || c.Signed || !slices.ContainsFunc(c.Findings, func(f report.Finding) bool {
			return strings.Contains(f.What, tt.want)
		}) {
			t.Errorf("%s: %v", what, c.Findings)
		}
	}
	var b strings.Builder
	o := report.Options{Items: []string{item}, Key: key}
	if _, err := report.Make(t.Context(), &b, source(6), o); err != nil {
		t.Fatal(err)
	}
	if r := verified(t, b.String(), key.Verifier).Items[0].Refused; r == nil || r.Source != "" || len(r.Requests) != 0 {
		t.Errorf("counted by nobody: %+v", r)
	}
	o.Refused = func(context.Context, string, time.Time, time.Time) (report.Refusals, error) {
		return report.Refusals{}, io.ErrUnexpectedEOF
	}
	if _, err := report.Make(t.Context(), &b, source(6), o); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a fault: %v", err)
	}
}

// rehashed replaces a text in the lines that have it, and corrects their hashes.
func rehashed(text, before, after string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if changed := strings.Replace(line, before, after, 1); changed != line {
			cut := strings.Index(changed, `,"leaf":`)
			leaf := tlog.RecordHash([]byte(changed[:cut] + "}"))
			line = changed[:cut] + `,"leaf":"` + leaf.String() + "\"}\n"
		}
		out.WriteString(line)
	}
	return out.String()
}

func TestEmptySale(t *testing.T) {
	t.Parallel()
	key := newKey(t, "s")
	if c := verified(t, made(t, key, 0), key.Verifier); !c.OK() {
		t.Errorf("%+v", c)
	}
}

// TestRootIsRFC6962s: golang.org/x/mod/sumdb/tlog computes the same root from the leaves.
func TestRootIsRFC6962s(t *testing.T) {
	t.Parallel()
	key := newKey(t, "s")
	for _, n := range []int{0, 1, 2, 3, 6, 37} {
		var stored []tlog.Hash
		reader := tlog.HashReaderFunc(func(indexes []int64) (out []tlog.Hash, err error) {
			for _, i := range indexes {
				out = append(out, stored[i])
			}
			return out, nil
		})
		size := int64(0)
		c, err := report.Verify(strings.NewReader(made(t, key, n)), key.Verifier, func(line []byte, _ tlog.Hash) error {
			more, err := tlog.StoredHashes(size, line, reader)
			stored, size = append(stored, more...), size+1
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if root, err := tlog.TreeHash(size, reader); err != nil || root.String() != c.Root {
			t.Errorf("%d lines: %v %v, want %s", size, root, err, c.Root)
		}
	}
}

// TestEveryFlippedByteIsFound changes one byte at random, a thousand times: its line is named.
func TestEveryFlippedByteIsFound(t *testing.T) {
	t.Parallel()
	key := newKey(t, "shop.example")
	text := made(t, key, 30)
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		place := random.IntN(len(text))
		b := []byte(text)
		b[place] ^= byte(1 + random.IntN(255))
		line := int64(strings.Count(text[:place], "\n")) + 1
		c := verified(t, string(b), key.Verifier)
		if c.OK() || !slices.ContainsFunc(c.Findings, func(f report.Finding) bool { return f.Line == line }) {
			t.Fatalf("line %d (%q to %q): %v", line, text[place], b[place], c.Findings)
		}
	}
}

func TestLinesOutOfPlace(t *testing.T) {
	t.Parallel()
	key := newKey(t, "shop.example")
	text := made(t, key, 30)
	lines := strings.SplitAfter(text, "\n")
	lines = lines[:len(lines)-1]
	for _, tt := range []struct {
		what string
		edit func(l []string) []string
		line int64
		want string
	}{
		{"dropped", func(l []string) []string { return slices.Delete(l, 9, 10) }, 10, "1 lines are missing before it"},
		{"doubled", func(l []string) []string { return slices.Insert(l, 9, l[8]) }, 10, "number 8 a second time"},
		{"swapped", func(l []string) []string { l[8], l[9] = l[9], l[8]; return l }, 9, "has number 9"},
		{"head dropped", func(l []string) []string { return l[1:] }, 1, "1 lines are missing"},
		{"cut off", func(l []string) []string { return l[:20] }, 0, "the signature is missing"},
		{"cut off in a line", func(l []string) []string { l[19] = l[19][:50]; return l[:20] }, 20, "cut off"},
		{"cut off in the signature", func(l []string) []string {
			l[len(l)-1] = strings.TrimSuffix(l[len(l)-1], "\n")
			return l
		}, int64(len(lines)), "cut off"},
		{"more behind it", func(l []string) []string { return append(l, l[5]) }, int64(len(lines)) + 1,
			"stands behind"},
		{"a long line", func(l []string) []string { l[4] = strings.Repeat("x", 3<<20) + "\n"; return l }, 5,
			"has more than"},
	} {
		c := verified(t, strings.Join(tt.edit(slices.Clone(lines)), ""), key.Verifier)
		if c.OK() || !slices.ContainsFunc(c.Findings, func(f report.Finding) bool {
			return f.Line == tt.line && strings.Contains(f.What, tt.want)
		}) {
			t.Errorf("%s: %v", tt.what, c.Findings)
		}
	}
}

// TestKeys: another key's signature, a key that is none, and a shop that signs anew with false sums.
func TestKeys(t *testing.T) {
	t.Parallel()
	key := newKey(t, "shop.example")
	text := made(t, key, 10)
	c := verified(t, text, newKey(t, "shop.example").Verifier)
	if c.OK() || c.Count != 1 || !strings.Contains(c.Findings[0].What, "signed by another key") {
		t.Errorf("another key: %+v", c)
	}
	if c := verified(t, text, "nonsense"); c.OK() || !strings.Contains(c.Findings[0].What, "not a public key") {
		t.Errorf("no key: %+v", c)
	}
	// The last two bits of the signature's base64 mean nothing, and yet must be as they were.
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	b := []byte(text)
	last := strings.LastIndexByte(text, '=') - 1
	b[last] = alphabet[strings.IndexByte(alphabet, b[last])^1]
	if c := verified(t, string(b), key.Verifier); c.OK() {
		t.Error("a changed bit of the signature's text is accepted")
	}
	for _, bad := range []string{"", "PRIVATE+KEY+x", "a b", text[:300]} {
		if _, err := report.ParseKey(bad); err == nil {
			t.Errorf("key %.20q is accepted", bad)
		}
	}
	for _, bad := range []string{"", "a b", "a+b", strings.Repeat("x", 101)} {
		if _, err := report.GenerateKey(bad); err == nil {
			t.Errorf("name %q is accepted", bad)
		}
	}
}

// TestFalseSums: lines that were rewritten together with their hashes have another root, and false sums are found even
// so.
func TestFalseSums(t *testing.T) {
	t.Parallel()
	key := newKey(t, "shop.example")
	for _, tt := range []struct{ old, new, want string }{
		{`"refunded_fen":129900`, `"refunded_fen":0`, "money: it says"},
		{`"amount_fen":129900,"state":"paid"`, `"amount_fen":99900,"state":"paid"`, "1 units at 129900 fen, but 99900"},
		{`"units":[1],`, `"units":[3],`, "unit 3, which another order has"},
		{`"units":[1],`, `"units":[99],`, "unit 99 of 1 to"},
		{`"placed":5,"paid":0`, `"placed":4,"paid":0`, "but the orders' histories say"},
	} {
		c := verified(t, rehashed(made(t, key, 6), tt.old, tt.new), key.Verifier)
		if c.Signed || !slices.ContainsFunc(c.Findings, func(f report.Finding) bool {
			return strings.Contains(f.What, tt.want)
		}) {
			t.Errorf("%s: %v", tt.new, c.Findings)
		}
	}
}

func TestGzip(t *testing.T) {
	t.Parallel()
	key := newKey(t, "shop.example")
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, made(t, key, 30))
	_ = w.Close()
	if c := verified(t, b.String(), key.Verifier); !c.OK() {
		t.Errorf("%v", c.Findings)
	}
	whole := b.String()
	for _, short := range []string{whole[:len(whole)/2], whole[:5]} {
		if c := verified(t, short, key.Verifier); c.OK() || !strings.Contains(c.Findings[0].What, "is damaged") {
			t.Errorf("%d bytes: %v", len(short), c.Findings)
		}
	}
	if c := verified(t, whole[:400]+string([]byte{whole[400] ^ 1})+whole[401:], key.Verifier); c.OK() {
		t.Error("a damaged file is accepted")
	}
}

// endless is a file of 10 GB without an end of a line.
type endless struct{ left int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), e.left)
	for i := range p[:n] {
		p[i] = 'x'
	}
	e.left -= n
	return int(n), nil
}

func TestEndlessLine(t *testing.T) { // not parallel: it measures memory
	key := newKey(t, "s")
	size := int64(10 << 30)
	if testing.Short() {
		size = 1 << 30
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c, err := report.Verify(&endless{size}, key.Verifier, nil)
	if err != nil || c.OK() || c.Findings[0].Line != 1 {
		t.Errorf("%v %+v", err, c)
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 4*report.MaxLine {
		t.Errorf("%d bytes of memory for one line", after.TotalAlloc-before.TotalAlloc)
	}
}

func TestProof(t *testing.T) {
	t.Parallel()
	key := newKey(t, "shop.example")
	text := made(t, key, 30)
	for i := range 30 {
		p, c, err := report.Prove(strings.NewReader(text), key.Verifier, orderID(i))
		if err != nil || p == nil {
			t.Fatalf("%v %v", err, c)
		}
		if err := p.Check(key.Verifier); err != nil {
			t.Errorf("order %d: %v", i, err)
		}
		salt := key.Salt(orderID(i))
		if !p.IsBuyer(salt, userID(i)) || p.IsBuyer(salt, userID(i+1)) || p.IsBuyer(key.Salt("o"), userID(i)) ||
			p.IsBuyer("x", userID(i)) {
			t.Errorf("order %d: its buyer is not who it should be", i)
		}
		q := *p
		q.Line = strings.Replace(q.Line, `"state":"`, `"state":"x`, 1)
		if q.Check(key.Verifier) == nil {
			t.Error("a changed line is accepted")
		}
		q = *p
		q.N++
		if q.Check(key.Verifier) == nil {
			t.Error("another place is accepted")
		}
		if p.Check(newKey(t, "shop.example").Verifier) == nil {
			t.Error("another key is accepted")
		}
	}
	if _, _, err := report.Prove(strings.NewReader(text), key.Verifier, "onone"); !errors.Is(err, report.ErrNoOrder) {
		t.Errorf("no order: %v", err)
	}
	p, c, err := report.Prove(strings.NewReader(text[1:]), key.Verifier, orderID(0))
	if p != nil || err != nil || c.OK() {
		t.Errorf("of a damaged report: %v %v", p, err)
	}
}
