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
	"github.com/your-org/seckill/shared/seckill"
)

// Client sends commands to a back office (Office) or to a local system (Serve). A refused command returns a *Refusal.
// Errors of Call are returned unchanged: the command may have been executed, and may be repeated.
type Client struct {
	Who  string // for the audit log: a name, printable, at most 256 bytes; "" for a back office, which knows who calls
	Call func(ctx context.Context, event []byte) (answer []byte, err error)
}

// Refusal is a problem document's code and detail.
type Refusal struct {
	Code      seckill.Code `json:"code"`
	Detail    string       `json:"detail"` // a sentence; for a fault, its cause
	Conflicts []Conflict   `json:"conflicts,omitempty"`

	Lines []itemfile.Line `json:"lines,omitempty"` // import: what is wrong with the items, the first maxLines
	Wrong int             `json:"wrong,omitempty"` // how many lines are wrong
}

func (r *Refusal) Error() string { return r.Detail }

// ErrAnswer: the answer does not come from a handler of this version.
var ErrAnswer = errors.New("what answered cannot be read")

// ErrTooLarge: the items do not fit into one event.
var ErrTooLarge = fmt.Errorf("more than %d MiB, which is what a call takes", itemfile.MaxSize>>20)

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
		p, err := Give[page](ctx, c, &Export{After: after})
		if err != nil {
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

// Give sends a command and returns its answer.
func Give[A any](ctx context.Context, to *Client, command Command) (result A, err error) {
	b, err := to.give(ctx, command)
	if err != nil {
		return result, err
	}
	if err := json.Unmarshal(b, &result); err != nil {
		return result, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	return result, nil
}

// give sends a command and returns its answer as JSON.
func (c *Client) give(ctx context.Context, command Command) (json.RawMessage, error) {
	event, err := encode(command, c.Who)
	if errors.Is(err, seckill.Refuse(seckill.CodeTooLarge)) {
		return nil, ErrTooLarge
	}
	if err != nil {
		return nil, err
	}
	b, err := c.Call(ctx, event)
	if err != nil {
		return nil, err
	}
	var a answer
	var refused Refusal
	switch err := json.Unmarshal(b, &a); {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrAnswer, err)
	case a.Problem != nil && json.Unmarshal(a.Problem, &refused) == nil && refused.Code != "":
		return nil, &refused
	case a.Result == nil:
		return nil, ErrAnswer
	}
	return a.Result, nil
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
