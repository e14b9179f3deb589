package operator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/your-org/seckill/shared/api/itemfile"
	"github.com/your-org/seckill/shared/flow/office/fulfil"
	"github.com/your-org/seckill/shared/seckill"
)

// Limits of events and answers. A synchronous Lambda call accepts and returns at most 6 MB ("Lambda quotas", AWS
// Lambda Developer Guide).
const (
	MaxSmall   = 64 << 10                 // bytes of a command without a file, with 100 ids and a reason
	MaxEvent   = itemfile.MaxSize + 4<<10 // bytes: the largest items file and its envelope
	maxTradeNo = 64                       // bytes
	maxWho     = 256                      // bytes; the ARN of a session is shorter
	maxCursor  = 2048                     // bytes
	maxPage    = 4 << 20                  // bytes of items, or of notifications, in one answer, as a JSON text
)

// TextSize returns the length of a text in JSON, as API Gateway passes on what callers send and functions answer.
func TextSize(b []byte) int {
	return len(b) + bytes.Count(b, []byte{'"'}) + bytes.Count(b, []byte{'\\'})
}

// MostOf returns how many bytes a command of these roles may have.
func MostOf(roles []seckill.Role) int {
	for _, c := range allCommands() {
		if c.file && slices.ContainsFunc(roles, func(r seckill.Role) bool { return r.May(c.name) }) {
			return MaxEvent
		}
	}
	return MaxSmall
}

// request is a command in an event.
type request struct {
	Command string          `json:"command"`
	Who     string          `json:"who"` // in a stack the back office says it; in a local system the caller
	Item    string          `json:"item,omitempty"`
	Stock   int             `json:"stock,omitempty"` // total units
	After   string          `json:"after,omitempty"` // export: the last item of the page before
	Items   json.RawMessage `json:"items,omitempty"` // import: a JSON items file
	Order   string          `json:"order,omitempty"`
	Why     string          `json:"why,omitempty"`      // an operator's reason
	Restock bool            `json:"restock,omitempty"`  // refund: the units are sold again
	TradeNo string          `json:"trade_no,omitempty"` // record-trade: the provider's number
	Raw     bool            `json:"raw,omitempty"`      // case: with unabridged notifications
	Day     string          `json:"day,omitempty"`      // of a bill, of changes, or of acts
	User    string          `json:"user,omitempty"`     // erase
	Cursor  string          `json:"cursor,omitempty"`   // erase, replay, recount, blocks, acts: Next of the step before
	Blocks  []Block         `json:"blocks,omitempty"`   // block
	Dry     bool            `json:"dry,omitempty"`      // import, block, ship: check only
	Subject string          `json:"subject,omitempty"`  // unblock, blocks: a user, or a range of addresses
	Limit   int             `json:"limit,omitempty"`    // blocks, acts: in a page
	Act     string          `json:"act,omitempty"`
	All     bool            `json:"all,omitempty"` // acts: also those that are handled; orders, activities: also hidden, deleted ones

	State   seckill.State   `json:"state,omitempty"` // orders
	From    time.Time       `json:"from,omitzero"`   // orders: created since
	To      time.Time       `json:"to,omitzero"`     // orders: created before
	Asked   bool            `json:"asked,omitempty"` // orders: whose shopper asks for a refund
	Parcels []fulfil.Parcel `json:"parcels,omitempty"`
	Confirm bool            `json:"confirm,omitempty"` // ship: also paid orders, which are confirmed first
	Undo    bool            `json:"undo,omitempty"`    // hide, delete-activity: undo it

	Activity string        `json:"activity,omitempty"`
	Save     *ActivityFile `json:"save,omitempty"` // save-activity
	Start    time.Time     `json:"start,omitzero"` // copy-activity: when the copy begins
	Via      string        `json:"via,omitempty"`  // save-activity, copy-activity: page, or cli, the default

	Data []byte `json:"data,omitempty"` // picture: a file's bytes

	Person string `json:"person,omitempty"` // end-sessions: whose, as sessions names them
	Queue  string `json:"queue,omitempty"`  // redrive: one of Queues

	answers bool // item, export: the caller may see the answers to questions; nothing that is sent says so
}

// ActivityFile is an activity as its editor writes it. Version is that from which the save was made; 0: it is new.
type ActivityFile struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	Start   time.Time `json:"start_time"`
	End     time.Time `json:"end_time"`
	Items   []string  `json:"items"`
	Version int64     `json:"version,omitempty"`
}

// argument describes one argument of a request: whether it is present, whether it is valid, and which values are
// allowed.
type argument struct {
	name         string
	given, right bool
	want         string
}

func (r *request) arguments() []argument {
	return []argument{
		{"item", r.Item != "", seckill.ValidItemID(r.Item), ""},
		{"stock", r.Stock != 0, r.Stock > 0 && r.Stock <= seckill.MaxStock, fmt.Sprintf("1..%d", seckill.MaxStock)},
		{"after", r.After != "", seckill.ValidItemID(r.After), ""},
		{"items", len(r.Items) > 0, true, ""},
		{"order", r.Order != "", seckill.ValidOrderID(r.Order), ""},
		{"trade_no", r.TradeNo != "", len(r.TradeNo) <= maxTradeNo, fmt.Sprintf("1..%d", maxTradeNo)},
		{"why", r.Why != "", true, ""}, // the flow checks its limits
		{"restock", r.Restock, true, ""},
		{"raw", r.Raw, true, ""},
		{"user", r.User != "", ValidUser(r.User), userWanted},
		{"cursor", r.Cursor != "", len(r.Cursor) <= maxCursor, fmt.Sprintf("1..%d", maxCursor)},
		{"blocks", len(r.Blocks) > 0, true, ""}, // the flow checks them
		{"dry", r.Dry, true, ""},
		{"subject", r.Subject != "", validSubject(r.Subject), ""},
		{"limit", r.Limit != 0, r.Limit > 0 && r.Limit <= MaxBlockPage, fmt.Sprintf("1..%d", MaxBlockPage)},
		{"act", r.Act != "", validAct(r.Act), ""},
		{"all", r.All, true, ""},
		{"state", r.State != "", r.State.Info().State != "", "a state"},
		{"from", !r.From.IsZero(), true, ""},
		{"to", !r.To.IsZero(), true, ""},
		{"asked", r.Asked, true, ""},
		{"parcels", len(r.Parcels) > 0, true, ""}, // the flow checks them
		{"confirm", r.Confirm, true, ""},
		{"undo", r.Undo, true, ""},
		{"activity", r.Activity != "", seckill.ValidItemID(r.Activity), ""},
		{"save", r.Save != nil, true, ""}, // the flow checks it
		{"start", !r.Start.IsZero(), true, ""},
		{"via", r.Via != "", r.Via == seckill.MadeAtCLI || r.Via == seckill.MadeAtPage,
			seckill.MadeAtCLI + ", " + seckill.MadeAtPage},
		{"data", len(r.Data) > 0, true, ""}, // the handler checks it
		{"person", r.Person != "", validWho(r.Person), whoWanted},
		{"queue", r.Queue != "", slices.Contains(Queues, r.Queue), strings.Join(Queues, ", ")},
		{"day", r.Day != "", seckill.ValidDay(r.Day), "YYYY-MM-DD"},
	}
}

// ValidUser reports whether a text is a user id as in a token: a 64-bit integer.
func ValidUser(user string) bool {
	if user == "" || len(user) > seckill.MaxUser {
		return false
	}
	for i, c := range user {
		if (c < '0' || c > '9') && (c != '-' || i > 0) {
			return false
		}
	}
	return true
}

var userWanted = fmt.Sprintf("1..%d digits", seckill.MaxUser)

// validWho reports whether a text may name a person of staff.
func validWho(who string) bool {
	return who != "" && len(who) <= maxWho && utf8.ValidString(who) &&
		!strings.ContainsFunc(who, func(c rune) bool { return !unicode.IsPrint(c) })
}

// CheckName refuses a name of a person of staff that not every command takes.
func CheckName(who string) error {
	if err := seckill.CheckLine("who", who, seckill.MaxStaffName); err != nil || validWho(who) {
		return err
	}
	return seckill.Invalid("who", whoWanted)
}

var whoWanted = fmt.Sprintf("1..%d bytes, all printable", maxWho)

// envelope marks an operator's event.
type envelope struct {
	Operator *request `json:"operator"`
}

// answer has a result or a problem.
type answer struct {
	Result  json.RawMessage `json:"result,omitempty"`
	Problem json.RawMessage `json:"problem,omitempty"` // a problem document (RFC 9457)
	Did     *did            `json:"did,omitempty"`
}

// errNotOurs: the event is not an operator's.
var errNotOurs = errors.New("operator: an event of no known kind: nothing was done")

// check returns CodeInvalid with the field if a request is invalid for these commands.
func (r *request) check(commands []command) error {
	var names []string
	var cmd *command
	for i := range commands {
		names = append(names, commands[i].name)
		if commands[i].name == r.Command {
			cmd = &commands[i]
		}
	}
	switch {
	case cmd == nil:
		return seckill.Invalid("command", strings.Join(names, ", "))
	case !validWho(r.Who):
		return seckill.Invalid("who", whoWanted)
	}
	for _, a := range r.arguments() {
		has := slices.Contains(cmd.has, a.name)
		if has && !a.given || a.given && (!a.right || !has && !slices.Contains(cmd.may, a.name)) {
			return seckill.Invalid(a.name, a.want)
		}
	}
	return nil
}

// decode is the inverse of encode. Its errors are CodeInvalid, CodeTooLarge, and errNotOurs for an event of another
// kind.
func decode(commands []command, event []byte) (*request, error) {
	if len(event) > MaxEvent {
		return nil, seckill.Refuse(seckill.CodeTooLarge)
	}
	var kind map[string]json.RawMessage
	if json.Unmarshal(event, &kind) != nil || kind["operator"] == nil {
		return nil, errNotOurs
	}
	var e envelope
	d := json.NewDecoder(bytes.NewReader(event))
	d.DisallowUnknownFields() // an unknown field may change what the command means
	if err := d.Decode(&e); err != nil || e.Operator == nil {
		return nil, &seckill.Error{Code: seckill.CodeInvalid, Field: "operator", Err: err}
	}
	return e.Operator, e.Operator.check(commands)
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
