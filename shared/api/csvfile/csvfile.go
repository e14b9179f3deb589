// Package csvfile reads CSV files as people have them, and writes cells that spreadsheets leave as they are (ADR 55).
// In: a file's bytes, and which columns it should have. Out: its rows, one by one, or what is wrong with one. It
// touches nothing but the reader that it is given.
//
// It reads UTF-8 and UTF-16; commas, semicolons, tabs or full-width commas between cells, with or without a line such
// as sep=; before; any line ends; quoted cells of several lines. A row without any character but separators and blanks
// is no row.
package csvfile

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Format says what a file has.
type Format struct {
	Columns  []string // all columns; nil if there may be others, which are not read
	Required []string // columns that a file must have
	Numbers  []string // columns of ids and numbers, which a spreadsheet may have damaged
}

// Row is a row of a file.
type Row struct {
	N     int // its first line's number, from 1
	at    map[string]int
	cells []string
}

// Cell returns a column's cell without what programs put around it (Text), or "" if the file does not have the column.
func (r *Row) Cell(column string) string {
	if i, ok := r.at[column]; ok && i < len(r.cells) {
		text, _ := plain(r.cells[i])
		return text
	}
	return ""
}

// Has reports whether the file has a column.
func (r *Row) Has(column string) bool {
	_, ok := r.at[column]
	return ok
}

// Fault is what is wrong with one row. The rows after it can be read. After ErrQuotes that is not sure if a row may be
// very long: the open quote may have taken in rows that follow.
type Fault struct {
	Line int
	Err  error
}

func (f *Fault) Error() string { return fmt.Sprintf("line %d: %v", f.Line, f.Err) }
func (f *Fault) Unwrap() error { return f.Err }

// What is wrong with a row that cannot be split, or that is no text.
var (
	ErrQuotes = errors.New("its quotes are wrong: a cell in quotes has two for each quote in it, and ends with one")
	ErrText   = errors.New("not UTF-8 text: save the file as CSV UTF-8")
)

// Reader reads one file.
type Reader struct {
	format Format
	lines  lines
	comma  string
	head   []string
	at     map[string]int
}

// NewReader returns a reader of rows of up to most bytes, and reads the first line. The error of an empty file is
// io.EOF.
func NewReader(in io.Reader, most int, format Format) (*Reader, error) {
	text, err := decoded(in, most)
	if err != nil {
		return nil, err
	}
	r := &Reader{format: format, lines: lines{in: text, most: most}, comma: ","}
	said := false // whether a line says what separates cells
	for {
		line, err := r.lines.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil, io.EOF
		case err != nil:
			return nil, &Fault{r.lines.n, err}
		}
		if mark, ok := strings.CutPrefix(strings.ToLower(line), "sep="); ok && utf8.RuneCountInString(mark) == 1 {
			r.comma, said = mark, true
			continue
		}
		if strings.Trim(line, " \t,;，") == "" {
			continue
		}
		if !utf8.ValidString(line) {
			return nil, &Fault{r.lines.n, ErrText}
		}
		if !said {
			r.comma = format.separator(line)
		}
		if err := r.header(line); err != nil {
			return nil, &Fault{r.lines.n, err}
		}
		return r, nil
	}
}

// separator returns what separates the cells of a first line: that which makes the most of them columns.
func (f *Format) separator(line string) string {
	best, most := ",", 0
	for _, comma := range []string{",", ";", "\t", "，"} {
		names, _ := split(line, comma)
		known := 0
		for _, name := range names {
			name = strings.TrimSpace(name)
			if slices.Contains(f.Columns, name) || slices.Contains(f.Required, name) {
				known++
			}
		}
		if known > most {
			best, most = comma, known
		}
	}
	return best
}

// header reads the first line. A column without a name is none.
func (r *Reader) header(line string) error {
	var err error
	if r.head, err = split(line, r.comma); err != nil {
		return err
	}
	r.at = map[string]int{}
	for i, name := range r.head {
		name = strings.TrimSpace(name)
		r.head[i] = name
		if name == "" {
			continue
		}
		if _, twice := r.at[name]; twice {
			return fmt.Errorf("the column %s is there twice", name)
		}
		if r.format.Columns != nil && !slices.Contains(r.format.Columns, name) {
			return fmt.Errorf("%+.40q is not a column: there are %s", name, strings.Join(r.format.Columns, ", "))
		}
		r.at[name] = i
	}
	for len(r.head) > 0 && r.head[len(r.head)-1] == "" {
		r.head = r.head[:len(r.head)-1]
	}
	for _, name := range r.format.Required {
		if _, ok := r.at[name]; !ok {
			return fmt.Errorf("the column %s is missing: want %s; the line has %+.200q", name,
				strings.Join(r.format.Required, ", "), strings.Join(r.head, r.comma))
		}
	}
	return nil
}

// Next returns the next row; io.EOF after the last. A *Fault is about one row, any other error about the file.
func (r *Reader) Next() (*Row, error) {
	for {
		cells, n, err := r.row()
		if err != nil {
			return nil, rowFault(n, err)
		}
		for len(cells) > len(r.head) && strings.TrimSpace(cells[len(cells)-1]) == "" {
			cells = cells[:len(cells)-1]
		}
		if !slices.ContainsFunc(cells, func(c string) bool { return strings.TrimSpace(c) != "" }) {
			continue
		}
		row := &Row{N: n, at: r.at, cells: cells}
		if err := r.check(row); err != nil {
			return nil, &Fault{n, err}
		}
		return row, nil
	}
}

// check says what is wrong with a row's cells.
func (r *Reader) check(row *Row) error {
	short := len(row.cells) < len(r.head)
	// In rows far down a file Excel leaves out the separators of empty last cells.
	if short && r.format.Columns == nil {
		short = slices.ContainsFunc(r.format.Required, func(name string) bool { return r.at[name] >= len(row.cells) })
	}
	if short || len(row.cells) > len(r.head) {
		return fmt.Errorf("%d fields, and the first line has %d", len(row.cells), len(r.head))
	}
	for i, c := range row.cells {
		if r.head[i] == "" && strings.TrimSpace(c) != "" {
			return fmt.Errorf("field %d is %+.40q, and the first line gives it no name", i+1, strings.TrimSpace(c))
		}
	}
	names := r.format.Columns
	if names == nil {
		names = r.format.Required
	}
	for _, name := range names {
		if i, ok := r.at[name]; ok && i < len(row.cells) {
			if why := damaged(row.cells[i], slices.Contains(r.format.Numbers, name)); why != "" {
				return fmt.Errorf("%s %.60s: %s", name, strings.TrimSpace(row.cells[i]), why)
			}
		}
	}
	return nil
}

func rowFault(n int, err error) error {
	if errors.Is(err, ErrQuotes) || errors.Is(err, ErrText) || errors.As(err, new(tooLong)) {
		return &Fault{n, err}
	}
	return err
}

// row returns the cells of the next row and its first line's number. A cell in quotes may go on on the next lines, as
// far as a row may be long.
func (r *Reader) row() ([]string, int, error) {
	first, err := r.lines.next()
	n := r.lines.n
	if err != nil {
		return nil, n, err
	}
	parts, size := []string{first}, len(first)
	for quotes := strings.Count(first, `"`); quotes%2 == 1; {
		next, ok := r.lines.ahead(len(parts) - 1)
		if size += 1 + len(next); !ok || size > r.lines.most {
			break
		}
		parts, quotes = append(parts, next), quotes+strings.Count(next, `"`)
	}
	text := strings.Join(parts, "\n")
	if !utf8.ValidString(text) {
		return nil, n, ErrText
	}
	cells, err := split(text, r.comma)
	if err == nil {
		r.lines.drop(len(parts) - 1)
	}
	return cells, n, err
}

// split returns the cells of a row as they are written, without the quotes around them. ErrQuotes.
func split(text, comma string) (cells []string, err error) {
	if !strings.Contains(text, `"`) {
		return strings.Split(text, comma), nil
	}
	for more := true; more; {
		var cell, after string
		quoted, formula := strings.CutPrefix(strings.TrimLeft(text, " "), "=")
		if !strings.HasPrefix(quoted, `"`) {
			if cell, text, more = strings.Cut(text, comma); strings.Contains(cell, `"`) {
				return nil, ErrQuotes
			}
			cells = append(cells, cell)
			continue
		}
		end := 1
		for end < len(quoted) && (quoted[end] != '"' || strings.HasPrefix(quoted[end+1:], `"`)) {
			if quoted[end] == '"' {
				end++
			}
			end++
		}
		if end >= len(quoted) {
			return nil, ErrQuotes
		}
		cell = strings.ReplaceAll(quoted[1:end], `""`, `"`)
		if after, text, more = strings.Cut(quoted[end+1:], comma); strings.TrimFunc(after, unicode.IsSpace) != "" {
			return nil, ErrQuotes
		}
		if formula { // ="0012", not in quotes
			cell = `="` + cell + `"`
		}
		cells = append(cells, cell)
	}
	return cells, nil
}
