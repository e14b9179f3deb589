package watch

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/your-org/seckill/shared/seckill"
)

// actsRead is how many of the audit log's newest entries are read when it has grown.
const actsRead = 100

// shown are the acts about an item, a queue or an activity that viewers see: with who did it, and nothing of shoppers.
var shown = []string{"stop", "resume", "add-stock", "redrive", "offline", "online"}

// auditReader is what acts calls of the audit log.
type auditReader interface {
	AuditOn(ctx context.Context, day string, after, limit int) ([]seckill.AuditEntry, error)
	AuditHead(ctx context.Context) (seckill.AuditHead, error)
}

// acts returns the newest acts about an item: those of before, and those among the log's newest entries of its day.
func acts(ctx context.Context, log auditReader, item string, before seckill.LiveActs) (seckill.LiveActs, error) {
	head, err := log.AuditHead(ctx)
	if err != nil || head == before.Head {
		return before, err
	}
	entries, err := log.AuditOn(ctx, head.Day, max(0, head.Seq-actsRead), actsRead)
	if err != nil {
		return before, err
	}
	if n := len(entries); n > 0 {
		head = entries[n-1].Head() // what was read: a read may lag behind the head
	}
	list := slices.Clone(before.List)
	for i := range entries {
		e := &entries[i]
		known := slices.ContainsFunc(list, func(a seckill.LiveAct) bool { return a.ID == e.ID })
		if e.Kind == seckill.AuditEnded && slices.Contains(shown, e.Act) && about(e.Subject, item) && !known {
			list = append(list, seckill.LiveAct{ID: e.ID, At: e.At, Who: e.Who, Act: e.Act, Subject: e.Subject,
				Result: e.Result})
		}
	}
	slices.SortFunc(list, func(a, b seckill.LiveAct) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.ID, b.ID))
	})
	return seckill.LiveActs{Head: head, List: list[:min(len(list), seckill.MaxLiveActs)]}, nil
}

// about reports whether a subject names an item, or no item: then it is about the shop, or an activity, whose items the
// log does not have.
func about(subject, item string) bool {
	return slices.Contains(strings.Fields(subject), "item="+item) || !strings.Contains(subject, "item=")
}
