package report

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"golang.org/x/mod/sumdb/tlog"
)

// Finding is something that is wrong with a report.
type Finding struct {
	Line int64  `json:"line"`           // from 1; 0: the whole file
	Byte int    `json:"byte,omitempty"` // of the line, from 1; 0: unknown
	What string `json:"what"`
}

func (f Finding) String() string {
	switch {
	case f.Line == 0:
		return f.What
	case f.Byte == 0:
		return fmt.Sprintf("line %d: %s", f.Line, f.What)
	}
	return fmt.Sprintf("line %d, byte %d: %s", f.Line, f.Byte, f.What)
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

// next returns the next line without its end, until the next call; ended: it had an end. io.EOF after the last one.
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

// maxSearched is the longest line in which a single changed byte is searched.
const maxSearched = 3 << 9

// damage says where a line is damaged, whose leaf is not what it states. stated is the hash that the line states,
// if it can be read.
func damage(line []byte, search bool) (f Finding, stated *tlog.Hash) {
	content, computed, end := leafOf(line)
	if content == nil {
		return Finding{What: "is not a line of a report: it is too short"}, nil
	}
	// One byte of the leaf, or of what is around it?
	want := tail(nil, computed)
	if i, only := differ(end, want); only {
		f = Finding{Byte: len(line) - leafTail + i + 1, What: "the line's hash is damaged; its content is not"}
		return f, &computed
	}
	if h, ok := statedIn(end); ok {
		stated = &h
		if search && len(line) <= maxSearched {
			if i, was := restore(content, h); i >= 0 {
				content[i] = was
				what := fmt.Sprintf("%q was %q, in %s", line[i], was, field(content, i))
				return Finding{Byte: i + 1, What: what}, stated
			}
		}
	}
	var syntax *json.SyntaxError
	if err := json.Unmarshal(line, new(json.RawMessage)); errors.As(err, &syntax) {
		return Finding{Byte: int(syntax.Offset), What: "is not a line of a report: " + syntax.Error()}, stated
	}
	return Finding{What: "was changed: its content and its hash do not fit"}, stated
}

// differ returns the first place where two texts of one length differ, and whether it is the only one.
func differ(a, b []byte) (first int, only bool) {
	count := 0
	for i := range a {
		if a[i] != b[i] {
			if count++; count == 1 {
				first = i
			}
		}
	}
	return first, count == 1
}

func statedIn(end []byte) (h tlog.Hash, ok bool) {
	if !bytes.HasPrefix(end, []byte(leafOpen)) || !bytes.HasSuffix(end, []byte(leafClose)) {
		return h, false
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(string(end[len(leafOpen) : len(leafOpen)+leafText]))
	return h, err == nil && copy(h[:], raw) == len(h)
}

// restore looks for the one byte whose change makes a text hash to h, and returns its place and what it was; -1 if
// there is none. It tries the likely first: bytes that no line has, then ASCII characters, then the rest.
func restore(text []byte, h tlog.Hash) (place int, was byte) {
	odd := func(c byte) bool { return c < ' ' || c > '~' }
	for _, pass := range []struct {
		place, value func(byte) bool
	}{{odd, func(byte) bool { return true }}, {nil, func(c byte) bool { return !odd(c) }}, {nil, odd}} {
		for i, is := range text[:len(text)-1] {
			if pass.place != nil && !pass.place(is) {
				continue
			}
			for c := range 256 {
				if c := byte(c); c != is && pass.value(c) {
					if text[i] = c; tlog.RecordHash(text) == h {
						text[i] = is
						return i, c
					}
				}
			}
			text[i] = is
		}
	}
	return -1, 0
}

// field names the member of a line's object in which a byte stands.
func field(line []byte, place int) string {
	d := json.NewDecoder(bytes.NewReader(line))
	_, err := d.Token()
	for err == nil && d.More() {
		var key json.Token
		if key, err = d.Token(); err == nil {
			err = d.Decode(new(json.RawMessage))
		}
		if err == nil && d.InputOffset() > int64(place) {
			return fmt.Sprint(key)
		}
	}
	return "its end"
}
