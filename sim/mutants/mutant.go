package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// Mutant is one sabotage: a piece of one source file, replaced.
type Mutant struct {
	Number     int    // its switch, from 1
	Name       string // stays the same while the piece does
	Breaks     string // in a sentence
	File       string // path from the module's root
	From, To   int    // bytes of the file
	New        string // what stands there instead
	Drawn      bool   // by the tool, not chosen by hand
	Equivalent string // why nothing can show it; empty when something must
}

// text is the mutated file.
func (m *Mutant) text(src []byte) []byte {
	return bytes.Join([][]byte{src[:m.From], []byte(m.New), src[m.To:]}, nil)
}

// sources reads the module's files, each once.
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

// resolve finds the choice in its source: its old text must be there exactly once, or the source has moved on and the mutant is stale.
func (c choice) resolve(src []byte) (Mutant, error) {
	if n := bytes.Count(src, []byte(c.old)); n != 1 {
		return Mutant{}, fmt.Errorf("mutant %s is stale: its old text is %d times in %s, not once", c.name, n, c.file)
	}
	if c.old == c.new {
		return Mutant{}, fmt.Errorf("mutant %s changes nothing", c.name)
	}
	at := bytes.Index(src, []byte(c.old))
	// What old and new share at both ends only serves to find the place, and may lie outside the function.
	same := 0
	for same < min(len(c.old), len(c.new)) && c.old[same] == c.new[same] {
		same++
	}
	before, after := c.old[same:], c.new[same:]
	for before != "" && after != "" && before[len(before)-1] == after[len(after)-1] {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	return Mutant{Name: c.name, Breaks: c.breaks, File: c.file, From: at + same, To: at + same + len(before), New: after}, nil
}

// chosenMutants resolves every choice.
func chosenMutants(s *sources) ([]Mutant, error) {
	var out []Mutant
	for _, c := range chosen {
		src, err := s.read(c.file)
		if err != nil {
			return nil, err
		}
		m, err := c.resolve(src)
		if err != nil {
			return nil, err
		}
		m.Equivalent = equivalent[m.Name]
		out = append(out, m)
	}
	return out, nil
}
