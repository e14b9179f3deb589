// Package linefile reads a CSV file of which each line is one thing, such as a block. In: the file. Out: its lines'
// cells, one by one, or its blocks; or what is wrong, line by line. It touches only the file.
//
// The first line names the columns. A quoted field ends on its line. Empty lines are counted but ignored.
package linefile

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of a file.
const (
	MaxLines  = 1_000_000
	MaxLine   = 4 << 10 // bytes; the longest that is right has about 2 KiB
	MaxFaults = 20      // faults that an Error lists; it counts the rest
)

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

// Format says what a file's lines have.
type Format struct {
	Thing    string   // what a line is, for messages
	Columns  []string // all columns; nil if there may be others, which are not read
	Required []string // columns that a file must have
}

// reader reads one file.
type reader struct {
	*Format
	in    *bufio.Reader
	at    map[string]int // column to field
	width int            // fields of a line
	bad   Error
}

// Read calls line for each line with its number, from 1, and a function that returns a column's cell; "" of a column
// that is not there. An *Error says which lines are wrong; any other error is about the whole file.
func Read(in io.Reader, format Format, line func(n int, cell func(column string) string) error) error {
	r := reader{Format: &format, in: bufio.NewReaderSize(in, MaxLine+2)}
	text, err := r.line()
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("it is empty: its first line should name the columns %s", strings.Join(r.Required, " and "))
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")):
		return errors.New("it is UTF-16: save it as UTF-8")
	case err != nil:
		return fmt.Errorf("line 1: %w", err)
	}
	if err := r.header(bytes.TrimPrefix(text, []byte("\ufeff"))); err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	return r.lines(line)
}

// lines reads what follows the first line.
func (r *reader) lines(line func(n int, cell func(string) string) error) error {
	found := false
	for n := 2; ; n++ {
		text, err := r.line()
		switch {
		case errors.Is(err, io.EOF) && r.bad.Count > 0:
			return &r.bad
		case errors.Is(err, io.EOF) && !found:
			return errors.New("it has no " + r.Thing)
		case errors.Is(err, io.EOF):
			return nil
		case n > MaxLines+1:
			return fmt.Errorf("it has more than %d lines: split it", MaxLines)
		case errors.Is(err, errLong):
			r.bad.Add(n, err.Error())
			continue
		case err != nil:
			return err
		case len(text) == 0:
			continue
		}
		found = true
		cells, err := fields(text)
		if err == nil && len(cells) != r.width {
			err = fmt.Errorf("%d fields, and the first line has %d", len(cells), r.width)
		}
		if err == nil {
			err = line(n, func(column string) string {
				if i, ok := r.at[column]; ok {
					return cells[i]
				}
				return ""
			})
		}
		if err != nil {
			r.bad.Add(n, err.Error())
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
		return nil, errors.New("not UTF-8 text: save the file as CSV UTF-8")
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
		if r.Columns != nil && !slices.Contains(r.Columns, name) {
			return fmt.Errorf("%+.40q is not a column: there are %s", name, strings.Join(r.Columns, ", "))
		}
		r.at[name] = i
	}
	for _, name := range r.Required {
		if _, ok := r.at[name]; !ok {
			return fmt.Errorf("the column %s is missing", name)
		}
	}
	return nil
}
