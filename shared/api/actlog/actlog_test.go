package actlog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/api/actlog"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/driver/telemetry"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

var (
	now  = time.Date(2026, 11, 11, 2, 0, 0, 123456789, time.UTC)
	from = netip.MustParsePrefix("203.0.113.7/32")
)

func hash(text string) string { return "<" + text + ">" }

func suspicious() seckill.Act {
	return seckill.Act{At: now, Action: seckill.ActTicket, Item: "1", Result: seckill.CheckQuestion,
		Rules: seckill.RuleFast | seckill.RuleAnswer, Agent: "a\"\n\xff 手", Referrer: "https://x/", Took: 12 * time.Millisecond}
}

// TestLines: a line has what an operator needs, and of a normal act no user id; of none the network address. What
// clients send cannot end a line.
func TestLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := actlog.New(&out, hash)
	a := suspicious()
	l.Take(&a, "1001", from, "t-1")
	a = seckill.Act{At: now, Action: seckill.ActBuy, Item: "1", Result: seckill.ActDone}
	l.Take(&a, "1001", netip.MustParsePrefix("2001:db8::/64"), "")
	l.Take(&a, "", netip.Prefix{}, "")
	want := `{"timestamp":"2026-11-11T02:00:00.123456789Z","level":"INFO","msg":"act","trace":"t-1","action":"ticket",` +
		`"item":"1","result":"check_question","status":"suspicious","rules":"fast,answer","user":"1001",` +
		`"user_hash":"<2026-11-11|user|1001>","network_hash":"<2026-11-11|network|203.0.113.7>",` +
		`"agent":"a\"\n\ufffd 手","referrer":"https://x/","took_ms":12}
{"timestamp":"2026-11-11T02:00:00.123456789Z","level":"INFO","msg":"act","action":"buy","item":"1","result":"ok",` +
		`"status":"normal","user_hash":"<2026-11-11|user|1001>","network_hash":"<2026-11-11|network|2001:db8::/64>"}
{"timestamp":"2026-11-11T02:00:00.123456789Z","level":"INFO","msg":"act","action":"buy","item":"1","result":"ok",` +
		`"status":"normal"}
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	for line := range strings.Lines(out.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("no JSON: %s", line)
		}
	}
}

// TestParse: what was written is read again, unless it is not a suspicious act.
func TestParse(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	a := suspicious()
	actlog.New(&out, hash).Take(&a, "1001", from, "t-1")
	got, ok := actlog.Parse(out.Bytes(), "ab12")
	want := a
	want.ID, want.At, want.Agent = "1794362400123-ab12", now.Truncate(time.Millisecond), "a\"\n\ufffd 手"
	want.User, want.UserKey, want.Network = "1001", "<2026-11-11|user|1001>", "<2026-11-11|network|203.0.113.7>"
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("%v, %s", ok, diff)
	}
	line := out.String()
	for what, other := range map[string]string{"normal": strings.Replace(line, "fast,answer", "", 1),
		"another message": strings.Replace(line, `"msg":"act"`, `"msg":"acts"`, 1),
		"no time":         strings.Replace(line, `"timestamp"`, `"at"`, 1), "no JSON": line[:len(line)-3], "empty": "",
		"unknown rules": strings.Replace(line, "fast,answer", "slow", 1)} {
		if a, ok := actlog.Parse([]byte(other), "ab12"); ok {
			t.Errorf("%s: %+v", what, a)
		}
	}
	if a, ok := actlog.Parse(out.Bytes(), "x y"); ok {
		t.Errorf("a strange tail: %+v", a)
	}
}

// TestSampled: normal acts are written up to a rate, and the next line says how many were not.
func TestSampled(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := actlog.New(&out, hash)
	a := seckill.Act{At: now, Action: seckill.ActBuy, Item: "1", Result: seckill.ActDone}
	written := 0
	for i := range 1000 { // in half a second
		a.At = now.Add(time.Duration(i) * 500 * time.Microsecond)
		if l.Wants(a.At) {
			l.Take(&a, "1001", from, "")
			written++
		}
	}
	if written != 29 { // at once 20, then each 50 ms
		t.Errorf("%d of 1000 acts in half a second were written, want 29", written)
	}
	if sum := sumOmitted(t, out.String()); sum >= 1000-written || sum < 800 {
		t.Errorf("%d lines say that %d were omitted", written, sum)
	}
	for range 2 {
		out.Reset()
		l.Take(&a, "1001", from, "")
	}
	if strings.Contains(out.String(), "omitted") {
		t.Errorf("none was omitted since: %s", out.String())
	}
}

func sumOmitted(t *testing.T, lines string) (sum int) {
	t.Helper()
	for line := range strings.Lines(lines) {
		var in struct{ Omitted int }
		must.OK(t, json.Unmarshal([]byte(line), &in))
		sum += in.Omitted
	}
	return sum
}

// BenchmarkLine compares the line of an act with a line of the ordinary log that has the same, and shows what a normal
// act costs when it is not written.
func BenchmarkLine(b *testing.B) {
	keys, err := jwtauth.New(jwtauth.Keys{Current: strings.Repeat("s", 32)}, memory.NewClock(now))
	must.OK(b, err)
	a := seckill.Act{At: now, Action: seckill.ActBuy, Item: "9007199254740993123", Result: seckill.ActDone,
		Agent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)", Referrer: "https://shop.example.com/"}
	b.Run("act", func(b *testing.B) {
		l := actlog.New(io.Discard, keys.Hash)
		b.ReportAllocs()
		for b.Loop() {
			l.Take(&a, "1001", from, "t-1")
		}
	})
	b.Run("omitted", func(b *testing.B) {
		l := actlog.New(io.Discard, keys.Hash)
		b.ReportAllocs()
		for b.Loop() {
			l.Wants(now)
		}
	})
	b.Run("ordinary", func(b *testing.B) {
		log := telemetry.NewLog(io.Discard, slog.LevelInfo)
		ctx := seckill.WithTrace(context.Background(), "t-1")
		b.ReportAllocs()
		for b.Loop() {
			log.LogAttrs(ctx, slog.LevelInfo, "act", slog.String("action", string(a.Action)), slog.String("item",
				a.Item),
				slog.String("result", string(a.Result)), slog.String("status", a.Status()),
				slog.String("user_hash", keys.Hash("2026-11-11|user|1001")),
				slog.String("network_hash", keys.Hash("2026-11-11|network|203.0.113.7")), slog.String("agent", a.Agent),
				slog.String("referrer", a.Referrer))
		}
	})
}
