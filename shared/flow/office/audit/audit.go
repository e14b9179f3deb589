// Package audit keeps the audit log: what staff did. An act that changes something is recorded before it begins and
// after it ended; without the first entry it must not begin. Check finds what somebody changed in the log afterwards.
//
// In: acts of staff. Out: entries in the ledger, and each entry's hash to a place that the ledger's writers cannot
// change.
package audit

import (
	"context"
	"errors"

	"github.com/your-org/seckill/shared/seckill"
)

// maxTries is how often an entry is linked to a new head, because somebody else appended meanwhile.
const maxTries = 20

// Deps are the step's dependencies.
type Deps struct {
	Log   seckill.AuditLog
	Clock seckill.Clock
	IDs   IDs
	Meter seckill.Meter
	// Keep keeps the head apart after each entry.
	Keep func(context.Context, seckill.AuditHead)
}

// IDs makes an act's id.
type IDs interface{ Token() string }

// Flow keeps the audit log. It is safe for concurrent use.
type Flow struct{ Deps }

// New returns an instance.
func New(d Deps) *Flow { return &Flow{d} }

// Begin records that an act begins, and returns its id. After an error the act must not begin.
func (f *Flow) Begin(ctx context.Context, a seckill.AuditEntry) (id string, err error) {
	a.Kind, a.ID, a.Before, a.After, a.Result = seckill.AuditBegun, f.IDs.Token(), "", "", ""
	return a.ID, f.append(ctx, a)
}

// End records how the act with this id of Begin ended. After an error the log shows an act that never ended.
func (f *Flow) End(ctx context.Context, id string, a seckill.AuditEntry) error {
	a.Kind, a.ID = seckill.AuditEnded, id
	err := f.append(ctx, a)
	if err != nil {
		f.Meter.Count(seckill.EventUnrecorded, 1)
	}
	return err
}

// Write records an act that changes nothing, before its answer is given.
func (f *Flow) Write(ctx context.Context, a seckill.AuditEntry) error {
	a.Kind, a.ID = seckill.AuditWhole, f.IDs.Token()
	return f.append(ctx, a)
}

// append links an entry to the head and writes it. An entry whose write is in doubt is written again as it is: it may
// be there.
func (f *Flow) append(ctx context.Context, e seckill.AuditEntry) error {
	e.At = f.Clock.Now()
	for range maxTries {
		head, err := f.Log.AuditHead(ctx)
		if err != nil {
			return seckill.AsError(err)
		}
		e.Follow(head)
		err = f.Log.AppendAudit(ctx, e)
		if err != nil && !errors.Is(err, seckill.ErrAuditMoved) {
			err = f.Log.AppendAudit(ctx, e)
		}
		switch {
		case err == nil:
			f.Keep(ctx, e.Head())
			return nil
		case !errors.Is(err, seckill.ErrAuditMoved):
			return seckill.AsError(err)
		}
	}
	return &seckill.Error{Code: seckill.CodeUnavailable, RetryAfter: seckill.RetryAfterFault,
		Err: errors.New("audit: too many append to the audit log at once")}
}

// List reads a day's entries after one, or 0, ascending. next is 0 after the last one, else the after of the next page.
// day "" is today.
func (f *Flow) List(ctx context.Context, day string, after, limit int) (list []seckill.AuditEntry, next int,
	err error) {
	if day == "" {
		day = seckill.Day(f.Clock.Now())
	}
	switch {
	case !seckill.ValidDay(day):
		return nil, 0, seckill.Invalid("day", "YYYY-MM-DD")
	case limit < 1 || limit > seckill.MaxAuditPage:
		return nil, 0, seckill.Invalid("limit", "")
	}
	if list, err = f.Log.AuditOn(ctx, day, after, limit); err != nil {
		return nil, 0, seckill.AsError(err)
	}
	if len(list) == limit {
		next = list[limit-1].Seq
	}
	return list, next, nil
}

// Head reads the head.
func (f *Flow) Head(ctx context.Context) (seckill.AuditHead, error) {
	h, err := f.Log.AuditHead(ctx)
	if err != nil {
		return h, seckill.AsError(err)
	}
	return h, nil
}
