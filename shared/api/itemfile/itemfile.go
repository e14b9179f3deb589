// Package itemfile reads a seller's items from a file: a JSON array of objects, or CSV with a header, both with the
// same columns. In: a file's bytes. Out: complete items within every limit of seckill.Item, or what is wrong, line by
// line; it accepts all items or none. It touches only the given file.
//
// Columns: id, title, price, sk_price (yuan, at most two decimals), start_time, end_time (RFC 3339), stock, limit;
// optional: covers (URLs; in CSV separated by blanks), detail (HTML, sanitized here), commodity_id (default: id),
// checks (off, standard or strict; default: off), questions (in CSV lines of text = answer | answer), version (that of
// the item that the line was made from), and of a variant family (an id), options (name=value | name=value) and
// limit_spans (true: the limit counts the whole family; default: false). An optional column that the file lacks keeps
// what the item has; an empty cell, or in JSON an empty value, drops it.
package itemfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/microcosm-cc/bluemonday"

	"github.com/your-org/seckill/shared/seckill"
)

// MaxSize is the largest file, in bytes.
const MaxSize = 5 << 20

// maxFaults is how many bad lines an error lists; it counts the rest.
const maxFaults = 10

var (
	required = []string{"id", "title", "price", "sk_price", "start_time", "end_time", "stock", "limit"}
	optional = []string{"covers", "detail", "commodity_id", "checks", "questions", "version", "family", "options",
		"limit_spans"}
)

// record is one item as unchecked text.
type record struct {
	Place
	text   map[string]string
	covers []string

	questions []seckill.Question
}

// Place is where an item is in a file.
type Place struct {
	N     int    `json:"n,omitempty"` // number of a JSON file's element or a CSV file's line, from 1; or 0
	Where string `json:"where"`       // "line 3", "element 2 (line 9)"
}

// Line is what is wrong in a place of a file.
type Line struct {
	Place
	What string `json:"what"`
}

// Fault is what is wrong with a column of an item.
type Fault struct{ Field, What string }

// Columns returns what is wrong with each column of a file's only bad item, or nothing if several items are bad.
func (e *Error) Columns() (all []Fault) {
	if len(e.Lines) != 1 {
		return nil
	}
	if ColumnOf(e.Lines[0].What) == "" { // about the whole item, such as an unknown column
		return []Fault{{"", e.Lines[0].What}}
	}
	for what := range strings.SplitSeq(e.Lines[0].What, ", ") {
		column := ColumnOf(what)
		if column == "" && len(all) > 0 { // it goes on after a comma
			all[len(all)-1].What += ", " + what
			continue
		}
		all = append(all, Fault{column, what})
	}
	return all
}

// ColumnOf returns the column with whose name an item's error begins, or "" if the error is about no column.
func ColumnOf(what string) string {
	word := what[:len(what)-len(strings.TrimLeft(what, "abcdefghijklmnopqrstuvwxyz_"))]
	others := map[string]string{"cover": "covers", "commodity": "commodity_id", "question": "questions"}
	if other, ok := others[word]; ok {
		return other
	}
	if slices.Contains(csvFormat.Columns, word) {
		return word
	}
	return ""
}

// Error says what is wrong in a file; its text lists the first ten lines, on one line.
type Error struct {
	File  string
	Lines []Line
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	for i, l := range e.Lines {
		if i == maxFaults {
			fmt.Fprintf(&b, "; and %d more", len(e.Lines)-i)
			break
		}
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		b.WriteString(sep + l.Where + ": " + l.What)
	}
	return b.String()
}

// Read reads a file of at most MaxSize bytes and seckill.MaxItems items. now becomes the items' time of creation. The
// error is one line that says what to correct: an *Error if lines are bad.
func Read(path string, now time.Time) ([]seckill.Listing, error) {
	items, _, err := ReadPlaces(path, now)
	return whole(items, err)
}

// ReadPlaces is Read with the place of each item. With an *Error it returns the good items, so that they can be
// checked, too.
func ReadPlaces(path string, now time.Time) ([]seckill.Listing, []Place, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, nil, err
	}
	return ParsePlaces(path, data, now)
}

// Parse is Read for a file's bytes; the name's suffix .json or .csv selects the format.
func Parse(name string, data []byte, now time.Time) ([]seckill.Listing, error) {
	items, _, err := ParsePlaces(name, data, now)
	return whole(items, err)
}

// whole returns no items beside an error.
func whole(items []seckill.Listing, err error) ([]seckill.Listing, error) {
	if err != nil {
		return nil, err
	}
	return items, nil
}

// ids are the ids of elements in sanitized HTML, whose texts and values have no quote: they would hide the page's.
var ids = regexp.MustCompile(` id="[^"]*"`)

// ParsePlaces is ReadPlaces for a file's bytes.
func ParsePlaces(name string, data []byte, now time.Time) (items []seckill.Listing, places []Place, err error) {
	var records []record
	var faults []Line
	switch format := strings.ToLower(filepath.Ext(name)); {
	case format != ".json" && format != ".csv":
		return nil, nil, fmt.Errorf("%s: want a file that ends in .json or .csv", name)
	case len(data) > MaxSize:
		return nil, nil, fmt.Errorf("%s: larger than %d MiB", name, MaxSize>>20)
	case format == ".json" && !utf8.Valid(data):
		return nil, nil, fmt.Errorf("%s: not UTF-8 text: save it as UTF-8", name)
	case format == ".json":
		records, faults = readJSON(bytes.TrimPrefix(data, []byte("\ufeff")))
	default:
		records, faults = readCSV(data)
	}
	if len(records) > seckill.MaxItems || len(records)+len(faults) > seckill.MaxItems+1 { // a fault may be the file's
		return nil, nil, fmt.Errorf("%s: more than %d items", name, seckill.MaxItems)
	}
	if len(records) == 0 && len(faults) == 0 {
		return nil, nil, fmt.Errorf("%s: no items in it", name)
	}
	policy := bluemonday.UGCPolicy()
	sanitize := func(html string) string { return ids.ReplaceAllString(policy.Sanitize(html), "") }
	items = make([]seckill.Listing, 0, len(records))
	first := map[string]string{} // where each id first occurs
	families := map[string][]*seckill.Item{}
	for _, r := range records {
		it, err := r.item(now, sanitize)
		if err == nil && first[it.ID] != "" {
			err = fmt.Errorf("id %s is already on %s", it.ID, first[it.ID])
		}
		family := it.Variant.Family
		if err == nil && family != "" {
			if field, why := it.Joins(families[family]); why != "" {
				err = errors.New(field + ": " + why)
			}
		}
		if err != nil {
			faults = append(faults, Line{r.Place, err.Error()})
			continue
		}
		first[it.ID] = r.Where
		items, places = append(items, it), append(places, r.Place)
		if family != "" {
			families[family] = append(families[family], &it.Item)
		}
	}
	if len(faults) > 0 {
		return items, places, &Error{File: name, Lines: faults}
	}
	return items, places, nil
}

// checkColumns returns an error for missing or unknown columns: a misspelt column must not be ignored silently.
func checkColumns(names []string) error {
	for _, n := range names {
		if !slices.Contains(csvFormat.Columns, n) {
			return fmt.Errorf("%.40q is not a column; there are %s", n, strings.Join(csvFormat.Columns, ", "))
		}
	}
	for _, n := range required {
		if !slices.Contains(names, n) {
			return fmt.Errorf("%s is missing", n)
		}
	}
	return nil
}

func (r *record) item(now time.Time, sanitize func(string) string) (seckill.Listing, error) {
	it := seckill.Listing{Item: seckill.Item{
		ID: r.text["id"], CreateTime: now, Version: 1,
		Commodity: seckill.Commodity{ID: r.text["commodity_id"], Title: seckill.Tidy(r.text["title"]),
			CreateTime: now},
	}, Description: seckill.Description{Covers: r.covers, Detail: sanitize(r.text["detail"])},
		Questions: r.questions}
	it.Removed = removed(r.text["detail"], it.Detail)
	it.KeepsCovers, it.KeepsDetail = r.lacks("covers"), r.lacks("detail")
	it.KeepsChecks, it.KeepsCommodity = r.lacks("checks"), r.lacks("commodity_id")
	if it.Checks = seckill.Checks(r.text["checks"]); it.Checks == "off" {
		it.Checks = seckill.ChecksOff
	}
	if it.Commodity.ID == "" {
		it.Commodity.ID = it.ID
	}
	for _, c := range r.covers {
		if err := checkCover(c); err != nil {
			return it, err
		}
	}
	err := errors.Join(
		yuan(r, "price", &it.Commodity.Price), yuan(r, "sk_price", &it.Price),
		instant(r, "start_time", &it.Start), instant(r, "end_time", &it.End),
		number(r, "stock", &it.Stock), number(r, "limit", &it.Limit),
		version(r, &it.Base), variant(r, &it),
	)
	if err != nil {
		return it, errors.New(strings.ReplaceAll(err.Error(), "\n", ", "))
	}
	it.Buckets = seckill.BucketsFor(it.Stock)
	return it, it.Check()
}

func (r *record) lacks(column string) bool { _, says := r.text[column]; return !says }

func yuan(r *record, column string, to *seckill.Fen) (err error) {
	if *to, err = seckill.ParseYuan(r.text[column]); err != nil {
		return fmt.Errorf("%s %.40q: want yuan such as 88.80", column, r.text[column])
	}
	return nil
}

func instant(r *record, column string, to *time.Time) error {
	t, err := time.Parse(time.RFC3339, r.text[column])
	if err != nil {
		return fmt.Errorf("%s %.40q: want a time such as 2026-11-11T20:00:00+08:00", column, r.text[column])
	}
	*to = t.UTC().Truncate(time.Millisecond)
	return nil
}

func number(r *record, column string, to *int) (err error) {
	if *to, err = strconv.Atoi(r.text[column]); err != nil {
		return fmt.Errorf("%s %.40q: want a whole number", column, r.text[column])
	}
	return nil
}

func version(r *record, to *int64) (err error) {
	text := r.text["version"]
	if text == "" {
		return nil
	}
	if *to, err = strconv.ParseInt(text, 10, 64); err != nil || *to < 1 {
		return fmt.Errorf("version %.40q: want a whole number from 1, as an export has it", text)
	}
	return nil
}

func variant(r *record, it *seckill.Listing) (err error) {
	to := &it.Variant
	if to.Options, err = seckill.ParseOptions(r.text["options"]); err != nil {
		return err
	}
	family, says := r.text["family"]
	spans, spanned := r.text["limit_spans"]
	to.Family, it.KeepsVariant, it.KeepsSpans = family, !says, says && !spanned
	switch {
	case spans == "" || strings.EqualFold(spans, "false"):
	case strings.EqualFold(spans, "true"): // Excel writes TRUE
		to.LimitSpans = true
	default:
		return fmt.Errorf("limit_spans %.40q: want true or false", spans)
	}
	return nil
}

// checkCover returns an error unless c is a URL that a page may show: on the web, or a path on this server.
func checkCover(c string) error {
	u, err := url.Parse(c)
	if err == nil && (u.Host != "" && u.Scheme == "https" ||
		u.Scheme == "" && u.Host == "" && strings.HasPrefix(c, "/")) {
		return nil
	}
	return fmt.Errorf("cover %.60q: want an https:// address or a path such as /pictures/tea.svg", c)
}
