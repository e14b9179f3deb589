package csvfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// decoded returns a file's text as UTF-8 without a byte order mark.
func decoded(in io.Reader, most int) (*bufio.Reader, error) {
	b := bufio.NewReaderSize(in, most+3) // a line with its end
	head, err := b.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte("\ufeff")):
		_, err = b.Discard(3)
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		_, err = b.Discard(2)
		return bufio.NewReaderSize(&utf16Reader{in: b, big: head[0] == 0xfe}, most+3), err
	case len(head) > 1 && (head[0] == 0) != (head[1] == 0): // Latin letters of UTF-16 without a mark
		return bufio.NewReaderSize(&utf16Reader{in: b, big: head[0] == 0}, most+3), nil
	default:
		err = nil
	}
	return b, err
}

// utf16Reader gives UTF-8 of UTF-16. Half a character becomes U+FFFD.
type utf16Reader struct {
	in   *bufio.Reader
	big  bool
	left []byte // of a character that did not fit
	unit rune   // a unit that was read too far; 0 for none
}

func (r *utf16Reader) Read(to []byte) (n int, err error) {
	for n < len(to) {
		if len(r.left) == 0 {
			c, err := r.char()
			if err != nil {
				if n > 0 {
					return n, nil
				}
				return 0, err
			}
			r.left = utf8.AppendRune(r.left[:0], c)
		}
		k := copy(to[n:], r.left)
		n, r.left = n+k, r.left[k:]
	}
	return n, nil
}

func (r *utf16Reader) char() (rune, error) {
	c, err := r.next()
	if err != nil || !utf16.IsSurrogate(c) {
		return c, err
	}
	second, err := r.next()
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	full := utf16.DecodeRune(c, second)
	if err == nil && full == utf8.RuneError {
		r.unit = second
	}
	return full, nil
}

func (r *utf16Reader) next() (rune, error) {
	if c := r.unit; c != 0 {
		r.unit = 0
		return c, nil
	}
	var b [2]byte
	if _, err := io.ReadFull(r.in, b[:]); errors.Is(err, io.ErrUnexpectedEOF) {
		return utf8.RuneError, nil
	} else if err != nil {
		return 0, err
	}
	if r.big {
		return rune(b[0])<<8 | rune(b[1]), nil
	}
	return rune(b[1])<<8 | rune(b[0]), nil
}

// lines reads a text's lines, which end in \n, \r\n or, if the first one does, in \r alone.
type lines struct {
	in     *bufio.Reader
	most   int  // bytes of a line
	end    byte // 0 before the first line
	n      int  // number of the line that next returned
	peeked []peeked
}

type peeked struct {
	text string
	err  error
}

// tooLong is a line's error.
type tooLong int

func (most tooLong) Error() string { return fmt.Sprintf("longer than %d bytes", int(most)) }

// next returns the next line without its end; io.EOF after the last. After tooLong the line is skipped.
func (l *lines) next() (string, error) {
	p := peeked{}
	if len(l.peeked) > 0 {
		p, l.peeked = l.peeked[0], l.peeked[1:]
	} else {
		p.text, p.err = l.read()
	}
	l.n++
	return p.text, p.err
}

// ahead returns the line that next returns after as many others, if there is one that is not too long.
func (l *lines) ahead(after int) (string, bool) {
	for len(l.peeked) <= after {
		text, err := l.read()
		l.peeked = append(l.peeked, peeked{text, err})
	}
	return l.peeked[after].text, l.peeked[after].err == nil
}

// drop skips lines that ahead has returned.
func (l *lines) drop(count int) { l.n, l.peeked = l.n+count, l.peeked[count:] }

func (l *lines) read() (string, error) {
	if l.end == 0 {
		l.end = l.lineEnd()
	}
	text, err := l.in.ReadSlice(l.end)
	long := false
	for errors.Is(err, bufio.ErrBufferFull) {
		long = true
		_, err = l.in.ReadSlice(l.end)
	}
	switch {
	case errors.Is(err, io.EOF) && len(text) == 0:
		return "", io.EOF
	case err != nil && !errors.Is(err, io.EOF):
		return "", err
	}
	text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte{l.end}), []byte("\r"))
	if long || len(text) > l.most {
		return "", tooLong(l.most)
	}
	return string(text), nil
}

// lineEnd returns the last byte of the first line's end.
func (l *lines) lineEnd() byte {
	head, _ := l.in.Peek(l.most) // an error comes again
	at := bytes.IndexAny(head, "\r\n")
	if at >= 0 && head[at] == '\r' && (at+1 == len(head) || head[at+1] != '\n') {
		return '\r'
	}
	return '\n'
}
