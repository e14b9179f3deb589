package functions_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/drivertest/must"
)

// TestRefusalsAreCountedByReason checks that each is counted under its reason and logged with hashes instead of user
// and network address; notify, which has no token secret, only counts.
func TestRefusalsAreCountedByReason(t *testing.T) {
	w := newDeployment(t)
	const user, network = "7311000042", "203.0.113.7" // the recorded event's sourceIp
	signed := func(secret string, end time.Time) string {
		return must.Get(jwtauth.Sign(secret, user, end))
	}
	bearing := func(token string) []byte {
		var e map[string]any
		must.OK(t, json.Unmarshal(call(t, "POST", "/seckill/buy", "{}", ""), &e))
		headers, _ := e["multiValueHeaders"].(map[string]any)
		headers["Authorization"] = []string{"Bearer " + token}
		headers["X-Forwarded-For"] = []string{"198.51.100.9"} // set by the client
		return must.Get(json.Marshal(e))
	}
	hour := time.Now().Add(time.Hour)
	buy, notify := w.start(t, "buy"), w.start(t, "notify")
	for _, c := range []struct {
		event  []byte
		reason string
	}{
		{call(t, "POST", "/seckill/buy", "{}", ""), "token_missing"},
		{bearing("helloworld"), "token_malformed"},
		{bearing(signed("a guess", hour)), "token_signature"},
		{bearing(signed(secret, time.Now().Add(-time.Minute))), "token_expired"},
		{bearing(signed(secret, hour)), "invalid_request"},
		{call(t, "POST", "/nowhere", "{}", user), "not_found"},
		{purchase(t, "999", user), "item_unknown"},
	} {
		ask(t, buy, c.event)
		for _, text := range []string{`"step":"buy","reason":"` + c.reason + `"`, `"msg":"refused","reason":"` +
			c.reason + `"`} {
			if !buy.Says(text) {
				t.Fatalf("%s: no %s:\n%s", c.reason, text, buy.Output())
			}
		}
	}
	ask(t, notify, call(t, "POST", notifyPath, "a=b", ""))
	if !notify.Says(`"step":"notify","reason":"notify_forged"`) || strings.Contains(notify.Output(), "_hash") {
		t.Errorf("notify: want it counted, and no hash:\n%s", notify.Output())
	}
	hashes := map[string]map[string]bool{"user_hash": {}, "network_hash": {}}
	for line := range strings.Lines(buy.Output()) {
		var l map[string]any
		if json.Unmarshal([]byte(line), &l) != nil || l["msg"] != "refused" {
			continue
		}
		for name, seen := range hashes {
			if h, ok := l[name].(string); ok {
				seen[h] = true
			}
		}
	}
	if len(hashes["user_hash"]) != 1 || len(hashes["network_hash"]) != 1 {
		t.Errorf("hashes %v, want one user and one network, the same in every line", hashes)
	}
	for _, out := range []string{buy.Output(), notify.Output()} {
		for _, value := range []string{user, network, "198.51.100.9", secret, "eyJ"} {
			if strings.Contains(out, value) {
				t.Errorf("%s is in the output:\n%s", value, out)
			}
		}
	}
}
