package operator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"seckill/shared/adapter/itemfile"
	"seckill/shared/seckill"
)

// Limits of events and answers. Lambda takes and gives 6 MB in a synchronous call ("Lambda quotas", AWS Lambda Developer Guide).
const (
	MaxEvent = itemfile.MaxSize + 4<<10 // bytes: the largest items file, and what is around it
	maxWho   = 256                      // bytes; an ARN of a session is shorter
	maxPage  = 4 << 20                  // bytes of items in one answer to an export
)

// The commands.
const (
	cmdImport   = "import"
	cmdExport   = "export"
	cmdStop     = "stop"
	cmdResume   = "resume"
	cmdAddStock = "add-stock"
	cmdHealth   = "health"
)

// request is a command as an event has it.
type request struct {
	Command string          `json:"command"`
	Who     string          `json:"who"` // the caller, as the caller says; Lambda tells a function nothing about it
	Item    string          `json:"item,omitempty"`
	Stock   int             `json:"stock,omitempty"` // units in all
	After   string          `json:"after,omitempty"` // export: the last item of the page before
	Items   json.RawMessage `json:"items,omitempty"` // import: a JSON items file
}

// envelope tells an operator's event from others.
type envelope struct {
	Operator *request `json:"operator"`
}

// answer is what comes back: one of the two.
type answer struct {
	Result  json.RawMessage `json:"result,omitempty"`
	Problem json.RawMessage `json:"problem,omitempty"` // a problem document (RFC 9457)
}

// page is the result of an export: items beyond After in the order of their ids, and the last id when there are more.
type page struct {
	Items json.RawMessage `json:"items"`
	Next  string          `json:"next,omitempty"`
}

// errNotOurs: an event that is no operator's.
var errNotOurs = errors.New("operator: an event of no known kind: nothing was done")

// check says which part of a request is wrong: CodeInvalid.
func (r *request) check() error {
	wantsItem := r.Command == cmdStop || r.Command == cmdResume || r.Command == cmdAddStock
	switch {
	case r.Command != cmdImport && r.Command != cmdExport && r.Command != cmdHealth && !wantsItem:
		return seckill.Invalid("command", strings.Join([]string{cmdImport, cmdExport, cmdStop, cmdResume, cmdAddStock, cmdHealth}, ", "))
	case r.Who == "" || len(r.Who) > maxWho || !utf8.ValidString(r.Who) || strings.ContainsFunc(r.Who, func(c rune) bool { return !unicode.IsPrint(c) }):
		return seckill.Invalid("who", fmt.Sprintf("1..%d", maxWho))
	case wantsItem != (r.Item != "") || wantsItem && !seckill.ValidItemID(r.Item):
		return seckill.Invalid("item", "")
	case (r.Command == cmdAddStock) != (r.Stock != 0) || r.Stock < 0 || r.Stock > seckill.MaxStock:
		return seckill.Invalid("stock", fmt.Sprintf("1..%d", seckill.MaxStock))
	case r.After != "" && (r.Command != cmdExport || !seckill.ValidItemID(r.After)):
		return seckill.Invalid("after", "")
	case (r.Command == cmdImport) != (len(r.Items) > 0):
		return seckill.Invalid("items", "")
	}
	return nil
}

// encode makes a command's event. CodeInvalid; CodeTooLarge over MaxEvent.
func encode(r *request) ([]byte, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	event, err := marshal(envelope{r})
	if err == nil && len(event) > MaxEvent {
		err = seckill.Refuse(seckill.CodeTooLarge)
	}
	return event, err
}

// decode is the other half of encode: CodeInvalid, CodeTooLarge; errNotOurs for an event of another kind.
func decode(event []byte) (*request, error) {
	if len(event) > MaxEvent {
		return nil, seckill.Refuse(seckill.CodeTooLarge)
	}
	var kind map[string]json.RawMessage
	if json.Unmarshal(event, &kind) != nil || kind["operator"] == nil {
		return nil, errNotOurs
	}
	var e envelope
	d := json.NewDecoder(bytes.NewReader(event))
	d.DisallowUnknownFields() // a part that is not understood may be the one that matters
	if err := d.Decode(&e); err != nil || e.Operator == nil {
		return nil, &seckill.Error{Code: seckill.CodeInvalid, Field: "operator", Err: err}
	}
	return e.Operator, e.Operator.check()
}

// marshal is json.Marshal that leaves the HTML of items' descriptions as it is: escaped, it would be up to six times as long.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
