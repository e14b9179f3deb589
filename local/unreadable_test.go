package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/itemfile"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/telemetry"
	"github.com/your-org/seckill/shared/seckill"
)

// rotten is a table of items with one unreadable row.
type rotten struct{ seckill.Items }

const rottenRow = "items row 13: attribute end is missing or of another type"

func (r rotten) List(ctx context.Context, endsAfter time.Time) ([]seckill.Item, error) {
	list, err := r.Items.List(ctx, endsAfter)
	return list, errors.Join(err, &seckill.Unreadable{Table: "items", PK: "13",
		Why: ": attribute end is missing or of another type"})
}

// TestOneUnreadableItemStopsNoOther checks that the run starts, sells the other items, and reports the unreadable
// one.
func TestOneUnreadableItemStopsNoOther(t *testing.T) {
	t.Parallel()
	var log logs
	w := startChanged(t, local.Options{Items: []seckill.Listing{live("11", 3, 1)}, Log: telemetry.NewTextLog(&log,
		slog.LevelInfo)}, func(s *local.System) {
		items := rotten{s.Items}
		s.Items, s.Stage.Items, s.Repair.Items = items, items, items
	})
	if !strings.Contains(log.String(), rottenRow) {
		t.Errorf("the log does not name the row: %s", log.String())
	}
	if a := w.buy("1001", "11", 1, ""); a.Status != 200 {
		t.Errorf("a purchase of another item: %v", a)
	}
	data, err := w.operators().Export(t.Context())
	items, parseErr := itemfile.Parse("items.json", data, time.Now())
	var leftOut *operator.LeftOut
	if parseErr != nil || len(items) != 1 || !errors.As(err, &leftOut) ||
		!slices.Equal(leftOut.Rows, []string{rottenRow}) {
		t.Errorf("export: %s, %v, %v", data, err, parseErr)
	}
	var state struct {
		Items      []json.RawMessage `json:"items"`
		Unreadable []string          `json:"unreadable"`
	}
	a := w.call("", "GET", "/_local/state", nil)
	if err := json.Unmarshal([]byte(a.Raw), &state); err != nil || len(state.Items) != 1 ||
		len(state.Unreadable) != 1 || state.Unreadable[0] != rottenRow {
		t.Errorf("state: %v, %v", a, err)
	}
}
