package telemetry_test

import (
	"bytes"
	"context"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/telemetry"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

var begin = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)

func TestTheSameLineOnceASecond(t *testing.T) {
	t.Parallel()
	clock, out := memory.NewClock(begin), &bytes.Buffer{}
	log := telemetry.RateLimited(telemetry.NewTextLog(out, slog.LevelInfo), clock).With("step", "buy")
	for i := range 100 {
		log.ErrorContext(seckill.WithTrace(t.Context(), "t-"+strconv.Itoa(i)), "request failed", "code", "unavailable")
		log.Info("not rationed")
	}
	log.Error("request failed", "code", "internal")
	for _, key := range []string{"order", "message", "queue", "schedule"} {
		for range 2 {
			log.Warn("failed", key, "1")
			log.Warn("failed", key, "2")
		}
	}
	clock.Advance(time.Second)
	log.Error("request failed", "code", "unavailable")
	clock.Advance(time.Second)
	log.Error("request failed", "code", "unavailable")
	for text, want := range map[string]int{"code=unavailable": 3, "trace=t-0": 1, "trace": 1, "omitted=99": 1,
		"omitted": 1, "code=internal": 1, "order=1": 1, "order=2": 1,
		"message=1": 1, "queue=1": 1, "schedule=2": 1, "not rationed": 100, "step=buy": 3 + 1 + 8 + 100} {
		must.Equal(t, want, strings.Count(out.String(), text), text, "times")
	}
}

// TestWhatWasSaidIsForgottenInTime checks that an instance which sees a million orders fail does not remember them
// all.
func TestWhatWasSaidIsForgottenInTime(t *testing.T) {
	t.Parallel()
	out := &bytes.Buffer{}
	log := telemetry.RateLimited(telemetry.NewLog(out, slog.LevelInfo), memory.NewClock(begin))
	const orders = 2500
	for range 2 {
		for i := range orders {
			log.WarnContext(context.Background(), "message comes back", "order", strconv.Itoa(i))
		}
	}
	// The second round writes each line again, because it was forgotten.
	must.Equal(t, 2*orders, strings.Count(out.String(), "\n"), "lines", "one for each order and round")
}
