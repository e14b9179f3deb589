package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/front/shop"
	"github.com/your-org/seckill/shared/seckill"
)

// Largest ages of what a page shows: an instance reads once a second, and concurrent requests use the remembered
// list.
const (
	listFresh = 2 * seckill.ItemFresh
	listOld   = time.Minute // while no list can be read
)

// published records the published lists.
type published struct {
	*memory.Items
	w *World
}

func (p published) Publish(ctx context.Context, l seckill.List) error {
	err := p.Items.Publish(ctx, l)
	if err == nil {
		n := publication{p.w.Clock.Now(), map[string]int64{}}
		for _, it := range l.Items {
			n.versions[it.ID] = it.Version
		}
		p.w.publications = append(p.w.publications, n)
	}
	return err
}

// checkPage checks that a page shows no item older than the list that was published by then.
func (w *World) checkPage(asked time.Time, page shop.Page) {
	allowed := listOld + listFresh
	if page.AsOf.IsZero() {
		allowed = listFresh
	}
	for n := len(w.publications) - 1; n >= 0; n-- {
		p := w.publications[n]
		if asked.Sub(p.at) <= allowed {
			continue
		}
		for _, v := range page.Items {
			if v.Item.Version < p.versions[v.Item.ID] {
				w.truth.fail("I12 a page that says as of %v shows item %s as version %d: %d was published %v before",
					page.AsOf, v.Item.ID, v.Item.Version,
					p.versions[v.Item.ID], asked.Sub(p.at))
			}
		}
		return
	}
}

// checkListed checks that once everything is quiet, the published list equals the items table.
func (w *World) checkListed() error {
	l, err := w.items.Published(context.Background())
	if err != nil {
		return err
	}
	listed := map[string]int64{}
	for _, it := range l.Items {
		listed[it.ID] = it.Version
	}
	for _, it := range w.allItems() {
		row, err := w.items.Get(context.Background(), it.ID)
		if err != nil {
			return err
		}
		if w.Clock.Now().Before(row.End) && listed[it.ID] != row.Version {
			return fmt.Errorf("L3 pages list item %s as version %d, the items table has %d", it.ID, listed[it.ID],
				row.Version)
		}
	}
	return nil
}
