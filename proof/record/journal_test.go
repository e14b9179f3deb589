package record_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/proof/record"
)

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
	if s.Lines != 8 || s.Requests != 3 || s.Answers != 3 || s.End == nil || s.End.Requests != 3 || s.End.Answers != 3 {
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

// TestAChangedJournalNamesTheLine: the reader names the first line that is not valid, and why.
func TestAChangedJournalNamesTheLine(t *testing.T) {
	good := written(t, 5) // 12 lines
	lines := slices.Collect(bytes.Lines(good))
	with := func(change func(l [][]byte) [][]byte) []byte {
		return slices.Concat(change(slices.Clone(lines))...)
	}
	edit := func(i int, old, text string) []byte {
		return with(func(l [][]byte) [][]byte {
			l[i] = bytes.Replace(l[i], []byte(old), []byte(text), 1)
			return l
		})
	}
	for _, tt := range []struct {
		change string
		data   []byte
		line   uint64
		why    string
	}{
		{"a number changed", edit(4, `"n":5`, `"n":6`), 5, "number 6"},
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
		{"an end with wrong counts", edit(11, `"answers":5`, `"answers":6`), 12, "counts 5 requests and 6 answers"},
		{"an answer without a request", edit(4, `"request":4`, `"request":9`), 5, "answers request 9"},
		{"a second start", edit(3, `"request"`, `"start"`), 4, "is a start"},
		{"an end with no counts", edit(11, `"end":{`, `"x":{`), 12, "is an end"},
		{"an unknown kind", edit(3, `"request"`, `"note"`), 4, `"note"`},
	} {
		_, s, err := read(tt.data)
		var broken *record.BrokenError
		if !errors.As(err, &broken) || broken.Line != tt.line || !strings.Contains(err.Error(), tt.why) ||
			s.Lines != tt.line-1 {
			t.Errorf("%s: %v after %d lines; want line %d, %q", tt.change, err, s.Lines, tt.line, tt.why)
		}
	}
}

func TestACutEndIsNoErrorAndHasNoEnd(t *testing.T) {
	good := written(t, 5)
	lines := slices.Collect(bytes.Lines(good))
	_, s, err := read(slices.Concat(lines[:9]...))
	if err != nil || s.End != nil || s.Lines != 9 || s.Start == nil {
		t.Errorf("%+v, %v; want 9 lines and no end", s, err)
	}
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
