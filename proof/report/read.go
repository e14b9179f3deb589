package report

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"

	"golang.org/x/mod/sumdb/tlog"
)

// Finding is something that is wrong with a report.
type Finding struct {
	Line int64  `json:"line"` // from 1; 0 means the whole file
	What string `json:"what"`
}

func (f Finding) String() string {
	if f.Line == 0 {
		return f.What
	}
	return fmt.Sprintf("line %d: %s", f.Line, f.What)
}

// lines reads a report's lines, gzip or not. A line that is longer than MaxLine is skipped without being kept.
type lines struct {
	in *bufio.Reader
	n  int64 // lines read
}

func newLines(r io.Reader) (*lines, error) {
	in := bufio.NewReaderSize(r, MaxLine)
	if magic, _ := in.Peek(2); string(magic) == "\x1f\x8b" {
		unzipped, err := gzip.NewReader(in)
		if err != nil {
			return nil, err
		}
		in = bufio.NewReaderSize(unzipped, MaxLine)
	}
	return &lines{in: in}, nil
}

var errLong = fmt.Errorf("has more than %d bytes", MaxLine)

// next returns the next line without its end, valid until the next call; ended reports whether the line had an end.
// io.EOF after the last line.
// errLong if the line was too long.
func (l *lines) next() (line []byte, ended bool, err error) {
	line, err = l.in.ReadSlice('\n')
	if len(line) > 0 {
		l.n++
	}
	long := false
	for errors.Is(err, bufio.ErrBufferFull) {
		long = true
		_, err = l.in.ReadSlice('\n')
	}
	switch {
	case long && (err == nil || errors.Is(err, io.EOF)):
		return nil, err == nil, errLong
	case err == nil:
		return line[:len(line)-1], true, nil
	case errors.Is(err, io.EOF) && len(line) > 0:
		return line, false, nil
	}
	return nil, false, err
}

// leafOf splits a line into the content of its leaf and the hash that the line states.
func leafOf(line []byte) (content []byte, computed tlog.Hash, stated []byte) {
	if len(line) <= leafTail {
		return nil, tlog.Hash{}, nil
	}
	cut := len(line) - leafTail
	content = append(append(make([]byte, 0, cut+1), line[:cut]...), '}')
	return content, tlog.RecordHash(content), line[cut:]
}

// damage says what is wrong with a line whose leaf is not what it states, and what its leaf was.
func damage(line []byte) (what string, stated tlog.Hash) {
	content, computed, end := leafOf(line)
	if content == nil {
		return "is not a line of a report: it is too short", computed
	}
	if h, ok := statedIn(end); ok {
		return "was changed: its content and its hash do not fit", h
	}
	return "its hash is damaged", computed
}

func statedIn(end []byte) (h tlog.Hash, ok bool) {
	if !bytes.HasPrefix(end, []byte(leafOpen)) || !bytes.HasSuffix(end, []byte(leafClose)) {
		return h, false
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(string(end[len(leafOpen) : len(leafOpen)+leafText]))
	return h, err == nil && copy(h[:], raw) == len(h)
}
