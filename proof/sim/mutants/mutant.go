package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mutant is one change: a part of one source file, replaced.
type Mutant struct {
	Number   int    // number of its switch, from 1
	Name     string // of its choice
	Breaks   string // what it breaks, in a sentence
	File     string // path relative to the module's root
	From, To int    // byte range in the file
	New      string // the replacement
}

// text returns the mutated file.
func (m *Mutant) text(src []byte) []byte {
	return bytes.Join([][]byte{src[:m.From], []byte(m.New), src[m.To:]}, nil)
}

// sources reads and caches the module's files.
type sources struct {
	root  string
	files map[string][]byte
}

func newSources(root string) *sources { return &sources{root, map[string][]byte{}} }

func (s *sources) read(file string) ([]byte, error) {
	if b, ok := s.files[file]; ok {
		return b, nil
	}
	b, err := os.ReadFile(filepath.Join(s.root, file))
	if err != nil {
		return nil, err
	}
	s.files[file] = b
	return b, nil
}

// choice is a mutant chosen by hand.
type choice struct{ name, breaks, file, old, new string }

// resolve finds the choice in its source, whatever its line breaks and indentation. Its old text must occur exactly
// once; otherwise the source has changed and the mutant is stale.
func (c choice) resolve(src []byte) (Mutant, error) {
	found := c.pattern().FindAllIndex(src, 2)
	if len(found) != 1 {
		return Mutant{}, fmt.Errorf("mutant %s is stale: its old text is %d times in %s, not once", c.name, len(found),
			c.file)
	}
	if c.old == c.new {
		return Mutant{}, fmt.Errorf("mutant %s changes nothing", c.name)
	}
	// What old and new share at both ends serves only to find the place, and may be outside the function.
	same := 0
	for same < min(len(c.old), len(c.new)) && c.old[same] == c.new[same] {
		same++
	}
	before, after := c.old[same:], c.new[same:]
	for before != "" && after != "" && before[len(before)-1] == after[len(after)-1] {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	at := found[0][0]
	text := string(src[at:found[0][1]])
	return Mutant{Name: c.name, Breaks: c.breaks, File: c.file, From: at + place(text, c.old[:same]),
		To: at + place(text, c.old[:same+len(before)]), New: after}, nil
}

// pattern returns a pattern for the choice's old text in any layout that gofmt allows.
func (c choice) pattern() *regexp.Regexp {
	words := strings.Fields(c.old)
	for i, w := range words {
		words[i] = openings.ReplaceAllString(regexp.QuoteMeta(w), `$0\s*`)
	}
	return regexp.MustCompile(strings.Join(words, `\s+`))
}

var openings = regexp.MustCompile(`\\[({]`)

// place returns where a quoted beginning ends in a text whose layout may differ.
func place(text, beginning string) int {
	left := len(strings.Join(strings.Fields(beginning), ""))
	for i, r := range text {
		if left == 0 && (!unicode.IsSpace(r) || beginning == "" ||
			!unicode.IsSpace(rune(beginning[len(beginning)-1]))) {
			return i
		}
		if !unicode.IsSpace(r) {
			left -= utf8.RuneLen(r)
		}
	}
	return len(text)
}

// chosenMutants resolves every choice.
func chosenMutants(s *sources) ([]Mutant, error) {
	var out []Mutant
	for i, c := range chosen {
		src, err := s.read(c.file)
		if err != nil {
			return nil, err
		}
		m, err := c.resolve(src)
		if err != nil {
			return nil, err
		}
		m.Number = i + 1
		out = append(out, m)
	}
	return out, nil
}
