package csvfile

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/your-org/seckill/shared/drivertest/must"
)

// read returns the cells a and b of a file's rows, each with its line, and what is wrong with others.
func read(text string) (rows, faults []string, err error) {
	r, err := NewReader(strings.NewReader(text), 200, Format{Required: []string{"a", "b"}, Numbers: []string{"b"}})
	for err == nil {
		var row *Row
		var fault *Fault
		if row, err = r.Next(); err == nil {
			rows = append(rows, fmt.Sprintf("%d %s|%s", row.N, row.Cell("a"), row.Cell("b")))
		} else if errors.As(err, &fault) {
			faults, err = append(faults, err.Error()), nil
		}
	}
	return rows, faults, err
}

func wide(text string, big bool) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		if low, high := byte(unit), byte(unit>>8); big {
			b.Write([]byte{high, low})
		} else {
			b.Write([]byte{low, high})
		}
	}
	return b.String()
}

// TestFilesOfSpreadsheets: whatever stands between cells and at the ends of lines, the rows are the same.
func TestFilesOfSpreadsheets(t *testing.T) {
	t.Parallel()
	for what, file := range map[string]string{
		"commas":                    "a,b\n顺丰😀,1\n",
		"a mark, CRLF, no end":      "\ufeffa,b\r\n顺丰😀,1",
		"semicolons":                "a;b;c\n顺丰😀;1;x,y\n",
		"tabs":                      "c\tb\ta\n\t1\t顺丰😀\n",
		"full-width commas":         "a，b\n顺丰😀，1\n",
		"Unicode text":              wide("\ufeffa\tb\r\n顺丰😀\t1\r\n", false),
		"the other order of bytes":  wide("\ufeffa,b\r\n顺丰😀,1\r\n", true),
		"no mark":                   wide("a,b\n顺丰😀,1\n", false),
		"returns":                   "a,b\r顺丰😀,1\r",
		"a second return":           "a,b\r\r\n顺丰😀,1\r\r\n",
		"rows of separators":        "a;b\n顺丰😀;1\n;\n ;\t\n\n;;\n",
		"columns of separators":     "a,b,,\n顺丰😀,1,,\n",
		"cells that Excel left out": "a,b,c,d\n顺丰😀,1\n",
		"quotes":                    `"a","b"` + "\n" + ` "顺丰😀" ,"1"` + "\n",
		"formulas":                  "a,b\n=\"顺丰😀\",\"=\"\"1\"\"\"\n",
		"marks":                     "a,b\n顺丰😀,`1\t\n",
	} {
		rows, faults, err := read(file)
		if !errors.Is(err, io.EOF) || len(faults) > 0 || len(rows) != 1 || !strings.HasSuffix(rows[0], " 顺丰😀|1") {
			t.Errorf("%s: %q, %q, %v", what, rows, faults, err)
		}
	}
	for mark, head := range map[string]string{"sep=;": "x,a;b,y;c", "SEP=,": "a;x,b,c"} {
		file := mark + "\r\n" + strings.NewReplacer("x,a;b,y", "a;b", "a;x,", "a,").Replace(head) + "\r\n"
		sep := mark[4:]
		if rows, faults, err := read(file + "k" + sep + "1\r\n"); !errors.Is(err, io.EOF) || len(faults) > 0 ||
			len(rows) != 1 || rows[0] != "3 k|1" {
			t.Errorf("%s: %q, %q, %v", mark, rows, faults, err)
		}
	}
}

// TestRowsThatAreWrong: what was found is said, with its line, and the rows beside it are read.
func TestRowsThatAreWrong(t *testing.T) {
	t.Parallel()
	for row, want := range map[string]string{
		"x":                             "line 3: 1 fields, and the first line has 3",
		"x,1,2,3":                       "line 3: 4 fields, and the first line has 3",
		"x,\"1":                         "line 3: its quotes are wrong",
		"x,\"1\"2,3":                    "line 3: its quotes are wrong",
		"x,1\"":                         "line 3: its quotes are wrong",
		"x,\"1\n2,\"3\"4":               "line 3: its quotes are wrong",
		"\xcb\xb3\xb7\xe1,1,":           "line 3: not UTF-8 text: save the file as CSV UTF-8",
		strings.Repeat("x", 201):        "line 3: longer than 200 bytes",
		"x,7.53123E+13,":                "line 3: b 7.53123E+13: a spreadsheet shortened it",
		"x,7.53123e+13,":                "line 3: b 7.53123e+13: a spreadsheet shortened it",
		"x,1E+016,":                     "line 3: b 1E+016: a spreadsheet shortened it",
		"x,\"7,53E13\",":                "line 3: b 7,53E13: a spreadsheet shortened it",
		"x,75312345678901.00,":          "line 3: b 75312345678901.00: a program took it for a number with decimals",
		"x,1234567890123450,":           "line 3: b 1234567890123450: a spreadsheet keeps 15 digits",
		"x,########,":                   "line 3: b ########: an error of a spreadsheet",
		"#REF!,1,":                      "line 3: a #REF!: an error of a spreadsheet",
		"nan,1,":                        "line 3: a nan: what a program writes for an empty cell",
		"x,'" + "7.5E+13" + ",":         "line 3: b '7.5E+13: a spreadsheet shortened it",
		"x,1,\"" + "2\n" + "3\",\",4\"": "line 3: 4 fields, and the first line has 3",
	} {
		rows, faults, err := read("a,b,c\ny,1,\n" + row + "\nz,2,\n")
		if !errors.Is(err, io.EOF) || len(faults) == 0 || !strings.HasPrefix(faults[0], want) || len(rows) < 2 ||
			!strings.HasSuffix(rows[len(rows)-1], " z|2") {
			t.Errorf("%q: %q, %q, %v", row, rows, faults, err)
		}
	}
	for _, row := range []string{"x,'1234567890123450", "x,1234567890123456", "75.0,100", "1E+16,1"} {
		if rows, faults, err := read("a,b\n" + row + "\n"); !errors.Is(err, io.EOF) || len(faults) > 0 || len(rows) != 1 {
			t.Errorf("%s: %q, %q, %v", row, rows, faults, err)
		}
	}
	for file, want := range map[string]string{
		"":                   "EOF",
		"\n,,\n":             "EOF",
		"a,c\n":              `line 1: the column b is missing: want a, b; the line has "a,c"`,
		"a;c\n":              `line 1: the column b is missing: want a, b; the line has "a;c"`,
		"\na,b,a\n":          "line 2: the column a is there twice",
		"a,\"b\n":            "line 1: its quotes are wrong",
		"a,\xb2\n":           "line 1: not UTF-8 text",
		"a,,b\nx,y,1\n":      `line 2: field 2 is "y", and the first line gives it no name`,
		"a,b,\nx,1,y, \n":    "line 2: 3 fields, and the first line has 2",
		"\xff\xfea\x00,\x00": "line 1: the column b is missing",
		wide("a", false)[:1] + strings.Repeat("b", 300): "line 1: longer than 200 bytes",
	} {
		_, faults, err := read(file)
		if got := strings.Join(append(faults, fmt.Sprint(err)), " "); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, want %s", file, got, want)
		}
	}
}

// TestCells: what programs would change is marked, and every cell comes back.
func TestCells(t *testing.T) {
	t.Parallel()
	for _, cell := range strings.Split("=1+1 +1 -1 @x ＝1 1 12345678901234 00123 1e5 1.50 3-4 1/2 12:30 5% ¥12 3月4日 "+
		"DEC12 １２ TRUE "+
		"NA n/a nan NaT <NA> NULL inf #REF! #N/A ### Err:502 'a '=1 `5 ''1 \tx", " ") {
		if Text(cell) != "'"+cell {
			t.Errorf("%q is written as %q", cell, Text(cell))
		}
	}
	for _, cell := range strings.Split("|x=1|SF1000001|128 GB|MIT|3 人帐篷|顺丰|Nan Li|…|May|E", "|") {
		if Text(cell) != cell {
			t.Errorf("%q is written as %q", cell, Text(cell))
		}
	}
	var written map[string]string // admin.test.mjs has the browser write the same
	must.OK(t, json.Unmarshal(must.Get(os.ReadFile("testdata/cells.json")), &written))
	for cell, want := range written {
		if got := Text(cell); got != want {
			t.Errorf("%q is written as %q, want %q", cell, got, want)
		}
	}
	if ID("12345678901") != "12345678901" || ID("123456789012") != "'123456789012" {
		t.Error("a number of more than 11 digits should be text, others not")
	}
	rapid.Check(t, func(t *rapid.T) {
		figures := rapid.StringMatching("['`=\"+0-9,;|\t\neE.\\-]{0,20}")
		blanks := rapid.SampledFrom([]string{"nan", "NaN", "NaT", "<NA>", "#REF!", "#N/A", "####", "Err:502"})
		cell := strings.Trim(rapid.OneOf(rapid.String(), figures, blanks).Draw(t, "cell"), " \t\r\n")
		var b strings.Builder
		w := csv.NewWriter(&b)
		_ = w.Write([]string{"a", "b"})
		_ = w.Write([]string{"x", Text(cell)})
		w.Flush()
		r, err := NewReader(strings.NewReader(b.String()), 4<<10, Format{Required: []string{"a", "b"}})
		if err != nil {
			t.Fatal(err)
		}
		row, err := r.Next()
		if err != nil || row.Cell("b") != strings.ReplaceAll(cell, "\r\n", "\n") {
			t.Fatalf("%q: %q, %v", cell, b.String(), err)
		}
	})
}
