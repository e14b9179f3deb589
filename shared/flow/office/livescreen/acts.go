package livescreen

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// actsAgain is how far back entries are read again: clocks differ, and an entry may be written after a later entry.
const actsAgain = time.Minute

// shown are the acts about an item, a queue or an activity that viewers see: with who did it, and nothing of shoppers.
var shown = []string{"stop", "resume", "add-stock", "redrive", "offline", "online"}

// auditReader is the part of the audit log that this file reads.
type auditReader interface {
	AuditOn(ctx context.Context, day, after string, limit int) ([]seckill.AuditEntry, error)
}

// acts returns the newest acts about an item: those that the row has, and those of the log since then. The first time
// it returns the acts of the day.
func acts(ctx context.Context, log auditReader, item string, before seckill.LiveActs,
	now time.Time) (seckill.LiveActs, error) {
	day, after := seckill.Day(now), ""
	if !before.Until.IsZero() {
		from := before.Until.Add(-actsAgain)
		day, after = seckill.Day(from), seckill.AuditPlace(from)
	}
	list := slices.Clone(before.List)
	for {
		entries, err := log.AuditOn(ctx, day, after, seckill.MaxAuditPage)
		if err != nil {
			return before, err
		}
		for i := range entries {
			e := &entries[i]
			after = e.Seq
			known := slices.ContainsFunc(list, func(a seckill.LiveAct) bool { return a.ID == e.ID })
			if e.Kind == seckill.AuditEnded && slices.Contains(shown, e.Act) && about(e.Subject, item) && !known {
				list = append(list, seckill.LiveAct{ID: e.ID, At: e.At, Who: e.Who, Act: e.Act, Subject: e.Subject,
					Result: e.Result})
			}
		}
		if len(entries) == seckill.MaxAuditPage {
			continue
		}
		if day == seckill.Day(now) {
			break
		}
		day, after = seckill.Day(now), ""
	}
	slices.SortFunc(list, func(a, b seckill.LiveAct) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.ID, b.ID))
	})
	return seckill.LiveActs{Until: now, List: list[:min(len(list), seckill.MaxLiveActs)]}, nil
}

// about reports whether a subject names an item, or no item: then it is about the shop, or an activity, whose items the
// log does not have.
func about(subject, item string) bool {
	return slices.Contains(strings.Fields(subject), "item="+item) || !strings.Contains(subject, "item=")
}
