package local_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/seckill"
)

// TestActs: on a run, acts are seen at /_local/acts; a suspicious one is kept and handled.
func TestActs(t *testing.T) {
	t.Parallel()
	items := local.DemoItems(time.Now(), 5, 2)
	local.SetChecks(items, seckill.ChecksStandard)
	w := start(t, local.Options{Items: items})
	ticket := map[string]any{"seckill_id": local.DemoLive, "proof": "e30="}
	for user, header := range map[string]string{"1001": "Origin", "1002": "Accept"} { // the second comes from no page
		if a := w.call(w.token(user), "POST", "/seckill/ticket", ticket, header,
			"x"); a.Status != http.StatusForbidden {
			t.Fatalf("a wrong answer: %v", a)
		}
	}
	w.buy("1001", local.DemoLive, 1, "")
	w.waitIdle()
	page, err := gives[operator.ActPage](w, &operator.ListActs{Item: local.DemoLive, Limit: 10})
	if err != nil || len(page.Acts) != 1 {
		t.Fatalf("%+v, %v", page, err)
	}
	if a := page.Acts[0]; a.User != "1002" || a.Rules != "prelude" || a.Result != seckill.CheckProof ||
		a.UserHash == "" {
		t.Errorf("%+v", a)
	}
	if _, err := gives[bool](w, &operator.HandleAct{Act: page.Acts[0].ID, Why: "a test"}); err != nil {
		t.Error(err)
	}
	if page, err := gives[operator.ActPage](w, &operator.ListActs{Limit: 10}); err != nil || len(page.Acts) != 0 {
		t.Errorf("after it was handled: %+v, %v", page, err)
	}
	for query, want := range map[string]int{"": 3, "?status=suspicious": 1, "?status=normal&limit=1": 1, "?item=7": 0,
		"?item=x": -1, "?status=odd": -1, "?limit=0": -1, "?limit=100001": -1, "?limit=x": -1} {
		a := w.call("", "GET", "/_local/acts"+query, nil)
		var got struct{ Acts []operator.Act }
		if err := json.Unmarshal([]byte(a.Raw), &got); err != nil || len(got.Acts) != max(want, 0) ||
			(a.Status == http.StatusOK) != (want >= 0) {
			t.Errorf("%s: %v, %v; want %d acts", query, a, err, want)
		}
	}
}
