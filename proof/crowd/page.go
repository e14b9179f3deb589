package crowd

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/your-org/seckill/proof/record"
)

// Looks of the storefront's home page near a sale (web/src/core.js, web/src/items.js).
const (
	lookNear   = 5 * time.Second // at the list with the sale
	lookFar    = 30 * time.Second
	lookSpread = 3 * time.Second // both are longer by up to this much
)

var assets = regexp.MustCompile(`(?:src|href)="(assets/[^"]+)"`)

// pageFiles returns the paths of the page and of the files that it names.
func pageFiles(ctx context.Context, c *client, base string) ([]string, error) {
	a := c.do(ctx, &ask{act: actFile, moment: time.Now(), method: http.MethodGet, url: base + "/"})
	if a.status != http.StatusOK {
		return nil, fmt.Errorf("--pages: %s/ has no page (%s)", base, a.word())
	}
	files := []string{"/"}
	for _, m := range assets.FindAllSubmatch(a.body, -1) {
		files = append(files, "/"+string(m[1]))
	}
	return files, nil
}

// get asks for what pages ask for, without a token.
func (s *shopper) get(ctx context.Context, act, path string, moment time.Time) answer {
	return s.client.do(ctx, &ask{act: act, moment: moment, method: http.MethodGet, url: s.base + path})
}

// openPage loads the page's files and both lists.
func (s *shopper) openPage(ctx context.Context) {
	moment := s.opensAt(s.offset).Add(s.opens)
	for _, file := range s.files {
		moment = s.get(ctx, actFile, file, moment).at
	}
	s.get(ctx, actList, "/seckill/ing", moment)
	s.get(ctx, actList, "/seckill/will", moment)
}

// watch looks at the lists until the shopper presses the button, most often at the list with the sale.
func (s *shopper) watch(ctx context.Context, until time.Time) {
	spread := func() time.Duration { return time.Duration(s.random.Int64N(int64(lookSpread))) }
	moment := time.Now()
	other := moment.Add(lookFar)
	for {
		if moment = moment.Add(lookNear + spread()); moment.After(until) || !sleep(ctx, moment) {
			return
		}
		s.get(ctx, actList, "/seckill/ing", moment)
		if moment.After(other) {
			s.get(ctx, actList, "/seckill/will", moment)
			other = moment.Add(lookFar)
		}
	}
}

// soldOut reports whether the item's status says so. A page asks that instead of sending a purchase again that was
// only ever turned away with 429.
func (s *shopper) soldOut(ctx context.Context, moment time.Time) bool {
	a := s.get(ctx, actStatus, "/seckill/status/"+s.item.ID, moment)
	text := string(a.body)
	return a.status == http.StatusOK && strings.Contains(text, `"sold_out":true`) && !strings.Contains(text, `"as_of"`)
}

// Pages counts the calls of pages and purchases: all, those that no CDN answered (X-Cache), and of these the files.
type Pages struct {
	Calls     int `json:"calls"`
	Past      int `json:"past_cdn"`
	PastFiles int `json:"past_cdn_files"`
	Shoppers  int `json:"shoppers"`
}

// pages counts what the page's figures are about: not what happens to an order afterwards.
func (t *tally) pages() *Pages {
	p := &Pages{Shoppers: t.came}
	for _, name := range []string{actFile, actList, actStatus, record.ActTime, record.ActBuy} {
		if a := t.acts[name]; a != nil {
			p.Calls += a.Sent
			p.Past += a.Sent - a.Kept
			if name == actFile {
				p.PastFiles += a.Sent - a.Kept
			}
		}
	}
	return p
}
