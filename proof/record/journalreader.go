package record

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds a line, in bytes. A Writer's longest line is about a tenth of it.
const maxLine = 64 << 10

// Summary describes a journal.
type Summary struct {
	Start    *Start
	End      *End   // nil if the journal was cut off
	Lines    uint64 // valid lines
	Requests uint64
	Answers  uint64
}

// BrokenError names the first invalid line of a journal.
type BrokenError struct {
	Line uint64 // counts from 1
	Why  string
}

// Error implements error.
func (e *BrokenError) Error() string { return fmt.Sprintf("line %d of the journal: %s", e.Line, e.Why) }

// ReadJournal calls each with every entry of a journal in order, until the first invalid line. The callback may keep
// the entry. The error is a *BrokenError, or that of each or r; the summary covers the lines before it. A journal that
// stops after a whole line is not an error, but its summary has no End.
func ReadJournal(r io.Reader, each func(*Entry) error) (Summary, error) {
	var s Summary
	in := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := in.ReadSlice('\n')
		broken := func(why string, args ...any) error {
			return &BrokenError{s.Lines + 1, fmt.Sprintf(why, args...)}
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return s, broken("is longer than %d bytes", maxLine)
		case errors.Is(err, io.EOF) && len(line) == 0 && s.Lines == 0:
			return s, broken("is missing: the journal is empty")
		case errors.Is(err, io.EOF) && len(line) == 0:
			return s, nil
		case errors.Is(err, io.EOF):
			return s, broken("is cut off")
		case err != nil:
			return s, err
		}
		e := new(Entry)
		if err := json.Unmarshal(line, e); err != nil {
			return s, broken("cannot be read: %v", err)
		}
		if why := s.add(e); why != "" {
			return s, broken("%s", why)
		}
		s.Lines++
		if err := each(e); err != nil {
			return s, err
		}
	}
}

// add checks an entry against the previous ones and counts it. It returns what is wrong, or "".
func (s *Summary) add(e *Entry) string {
	switch {
	case s.End != nil:
		return "comes after the end"
	case e.N != s.Lines+1:
		return fmt.Sprintf("has the number %d: lines were removed, added or moved", e.N)
	case (e.Kind == KindStart) != (e.N == 1) || (e.Kind == KindStart) != (e.Start != nil):
		return "is a start, which only the first line has to be"
	case (e.Kind == KindEnd) != (e.End != nil):
		return "is an end without its counts"
	}
	switch e.Kind {
	case KindStart:
		s.Start = e.Start
	case KindRequest:
		s.Requests++
	case KindAnswer:
		s.Answers++
		if e.Request == 0 || e.Request >= e.N {
			return fmt.Sprintf("answers request %d, which is not a previous line", e.Request)
		}
	case KindEnd:
		s.End = e.End
		if e.End.Requests != s.Requests || e.End.Answers != s.Answers {
			return fmt.Sprintf("counts %d requests and %d answers, but there are %d and %d", e.End.Requests,
				e.End.Answers, s.Requests, s.Answers)
		}
	default:
		return fmt.Sprintf("has the unknown kind %q", e.Kind)
	}
	return ""
}
