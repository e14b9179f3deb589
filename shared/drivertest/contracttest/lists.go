package contracttest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Lists checks the public routes: lists, details, time, health.
func (s *Shop) Lists(t *testing.T) {
	t.Run("live items, the newest start first", func(t *testing.T) {
		s.awaitList(t, "/seckill/ing", []string{s.Items.Newest.ID, s.Items.Live.ID}, "Live", s.Items.Live.ID,
			s.Items.Newest.ID, s.Items.Few.ID, s.Items.One.ID)
	})
	t.Run("upcoming items, the soonest first", func(t *testing.T) {
		s.awaitList(t, "/seckill/will", []string{s.Items.Soon.ID, s.Items.Upcoming.ID}, "Upcoming", s.Items.Soon.ID,
			s.Items.Upcoming.ID)
	})
	t.Run("details", func(t *testing.T) {
		for _, it := range s.Items.All() {
			a := s.call(t, "", "GET", "/seckill/detail/"+it.ID, nil)
			if a.Status != 200 {
				t.Errorf("detail of %s: %v", it.ID, a)
				continue
			}
			got := checkItem(t, it.ID, a.JSON)
			want := map[string]string{"id": it.ID, "sk_price": it.Price.Yuan(), "max_sk_count": fmt.Sprint(it.Stock),
				"sk_per_max_count": fmt.Sprint(it.Limit),
				"start_time":       it.Start.Format(time.RFC3339), "end_time": it.End.Format(time.RFC3339)}
			for field, v := range want {
				if fmt.Sprint(got[field]) != v {
					t.Errorf("item %s: %s is %v, want %s", it.ID, field, got[field], v)
				}
			}
		}
	})
	t.Run("pages", func(t *testing.T) {
		a := s.call(t, "", "GET", "/seckill/ing?page=1&size=1", nil)
		if n := len(objects(a.JSON["seckills"])); a.Status != 200 || n != 1 {
			t.Errorf("a page of one: %v", a)
		}
		if a := s.call(t, "", "GET", "/seckill/ing?page=9999&size=100",
			nil); strings.TrimSpace(a.Raw) != `{"seckills":[]}` {
			t.Errorf("a page beyond the end: %v", a)
		}
	})
	t.Run("time and health", func(t *testing.T) {
		before := time.Now().Add(-seckill.SkewBound)
		a := s.call(t, "", "GET", "/seckill/time", nil)
		Fields(t, "time", a.JSON, map[string]string{"now": "time", "now_ms": "number"})
		if now, err := time.Parse(time.RFC3339, a.Text("now")); err != nil ||
			now.Before(before.Truncate(time.Second)) || now.After(time.Now().Add(seckill.SkewBound)) {
			t.Errorf("time: %v, it is %v", a, time.Now().UTC())
		}
		if a := s.call(t, "", "GET", "/healthz", nil); a.Status != 200 || a.Text("status") != "ok" ||
			a.Text("version") == "" {
			t.Errorf("health: %v", a)
		}
		if a := s.call(t, "", "HEAD", "/seckill/ing", nil); a.Status != 200 || a.Raw != "" {
			t.Errorf("HEAD: %v", a)
		}
	})
}

// awaitList reads a list, which may lag, until it has the named items: those of inOrder in this order, and no other
// item of this run.
func (s *Shop) awaitList(t *testing.T, path string, inOrder []string, what string, want ...string) {
	t.Helper()
	var seen []string
	s.until(t, what, func() (last Answer) {
		seen = nil
		for page := 1; ; page++ {
			last = s.call(t, "", "GET", fmt.Sprintf("%s?page=%d&size=100", path, page), nil)
			list := objects(last.JSON["seckills"])
			for _, o := range list {
				id, _ := checkItem(t, path, o)["id"].(string)
				seen = append(seen, id)
			}
			if len(list) < 100 {
				return last
			}
		}
	}, func(Answer) bool {
		return !slices.ContainsFunc(want, func(id string) bool {
			return !slices.Contains(seen, id)
		}) && !slices.Contains(seen, s.Items.Stopped.ID)
	})
	for i := 1; i < len(inOrder); i++ {
		if slices.Index(seen, inOrder[i-1]) > slices.Index(seen, inOrder[i]) {
			t.Errorf("%s lists %s before %s", path, inOrder[i], inOrder[i-1])
		}
	}
	if slices.Contains(seen, s.Items.Ended.ID) {
		t.Errorf("%s lists %s, whose sale is over", path, s.Items.Ended.ID)
	}
}
