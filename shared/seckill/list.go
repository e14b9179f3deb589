package seckill

import "context"

// List is what pages show: every item that has not ended, and ended items whose last reservations may still wait for
// their placement.
type List struct {
	Version int64 // each publication raises it; 0 if there was none
	Items   []Item
	// Activities are those of the items, latest end first. Titles that do not fit beside the items are left out.
	Activities []ListedActivity
}

// ListedActivity is what pages show of an activity.
type ListedActivity struct {
	ID    string   `json:"id"`
	Title string   `json:"title"`
	Items []string `json:"items"` // those of them that the list has, in order
}

// Lists is the published list: one step writes it, and every instance of another step reads it. So a viewer costs no
// table scan: each instance does one small read a second, whatever the number of items, and the rows are replicated
// so that instances do not share a hot key.
type Lists interface {
	// ListVersion returns the version of the latest published list, 0 if there is none. It may lag. Any error is a
	// fault.
	ListVersion(ctx context.Context) (int64, error)
	// ReadList returns the list of this version or a later one. ErrUnreadable: the stored one is older or cannot be
	// read; any other error is a fault.
	ReadList(ctx context.Context, version int64) (List, error)
	// Published returns the latest published list, the zero List if there is none. The read is consistent.
	// ErrUnreadable: only its version can be read; any other error is a fault.
	Published(ctx context.Context) (List, error)
	// Publish replaces the list of version l.Version-1, all or nothing. ErrStateChanged: another version is stored;
	// CodeInvalid: it is too large or has more than MaxItems; any other error is a fault.
	Publish(ctx context.Context, l List) error
}
