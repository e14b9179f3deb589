package local_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// browser is a browser of staff: one cookie at most.
type browser struct {
	w      *shopTest
	cookie string
}

// send makes one request; headers are name, value, ….
func (b *browser) send(method, path, body string, headers ...string) (status int, text string, h http.Header) {
	b.w.t.Helper()
	r, err := http.NewRequestWithContext(b.w.t.Context(), method, b.w.URL()+path, strings.NewReader(body))
	must.OK(b.w.t, err)
	if b.cookie != "" {
		r.Header.Set("Cookie", b.cookie)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	client := http.Client{Transport: b.w.http.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	a, err := client.Do(r)
	must.OK(b.w.t, err)
	defer a.Body.Close()
	out, err := io.ReadAll(a.Body)
	must.OK(b.w.t, err)
	return a.StatusCode, string(out), a.Header
}

// give gives a command as the page does.
func (b *browser) give(command string) (status int, text string) {
	b.w.t.Helper()
	status, text, _ = b.send(http.MethodPost, "/admin/commands", `{"operator":{`+command+`}}`, "X-Seckill-Staff", "1",
		"Sec-Fetch-Site", "same-origin")
	return status, text
}

// TestLinksOfTwoPeople: each link signs in the person that it names, also when another's was made after it.
func TestLinksOfTwoPeople(t *testing.T) {
	w := start(t, local.Options{})
	link := func(body string) (status int, path string) {
		status, text, _ := (&browser{w: w}).send(http.MethodPost, "/_local/staff-link", body)
		var out struct{ Link string }
		if err := json.Unmarshal([]byte(text), &out); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return status, strings.TrimPrefix(out.Link, w.URL())
	}
	_, ann := link(`{"who":"ann"}`)
	_, ben := link(`{"who":"ben"}`)
	_, nobody := link(`{}`)
	_, path := link(`{"who":"eve","roles":["viewer"]}`)
	eve := &browser{w: w}
	_, _, h := eve.send(http.MethodGet, path, "")
	eve.cookie, _, _ = strings.Cut(h.Get("Set-Cookie"), ";")
	if status, text := eve.give(`"command":"stop","item":"2002"`); status != http.StatusForbidden {
		t.Errorf("a viewer stops a sale: %d %s", status, text)
	}
	for path, who := range map[string]string{ann: "ann", ben: "ben", nobody: "local"} {
		b := &browser{w: w}
		_, _, h := b.send(http.MethodGet, path, "")
		b.cookie, _, _ = strings.Cut(h.Get("Set-Cookie"), ";")
		if _, text, _ := b.send(http.MethodGet, "/admin/session", ""); !strings.Contains(text, `"who":"`+who+`"`) {
			t.Errorf("want %s: %s", who, text)
		}
		if status, text := b.give(`"command":"stop","item":"2002"`); status != http.StatusOK {
			t.Errorf("%s: %d %s", who, status, text)
		}
	}
	for _, bad := range []string{strings.Repeat("x", seckill.MaxStaffName+1), " ", `a\nb`, `a\u202eb`} {
		if status, path := link(`{"who":"` + bad + `"}`); status != http.StatusUnprocessableEntity || path != "" {
			t.Errorf("who %q: %d %s", bad, status, path)
		}
	}
}

// TestStaffInABrowser: a link signs in once; commands are executed and recorded for whoever it signed in, and for
// nobody after the sign-out.
func TestStaffInABrowser(t *testing.T) {
	w := start(t, local.Options{})
	b := &browser{w: w}
	if status, text := b.give(`"command":"health"`); status != http.StatusUnauthorized ||
		!strings.Contains(text, `"code":"session_ended"`) || !strings.Contains(text, `"sign_in":false`) {
		t.Errorf("before the sign-in: %d %s", status, text)
	}
	old := strings.TrimPrefix(w.StaffLink(), w.URL())
	path := strings.TrimPrefix(w.StaffLink(), w.URL())
	for _, bad := range []string{old, "/admin/link", path + "x", "/admin/link?key="} {
		if status, text, h := b.send(http.MethodGet, bad, ""); status != http.StatusForbidden ||
			!strings.Contains(text, "link_used") || h.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d %s", bad, status, text)
		}
	}
	status, _, h := b.send(http.MethodGet, path, "")
	value, attributes, _ := strings.Cut(h.Get("Set-Cookie"), ";")
	if status != http.StatusSeeOther || h.Get("Location") != "/admin" ||
		attributes != " Path=/; Max-Age=36000; HttpOnly; SameSite=Strict" {
		t.Fatalf("sign-in: %d %v", status, h)
	}
	if status, _, h := b.send(http.MethodGet, path, ""); status != http.StatusForbidden || h.Get("Set-Cookie") != "" {
		t.Errorf("the link again: %d %v", status, h)
	}
	b.cookie = value
	var s struct {
		Who        string
		Roles, May []string
	}
	status, text, _ := b.send(http.MethodGet, "/admin/session", "")
	if err := json.Unmarshal([]byte(text), &s); err != nil || status != http.StatusOK || s.Who != "local" ||
		len(s.Roles) != len(seckill.Roles()) || len(s.May) < 30 {
		t.Errorf("session: %d %s, %v", status, text, err)
	}
	if status, text := b.give(`"command":"stop","item":"2002"`); status != http.StatusOK ||
		!strings.HasPrefix(text, `{"result":{"id":"2002"`) || strings.Contains(text, `"did"`) {
		t.Errorf("stop: %d %s", status, text)
	}
	if status, text := b.give(`"command":"stop","item":"9"`); status != http.StatusNotFound ||
		!strings.Contains(text, `"code":"item_unknown"`) {
		t.Errorf("another item: %d %s", status, text)
	}
	before := w.seen("2002").Metrics.Value.Requests
	for range 3 { // what staff ask is not a shopper's request
		if status, text := b.give(`"command":"live","item":"2002"`); status != http.StatusOK {
			t.Errorf("live: %d %s", status, text)
		}
	}
	if status, text := b.give(`"command":"live","item":"9"`); status != http.StatusNotFound {
		t.Errorf("live of another item: %d %s", status, text)
	}
	if after := w.seen("2002"); after.Metrics.Value.Requests != before || len(after.Acts.Value.List) != 1 ||
		after.Acts.Value.List[0].Who != "local" || after.Acts.Value.List[0].Act != "stop" {
		t.Errorf("%d requests before, then %+v, %+v", before, after.Metrics.Value, after.Acts)
	}
	log, err := w.Ledger.AuditOn(t.Context(), seckill.Day(w.Clock.Now()), "", 10)
	if err != nil || len(log) < 3 || log[0].Act != "sign-in" || log[2].Who != "local" || log[2].Act != "stop" ||
		log[2].Roles != "viewer,editor,operator,finance,auditor" || log[2].Result != "changed" {
		t.Errorf("audit log: %+v, %v", log, err)
	}
	w.Clock.Advance(seckill.StaffLife) // the shop's clock signs nobody out
	if status, text := b.give(`"command":"health"`); status != http.StatusOK {
		t.Errorf("after the clock was moved: %d %s", status, text)
	}
	if status, _, h := b.send(http.MethodPost, "/admin/signout", "", "X-Seckill-Staff", "1"); status !=
		http.StatusNoContent || !strings.HasPrefix(h.Get("Set-Cookie"), "staff=; ") {
		t.Errorf("sign-out: %d %v", status, h)
	}
	if status, text := b.give(`"command":"health"`); status != http.StatusUnauthorized {
		t.Errorf("after the sign-out: %d %s", status, text)
	}
}
