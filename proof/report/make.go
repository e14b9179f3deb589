package report

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/shared/seckill"
)

// Options say what to report.
type Options struct {
	Items []string
	Key   *Key
	Again time.Duration // as audit.Options
	Made  time.Time     // by the sale's clock; if zero, the time when the first item's data was read
	// Refused counts the refused requests of a time in which an item was on sale; nil if nobody counts them.
	Refused func(ctx context.Context, item string, from, until time.Time) (Refusals, error)
}

// refused counts the refused requests of an item's sale, up to when its data was read.
func (o *Options) refused(ctx context.Context, it *Item) (Refusals, error) {
	until := it.End
	if it.Read.Before(until) {
		until = it.Read
	}
	if o.Refused == nil || !it.Start.Before(until) {
		return Refusals{}, nil
	}
	r, err := o.Refused(ctx, it.Item, it.Start, until)
	maps.DeleteFunc(r.Requests, func(_ seckill.Reason, n int) bool { return n == 0 })
	r.From, r.Until = r.From.UTC(), r.Until.UTC()
	return r, err
}

// Made is what Make made.
type Made struct {
	Lines  int64
	Orders int
	Root   string // base64
	Broken []string
}

// Make writes the report of items, each of which source opens. It keeps the orders of one item at a time. A report is
// made also when the audit finds a guarantee broken: it says so.
func Make(ctx context.Context, w io.Writer, source func(item string) (audit.Source, error), o Options) (*Made, error) {
	if len(o.Items) == 0 || len(o.Items) > MaxItems {
		return nil, fmt.Errorf("%d items: want 1 to %d", len(o.Items), MaxItems)
	}
	out := &writer{to: bufio.NewWriterSize(w, 256<<10)}
	made := &Made{}
	for i, id := range o.Items {
		if slices.Contains(o.Items[:i], id) {
			return nil, fmt.Errorf("item %s is given twice", id)
		}
		src, err := source(id)
		if err != nil {
			return nil, err
		}
		s, found, err := collect(ctx, o.Key, id, src, o.Again)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			if o.Made.IsZero() {
				o.Made = s.item.Read
			}
			out.put(&Head{Line{0, kindHead}, Version, o.Made.UTC(), o.Items, o.Key.Verifier})
		}
		made.Orders += len(s.orders)
		if found.Broken() {
			made.Broken = append(made.Broken, fmt.Sprintf("item %s: %s", id, found.Verdict()))
		}
		refused, err := o.refused(ctx, &s.item)
		if err != nil {
			return nil, fmt.Errorf("item %s: refused requests: %w", id, err)
		}
		if err := out.sale(s, found, refused); err != nil {
			return nil, fmt.Errorf("item %s: %w", id, err)
		}
	}
	root := out.tree.root()
	signed, err := o.Key.sign(out.tree.size, root, "items "+strings.Join(o.Items, ","),
		"made "+o.Made.UTC().Format(time.RFC3339))
	if err != nil {
		return nil, err
	}
	made.Lines, made.Root = out.tree.size, root.String()
	out.raw(noteLine(signed))
	if out.err == nil {
		out.err = out.to.Flush()
	}
	return made, out.err
}

// noteLine returns a report's last line.
func noteLine(signed string) []byte {
	line, err := marshal(struct {
		Note string `json:"note"`
	}{signed})
	if err != nil {
		panic(err) // texts always marshal
	}
	return append(line, '\n')
}

// writer writes lines and their leaves.
type writer struct {
	to   *bufio.Writer
	tree tree
	err  error
}

func (w *writer) sale(s *sale, found *audit.Report, refused Refusals) error {
	s.item.Line, s.item.Orders = Line{w.tree.size, kindItem}, len(s.orders)
	w.put(&s.item)
	sums := newAdder(s.id, s.item.Stock)
	for i := range s.orders {
		o := &s.orders[i]
		o.N = w.tree.size
		sums.add(o) // what is wrong with it the audit tells, too
		w.put(o)
		*o = Order{} // frees memory
	}
	for i := range s.stray {
		p := &s.stray[i]
		p.N = w.tree.size
		sums.pay(&p.Money)
		w.put(p)
	}
	for _, m := range sums.ascending() {
		w.put(&Minute{Line{w.tree.size, kindMinute}, m})
	}
	for i := range found.Results {
		r := &found.Results[i]
		w.put(&Guarantee{Line{w.tree.size, kindGuarantee}, r.ID, r.Name, r.Verdict, r.Looked, len(r.Needs), r.Count})
	}
	w.put(&Refused{Line{w.tree.size, kindRefused}, refused})
	st := &Statement{Line: Line{w.tree.size, kindStatement}, Sums: sums.Sums}
	if p := found.Statement.Money.Provider; p != nil {
		st.Provider = &Provider{p.Captured.Fen, p.Refunded.Fen, p.Balanced}
	}
	w.put(st)
	return w.err
}

// The end of each line: `,"leaf":"` base64 `"}`.
const (
	leafOpen  = `,"leaf":"`
	leafClose = `"}`
)

var (
	leafText = base64.StdEncoding.EncodedLen(tlog.HashSize)
	leafTail = len(leafOpen) + leafText + len(leafClose)
)

// put writes a line. Its leaf is the hash of the line's object without the hash itself.
func (w *writer) put(v any) {
	if w.err != nil {
		return
	}
	line, err := marshal(v)
	if err == nil && len(line)+leafTail >= MaxLine {
		err = fmt.Errorf("line %d has %d bytes, want less than %d", w.tree.size+1, len(line), MaxLine)
	}
	if err != nil {
		w.err = err
		return
	}
	leaf := tlog.RecordHash(line)
	w.tree.add(leaf)
	w.raw(append(tail(line[:len(line)-1], leaf), '\n'))
}

func (w *writer) raw(line []byte) {
	if w.err == nil {
		_, w.err = w.to.Write(line)
	}
}

// tail appends what ends a line with this leaf.
func tail(line []byte, leaf tlog.Hash) []byte {
	line = base64.StdEncoding.AppendEncode(append(line, leafOpen...), leaf[:])
	return append(line, leafClose...)
}

// marshal returns JSON in one line. It leaves < and & alone: a page that shows them escapes them itself.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
