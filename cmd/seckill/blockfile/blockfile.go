// Package blockfile reads a list of blocks from a CSV file. In: the file. Out: its blocks, or what is wrong, line by
// line; it accepts all lines or none. It touches only the file.
//
// The first line names the columns: subject (a user id, an address, or a range of addresses) and reason; item (empty or
// *: every item) and until (RFC 3339, empty: for good) may be missing. A line is one block, so a quoted field ends on
// its line. Lines without a character count, but say nothing.
package blockfile

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/your-org/seckill/shared/seckill"
)

// Limits of a file.
const (
	MaxLines  = 1_000_000
	MaxLine   = 4 << 10 // bytes; the longest that is right has about 1 KiB
	MaxFaults = 20      // that an Error lists; it counts the rest
)

// Line is one block.
type Line struct {
	N int // the line's number in the file, from 1
	seckill.Block
}

// Fault is what is wrong with a line.
type Fault struct {
	Line int
	What string
}

// Error says what is wrong with a file's lines.
type Error struct {
	Faults []Fault // the first MaxFaults
	Count  int     // of all
}

func (e *Error) Error() string {
	if e.Count == 1 {
		return "1 line is wrong"
	}
	return fmt.Sprintf("%d lines are wrong", e.Count)
}

// Add adds a fault.
func (e *Error) Add(line int, what string) {
	if e.Count++; len(e.Faults) < MaxFaults {
		e.Faults = append(e.Faults, Fault{line, what})
	}
}

var columns = []string{"subject", "item", "reason", "until"}

// reader reads one file.
type reader struct {
	in    *bufio.Reader
	by    string
	now   time.Time
	at    map[string]int // column to field
	width int            // fields of a line
	first map[string]int // line of each subject and item
	bad   Error
}

// Read reads a file's blocks. now becomes their time, by their author. An *Error says which lines are wrong; any other
// error is about the whole file.
func Read(in io.Reader, by string, now time.Time) ([]Line, error) {
	r := reader{in: bufio.NewReaderSize(in, MaxLine+2), by: by, now: now, first: map[string]int{}}
	text, err := r.line()
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("it is empty: its first line should name the columns subject and reason")
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")):
		return nil, errors.New("it is UTF-16: save it as UTF-8")
	case err != nil:
		return nil, fmt.Errorf("line 1: %w", err)
	}
	if err := r.header(bytes.TrimPrefix(text, []byte("\ufeff"))); err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	var out []Line
	for n := 2; ; n++ {
		text, err := r.line()
		switch {
		case errors.Is(err, io.EOF) && r.bad.Count > 0:
			return nil, &r.bad
		case errors.Is(err, io.EOF) && len(out) == 0:
			return nil, errors.New("it has no block")
		case errors.Is(err, io.EOF):
			return out, nil
		case n > MaxLines+1:
			return nil, fmt.Errorf("it has more than %d lines: split it", MaxLines)
		case errors.Is(err, errLong):
			r.bad.Add(n, err.Error())
			continue
		case err != nil:
			return nil, err
		case len(text) == 0:
			continue
		}
		b, err := r.block(n, text)
		if err != nil {
			r.bad.Add(n, err.Error())
		} else if r.bad.Count == 0 {
			out = append(out, Line{n, b})
		}
	}
}

var errLong = fmt.Errorf("longer than %d bytes", MaxLine)

// line returns the next line without its end, valid until the next call; io.EOF after the last. After errLong the line
// is skipped.
func (r *reader) line() ([]byte, error) {
	text, err := r.in.ReadSlice('\n')
	long := false
	for errors.Is(err, bufio.ErrBufferFull) {
		long = true
		_, err = r.in.ReadSlice('\n')
	}
	switch {
	case errors.Is(err, io.EOF) && len(text) == 0:
		return nil, io.EOF
	case err != nil && err != io.EOF:
		return nil, err
	}
	text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
	if long || len(text) > MaxLine {
		return nil, errLong
	}
	return text, nil
}

// fields splits a line.
func fields(line []byte) ([]string, error) {
	text := string(line)
	if !utf8.ValidString(text) {
		return nil, errors.New("not UTF-8 text")
	}
	if !strings.Contains(text, `"`) {
		return trimmed(strings.Split(text, ",")), nil
	}
	r := csv.NewReader(strings.NewReader(text))
	out, err := r.Read()
	if err != nil {
		return nil,
			errors.New("its quotes are wrong: a field in quotes ends on its line, and has two for each quote in it")
	}
	return trimmed(out), nil
}

func trimmed(fields []string) []string {
	for i, f := range fields {
		fields[i] = strings.Trim(f, " \t")
	}
	return fields
}

func (r *reader) header(line []byte) error {
	names, err := fields(line)
	if err != nil {
		return err
	}
	r.at, r.width = map[string]int{}, len(names)
	for i, name := range names {
		if _, twice := r.at[name]; twice {
			return fmt.Errorf("the column %s is there twice", name)
		}
		if !slices.Contains(columns, name) {
			return fmt.Errorf("%+.40q is no column: there are %s", name, strings.Join(columns, ", "))
		}
		r.at[name] = i
	}
	for _, name := range []string{"subject", "reason"} {
		if _, ok := r.at[name]; !ok {
			return fmt.Errorf("the column %s is missing", name)
		}
	}
	return nil
}

// block reads a line.
func (r *reader) block(n int, line []byte) (b seckill.Block, err error) {
	cells, err := fields(line)
	if err != nil {
		return b, err
	}
	if len(cells) != r.width {
		return b, fmt.Errorf("%d fields, and the first line has %d", len(cells), r.width)
	}
	cell := func(name string) string {
		if i, ok := r.at[name]; ok {
			return cells[i]
		}
		return ""
	}
	b = seckill.Block{Item: cell("item"), Reason: cell("reason"), By: r.by, Made: r.now}
	if b.Subject, err = Subject(cell("subject")); err != nil {
		return b, fmt.Errorf("subject %+.60q: %w", cell("subject"), err)
	}
	if b.Item == "" {
		b.Item = seckill.Everywhere
	}
	if text := cell("until"); text != "" {
		if b.Until, err = time.Parse(time.RFC3339, text); err != nil {
			return b, fmt.Errorf("until %+.60q: want a time such as 2026-12-31T16:00:00Z", text)
		}
	}
	if err := Check(&b); err != nil {
		return b, err
	}
	key := string(b.Subject) + " " + b.Item
	if first := r.first[key]; first > 0 {
		return b, fmt.Errorf("%s is on line %d already", Words(&b), first)
	}
	r.first[key] = n
	return b, nil
}

// Subject reads a user id, an address, or a range of addresses. The error says in words what is wrong with it.
func Subject(text string) (seckill.Subject, error) {
	s, err := seckill.ParseSubject(text)
	var refused *seckill.Error
	switch {
	case err == nil:
		return s, nil
	case errors.As(err, &refused) && strings.HasPrefix(refused.Hint, "/"):
		return s,
			errors.New("want a range of /32, /28, /24, /20 or /16, of IPv6 /64, /56, /48, /40 or /32; wider ones " +
				"are for the firewall in front")
	case refused != nil && refused.Hint != "":
		return s, fmt.Errorf("the range is written %s", refused.Hint)
	}
	return s, errors.New("want a user id, an address, or a range such as 203.0.113.0/24")
}

// Check says in words what is wrong with a block whose subject is right.
func Check(b *seckill.Block) error {
	var refused *seckill.Error
	switch err := b.Validate(); {
	case err == nil:
		return nil
	case !errors.As(err, &refused):
		return err
	}
	switch refused.Field {
	case "item":
		return fmt.Errorf("item %+.60q: want 1 to 19 digits without a leading zero, or nothing for every item", b.Item)
	case "reason":
		if b.Reason == "" {
			return errors.New("reason: it is missing")
		}
		return fmt.Errorf("reason %+.60q: want up to %d characters on one line", b.Reason, seckill.MaxBlockReason)
	case "until":
		return fmt.Errorf("until %s: it has passed", b.Until.Format(time.RFC3339))
	}
	return fmt.Errorf("%s: want %s", refused.Field, refused.Hint)
}

// Words names a block's subject and item.
func Words(b *seckill.Block) string {
	what := "network " + b.Subject.Written()
	if user, ok := b.Subject.User(); ok {
		what = "user " + user
	}
	if b.Item == seckill.Everywhere {
		return what + " for every item"
	}
	return what + " for item " + b.Item
}
