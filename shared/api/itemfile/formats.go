package itemfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/your-org/seckill/shared/api/csvfile"
	"github.com/your-org/seckill/shared/seckill"
)

var csvFormat = csvfile.Format{Columns: slices.Concat(required, optional), Required: required,
	Numbers: []string{"id", "commodity_id", "family"}}

// readCSV reads lines below a header, and stops after one more than a file may have. A line with a wrong number of
// cells is a fault of its own; a broken quote ends the reading, because the rest is ambiguous, and so does what is no
// text.
func readCSV(data []byte) ([]record, []Line) {
	r, err := csvfile.NewReader(bytes.NewReader(data), MaxSize, csvFormat)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err != nil {
		return nil, []Line{csvFault(err)}
	}
	var records []record
	var faults []Line
	for len(records)+len(faults) <= seckill.MaxItems+1 {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return records, faults
		}
		if err != nil {
			faults = append(faults, csvFault(err))
			if !errors.As(err, new(*csvfile.Fault)) || errors.Is(err, csvfile.ErrQuotes) ||
				errors.Is(err, csvfile.ErrText) {
				return records, faults
			}
			continue
		}
		rec := record{Place: Place{row.N, fmt.Sprintf("line %d", row.N)}, text: map[string]string{}}
		for _, name := range csvFormat.Columns {
			if row.Has(name) {
				rec.text[name] = strings.TrimSpace(row.Cell(name))
			}
		}
		rec.covers = strings.Fields(rec.text["covers"])
		if cell, says := rec.text["questions"]; says {
			if rec.questions, err = asked(cell); err != nil {
				faults = append(faults, Line{rec.Place, err.Error()})
				continue
			}
		}
		records = append(records, rec)
	}
	return records, faults
}

// asked reads the questions of a cell, one on each line: text = answer | answer. The text may have an equals sign, an
// answer none. An empty cell drops those that the item has.
func asked(cell string) (all []seckill.Question, err error) {
	all = []seckill.Question{}
	for line := range strings.Lines(cell) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		at := strings.LastIndex(line, "=")
		if at < 0 {
			return nil, fmt.Errorf("question %d: want text = answer | answer", len(all)+1)
		}
		q := seckill.Question{Text: strings.TrimSpace(line[:at])}
		for a := range strings.SplitSeq(line[at+1:], "|") {
			q.Answers = append(q.Answers, strings.TrimSpace(a))
		}
		all = append(all, q)
	}
	return all, nil
}

// askedJSON reads the questions of an element.
func askedJSON(value json.RawMessage) (all []seckill.Question, err error) {
	var list []*question
	d := json.NewDecoder(bytes.NewReader(value))
	d.DisallowUnknownFields()
	if err := d.Decode(&list); err != nil || slices.Contains(list, nil) {
		return nil, errors.New(`questions: want an array of {"text": "…", "answers": ["…"]}`)
	}
	if list != nil { // an empty array drops the item's questions
		all = make([]seckill.Question, 0, len(list))
	}
	for i, q := range list {
		if q.Answers == nil {
			return nil, fmt.Errorf("question %d has no answers: an export has them in the role editor; an item "+
				"without the column keeps its own", i+1)
		}
		all = append(all, seckill.Question{Text: q.Text, Answers: q.Answers})
	}
	return all, nil
}

func csvFault(err error) Line {
	var f *csvfile.Fault
	if !errors.As(err, &f) {
		return Line{Place{Where: "file"}, err.Error()}
	}
	return Line{Place{f.Line, fmt.Sprintf("line %d", f.Line)}, f.Err.Error()}
}

// readJSON reads an array of objects, and stops after one more than a file may have. Invalid JSON ends the reading.
func readJSON(data []byte) ([]record, []Line) {
	d := json.NewDecoder(bytes.NewReader(data))
	lines, counted := 1, int64(0)
	line := func(offset int64) int { // offsets ascend
		offset = max(counted, min(offset, int64(len(data))))
		lines += bytes.Count(data[counted:offset], []byte("\n"))
		counted = offset
		return lines
	}
	broken := func(err error) []Line {
		at := d.InputOffset()
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at = syntax.Offset
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err, at = errors.New("the file ends too early"), int64(len(data))
		}
		return []Line{{Place{Where: fmt.Sprintf("line %d", line(at))}, "not JSON: " + err.Error()}}
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	if t, err := d.Token(); err != nil {
		return nil, broken(err)
	} else if t != json.Delim('[') {
		return nil, []Line{{Place{Where: "line 1"}, "want an array of items: [{…}, …]"}}
	}
	var records []record
	var faults []Line
	for d.More() && len(records)+len(faults) <= seckill.MaxItems+1 {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return records, append(faults, broken(err)...)
		}
		n := len(records) + len(faults) + 1
		at := Place{n, fmt.Sprintf("element %d (line %d)", n, line(d.InputOffset()-int64(len(raw))))}
		rec, err := object(raw)
		if err != nil {
			faults = append(faults, Line{at, err.Error()})
			continue
		}
		rec.Place = at
		records = append(records, rec)
	}
	if len(records)+len(faults) > seckill.MaxItems+1 {
		return records, faults
	}
	if _, err := d.Token(); err != nil {
		return records, append(faults, broken(err)...)
	}
	if _, err := d.Token(); err != io.EOF {
		faults = append(faults, Line{Place{Where: fmt.Sprintf("line %d", line(d.InputOffset()))},
			"something follows the array"})
	}
	return records, faults
}

// object reads one element. It keeps numbers as text: a float64 would change prices and long ids.
func object(raw json.RawMessage) (record, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return record{}, errors.New("want an object: {…}")
	}
	if err := checkColumns(slices.Sorted(maps.Keys(fields))); err != nil {
		return record{}, err
	}
	rec := record{text: map[string]string{}}
	for name, value := range fields {
		var err error
		var s string
		switch name {
		case "questions":
			if rec.questions, err = askedJSON(value); err != nil {
				return record{}, err
			}
		case "covers":
			rec.text[name] = "" // it is there
			err = json.Unmarshal(value, &rec.covers)
		case "title", "detail", "start_time", "end_time":
			err = json.Unmarshal(value, &s)
			rec.text[name] = s
		default:
			if value[0] == '"' {
				err = json.Unmarshal(value, &s)
			} else {
				s = string(value)
			}
			rec.text[name] = s
		}
		if err != nil {
			return record{}, fmt.Errorf("%s: want %s", name, map[bool]string{true: "an array of texts",
				false: "a text"}[name == "covers"])
		}
	}
	return rec, nil
}
