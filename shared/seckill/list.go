package seckill

import "context"

// List is what pages list: every item that has not ended, and those whose last reservations may still wait to be
// placed.
type List struct {
	Version int64 // rises with every publication; 0: nothing was published yet
	Items   []Item
}

// Lists is where one step publishes the list, and every instance of another reads it: so that looking at a shop costs
// one small read a second and instance, of rows that are there several times, however many items and instances there
// are.
type Lists interface {
	// ListVersion returns the version of the list that was published last, 0 when none was. It may lag. Fault.
	ListVersion(ctx context.Context) (int64, error)
	// ReadList returns the list as it was published with this version or a later one. ErrUnreadable: what is there is
	// older, or cannot be read; Fault.
	ReadList(ctx context.Context, version int64) (List, error)
	// Published returns the list that was published last, the zero List when none was. It does not lag. ErrUnreadable:
	// only its version can be read; Fault.
	Published(ctx context.Context) (List, error)
	// Publish replaces the list of version l.Version-1, all or nothing. ErrStateChanged: another version is there;
	// CodeInvalid: it is too large, or has more than MaxItems; Fault.
	Publish(ctx context.Context, l List) error
}
