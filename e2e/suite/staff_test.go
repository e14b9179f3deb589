package suite

import (
	"encoding/base64"
	"encoding/json"
	"image"
	_ "image/png" // the fetched picture is a PNG
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/seckill"
)

// staff is a browser of a person of staff.
type staff struct {
	t      *testing.T
	s      *stack
	client http.Client
}

// send makes one request, again as long as the API has no room for it; headers are name, value, ….
func (b *staff) send(method, address, body string, headers ...string) (status int, text string, to *url.URL) {
	b.t.Helper()
	for until := time.Now().Add(callTimeout); ; time.Sleep(pollEvery) {
		r, err := http.NewRequestWithContext(b.t.Context(), method, address, strings.NewReader(body))
		if err != nil {
			b.t.Fatal(err)
		}
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		if b.s.key != "" {
			r.Header.Set("X-Api-Key", b.s.key)
		}
		a, err := b.client.Do(r)
		if err != nil {
			b.t.Fatal(err)
		}
		out, err := io.ReadAll(a.Body)
		a.Body.Close()
		if err != nil {
			b.t.Fatal(err)
		}
		if a.StatusCode != http.StatusTooManyRequests || time.Now().After(until) {
			to, _ = a.Location()
			return a.StatusCode, string(out), to
		}
	}
}

// give gives a command as the page does.
func (b *staff) give(body string) (status int, text string) {
	b.t.Helper()
	status, text, _ = b.send(http.MethodPost, b.s.Base+"/admin/commands", body, operator.StaffHeader, "1", "Origin",
		originOf(b.t, b.s.Base))
	return status, text
}

func originOf(t *testing.T, address string) string {
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Scheme + "://" + u.Host
}

// signIn signs a person in at the stack's issuer of staff, as a browser does. It returns the answer to
// the way back.
func (s *stack) signIn(t *testing.T, name string) (b *staff, status int, text string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b = &staff{t: t, s: s, client: http.Client{Jar: jar, Timeout: callTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	status, text, to := b.send(http.MethodGet, s.Base+"/admin/signin", "")
	if to == nil {
		t.Fatalf("sign-in: %d %s", status, text)
	}
	back := b.atIssuer(to, name)
	if back.Query().Get("code") == "" {
		t.Fatalf("the issuer sends back to %s", back)
	}
	status, text, _ = b.send(http.MethodGet, back.String(), "", "Accept-Language", "en")
	return b, status, text
}

// picture uploads a picture as the page does, and fetches it as shoppers do; what is not a picture is refused.
func (b *staff) picture() {
	b.t.Helper()
	const svg = "PHN2Zz48c2NyaXB0PjE8L3NjcmlwdD48L3N2Zz4="
	status, text := b.give(`{"operator":{"command":"picture","data":"` + svg + `"}}`)
	if !strings.Contains(text, "neither a JPEG nor a PNG") {
		b.t.Errorf("SVG with a script: %d %s", status, text)
	}
	status, text = b.give(operator.Sample("picture"))
	var answer struct {
		Result operator.PictureKept `json:"result"`
	}
	err := json.Unmarshal([]byte(text), &answer)
	if err != nil || !strings.HasPrefix(answer.Result.Path, "/pictures/") {
		b.t.Fatalf("picture: %d %s, %v", status, text, err)
	}
	get := func(path string) (int, http.Header, string) {
		r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.s.Base+path, nil)
		if err != nil {
			b.t.Fatal(err)
		}
		r.Header.Set("Accept", "image/avif,image/webp,*/*;q=0.8")
		if b.s.key != "" {
			r.Header.Set("X-Api-Key", b.s.key)
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			b.t.Fatal(err)
		}
		defer a.Body.Close()
		out, err := io.ReadAll(a.Body)
		if err != nil {
			b.t.Fatalf("%s: %d %v, %d bytes: %v", path, a.StatusCode, a.Header, len(out), err)
		}
		if raw, err := base64.StdEncoding.DecodeString(string(out)); err == nil && b.s.Endpoint != "" {
			out = raw // MiniStack reads no binary types in an API's description, and hands on what functions send
		}
		return a.StatusCode, a.Header, string(out)
	}
	status, header, body := get(answer.Result.Path)
	if _, format, err := image.Decode(strings.NewReader(body)); status != http.StatusOK || format != "png" ||
		header.Get("Content-Type") != "image/png" || !strings.Contains(header.Get("Cache-Control"), "immutable") {
		b.t.Errorf("its address: %d %v %q, %v", status, header, body, err)
	}
	if status, _, body := get("/pictures/" + strings.Repeat("0", 32) + ".png"); status != http.StatusNotFound {
		b.t.Errorf("a picture that is not there: %d %s", status, body)
	}
}

// testStaff signs a person of each role in at the stack's issuer, and tries every command, by raw HTTP: it is executed,
// or refused.
func testStaff(t *testing.T, s *stack) {
	account := s.staffAccounts(t)
	account("nobody")
	if b, status, text := s.signIn(t, "nobody"); status != http.StatusForbidden || !strings.Contains(text, "no role") {
		t.Errorf("a person without a role: %d %s, %+v", status, text, b)
	}
	var last *staff
	for _, role := range seckill.Roles() {
		account(string(role), role)
		b, status, text := s.signIn(t, string(role))
		if status != http.StatusSeeOther {
			t.Fatalf("%s: %d %s", role, status, text)
		}
		for _, command := range operator.Names() {
			status, text := b.give(operator.Sample(command))
			may := status != http.StatusForbidden && status != http.StatusUnauthorized
			want := operator.May(role, command)
			if may != want || !may && !strings.Contains(text, "role_forbidden") {
				t.Errorf("%s, %s: %d %s, want that it may: %v", role, command, status, text, want)
			}
		}
		if role == seckill.RoleEditor {
			b.picture()
		}
		last = b
	}
	if status, text, _ := last.send(http.MethodPost, s.Base+"/admin/commands", operator.Sample("open"),
		operator.StaffHeader, "1", "Origin", "https://evil.example"); status != http.StatusForbidden ||
		!strings.Contains(text, "cross_site") {
		t.Errorf("another site: %d %s", status, text)
	}
	sessions, err := operator.Give[operator.Sessions](t.Context(), &s.operator, &operator.ListSessions{})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(sessions.Sessions, func(one operator.Session) bool {
		return slices.Equal(one.Roles, []seckill.Role{seckill.RoleAuditor})
	})
	if at < 0 || len(sessions.Sessions) < len(seckill.Roles()) {
		t.Fatalf("sessions %+v", sessions)
	}
	if done, err := operator.Give[operator.SessionsEnded](t.Context(), &s.operator,
		&operator.EndSessions{Person: sessions.Sessions[at].Who}); err != nil || done.Ended != 1 {
		t.Errorf("end: %+v, %v", done, err)
	}
	if status, text := last.give(operator.Sample("open")); status != http.StatusUnauthorized {
		t.Errorf("after its end: %d %s", status, text)
	}
}
