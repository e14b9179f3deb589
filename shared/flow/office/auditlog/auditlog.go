// Package auditlog keeps the audit log: what staff did. An act that changes something is recorded before it begins and
// after it ended; without the first entry it must not begin.
//
// In: acts of staff. Out: entries in the ledger.
package auditlog

import (
	"context"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Deps are the step's dependencies.
type Deps struct {
	Log   seckill.AuditLog
	Clock seckill.Clock
	IDs   IDs
	Meter seckill.Meter
}

// IDs makes an act's id.
type IDs interface{ Token() string }

// Flow keeps the audit log. It is safe for concurrent use.
type Flow struct {
	Deps
	mu   sync.Mutex
	last time.Time // of the newest entry
}

// New returns an instance.
func New(d Deps) *Flow { return &Flow{Deps: d} }

// now returns the time, and never the same millisecond twice: entries of one instance keep their order.
func (f *Flow) now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := f.Clock.Now().Truncate(time.Millisecond); now.After(f.last) {
		f.last = now
	} else {
		f.last = f.last.Add(time.Millisecond)
	}
	return f.last
}

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

// append writes an entry. If the write is in doubt, it writes the entry again, which is harmless if it is there.
func (f *Flow) append(ctx context.Context, e seckill.AuditEntry) error {
	e.Stamp(f.now())
	err := f.Log.AppendAudit(ctx, e)
	if err != nil {
		err = f.Log.AppendAudit(ctx, e)
	}
	if err != nil {
		return seckill.AsError(err)
	}
	return nil
}

// List reads a day's entries after a place, or "", ascending. next is "" after the last entry, else the after of the
// next page. day "" is today.
func (f *Flow) List(ctx context.Context, day, after string, limit int) (list []seckill.AuditEntry, next string,
	err error) {
	if day == "" {
		day = seckill.Day(f.Clock.Now())
	}
	switch {
	case !seckill.ValidDay(day):
		return nil, "", seckill.Invalid("day", "YYYY-MM-DD")
	case limit < 1 || limit > seckill.MaxAuditPage:
		return nil, "", seckill.Invalid("limit", "")
	case len(after) > seckill.MaxAuditPlace:
		return nil, "", seckill.Invalid("cursor", "")
	}
	if list, err = f.Log.AuditOn(ctx, day, after, limit); err != nil {
		return nil, "", seckill.AsError(err)
	}
	if len(list) == limit {
		next = list[limit-1].Seq
	}
	return list, next, nil
}
