package local_test

import (
	"strings"
	"testing"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/seckill"
)

// TestWithoutEvents checks that a run without a target says so, and still says where to ship.
func TestWithoutEvents(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Listing{live("7", 10, 1)}})
	id, _ := w.bought("1001", "7")
	_, err := gives[operator.Told](w, &operator.Tell{Order: id})
	if r := refusal(err); !strings.Contains(r.Error(), "--events") {
		t.Errorf("tell: %v, want words about --events", err)
	}
	_, err = gives[operator.Redelivered](w, &operator.Redeliver{})
	if r := refusal(err); !strings.Contains(r.Error(), "--events") {
		t.Errorf("redeliver: %v, want words about --events", err)
	}
	if d, err := gives[operator.Delivery](w, &operator.ReadDelivery{Order: id}); err != nil || d.Address != address {
		t.Errorf("delivery: %+v, %v", d, err)
	}
}
