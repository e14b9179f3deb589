package local

import (
	"context"
	"strings"

	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/app"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/flow/front/push"
	"github.com/your-org/seckill/shared/seckill"
)

// buildPush makes what pushes outcomes to pages.
func (s *System) buildPush() {
	if s.opt.NoPush {
		return
	}
	s.live = &live{passes: jwtauth.NewPasses(jwtauth.Keys{Current: s.opt.JWTSecret}, s.Clock), ids: s.drivers.ids,
		meter: s.Meter, pages: map[string]*page{}}
	s.Push = app.Push(&s.drivers, 1) // nothing here takes time
	s.live.flow = s.Push
	s.pushed = &pushed{s.live, s.Push, newChanges(nil)}
	s.takers = append(s.takers, s.pushed)
}

// offers returns what the API offers to pages, nil without push.
func (s *System) offers() *httpapi.Push {
	if s.live == nil {
		return nil
	}
	url := "ws" + strings.TrimPrefix(s.URL(), "http") + livePath
	return &httpapi.Push{URL: url, Passes: s.live.passes, IDs: s.live.ids, CatchesUp: true}
}

// pushed takes writes of orders for pages. A row that was put is whole, and pushed at once, or kept for a page that has
// yet to connect; of one that was updated the order is read first, by a follower, while there are pages.
type pushed struct {
	live *live
	flow *push.Flow
	*changes
}

func (p *pushed) wrote(w *ledger.Write, certain bool) {
	if certain && w.Op == ledger.OpPut {
		if c, err := ledger.OrderPut(w); err == nil {
			_, _ = p.flow.Changes(context.Background(), []seckill.OrderChange{c}) // it never fails
			return
		}
	}
	if p.live.count.Load() > 0 {
		p.changes.wrote(w, certain)
	}
}
