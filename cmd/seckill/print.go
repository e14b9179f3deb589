package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"
)

// exactly wants these arguments, and names the one that is missing.
func exactly(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return fmt.Errorf("%s is missing", names[len(args)])
		case len(args) > len(names):
			return fmt.Errorf("%q is one argument too many", args[len(names)])
		}
		return nil
	}
}

func say(cmd *cobra.Command, format string, args ...any) error {
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), format+"\n", args...); err != nil {
		return faultError{errors.Join(errors.New("it was done, and could not be said"), err)}
	}
	return nil
}

func counted(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + more
}

// writeJSON writes what --json asks for, for people to read as well.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// page is what is printed about money: lines, of which those with tabs are tables.
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
	_ = p.w.Flush() // a buffer takes everything
	return say(cmd, "%s", strings.TrimSuffix(b.String(), "\n"))
}

func (p *page) line(format string, args ...any) { fmt.Fprintf(p.w, format+"\n", args...) }

// row prints the cells of a table's line. What others wrote is made fit for a terminal.
func (p *page) row(cells ...string) {
	for i, c := range cells {
		cells[i] = printable(c)
	}
	p.line("  %s", strings.Join(cells, "\t"))
}

// printable is a text without what would move a terminal's cursor; "-" for none.
func printable(s string) string {
	if s == "" {
		return "-"
	}
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return '?'
		}
		return c
	}, s)
}
