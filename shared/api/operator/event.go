package operator

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/your-org/seckill/shared/api/itemfile"
	"github.com/your-org/seckill/shared/seckill"
)

// Limits of events and answers. A synchronous Lambda call accepts and returns at most 6 MB ("Lambda quotas", AWS
// Lambda Developer Guide).
const (
	MaxSmall = 64 << 10                 // bytes of a command without a file, with 100 ids and a reason
	MaxEvent = itemfile.MaxSize + 4<<10 // bytes: the largest items file and its envelope
	maxPage  = 4 << 20                  // bytes of items, or of notifications, in one answer, as a JSON text
)

// TextSize returns the length of a text in JSON, as API Gateway passes on what callers send and functions answer.
func TextSize(b []byte) int {
	return len(b) + bytes.Count(b, []byte{'"'}) + bytes.Count(b, []byte{'\\'})
}

// MostOf returns how many bytes a command of these roles may have.
func MostOf(roles []seckill.Role) int {
	for _, c := range all {
		if s := c.Spec(); s.File && slices.ContainsFunc(roles, func(r seckill.Role) bool {
			return slices.Contains(s.Roles, r)
		}) {
			return MaxEvent
		}
	}
	return MaxSmall
}

// envelope marks the event of a command.
type envelope[C any] struct {
	Operator C `json:"operator"`
}

// answer has a result or a problem.
type answer struct {
	Result  json.RawMessage `json:"result,omitempty"`
	Problem json.RawMessage `json:"problem,omitempty"` // a problem document (RFC 9457)
	Did     *did            `json:"did,omitempty"`
}

// errNotOurs means that the event is not an operator's command.
var errNotOurs = errors.New("operator: an event of no known kind: nothing was done")

// decode reads a command of a list. Its errors are CodeInvalid, CodeTooLarge, and errNotOurs for an event of another
// kind. The command may be there also with an error.
func decode(list []Command, event []byte) (Command, error) {
	if len(event) > MaxEvent {
		return nil, seckill.Refuse(seckill.CodeTooLarge)
	}
	var kind envelope[json.RawMessage]
	if json.Unmarshal(event, &kind) != nil || kind.Operator == nil {
		return nil, errNotOurs
	}
	c, err := commandOf(list, event)
	if err != nil {
		return c, err
	}
	return c, check(c)
}

// commandOf reads a command's event into the command's own type. It checks no values; of a text that people write it
// takes off the blanks at the ends.
func commandOf(list []Command, event []byte) (Command, error) {
	var name envelope[*Given]
	if err := json.Unmarshal(event, &name); err != nil || name.Operator == nil {
		return nil, &seckill.Error{Code: seckill.CodeInvalid, Field: "operator", Err: err}
	}
	c := find(list, name.Operator.Command)
	if c == nil {
		return &unknownCommand{*name.Operator}, seckill.Invalid("command", strings.Join(names(list), ", "))
	}
	if err := strict(event, &envelope[Command]{c}); err != nil {
		return nil, &seckill.Error{Code: seckill.CodeInvalid, Field: fieldOf(err), Err: err}
	}
	for _, f := range Fields(c) {
		if text, free := f.Value.Addr().Interface().(*string); free && f.Rule.ok == nil {
			*text = cmp.Or(seckill.Tidy(*text), *text)
		}
	}
	return c, nil
}

// unknownCommand is a command of a name that no command has.
type unknownCommand struct{ Given }

func (*unknownCommand) Spec() Spec { return Spec{} }

// fieldOf names the field that is wrong in an event: an argument of other commands, else the command.
func fieldOf(err error) string {
	field := strings.TrimSuffix(strings.TrimPrefix(err.Error(), `json: unknown field "`), `"`)
	for _, c := range all {
		for _, f := range Fields(c) {
			if f.Name == field {
				return field
			}
		}
	}
	return "operator"
}

// strict decodes one JSON value and refuses unknown fields: an unknown field may change what a command means.
func strict(b []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if d.More() {
		return errors.New("more than one value")
	}
	return nil
}

// marshal is json.Marshal without HTML escaping, which would lengthen items' descriptions up to six times.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// did is what the audit log has to know of a command. Clients ignore it.
type did struct {
	Outcome string `json:"outcome,omitempty"`
	Before  string `json:"before,omitempty"`
	After   string `json:"after,omitempty"`
}
