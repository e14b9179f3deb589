package local_test

import (
	"encoding/json"
	"log/slog"
	"maps"
	"strings"
	"testing"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/driver/telemetry"
	"github.com/your-org/seckill/shared/seckill"
)

func TestBadInputOfATesterIsRefusedByStatusAndCode(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Listing{live("11", 10, 5)}})
	for _, tt := range []struct {
		behaviour, path, body string
		code                  seckill.Code
	}{
		{"clock: zero", "/_local/clock", `{"advance_seconds":0}`, seckill.CodeInvalid},
		{"clock: over a week", "/_local/clock", `{"advance_seconds":604801}`, seckill.CodeInvalid},
		{"clock: a float", "/_local/clock", `{"advance_seconds":1.5}`, seckill.CodeInvalid},
		{"clock: a text", "/_local/clock", `{"advance_seconds":"5"}`, seckill.CodeInvalid},
		{"clock: misspelt", "/_local/clock", `{"advance":5}`, seckill.CodeInvalid},
		{"clock: not JSON", "/_local/clock", "5", seckill.CodeInvalid},
		{"link: nobody", "/_local/staff-link", `{"who":" "}`, seckill.CodeInvalid},
		{"link: no such role", "/_local/staff-link", `{"roles":["boss"]}`, seckill.CodeInvalid},
		{"link: a line break", "/_local/staff-link", `{"who":"a\nb"}`, seckill.CodeInvalid},
		{"link: not printable", "/_local/staff-link", `{"who":"a\u202eb"}`, seckill.CodeInvalid},
		{"hard stop of nothing", "/_local/hard-stop", `{}`, seckill.CodeInvalid},
	} {
		a := w.call("", "POST", tt.path, tt.body)
		if a.Status != httpapi.Status(tt.code) || a.Text("code") != string(tt.code) || a.Text("detail") == "" ||
			!strings.HasPrefix(a.Header.Get("Content-Type"), "application/problem+json") {
			t.Errorf("%s: POST %s %s\n got %v\nwant %d %s", tt.behaviour, tt.path, tt.body, a, httpapi.Status(tt.code),
				tt.code)
		}
	}
	w.drained()
}

// TestARunCountsRefusalsByReason checks that it counts like the functions, and logs neither user nor address.
func TestARunCountsRefusalsByReason(t *testing.T) {
	t.Parallel()
	var log logs
	w := start(t, local.Options{Items: []seckill.Listing{live("11", 1, 1)},
		Log: telemetry.NewTextLog(&log, slog.LevelInfo)})
	const user = "7311000042"
	w.call("", "POST", "/seckill/buy", `{}`)
	w.call("helloworld", "POST", "/seckill/buy", `{}`)
	w.call(w.token(user), "POST", "/seckill/buy", `{}`)
	w.buy(user, "999", 1, "")
	var state struct {
		Refusals map[seckill.Reason]int `json:"refusals"`
	}
	a := w.call("", "GET", "/_local/state", nil)
	want := map[seckill.Reason]int{"token_missing": 1, "token_malformed": 1, "invalid_request": 1, "item_unknown": 1}
	if err := json.Unmarshal([]byte(a.Raw), &state); err != nil || !maps.Equal(state.Refusals, want) {
		t.Errorf("%v, %v: refusals %v, want %v", a, err, state.Refusals, want)
	}
	text := log.String()
	if n := strings.Count(text, "msg=refused"); n != len(want) || strings.Contains(text, user) ||
		!strings.Contains(text, "user_hash=") ||
		!strings.Contains(text, "network_hash=") || strings.Contains(text, "127.0.0.1:") {
		t.Errorf("want %d lines, with hashes and no value:\n%s", len(want), text)
	}
}
