package operator

import (
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/your-org/seckill/shared/api/itemfile"
	"github.com/your-org/seckill/shared/flow/office/activity"
	"github.com/your-org/seckill/shared/flow/sale/stage"
	"github.com/your-org/seckill/shared/seckill"
)

// maxConflicts is how many conflicts a problem document has.
const maxConflicts = 10

// Conflict is something that was not saved, because somebody has changed it since the version from which it was made.
type Conflict struct {
	ID      string          `json:"id"`
	From    int64           `json:"from"`    // the version that the save was made from
	Version int64           `json:"version"` // the stored version
	Fields  []string        `json:"fields"`  // the fields in which both versions differ
	Now     json.RawMessage `json:"now"`     // as it is stored, in the form of a save
}

// conflicts returns the conflicts that an error names, at most maxConflicts.
func conflicts(err error) (all []Conflict) {
	var other *activity.Conflict
	if errors.As(err, &other) {
		now, _ := marshal(fileOf(&other.Now)) // texts and times always marshal
		return []Conflict{{other.Now.ID, other.From, other.Now.Version, other.Fields, now}}
	}
	var refused *stage.ImportError
	if !errors.As(err, &refused) {
		return nil
	}
	for _, c := range refused.Conflicts() {
		if len(all) < maxConflicts {
			all = append(all, Conflict{c.Now.ID, c.From, c.Now.Version, c.Fields, asFile(c.Now)})
		}
	}
	return all
}

// ActivityFile is an activity as its editor writes it. Version is the stored version that the editor changed, 0 for a
// new activity.
type ActivityFile struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	Start   time.Time `json:"start_time"`
	End     time.Time `json:"end_time"`
	Items   []string  `json:"items"`
	Version int64     `json:"version,omitempty"`
}

func (f *ActivityFile) attrs() []slog.Attr { return []slog.Attr{slog.String("activity", short(f.ID))} }

func fileOf(a *seckill.Activity) ActivityFile {
	return ActivityFile{a.ID, a.Title, a.Start, a.End, append([]string{}, a.Items...), a.Version}
}

// Fault says what is wrong with a field of a save.
type Fault struct {
	Field string `json:"field,omitempty"`
	What  string `json:"what"`
}

// faults returns what an error says about fields.
func faults(err error) (all []Fault) {
	var no *activity.Refused
	var refused *stage.ImportError
	var bad *itemfile.Error
	var picture *PictureError
	switch {
	case errors.As(err, &no):
		for _, f := range no.Faults {
			all = append(all, Fault(f))
		}
	case errors.As(err, &picture):
		return []Fault{{"data", picture.What}}
	case errors.As(err, &bad):
		for _, f := range bad.Columns() {
			all = append(all, Fault(f))
		}
	case errors.As(err, &refused) && len(refused.Faults) == 1: // about an item that is edited alone
		f := &refused.Faults[0]
		if len(f.Fields) == 0 {
			return []Fault{{itemfile.ColumnOf(f.What), f.What}}
		}
		for _, f := range f.Fields {
			all = append(all, Fault(f))
		}
	}
	return all
}

// asFile returns an item as an items file has it, ready to be saved again.
func asFile(l seckill.Listing) json.RawMessage {
	l.Base, l.KeepsVariant = l.Version, l.Variant.Family == ""
	var one []json.RawMessage
	_ = json.Unmarshal(itemfile.Format([]seckill.Listing{l}), &one) // Format writes an array of one item
	return one[0]
}

// PictureError says why a file is not a picture that may be shown. Nothing was stored.
type PictureError struct{ What string }

func (e *PictureError) Error() string { return e.What }
