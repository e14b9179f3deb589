package record_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/your-org/seckill/proof/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = record.Start{Version: "v1", URL: "http://localhost:8100", Item: "2002", Shoppers: 3, FirstUser: 1000,
	LastUser: 1002, Seed: 7,
	Ramp: "1s", Timeout: "5s", Count: 1, Shares: record.Shares{Pay: 0.7}, Connections: 2}

// written returns a journal of n requests with an answer each: 2n+2 lines.
func written(t testing.TB, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	w := record.CreateJournal(&out, start)
	for i := range n {
		r := w.Request(record.Entry{Shopper: i + 1, User: "1000", Act: record.ActBuy, Item: "2002", Count: 1,
			Address: record.Hash([]byte("北京"))})
		w.Answer(record.Entry{Request: r, Shopper: i + 1, User: "1000", Act: record.ActBuy, Status: 200,
			Order: fmt.Sprint("o", i), Body: record.Hash([]byte("{}"))})
	}
	if err := w.Close(record.End{}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func read(data []byte) ([]*record.Entry, record.Summary, error) {
	var all []*record.Entry
	s, err := record.ReadJournal(bytes.NewReader(data), func(e *record.Entry) error {
		all = append(all, e)
		return nil
	})
	return all, s, err
}

func TestAJournalReadsBack(t *testing.T) {
	data := written(t, 3)
	all, s, err := read(data)
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	if s.Lines != 8 || s.Requests != 3 || s.Answers != 3 || s.End == nil || s.End.Requests != 3 || s.End.Answers != 3 ||
		len(s.Last) != 64 {
		t.Errorf("summary %+v", s)
	}
	if age := time.Since(s.Start.Time); age < 0 || age > time.Hour {
		t.Errorf("started %v ago", age)
	}
	got := *s.Start
	got.Time = time.Time{}
	if diff := cmp.Diff(start, got); diff != "" {
		t.Errorf("start (-want +got):\n%s", diff)
	}
	last := int64(0)
	for i, e := range all {
		if e.N != uint64(i+1) || e.At < last {
			t.Errorf("entry %d: n %d at %d, after %d", i, e.N, e.At, last)
		}
		last = e.At
	}
}

// TestAChangedJournalNamesTheLine: the reader names the first line that is not valid.
func TestAChangedJournalNamesTheLine(t *testing.T) {
	good := written(t, 5) // 12 lines
	lines := slices.Collect(bytes.Lines(good))
	with := func(change func(l [][]byte) [][]byte) []byte {
		return slices.Concat(change(slices.Clone(lines))...)
	}
	edit := func(i int, old, text string) func([][]byte) [][]byte {
		return func(l [][]byte) [][]byte {
			l[i] = bytes.Replace(l[i], []byte(old), []byte(text), 1)
			return l
		}
	}
	for _, tt := range []struct {
		change string
		data   []byte
		line   uint64
		why    string
	}{
		{"a byte changed", with(edit(4, `"status":200`, `"status":201`)), 6, "hash of line 5"},
		{"a byte changed in the first line", with(edit(0, `"seed":7`, `"seed":8`)), 2, "hash of line 1"},
		{"a number changed", with(edit(4, `"n":5`, `"n":6`)), 5, "number 6"},
		{"the hash itself changed", with(edit(4, `"prev":"`, `"prev":"0`)), 5, "hash of line 4"},
		{"a space added", with(edit(4, `,`, `, `)), 6, "hash of line 5"},
		{"a line removed", with(func(l [][]byte) [][]byte { return slices.Delete(l, 4, 5) }), 5, "number 6"},
		{"the first line removed", with(func(l [][]byte) [][]byte { return l[1:] }), 1, "number 2"},
		{"a line repeated", with(func(l [][]byte) [][]byte { return slices.Insert(l, 4, l[3]) }), 5, "number 4"},
		{"a pair swapped", with(func(l [][]byte) [][]byte { l[4], l[5] = l[5], l[4]; return l }), 5, "number 6"},
		{"a blank line", with(func(l [][]byte) [][]byte {
			return slices.Insert(l, 4, []byte("\n"))
		}), 5, "cannot be read"},
		{"cut in a line", good[:len(good)-1], 12, "cut off"},
		{"cut in an earlier line", good[:bytes.Index(good, lines[6])+10], 7, "cut off"},
		{"a line after the end", with(func(l [][]byte) [][]byte { return append(l, l[1]) }), 13, "after the end"},
		{"a line without an end", with(func(l [][]byte) [][]byte {
			l[3] = bytes.Repeat([]byte("x"), 1<<17)
			return l
		}), 4, "longer than"},
		{"nothing at all", nil, 1, "empty"},
	} {
		_, s, err := read(tt.data)
		var broken *record.BrokenError
		if !errors.As(err, &broken) || broken.Line != tt.line || !strings.Contains(err.Error(), tt.why) ||
			s.Lines != tt.line-1 {
			t.Errorf("%s: %v after %d lines; want line %d, %q", tt.change, err, s.Lines, tt.line, tt.why)
		}
	}
}

// TestAForgedJournalHasToAddUp: the reader checks counts and kinds also when the chain is valid.
func TestAForgedJournalHasToAddUp(t *testing.T) {
	for _, tt := range []struct {
		forgery string
		change  func(*record.Entry)
		line    uint64
		why     string
	}{
		{"an end with wrong counts", func(e *record.Entry) {
			if e.End != nil {
				e.End.Answers++
			}
		}, 12, "counts 5 requests and 6 answers"},
		{"an answer without a request", func(e *record.Entry) {
			if e.N == 5 {
				e.Request = 9
			}
		}, 5, "answers request 9"},
		{"a second start", func(e *record.Entry) {
			if e.N == 4 {
				e.Kind = record.KindStart
			}
		}, 4, "is a start"},
		{"an end with no counts", func(e *record.Entry) { e.End = nil }, 12, "is an end"},
		{"an unknown kind", func(e *record.Entry) {
			if e.N == 4 {
				e.Kind = "note"
			}
		}, 4, `"note"`},
	} {
		_, _, err := read(chained(t, written(t, 5), tt.change))
		var broken *record.BrokenError
		if !errors.As(err, &broken) || broken.Line != tt.line || !strings.Contains(err.Error(), tt.why) {
			t.Errorf("%s: %v; want line %d, %q", tt.forgery, err, tt.line, tt.why)
		}
	}
	if data := written(t, 5); !bytes.Equal(chained(t, data, func(*record.Entry) {}), data) {
		t.Error("encoding/json writes the journal differently")
	}
}

// chained changes entries and chains the lines anew.
func chained(t *testing.T, data []byte, change func(*record.Entry)) []byte {
	t.Helper()
	all, _, err := read(data)
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	prev := ""
	for _, e := range all {
		change(e)
		e.Prev = prev
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		prev = record.Hash(line)
		out = append(append(out, line...), '\n')
	}
	return out
}

func TestACutEndIsNoErrorAndHasNoEnd(t *testing.T) {
	good := written(t, 5)
	lines := slices.Collect(bytes.Lines(good))
	_, s, err := read(slices.Concat(lines[:9]...))
	if err != nil || s.End != nil || s.Lines != 9 || s.Start == nil {
		t.Errorf("%+v, %v; want 9 lines and no end", s, err)
	}
}

// TestAnyEntryReadsBack: encoding/json decodes entries with any texts.
func TestAnyEntryReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.Rune().Filter(utf8.ValidRune), 0, 20, -1)
		want := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) record.Entry {
			return record.Entry{
				Shopper: rapid.IntRange(0, 1<<40).Draw(t, "shopper"), Count: rapid.IntRange(-1, 60).Draw(t, "count"),
				Status: rapid.IntRange(0, 599).Draw(t, "status"),
				User:   text.Draw(t, "user"), Act: text.Draw(t, "act"), Item: text.Draw(t, "item"),
				Key:     text.Draw(t, "key"),
				Address: text.Draw(t, "address"), Ticket: text.Draw(t, "ticket"),
				Order: text.Draw(t, "order"), Code: text.Draw(t, "code"),
				State: text.Draw(t, "state"),
				Error: text.Draw(t, "error"), Date: text.Draw(t, "date"), Body: text.Draw(t, "body"),
			}
		}), 1, 10).Draw(t, "entries")
		var out bytes.Buffer
		w := record.CreateJournal(&out, start)
		for i := range want {
			want[i].Kind = record.KindRequest
			if want[i].N = w.Request(want[i]); want[i].N != uint64(i+2) {
				t.Fatalf("request %d has the number %d", i, want[i].N)
			}
		}
		if err := w.Close(record.End{Interrupted: true}); err != nil {
			t.Fatal(err)
		}
		all, s, err := read(out.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if s.Last != w.Last() || !s.End.Interrupted {
			t.Fatalf("last hash %s and %+v, writer says %s", s.Last, s.End, w.Last())
		}
		for i, e := range all[1 : len(all)-1] {
			e.At, e.Prev = 0, ""
			if diff := cmp.Diff(want[i], *e); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

func TestManyWriteAtOnce(t *testing.T) {
	var out bytes.Buffer
	w := record.CreateJournal(&out, start)
	const writers, each = 8, 500
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			for range each {
				w.Answer(record.Entry{Shopper: i + 1, Request: w.Request(record.Entry{Shopper: i + 1})})
			}
		})
	}
	all.Wait()
	if err := w.Close(record.End{}); err != nil {
		t.Fatal(err)
	}
	asked := map[uint64]int{}
	_, err := record.ReadJournal(&out, func(e *record.Entry) error {
		switch e.Kind {
		case record.KindRequest:
			asked[e.N] = e.Shopper
		case record.KindAnswer:
			if asked[e.Request] != e.Shopper {
				t.Errorf("line %d: shopper %d gets the answer to shopper %d's request", e.N, e.Shopper,
					asked[e.Request])
			}
			delete(asked, e.Request)
		}
		return nil
	})
	if err != nil || len(asked) != 0 {
		t.Errorf("%v; %d requests without answers", err, len(asked))
	}
}

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// TestAFullDiskHoldsNobodyUp: callers do not block when writes fail.
func TestAFullDiskHoldsNobodyUp(t *testing.T) {
	w := record.CreateJournal(full{}, start)
	for range 300_000 {
		w.Request(record.Entry{})
	}
	if err := w.Close(record.End{}); !errors.Is(err, errFull) {
		t.Errorf("%v, want %v", err, errFull)
	}
}

func TestTheReadersOwnErrorIsHandedOn(t *testing.T) {
	data := written(t, 1)
	s, err := record.ReadJournal(bytes.NewReader(data), func(e *record.Entry) error {
		if e.N == 2 {
			return errFull
		}
		return nil
	})
	if !errors.Is(err, errFull) || s.Lines != 2 {
		t.Errorf("%v after %d lines", err, s.Lines)
	}
	if _, err = record.ReadJournal(io.MultiReader(bytes.NewReader(data[:5]), errReader{}), func(*record.Entry) error {
		return nil
	}); !errors.Is(err, errFull) {
		t.Errorf("%v, want %v", err, errFull)
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errFull }

// BenchmarkEntry measures queueing, encoding and hashing an entry.
