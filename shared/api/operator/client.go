package operator

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/your-org/seckill/shared/api/itemfile"
	"github.com/your-org/seckill/shared/flow/sale/stage"
	"github.com/your-org/seckill/shared/seckill"
)

// Client sends commands to whatever handles the events of Serve: a back office or a local system. A refused
// command returns a *Refusal. Errors of Call are returned unchanged: the command may have been executed, and may be
// repeated.
type Client struct {
	Who  string // for the audit log: a name, printable, at most 256 bytes; "" for a back office, which knows who calls
	Call func(ctx context.Context, event []byte) (answer []byte, err error)
}

// Refusal is a problem document's code and detail.
type Refusal struct {
	Code      seckill.Code `json:"code"`
	Detail    string       `json:"detail"` // a sentence; of a fault: its cause
	Conflicts []Conflict   `json:"conflicts,omitempty"`

	Lines []itemfile.Line `json:"lines,omitempty"` // import: what is wrong with the items, the first maxLines
	Wrong int             `json:"wrong,omitempty"` // how many lines are
}

func (r *Refusal) Error() string { return r.Detail }

// ErrAnswer: the answer does not come from a handler of this version.
var ErrAnswer = errors.New("what answered cannot be read")

// ErrTooLarge: the items do not fit into one event.
var ErrTooLarge = fmt.Errorf("more than %d MiB, which is what a call takes", itemfile.MaxSize>>20)

// Import creates or changes items, all or none. ErrTooLarge: nothing was sent.
func (c *Client) Import(ctx context.Context, items []seckill.Listing) (done stage.Imported, err error) {
	err = c.Give(ctx, &Import{Items: itemfile.Format(items)}, &done)
	return done, err
}

// CheckImport judges items as Import does, and says what that would do. It changes nothing.
func (c *Client) CheckImport(ctx context.Context, items []seckill.Listing) (done stage.Imported, err error) {
	err = c.Give(ctx, &Import{Items: itemfile.Format(items), Dry: true}, &done)
	return done, err
}

// LeftOut names the items that an export lacks because their rows cannot be read.
type LeftOut struct{ Rows []string }

func (l *LeftOut) Error() string {
	return fmt.Sprintf("not exported, because it cannot be read (%d in all): %s", len(l.Rows),
		strings.Join(l.Rows, "; "))
}

// Export returns all items as a JSON items file in the format of itemfile.Format, sorted by id. With a *LeftOut
// error, the file has all other items.
func (c *Client) Export(ctx context.Context) ([]byte, error) {
	all := []json.RawMessage{}
	var unreadable []string
	for after := ""; ; {
		var p page
		if err := c.Give(ctx, &Export{After: after}, &p); err != nil {
			return nil, err
		}
		var items []json.RawMessage
		if err := json.Unmarshal(p.Items, &items); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrAnswer, err)
		}
		all = append(all, items...)
		for _, row := range p.Unreadable { // each page repeats them
			if !slices.Contains(unreadable, row) {
				unreadable = append(unreadable, row)
			}
		}
		if p.Next == "" {
			break
		}
		if compareIDs(p.Next, after) <= 0 || len(all) > seckill.MaxItems {
			return nil, fmt.Errorf("%w: its pages do not end", ErrAnswer)
		}
		after = p.Next
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(all); err != nil {
		return nil, err
	}
	if len(unreadable) > 0 {
		return b.Bytes(), &LeftOut{unreadable}
	}
	return b.Bytes(), nil
}

// SetStopped stops or resumes an item's sale; it returns nil once both the items table and the stock have the change.
func (c *Client) SetStopped(ctx context.Context, id string, stopped bool) (it ItemChange, err error) {
	var command Command = &Resume{Item: id}
	if stopped {
		command = &Stop{Item: id}
	}
	err = c.Give(ctx, command, &it)
	return it, err
}

// AddStock raises an item's stock to n units in total.
func (c *Client) AddStock(ctx context.Context, id string, n int) (it ItemChange, err error) {
	err = c.Give(ctx, &AddStock{Item: id, Stock: n}, &it)
	return it, err
}

// Item returns an item, with how far a save may change each field.
func (c *Client) Item(ctx context.Context, id string) (it ItemView, err error) {
	err = c.Give(ctx, &ReadItem{Item: id}, &it)
	return it, err
}

// Health returns the handler's time and the state of Redis as it sees it.
func (c *Client) Health(ctx context.Context) (h Health, err error) {
	err = c.Give(ctx, &ReadHealth{}, &h)
	return h, err
}

// Give sends a command and decodes its result.
func (c *Client) Give(ctx context.Context, command Command, result any) error {
	event, err := encode(command, c.Who)
	if errors.Is(err, seckill.Refuse(seckill.CodeTooLarge)) {
		return ErrTooLarge
	}
	if err != nil {
		return err
	}
	b, err := c.Call(ctx, event)
	if err != nil {
		return err
	}
	var a answer
	var refused Refusal
	switch err := json.Unmarshal(b, &a); {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrAnswer, err)
	case a.Problem != nil && json.Unmarshal(a.Problem, &refused) == nil && refused.Code != "":
		return &refused
	case a.Result == nil:
		return ErrAnswer
	}
	if err := json.Unmarshal(a.Result, result); err != nil {
		return fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	return nil
}

// encode returns the event of a command. Its errors are CodeInvalid, and CodeTooLarge above MaxEvent.
func encode(c Command, who string) ([]byte, error) {
	given := c.given()
	given.Command, given.Who = c.Spec().Name, cmp.Or(who, "whoever signs the request")
	if err := check(c); err != nil {
		return nil, err
	}
	given.Who = who
	event, err := marshal(envelope[Command]{c})
	if err == nil && len(event) > MaxEvent {
		err = seckill.Refuse(seckill.CodeTooLarge)
	}
	return event, err
}
