package local_test

import (
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
)

// TestContractItems checks that a shop with the contract's items shows clients the ids and states that they know.
func TestContractItems(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: local.ContractItems(time.Now())})
	ids := func(list string) string {
		var out []string
		for _, item := range w.call("", "GET", list, nil).JSON["seckills"].([]any) {
			o := item.(map[string]any)
			out = append(out, o["id"].(string))
		}
		return strings.Join(out, " ")
	}
	if got := ids("/seckill/ing"); got != "1941486788694507520 1941710239204114432" {
		t.Errorf("on sale: %s", got)
	}
	if got := ids("/seckill/will"); got != "1941486788929388544" {
		t.Errorf("upcoming: %s", got)
	}
	if a := w.call("", "GET", "/seckill/detail/1941486788178608128", nil); a.Text("state") != "ended" {
		t.Errorf("the ended one: %v", a)
	}
	for _, id := range []string{"1941486788694507520", "1941486788929388544"} {
		a := w.call("", "GET", "/seckill/status/"+id, nil)
		if a.Status != 200 || a.JSON["sold_out"] != false || a.Text("now") == "" {
			t.Errorf("what is left of %s: %v", id, a)
		}
	}
}
