package local

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/your-org/seckill/shared/app"
	"github.com/your-org/seckill/shared/seckill"
)

// actKeeper is the worker that keeps suspicious acts, as the function acts does in a stack.
func (s *System) actKeeper() *worker {
	flow := app.Acts(&s.drivers)
	return &worker{
		step: func(ctx context.Context, _ <-chan struct{}) bool {
			list := s.acts.take()
			if err := flow.Keep(ctx, list); err != nil {
				s.log.WarnContext(ctx, "acts are late", "err", err)
				return false
			}
			s.acts.drop(len(list))
			return s.acts.waiting()
		},
		next:  func() (time.Time, bool) { return s.Clock.Now().Add(changesAgain), s.acts.waiting() },
		ready: s.acts.ready,
		due:   func(time.Time) bool { return s.acts.waiting() },
	}
}

// getActs answers with the last acts: ?item=, ?status=normal or suspicious, ?limit=.
func (s *System) getActs(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	item, status := q.Get("item"), q.Get("status")
	limit, err := strconv.Atoi(cmp.Or(q.Get("limit"), strconv.Itoa(shownActs)))
	switch {
	case item != "" && !seckill.ValidItemID(item):
		s.refuse(w, r, seckill.Invalid("item", ""))
	case status != "" && status != "normal" && status != "suspicious":
		s.refuse(w, r, seckill.Invalid("status", "normal, suspicious"))
	case err != nil || limit < 1 || limit > MaxActs:
		s.refuse(w, r, seckill.Invalid("limit", fmt.Sprintf("1..%d", MaxActs)))
	default:
		s.reply(w, map[string]any{"acts": s.acts.last(item, status, limit)})
	}
}
