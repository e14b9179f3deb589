package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// exactly accepts these arguments only, and names a missing one.
func exactly(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return fmt.Errorf("%s is missing", names[len(args)])
		case len(args) > len(names):
			return fmt.Errorf("%q: unexpected argument", args[len(names)])
		}
		return nil
	}
}

// group takes no argument but a command's name, and says which one a wrong name may mean.
func group(c *cobra.Command, args []string) error {
	err := cobra.NoArgs(c, args)
	if err == nil {
		return nil
	}
	c.SuggestionsMinimumDistance = 2
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		return fmt.Errorf("%w, did you mean %s?", err, strings.Join(near, " or "))
	}
	return err
}

const helpWidth = 100 // columns

// wrapped breaks the paragraphs of a help text into lines of helpWidth. A line that begins with a space stays a line of
// its own, with indented continuations.
func wrapped(text string) string {
	lines := []string{""}
	for line := range strings.Lines(text) {
		words, indent := strings.Fields(line), ""
		switch {
		case len(words) == 0:
			lines = append(lines, "", "")
			continue
		case line[0] == ' ':
			indent = "    "
			if lines[len(lines)-1] != "" {
				lines = append(lines, "")
			}
			words[0] = "  " + words[0]
		}
		for _, w := range words {
			switch last := &lines[len(lines)-1]; {
			case *last == "":
				*last = w
			case utf8.RuneCountInString(*last+" "+w) <= helpWidth:
				*last += " " + w
			default:
				lines = append(lines, indent+w)
			}
		}
	}
	return strings.Join(lines, "\n")
}

// say prints a line of a command's result.
func say(cmd *cobra.Command, format string, args ...any) error {
	if _, err := fmt.Fprintln(cmd.OutOrStdout(), asCalled(fmt.Sprintf(format, args...))); err != nil {
		return faultError{fmt.Errorf("the command was carried out, but its result cannot be printed: %w", err)}
	}
	return nil
}

// counted returns a number with its noun.
func counted(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + more
}

// writeJSON writes indented JSON.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// page is a text of lines; adjacent lines with tabs form a table.
type page struct{ w *tabwriter.Writer }

// printer prints a command's result.
type printer struct{ json bool }

// print prints a result as text, or as JSON. An err is returned as it is.
func (f *printer) print(cmd *cobra.Command, err error, result any, text func(*page)) error {
	if err != nil {
		return err
	}
	if f.json {
		return writeJSON(cmd.OutOrStdout(), result)
	}
	var b bytes.Buffer
	p := &page{tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)}
	text(p)
	_ = p.w.Flush() // writing to memory cannot fail
	return say(cmd, "%s", strings.TrimSuffix(b.String(), "\n"))
}

func (p *page) line(format string, args ...any) { fmt.Fprintf(p.w, format+"\n", args...) }

// row prints a line of a table. Cells may hold foreign text.
func (p *page) row(cells ...string) {
	for i, c := range cells {
		cells[i] = printable(c)
	}
	p.line("  %s", strings.Join(cells, "\t"))
}

// printable is a foreign text on one line; "-" if the text is empty.
func printable(s string) string {
	if s == "" {
		return "-"
	}
	return harmlessly(s, false)
}

// Modes of new files.
const (
	private   = 0o600
	published = 0o644 // as far as the caller's umask allows
)

// newFile writes a file that gets its name only when it is complete. If the name is taken, it returns an existsError.
func newFile(name string, mode fs.FileMode, write func(io.Writer) error) error {
	other := filepath.Join(filepath.Dir(name), ".new-"+rand.Text())
	f, err := os.OpenFile(other, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	err = write(f)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err = os.Link(f.Name(), name); errors.Is(err, fs.ErrExist) {
		return existsError(name)
	}
	return err
}

// existsError is the error of a new file whose name is taken.
type existsError string

func (name existsError) Error() string {
	return string(name) + " exists already, and nothing is replaced: choose another name"
}

// Unwrap makes it an fs.ErrExist.
func (existsError) Unwrap() error { return fs.ErrExist }
