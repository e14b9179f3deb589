package csvfile

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// maxFigure is how many digits of a number every program shows and keeps.
const maxFigure = 11

// inner is where a program that separates cells in another way than the file would see a formula begin: after ; or |,
// a tab or a line break, also if blanks and quotes come between.
var inner = regexp.MustCompile(`([;|\t\r\n][\s\v\p{Z}\x{feff}"]*)('*[=+\-@＝＋－＠])`)

// marks matches each ' that Text has put inside a cell, and what stands around it.
var marks = regexp.MustCompile(`([;|\t\r\n][\s\v\p{Z}\x{feff}"]*)'('*[=+\-@＝＋－＠])`)

// Text returns a cell that spreadsheets and data tools take for text, whatever it says and whatever they take for the
// separator: with a ' before it, if they would take it for a formula, a number, a date, a truth or an empty cell, and
// before each formula in it. Row.Cell takes each ' away.
func Text(cell string) string {
	cell = inner.ReplaceAllString(cell, "$1'$2")
	if changes(cell) {
		return "'" + cell
	}
	return cell
}

// ID is Text for a column of decimal ids that has no empty cell: one that is short enough stays a number.
func ID(cell string) string {
	if len(cell) <= maxFigure {
		return cell
	}
	return Text(cell)
}

// words are all that a number, a date or a time has of letters.
var words = strings.Fields(`e a p am pm 上午 下午 年 月 日 时 分 秒 t z utc gmt
	jan feb mar apr may jun jul aug sep sept oct nov dec
	january february march april june july august september october november december`)

// values are words that programs take for a truth, a number or an empty cell.
var values = strings.Fields("true false na n/a #na #n/a <na> nan nat null none inf infinity")

// changes reports whether a program would take a cell for something else than text, or would lose what it begins with.
func changes(cell string) bool {
	lower := strings.ToLower(cell)
	switch {
	case strings.IndexAny(cell, "=+-@\t\r\n＝＋－＠'`") == 0, slices.Contains(values, lower),
		failed.MatchString(cell):
		return true
	case !strings.ContainsFunc(cell, unicode.IsNumber):
		return false
	}
	letters := strings.FieldsFunc(lower, func(r rune) bool { return !unicode.IsLetter(r) })
	return !slices.ContainsFunc(letters, func(word string) bool { return !slices.Contains(words, word) })
}

// plain returns what a cell says, without the marks that make it text to a spreadsheet: a ' or ` before it, ="…" or
// tabs around it. marked reports whether there was one.
func plain(cell string) (text string, marked bool) {
	text, marked = bare(cell)
	return marks.ReplaceAllString(text, "$1$2"), marked
}

// bare is plain, but leaves the marks inside the cell.
func bare(cell string) (text string, marked bool) {
	text = strings.Trim(cell, " \r\n")
	inside := strings.Trim(text, " \t\r\n")
	marked = inside != text
	if inner, ok := strings.CutPrefix(inside, `="`); ok && strings.HasSuffix(inner, `"`) {
		if inner = inner[:len(inner)-1]; !strings.Contains(strings.ReplaceAll(inner, `""`, ""), `"`) {
			return strings.ReplaceAll(inner, `""`, `"`), true
		}
	}
	if inside != "" && (inside[0] == '\'' || inside[0] == '`') && changes(inside[1:]) {
		return inside[1:], true
	}
	return inside, marked
}

var (
	shortened = regexp.MustCompile(`^\d+(?:[.,]\d+[eE]\+?|[eE]\+)\d+$`)
	decimal   = regexp.MustCompile(`^\d+[.,]0+$`)
	failed    = regexp.MustCompile(`^(?:#(?:REF!|N/A|NAME\?|VALUE!|DIV/0!|NUM!|NULL!|SPILL!|CALC!)|#{3,}|Err:5\d\d)$`)
	cut       = regexp.MustCompile(`^[1-9]\d{14}0+$`)
)

// damaged says what a program did to a cell, or "". number: an id or a parcel's number should stand there.
func damaged(cell string, number bool) string {
	text, marked := plain(cell)
	figure := number && strings.ContainsAny(text, ".,eE")
	switch {
	case text == "":
		return ""
	case !marked && (text[0] == '#' || text[0] == 'E') && failed.MatchString(text):
		return "an error of a spreadsheet, instead of what stood there"
	case !marked && slices.Contains([]string{"nan", "NaN", "NaT", "<NA>"}, text):
		return "what a program writes for an empty cell"
	case figure && shortened.MatchString(text):
		return "a spreadsheet shortened it; make the column text, and enter it again"
	case figure && !marked && decimal.MatchString(text):
		return "a program took it for a number with decimals; make the column text, and enter it again"
	case number && !marked && len(text) > 15 && cut.MatchString(text):
		return "a spreadsheet keeps 15 digits and makes the others 0; if this is right, put a ' before it"
	}
	return ""
}
