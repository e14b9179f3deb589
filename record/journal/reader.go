package journal

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds a line, in bytes; the longest that a Writer makes is about a tenth of it.
const maxLine = 64 << 10

// Summary is what a whole journal says of itself.
type Summary struct {
	Start    *Start
	End      *End   // nil: the journal was cut off
	Lines    uint64 // that hold
	Requests uint64
	Answers  uint64
	Last     string // hash of the last line
}

// BrokenError says which line of a journal is the first that does not hold.
type BrokenError struct {
	Line uint64 // counts from 1
	Why  string
}

// Error is a line for a person.
func (e *BrokenError) Error() string { return fmt.Sprintf("line %d of the journal: %s", e.Line, e.Why) }

// Read hands each entry of a journal to each, in order, as long as the chain holds. The entry may be kept. The error is
// a *BrokenError, each's own, or r's; the summary says how far it came. A journal that stops after a whole line is no
// error: its summary has no End.
func Read(r io.Reader, each func(*Entry) error) (Summary, error) {
	var s Summary
	in := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := in.ReadSlice('\n')
		broken := func(why string, args ...any) error {
			return &BrokenError{s.Lines + 1, fmt.Sprintf(why, args...)}
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return s, broken("longer than %d bytes", maxLine)
		case errors.Is(err, io.EOF) && len(line) == 0 && s.Lines == 0:
			return s, broken("there is none: the journal is empty")
		case errors.Is(err, io.EOF) && len(line) == 0:
			return s, nil
		case errors.Is(err, io.EOF):
			return s, broken("cut off in the middle")
		case err != nil:
			return s, err
		}
		line = line[:len(line)-1]
		e := new(Entry)
		if err := json.Unmarshal(line, e); err != nil {
			return s, broken("cannot be read: %v", err)
		}
		if why := s.add(e); why != "" {
			return s, broken("%s", why)
		}
		sum := sha256.Sum256(line)
		s.Last = hex.EncodeToString(sum[:])
		s.Lines++
		if err := each(e); err != nil {
			return s, err
		}
	}
}

// add checks an entry against those before it and counts it. It says what is wrong, or nothing.
func (s *Summary) add(e *Entry) string {
	switch {
	case s.End != nil:
		return "stands after the end"
	case e.N != s.Lines+1:
		return fmt.Sprintf("has the number %d: lines were removed, added or moved", e.N)
	case e.Prev != s.Last:
		return fmt.Sprintf("does not carry the hash of line %d: that line was changed, or this one", s.Lines)
	case (e.Kind == KindStart) != (e.N == 1) || (e.Kind == KindStart) != (e.Start != nil):
		return "a start belongs into the first line, and nowhere else"
	case (e.Kind == KindEnd) != (e.End != nil):
		return "an end without its counts"
	}
	switch e.Kind {
	case KindStart:
		s.Start = e.Start
	case KindRequest:
		s.Requests++
	case KindAnswer:
		s.Answers++
		if e.Request == 0 || e.Request >= e.N {
			return fmt.Sprintf("answers request %d, which is none before it", e.Request)
		}
	case KindEnd:
		s.End = e.End
		if e.End.Requests != s.Requests || e.End.Answers != s.Answers {
			return fmt.Sprintf("counts %d requests and %d answers; there are %d and %d", e.End.Requests, e.End.Answers,
				s.Requests, s.Answers)
		}
	default:
		return fmt.Sprintf("is of no kind that is known: %q", e.Kind)
	}
	return ""
}
