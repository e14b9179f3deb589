package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// terminal is what everything goes through that the tool prints. Texts come from shoppers and other systems: it
// shows what would control a terminal, or turn the order of letters, as \u001b. In JSON that means the same character.
// Whoever uses it calls flush at the end.
type terminal struct {
	to   io.Writer
	mu   sync.Mutex
	rest []byte // the beginning of a character, or a carriage return that a line feed may follow
}

func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := append(t.rest, p...) //nolint:gocritic // rest is replaced below
	end := len(all)
	for back := 1; back <= min(utf8.UTFMax-1, end); back++ {
		if c := all[end-back]; utf8.RuneStart(c) {
			if !utf8.FullRune(all[end-back:]) || c == '\r' && back == 1 {
				end -= back
			}
			break
		}
	}
	t.rest = append([]byte(nil), all[end:]...)
	return len(p), t.print(string(all[:end]))
}

// flush writes what waits for its other half.
func (t *terminal) flush() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	rest := string(t.rest)
	t.rest = nil
	return t.print(rest)
}

func (t *terminal) print(text string) error {
	if text == "" {
		return nil
	}
	_, err := t.to.Write([]byte(harmlessly(strings.ToValidUTF8(text, "\ufffd"), true)))
	return err
}

// harmlessly writes the characters of a text that would control a terminal as \u001b; lines: line ends and tabs stay.
func harmlessly(text string, lines bool) string {
	if lines && !strings.ContainsFunc(text, func(r rune) bool { return controls(r) && r != '\n' && r != '\t' }) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case lines && (r == '\n' || r == '\t' || r == '\r' && strings.HasPrefix(text[i+1:], "\n")), !controls(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r) // none has more than four digits
		}
	}
	return b.String()
}

func controls(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}

// bare is the writer below, for what the tool itself means for a terminal.
func bare(w io.Writer) io.Writer {
	if t, ok := w.(*terminal); ok {
		return t.to
	}
	return w
}
