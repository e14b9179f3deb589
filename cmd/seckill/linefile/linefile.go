// Package linefile reads a CSV file of which each line is one thing, such as a block. In: the file. Out: its lines'
// cells, one by one, or its blocks; or what is wrong, line by line. It touches only the file.
//
// What files are read, csvfile says. Empty lines are counted but ignored.
package linefile

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/your-org/seckill/shared/api/csvfile"
)

// Limits of a file.
const (
	MaxLines  = 1_000_000
	MaxLine   = 4 << 10 // bytes of a row; the longest that is right has about 2 KiB
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
	Thing string // what a line is, for messages
	csvfile.Format
}

// Read calls line for each row with its line's number, from 1, and a function that returns a column's cell; "" of a
// column that is not there. An *Error says which lines are wrong; any other error is about the whole file.
func Read(in io.Reader, format Format, line func(n int, cell func(column string) string) error) error {
	r, err := csvfile.NewReader(in, MaxLine, format.Format)
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("it is empty: its first line should name the columns %s",
			strings.Join(format.Required, " and "))
	}
	if err != nil {
		return err
	}
	var bad Error
	for found := false; ; found = true {
		row, err := r.Next()
		var fault *csvfile.Fault
		switch {
		case errors.Is(err, io.EOF) && bad.Count > 0:
			return &bad
		case errors.Is(err, io.EOF) && !found:
			return errors.New("it has no " + format.Thing)
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &fault):
			bad.Add(fault.Line, fault.Err.Error())
			continue
		case err != nil:
			return err
		case row.N > MaxLines+1:
			return fmt.Errorf("it has more than %d lines: split it", MaxLines)
		}
		if err := line(row.N, row.Cell); err != nil {
			bad.Add(row.N, err.Error())
		}
	}
}
