package itemfile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestWhatWasRemovedIsSaid reads a description as an editor wrote it.
func TestWhatWasRemovedIsSaid(t *testing.T) {
	t.Parallel()
	many := ""
	for i := range 100 {
		many += fmt.Sprintf("<x%d>", i)
	}
	for detail, want := range map[string][]string{
		"":                                  nil,
		"<p>a &amp; b < c</p><b>x</b>":      nil,
		`<a href="https://e.example">x</a>`: nil, // it gets a rel
		`<p onclick="a()">1</p><p>2</p><script src="/x.js">alert(1)</script>`:     {"onclick of <p>", "<script>"},
		`<p>1</p><p style="x">2</p><p style="y">3</p><!-- a -->`:                  {"style of <p>", "a comment"},
		`<a href="javascript:x()">1</a><iframe src="https://e.example"></iframe>`: {"<a>", "<iframe>"},
		`<SCRIPT>1</SCRIPT><script>2</script>`:                                    {"<script>"},
		many:                                                                      nil,
	} {
		text, _ := json.Marshal(detail)
		got, err := Parse("a.json", []byte("["+element(1, map[string]string{"detail": string(text)})+"]"), now)
		if err != nil {
			t.Fatal(err)
		}
		if detail == many {
			if len(got[0].Removed) != maxRemoved {
				t.Errorf("%d of 100 are named", len(got[0].Removed))
			}
			continue
		}
		if !slices.Equal(got[0].Removed, want) {
			t.Errorf("%s: %q, want %q; it became %s", detail, got[0].Removed, want, got[0].Detail)
		}
		again, err := Parse("a.json", Format(got), now)
		if err != nil || again[0].Removed != nil {
			t.Errorf("%s, sanitized again: %q, %v", detail, again[0].Removed, err)
		}
	}
}

// TestVersions: a file may say from which version of an item it was made.
func TestVersions(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]int64{`3`: 3, `"12"`: 12, `""`: 0, "-": 0} {
		got, err := Parse("a.json", []byte("["+element(1, map[string]string{"version": cell})+"]"), now)
		if err != nil || got[0].Base != want || got[0].Version != 1 {
			t.Errorf("%s: %+v, %v", cell, got, err)
		}
		if (strings.Contains(string(Format(got)), `"version"`)) != (want > 0) {
			t.Errorf("%s is written as %s", cell, Format(got))
		}
	}
	for _, cell := range []string{`0`, `-1`, `1.5`, `"a"`, `99999999999999999999`} {
		if _, err := Parse("a.json", []byte("["+element(1, map[string]string{"version": cell})+"]"), now); err == nil ||
			!strings.Contains(err.Error(), "version") {
			t.Errorf("%s: %v", cell, err)
		}
	}
}
