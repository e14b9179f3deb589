package operator_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/office/auditlog"
	"github.com/your-org/seckill/shared/flow/office/session"
	"github.com/your-org/seckill/shared/seckill"
)

const public = "https://shop.example.com/live"

var start = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)

// issuer gives whoever comes with the right code what a test wants.
type issuer struct {
	member seckill.StaffMember
	err    error
	begun  []seckill.Grant
	asked  int
	anew   bool
	spent  seckill.Grant // the last
	during func()        // while a code is spent
}

func (i *issuer) Authorization(_ context.Context, g seckill.Grant, state string, anew bool) (string, error) {
	i.begun, i.anew = append(i.begun, g), anew
	return "https://id.example.com/authorize?state=" + url.QueryEscape(state), i.err
}

func (i *issuer) RedeemStaff(ctx context.Context, g seckill.Grant) (seckill.StaffMember, error) {
	i.asked++
	i.spent = g
	if i.during != nil {
		i.during()
	}
	if err := ctx.Err(); err != nil {
		return seckill.StaffMember{}, err
	}
	asked := slices.ContainsFunc(i.begun, func(a seckill.Grant) bool {
		return a.Verifier == g.Verifier && a.Nonce == g.Nonce
	})
	if g.Kind == seckill.GrantCode && (g.Code != "right" || !asked || g.RedirectURI != public+"/admin/callback") {
		return seckill.StaffMember{}, &seckill.Error{Code: seckill.CodeSignIn}
	}
	return i.member, i.err
}

type meter struct{}

func (meter) Count(seckill.Event, int) {}

// office is a handler, and a browser with its cookies.
type office struct {
	*testing.T
	browsers *operator.BrowserHandler
	flow     *session.Flow
	clock    *memory.Clock
	issuer   *issuer
	log      *ledger.Ledger
	did      []operator.Caller
	answer   string
	jar      map[string]string
	from     string // the browser's address
}

func newOffice(t *testing.T) *office {
	t.Parallel()
	o := &office{T: t, clock: memory.NewClock(start), jar: map[string]string{}, from: "192.0.2.1:1",
		answer: `{"result":1}`, issuer: &issuer{member: seckill.StaffMember{Who: "id.example.com/ada", Name: "ada", Refresh: "r",
			Roles: []seckill.Role{seckill.RoleFinance}}}}
	o.log = ledger.New(memory.NewRows(memory.RowsOptions{Clock: o.clock}))
	ids := system.NewIDs(nil)
	o.flow = session.New(session.Deps{Sessions: o.log, Issuer: o.issuer, Random: ids, Clock: o.clock, Meter: meter{},
		Audit: auditlog.New(auditlog.Deps{Log: o.log, Clock: o.clock, IDs: ids, Meter: meter{}})})
	var err error
	o.browsers, err = operator.NewBrowserHandler(operator.BrowserOptions{Sessions: o.flow, Public: public, SignIn: true,
		Clock: o.clock, Random: ids, Log: slog.New(slog.DiscardHandler),
		Do: func(_ context.Context, c operator.Caller, _ []byte) (int, []byte) {
			o.did = append(o.did, c)
			return http.StatusOK, []byte(o.answer)
		}})
	must.OK(t, err)
	return o
}

// send makes a request as the browser, as API Gateway passes it on: with another Host than the page's. headers are
// name, value, ….
func (o *office) send(method, path, body string, headers ...string) *http.Response {
	o.Helper()
	r := httptest.NewRequestWithContext(o.Context(), method, "https://api.example.net"+path, strings.NewReader(body))
	r.RemoteAddr = o.from
	for _, name := range slices.Sorted(maps.Keys(o.jar)) {
		r.AddCookie(&http.Cookie{Name: name, Value: o.jar[name]})
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	o.browsers.ServeHTTP(w, r)
	a := w.Result()
	for _, c := range a.Cookies() {
		if o.jar[c.Name] = c.Value; c.MaxAge < 0 {
			delete(o.jar, c.Name)
		}
	}
	return a
}

func text(a *http.Response) string {
	b, _ := io.ReadAll(a.Body)
	return string(b)
}

// give gives a command as the page does.
func (o *office) give() *http.Response { return o.giveOne(`"command":"open"`) }

func (o *office) giveOne(command string) *http.Response {
	o.Helper()
	return o.send(http.MethodPost, "/admin/commands", `{"operator":{`+command+`}}`, operator.StaffHeader, "1",
		"Origin", "https://shop.example.com", "Sec-Fetch-Site", "same-origin")
}

// signIn goes to the issuer and comes back with a code; change changes what it brings back.
func (o *office) signIn(code string, change func(q url.Values)) *http.Response {
	o.Helper()
	a := o.send(http.MethodGet, "/admin/signin", "")
	to, err := a.Location()
	if err != nil || a.StatusCode != http.StatusFound {
		o.Fatalf("sign-in: %d %v", a.StatusCode, err)
	}
	q := url.Values{"code": {code}, "state": {to.Query().Get("state")}}
	if change != nil {
		change(q)
	}
	return o.send(http.MethodGet, "/admin/callback?"+q.Encode(), "")
}

// begun is a sign-in for which a browser has gone to the issuer.
type begun struct{ state, cookie string }

func (o *office) begun() begun {
	o.Helper()
	to, err := o.send(http.MethodGet, "/admin/signin", "").Location()
	must.OK(o, err)
	return begun{to.Query().Get("state"), o.jar["__Host-staff-signin"]}
}

// sendWith comes back from the issuer with a code, in the browser that began a sign-in.
func (o *office) sendWith(b begun, code string, headers ...string) *http.Response {
	o.Helper()
	back := *o
	back.jar = map[string]string{"__Host-staff-signin": b.cookie}
	return back.send(http.MethodGet, "/admin/callback?"+url.Values{"code": {code}, "state": {b.state}}.Encode(), "",
		headers...)
}

// results returns who got what, of the audit log's entries.
func (o *office) results() (out []string) {
	list, err := o.log.AuditOn(o.Context(), seckill.Day(o.clock.Now()), "", 500)
	must.OK(o, err)
	for _, e := range list {
		out = append(out, e.Who+" "+e.Act+" "+e.Result)
	}
	return out
}

// TestSignInAtTheIssuer: the browser that went to the issuer, and only it, comes back with a session.
func TestSignInAtTheIssuer(t *testing.T) {
	o := newOffice(t)
	a := o.signIn("right", nil)
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/live/admin" ||
		a.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v", a.StatusCode, a.Header)
	}
	set := strings.Join(a.Header.Values("Set-Cookie"), "\n")
	for _, want := range []string{"__Host-staff-signin=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax",
		"; Path=/; Max-Age=36000; HttpOnly; Secure; SameSite=Strict"} {
		if !strings.Contains(set, want) {
			t.Errorf("cookies %s, want %s", set, want)
		}
	}
	if len(o.jar) != 1 || len(o.jar["__Host-staff"]) != 43 {
		t.Fatalf("cookies %v", o.jar)
	}
	var s struct {
		Who, Name string
		Roles     []seckill.Role
		May       []string
		Ends      time.Time `json:"ends_at"`
		SignIn    bool      `json:"sign_in"`
	}
	if err := json.Unmarshal([]byte(text(o.send(http.MethodGet, "/admin/session", ""))), &s); err != nil ||
		s.Who != "id.example.com/ada" || s.Name != "ada" || len(s.Roles) != 1 || s.Roles[0] != seckill.RoleFinance ||
		!s.SignIn || !s.Ends.Equal(start.Add(seckill.StaffIdle)) || !slices.Contains(s.May, "refund") ||
		slices.Contains(s.May, "stop") || !slices.Contains(s.May, "health") {
		t.Errorf("session %+v, %v", s, err)
	}
	if a := o.give(); a.StatusCode != http.StatusOK || strings.TrimSpace(text(a)) != `{"result":1}` || len(o.did) != 1 ||
		o.did[0].Who != "id.example.com/ada" || len(o.did[0].Roles) != 1 || o.did[0].Stale {
		t.Errorf("command: %d, %+v", a.StatusCode, o.did)
	}
	a = o.send(http.MethodPost, "/admin/signout", "", operator.StaffHeader, "1")
	if a.StatusCode != http.StatusNoContent || len(o.jar) != 1 || o.jar["__Host-staff-left"] != "1" || o.issuer.anew ||
		a.Header.Get("Clear-Site-Data") != `"storage"` {
		t.Errorf("sign-out: %d, cookies %v, %v", a.StatusCode, o.jar, a.Header)
	}
	// Whoever comes next is asked who they are, until somebody is let in.
	for range 2 {
		if o.signIn("wrong", nil); !o.issuer.anew || o.jar["__Host-staff-left"] != "1" {
			t.Errorf("after a sign-out: anew %v, cookies %v", o.issuer.anew, o.jar)
		}
	}
	if o.signIn("right", nil); !o.issuer.anew || len(o.jar) != 1 {
		t.Errorf("signed in: anew %v, cookies %v", o.issuer.anew, o.jar)
	}
	if o.signIn("right", nil); o.issuer.anew {
		t.Error("asked anew without a sign-out")
	}
	if got := strings.Join(o.results()[:2], ", "); got != "id.example.com/ada sign-in changed, "+
		"id.example.com/ada sign-out changed" {
		t.Error(got)
	}
}

// TestMoneyWantsAFreshSignIn: a session is fresh for 15 minutes from when the person signed in at the issuer. The page
// leads to a fresh sign-in, as which the way back is checked, whatever the browser changes.
func TestMoneyWantsAFreshSignIn(t *testing.T) {
	o := newOffice(t)
	old := func(want bool) {
		t.Helper()
		if o.give(); o.did[len(o.did)-1].Old != want {
			t.Errorf("at %v: old %v, want %v", o.clock.Now(), !want, want)
		}
	}
	o.signIn("right", nil)
	if old(true); o.issuer.begun[0].Fresh || o.issuer.spent.Fresh {
		t.Error("a sign-in has to be fresh that nobody wants so")
	}
	o.issuer.member.Proof = start
	to := must.Get(o.send(http.MethodGet, "/admin/signin?fresh", "").Location())
	a := o.send(http.MethodGet, "/admin/callback?code=right&state="+to.Query().Get("state"), "")
	if a.StatusCode != http.StatusSeeOther || !o.issuer.begun[1].Fresh || !o.issuer.spent.Fresh {
		t.Errorf("%d, begun %+v, spent %+v", a.StatusCode, o.issuer.begun[1], o.issuer.spent)
	}
	old(false)
	o.clock.Advance(seckill.StaffProof - time.Millisecond)
	old(false)
	o.clock.Advance(time.Millisecond)
	old(true)
	o.send(http.MethodGet, "/admin/signin?fresh", "")
	cookie := "__Host-staff-signin"
	o.jar[cookie] = strings.Replace(o.jar[cookie], ".fresh.", ".any.", 1)
	a = o.send(http.MethodGet, "/admin/callback?code=right&state="+strings.Split(o.jar[cookie], ".")[0], "")
	if a.StatusCode != http.StatusForbidden {
		t.Errorf("made another sign-in by the browser: %d", a.StatusCode)
	}
}

// TestASignInIsAsked: a link of another site leads to the page, not to the issuer; a sign-in ends the session before.
func TestASignInIsAsked(t *testing.T) {
	o := newOffice(t)
	a := o.send(http.MethodGet, "/admin/signin", "", "Sec-Fetch-Site", "cross-site")
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/live/admin" || len(o.jar) != 0 {
		t.Errorf("a link: %d %v, cookies %v", a.StatusCode, a.Header, o.jar)
	}
	for _, site := range []string{"same-origin", "none"} {
		if a := o.send(http.MethodGet, "/admin/signin", "", "Sec-Fetch-Site", site); a.StatusCode != http.StatusFound {
			t.Errorf("%s: %d", site, a.StatusCode)
		}
	}
	o.signIn("right", nil)
	before := o.jar["__Host-staff"]
	if o.signIn("right", nil); o.give().StatusCode != http.StatusOK {
		t.Error("the new session is none")
	}
	o.jar["__Host-staff"] = before
	if a := o.give(); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("the session before: %d", a.StatusCode)
	}
}

// TestSignInRefused: nobody gets a session without the issuer's right code in the browser that asked for it. Each reads
// why, and the audit log says who was not let in. The issuer is not asked for a sign-in that somebody made up, changed,
// or kept for too long.
func TestSignInRefused(t *testing.T) {
	const cookie = "__Host-staff-signin"
	other := strings.Repeat("A", 43)
	part := func(o *office, at ...int) {
		parts := strings.Split(o.jar[cookie], ".")
		for _, i := range at {
			parts[i] = other
		}
		o.jar[cookie] = strings.Join(parts, ".")
	}
	for name, c := range map[string]struct {
		change func(o *office, q url.Values)
		asked  int // times that the issuer was
	}{
		"another code":               {func(_ *office, q url.Values) { q.Set("code", "x") }, 1},
		"another state":              {func(_ *office, q url.Values) { q.Set("state", "x") }, 0},
		"no state":                   {func(_ *office, q url.Values) { q.Del("state") }, 0},
		"another browser":            {func(o *office, _ url.Values) { clear(o.jar) }, 0},
		"a cookie of an earlier try": {func(o *office, _ url.Values) { part(o, 0, 1, 2) }, 0},
		"not a cookie":               {func(o *office, _ url.Values) { o.jar[cookie] = "a.b.c" }, 0},
		"made up":                    {func(o *office, _ url.Values) { part(o, 1, 2) }, 0},
		"changed":                    {func(o *office, _ url.Values) { part(o, 2) }, 0},
		"kept for too long":          {func(o *office, _ url.Values) { o.clock.Advance(601 * time.Second) }, 0},
		"the person declined": {func(_ *office, q url.Values) {
			q.Del("code")
			q.Set("error", "access_denied")
		}, 0},
		"no role": {func(o *office, _ url.Values) { o.issuer.member.Roles = nil }, 1},
		"away":    {func(o *office, _ url.Values) { o.issuer.err = errors.New("away") }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t)
			to, _ := o.send(http.MethodGet, "/admin/signin", "").Location()
			q := url.Values{"code": {"right"}, "state": {to.Query().Get("state")}}
			c.change(o, q)
			a := o.send(http.MethodGet, "/admin/callback?"+q.Encode(), "", "Accept-Language", "en")
			status, want, log := http.StatusForbidden, "not completed", "unknown sign-in signin_refused"
			switch name {
			case "no role":
				want, log = "no role", "id.example.com/ada sign-in no_role"
			case "away":
				status, want, log = http.StatusServiceUnavailable, "Try again", ""
			}
			got := text(a)
			if a.StatusCode != status || !strings.Contains(got, want) || o.jar["__Host-staff"] != "" ||
				!strings.HasPrefix(a.Header.Get("Content-Type"), "text/plain") || a.Header.Get("Location") != "" ||
				o.issuer.asked != c.asked {
				t.Errorf("%d %s, cookies %v, asked %d times", a.StatusCode, got, o.jar, o.issuer.asked)
			}
			if got := strings.Join(o.results(), ", "); got != log {
				t.Errorf("audit log %s, want %s", got, log)
			}
		})
	}
}

// TestOnlyThePageGivesCommands: without the header, or from another site, nothing is executed, whatever the cookie.
func TestOnlyThePageGivesCommands(t *testing.T) {
	o := newOffice(t)
	o.signIn("right", nil)
	for name, c := range map[string]struct {
		headers []string
		want    string
	}{
		"no header":               {[]string{"Sec-Fetch-Site", "same-origin"}, "header_missing"},
		"another value":           {[]string{operator.StaffHeader, "true"}, "header_missing"},
		"another site":            {[]string{operator.StaffHeader, "1", "Sec-Fetch-Site", "cross-site"}, "cross_site"},
		"another host of ours":    {[]string{operator.StaffHeader, "1", "Sec-Fetch-Site", "same-site"}, "cross_site"},
		"an older browser":        {[]string{operator.StaffHeader, "1", "Origin", "https://evil.example"}, "cross_site"},
		"an origin like the shop": {[]string{operator.StaffHeader, "1", "Origin", public + ".evil"}, "cross_site"},
		"no origin at all":        {[]string{operator.StaffHeader, "1", "Origin", "null"}, "cross_site"},
	} {
		for _, path := range []string{"/admin/commands", "/admin/signout"} {
			if a := o.send(http.MethodPost, path, `{"operator":{"command":"open"}}`, c.headers...); a.StatusCode !=
				http.StatusForbidden || !strings.Contains(text(a), c.want) {
				t.Errorf("%s to %s: %d", name, path, a.StatusCode)
			}
		}
	}
	for _, path := range []string{"/admin/commands", "/admin/signout", "/admin/link", "/admin/x"} {
		if a := o.send(http.MethodGet, path, ""); a.StatusCode != http.StatusNotFound &&
			a.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("GET %s: %d", path, a.StatusCode)
		}
	}
	if a := o.send(http.MethodGet, "/admin/", ""); a.StatusCode != http.StatusSeeOther ||
		!strings.HasSuffix(a.Header.Get("Location"), "/admin") {
		t.Errorf("GET /admin/: %d %v", a.StatusCode, a.Header)
	}
	if len(o.did) != 0 || o.give().StatusCode != http.StatusOK {
		t.Errorf("did %+v", o.did)
	}
}

// TestWhoseCookie: no cookie but the one that was given is anybody's.
func TestWhoseCookie(t *testing.T) {
	o := newOffice(t)
	o.signIn("right", nil)
	right := o.jar["__Host-staff"]
	for _, bad := range []string{"", right[:42], right + "A", strings.ToUpper(right), "id.example.com/ada",
		right + "." + right} {
		if o.jar["__Host-staff"] = bad; bad != right && o.give().StatusCode != http.StatusUnauthorized {
			t.Errorf("cookie %q is somebody's", bad)
		}
	}
	o.jar = map[string]string{"staff": right} // any host of the domain can set it, by http
	if a := o.give(); a.StatusCode != http.StatusUnauthorized || !strings.Contains(text(a), `"sign_in":true`) {
		t.Errorf("a cookie that another host can set: %d", a.StatusCode)
	}
	o.jar = nil
	a := o.send(http.MethodPost, "/admin/commands", "{}", operator.StaffHeader, "1", "Cookie",
		"__Host-staff="+right+"; __Host-staff="+right)
	if a.StatusCode != http.StatusUnauthorized {
		t.Errorf("two cookies: %d", a.StatusCode)
	}
	o.jar = map[string]string{"__Host-staff": right}
	o.clock.Advance(seckill.StaffStale)
	o.issuer.err = errors.New("away")
	if a := o.give(); a.StatusCode != http.StatusOK || len(o.did) != 1 || !o.did[0].Stale {
		t.Errorf("stale: %d, %+v", a.StatusCode, o.did)
	}
	o.clock.Advance(seckill.StaffIdle)
	if a := o.give(); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("ended: %d", a.StatusCode)
	}
}

// TestAScreenIsNobody: a live screen that asks by itself leaves the session idle, and it ends. Any other command renews
// it, one that fails to look like it, too.
func TestAScreenIsNobody(t *testing.T) {
	o := newOffice(t)
	o.signIn("right", nil)
	const watches = `"command":"live","item":"7"`
	status := func(command string) int {
		o.clock.Advance(seckill.StaffIdle/2 - time.Second)
		return o.giveOne(command).StatusCode
	}
	for range 3 {
		if got := status(watches); got != http.StatusOK {
			t.Fatalf("watching: %d", got)
		}
		if got := status(`"command":"open"`); got != http.StatusOK { // in use
			t.Fatalf("in use: %d", got)
		}
	}
	if one, two, three := status(watches), status(watches), status(watches); one != 200 || two != 200 ||
		three != http.StatusUnauthorized {
		t.Errorf("a screen that nobody uses: %d, %d, %d", one, two, three)
	}
	for body, want := range map[string]bool{`{"operator":{"command":"live","item":"7"}}`: true, `{}`: false, ``: false,
		`{"operator":{"command":"stop","item":"7"}}`: false, `{"operator":{"command":"live","command":"stop"}}`: false,
		`{"operator":{"command":"live"}} {}`: false, `{"operator":null}`: false,
		`{"operator":{"command":"live","x":1}}`:                       false,
		strings.Repeat(" ", 2000) + `{"operator":{"command":"live"}}`: false} {
		if got := operator.Watches([]byte(body)); got != want {
			t.Errorf("%.60s watches: %v", strings.TrimSpace(body), got)
		}
	}
}

// TestAnswers: a refusal of a function is a problem document with its status.
func TestAnswers(t *testing.T) {
	o := newOffice(t)
	o.signIn("right", nil)
	o.answer = `{"problem":{"status":503,"code":"unavailable","retry_after_ms":1500},"did":{"outcome":"read"}}`
	a := o.give()
	if got := text(a); a.StatusCode != http.StatusServiceUnavailable || a.Header.Get("Retry-After") != "2" ||
		a.Header.Get("Content-Type") != "application/problem+json" || !strings.HasPrefix(got, `{"status":503,`) {
		t.Errorf("%d %v %s", a.StatusCode, a.Header, got)
	}
	for _, bad := range []string{`x`, `{"problem":"x"}`} {
		if o.answer = bad; o.give().StatusCode != http.StatusServiceUnavailable {
			t.Errorf("answer %s is passed on", bad)
		}
	}
}

// unread is a body that fails the test if anybody reads more than so many bytes of it.
type unread struct {
	*testing.T
	left int
}

func (u *unread) Read(p []byte) (int, error) {
	u.Helper()
	if u.left -= len(p); u.left < 0 {
		u.Error("the body was read too far")
	}
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// TestBodies: nothing is read for nobody, little for whose roles give no command with a file, and a file for who may.
func TestBodies(t *testing.T) {
	const buffers = 64 << 10 // that a reader may be ahead
	for name, c := range map[string]struct {
		role   seckill.Role // "" if it is nobody
		header string
		most   int
		status int
	}{
		"nobody":    {"", "1", 0, http.StatusUnauthorized},
		"no header": {seckill.RoleEditor, "", 0, http.StatusForbidden},
		"viewer":    {seckill.RoleViewer, "1", operator.MaxSmall + buffers, http.StatusUnprocessableEntity},
		"finance":   {seckill.RoleFinance, "1", operator.MaxSmall + buffers, http.StatusUnprocessableEntity},
		"editor":    {seckill.RoleEditor, "1", operator.MaxEvent + 4<<20, http.StatusUnprocessableEntity},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t)
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://api.example.net/admin/commands",
				&unread{t, c.most})
			r.RemoteAddr = o.from
			r.Header.Set(operator.StaffHeader, c.header)
			r.AddCookie(&http.Cookie{Name: "__Host-staff", Value: strings.Repeat("A", 43)})
			if c.role != "" {
				o.issuer.member.Roles = []seckill.Role{c.role}
				o.signIn("right", nil)
				r.Header.Set("Cookie", "__Host-staff="+o.jar["__Host-staff"])
			}
			w := httptest.NewRecorder()
			o.browsers.ServeHTTP(w, r)
			if w.Code != c.status || len(o.did) != 0 || c.status == http.StatusUnprocessableEntity &&
				!strings.Contains(w.Body.String(), "body_too_large") {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
}

// TestASessionThatEndsWhileTheBodyComes: its command is not carried out.
func TestASessionThatEndsWhileTheBodyComes(t *testing.T) {
	o := newOffice(t)
	o.signIn("right", nil)
	body, slow := io.Pipe()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://api.example.net/admin/commands", body)
	r.RemoteAddr = o.from
	r.Header.Set(operator.StaffHeader, "1")
	r.Header.Set("Cookie", "__Host-staff="+o.jar["__Host-staff"])
	w, over := httptest.NewRecorder(), make(chan struct{})
	go func() { o.browsers.ServeHTTP(w, r); close(over) }()
	_, err := io.WriteString(slow, `{"operator":{`)
	must.OK(t, err)
	o.send(http.MethodPost, "/admin/signout", "", operator.StaffHeader, "1")
	_, err = io.WriteString(slow, `"command":"open"}}`)
	must.OK(t, err)
	must.OK(t, slow.Close())
	if <-over; w.Code != http.StatusUnauthorized || len(o.did) != 0 {
		t.Errorf("%d %s, done %v", w.Code, w.Body, o.did)
	}
}

// TestTheIssuerIsAskedForOneSignInAtATime: who comes meanwhile waits for two seconds. After it did not answer, nobody
// asks it again at once.
func TestTheIssuerIsAskedForOneSignInAtATime(t *testing.T) {
	t.Run("waits", func(t *testing.T) {
		o := newOffice(t)
		first, second := o.begun(), o.begun()
		later := make(chan int)
		o.issuer.during = func() {
			o.issuer.during = nil
			go func() { later <- o.sendWith(second, "right").StatusCode }()
			time.Sleep(20 * time.Millisecond)
		}
		if a := o.sendWith(first, "right"); a.StatusCode != http.StatusSeeOther {
			t.Errorf("%d", a.StatusCode)
		}
		if s := <-later; s != http.StatusSeeOther || o.issuer.asked != 2 {
			t.Errorf("who waited: %d, asked %d times", s, o.issuer.asked)
		}
	})
	t.Run("not for ever", func(t *testing.T) {
		o := newOffice(t)
		first, second := o.begun(), o.begun()
		o.issuer.during = func() {
			o.issuer.during = nil
			a := o.sendWith(second, "right", "Accept-Language", "en")
			if a.StatusCode != http.StatusTooManyRequests || a.Header.Get("Retry-After") != "3" ||
				!strings.Contains(text(a), "Reload") || len(a.Cookies()) != 0 {
				t.Errorf("while another is asked for: %d %v", a.StatusCode, a.Header)
			}
		}
		if a := o.sendWith(first, "right"); a.StatusCode != http.StatusSeeOther || o.issuer.asked != 1 {
			t.Errorf("%d, asked %d times", a.StatusCode, o.issuer.asked)
		}
	})
	t.Run("away", func(t *testing.T) {
		o := newOffice(t)
		states := []begun{o.begun(), o.begun(), o.begun()}
		o.issuer.err = fmt.Errorf("exchange: %w", seckill.ErrIssuerAway)
		for i, want := range []int{1, 1, 2} {
			if i == 2 {
				o.clock.Advance(30 * time.Second)
			}
			a := o.sendWith(states[i], "right")
			if wait := a.Header.Get("Retry-After"); a.StatusCode != http.StatusServiceUnavailable ||
				o.issuer.asked != want || wait == "" {
				t.Errorf("the issuer is away, %d: %d, asked %d times, wait %q", i, a.StatusCode, o.issuer.asked, wait)
			}
		}
	})
}

// TestAStrangersCodesKeepNobodyOut: one sign-in is tried once, so that whoever repeats wrong codes does not reach the
// issuer, and 40 others are signed in meanwhile.
func TestAStrangersCodesKeepNobodyOut(t *testing.T) {
	o := newOffice(t)
	strange := o.begun()
	o.from = "198.51.100.7:1"
	if a := o.sendWith(strange, "wrong"); a.StatusCode != http.StatusForbidden || o.issuer.asked != 1 {
		t.Fatalf("a wrong code: %d, asked %d times", a.StatusCode, o.issuer.asked)
	}
	for i := range 40 {
		o.from = "198.51.100.7:1"
		o.sendWith(strange, "wrong")
		o.from = fmt.Sprintf("192.0.2.%d:1", i)
		if a := o.signIn("right", nil); a.StatusCode != http.StatusSeeOther || o.issuer.asked != i+2 {
			t.Errorf("an honest sign-in: %d, asked %d times", a.StatusCode, o.issuer.asked)
		}
	}
}

// TestNobodyClosesTheSignIn: others are signed in at once after an issuer that answered with an error, after a code
// that is too long to be one, which no issuer sees, and after a browser that hung up, whose sign-in goes on.
func TestNobodyClosesTheSignIn(t *testing.T) {
	o := newOffice(t)
	o.issuer.during = func() { o.issuer.err = errors.New("status 500") }
	if a := o.signIn("right", nil); a.StatusCode != http.StatusServiceUnavailable || o.issuer.asked != 1 {
		t.Errorf("an error: %d, asked %d times", a.StatusCode, o.issuer.asked)
	}
	o.issuer.during, o.issuer.err = nil, nil
	if a := o.signIn("right", nil); a.StatusCode != http.StatusSeeOther {
		t.Errorf("after an error: %d", a.StatusCode)
	}
	if a := o.signIn(strings.Repeat("x", 2049), nil); a.StatusCode != http.StatusForbidden || o.issuer.asked != 2 {
		t.Errorf("a long code: %d, asked %d times", a.StatusCode, o.issuer.asked)
	}
	if o.signIn(strings.Repeat("x", 2048), nil); o.issuer.asked != 3 {
		t.Errorf("a code that is not too long: asked %d times", o.issuer.asked)
	}
	to, _ := o.send(http.MethodGet, "/admin/signin", "").Location()
	ctx, hangUp := context.WithCancel(t.Context())
	o.issuer.during = hangUp
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "https://api.example.net/admin/callback?"+
		url.Values{"code": {"right"}, "state": {to.Query().Get("state")}}.Encode(), nil)
	r.RemoteAddr = o.from
	r.AddCookie(&http.Cookie{Name: "__Host-staff-signin", Value: o.jar["__Host-staff-signin"]})
	w := httptest.NewRecorder()
	if o.browsers.ServeHTTP(w, r); w.Code != http.StatusSeeOther {
		t.Errorf("a browser that hung up: %d", w.Code)
	}
	if a := o.signIn("right", nil); a.StatusCode != http.StatusSeeOther {
		t.Errorf("after it: %d", a.StatusCode)
	}
}

// TestAKeyTurns: whoever was at the issuer when the next key began is signed in by the key before, and by no other.
func TestAKeyTurns(t *testing.T) {
	o := newOffice(t)
	for turned, want := range map[string]int{"old": http.StatusForbidden, "new old": http.StatusSeeOther} {
		keys := "old"
		options := o.browsers.BrowserOptions
		options.Keys = func() (all [][]byte) {
			for key := range strings.FieldsSeq(keys) {
				all = append(all, []byte(key))
			}
			return all
		}
		if turned == "old" {
			keys = "new"
		}
		var err error
		if o.browsers, err = operator.NewBrowserHandler(options); err != nil {
			t.Fatal(err)
		}
		if a := o.signIn("right", func(url.Values) { keys = turned }); a.StatusCode != want {
			t.Errorf("keys %s: %d, want %d", turned, a.StatusCode, want)
		}
	}
}

// TestFloods: one network's sign-ins are bounded, and so are the entries that failures make, whoever fails.
func TestFloods(t *testing.T) {
	o := newOffice(t)
	refused, waited := 0, 0
	for range 100 {
		switch a := o.send(http.MethodGet, "/admin/callback?code=x&state=y", ""); a.StatusCode {
		case http.StatusForbidden:
			refused++
		case http.StatusTooManyRequests:
			waited++
		}
	}
	if refused != 20 || waited != 80 || len(o.results()) != 20 {
		t.Errorf("%d refused, %d too many, %d entries", refused, waited, len(o.results()))
	}
	for i := range 50 {
		o.from = "198.51.100." + string(rune('0'+i%10)) + ":1"
		o.send(http.MethodGet, "/admin/callback?code=x&state=y", "")
	}
	if n := len(o.results()); n != 20 {
		t.Errorf("%d entries, want no more", n)
	}
	o.from = "203.0.113.9:1"
	if a := o.signIn("right", nil); a.StatusCode != http.StatusSeeOther {
		t.Errorf("another network: %d", a.StatusCode)
	}
}
