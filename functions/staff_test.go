package functions_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/your-org/seckill/functions/lambdatest"
	"github.com/your-org/seckill/shared/drivertest/must"
)

// browsed is API Gateway's event of a browser's request. cookies are name=value.
func browsed(t *testing.T, method, address, body string, cookies ...string) []byte {
	t.Helper()
	u := must.Get(url.Parse(address))
	b, err := json.Marshal(events.APIGatewayProxyRequest{HTTPMethod: method, Resource: "/admin/{proxy+}", Path: u.Path,
		Body: body, MultiValueQueryStringParameters: u.Query(), MultiValueHeaders: map[string][]string{
			"Host": {"api.example.com"}, "X-Seckill-Staff": {"1"}, "Origin": {"http://localhost"},
			"Cookie": {strings.Join(cookies, "; ")}, "Accept-Language": {"en"}},
		RequestContext: events.APIGatewayProxyRequestContext{Identity: events.APIGatewayRequestIdentity{
			SourceIP: "192.0.2.1"}}})
	must.OK(t, err)
	return b
}

// cookie returns the cookie that an answer sets, name=value.
func cookie(r response, name string) string {
	all := r.Many["Set-Cookie"]
	if one, ok := r.Headers["Set-Cookie"]; ok {
		all = append(all, one)
	}
	for _, c := range all {
		if pair, _, _ := strings.Cut(c, ";"); strings.HasPrefix(pair, name+"=") && pair != name+"=" {
			return pair
		}
	}
	return ""
}

// signedIn walks a person through the issuer, and returns the answer to the way back.
func signedIn(t *testing.T, admin *lambdatest.Function, person string) response {
	t.Helper()
	r := ask(t, admin, browsed(t, http.MethodGet, "/admin/signin", ""))
	kept := cookie(r, "staff-signin")
	if r.Status != http.StatusFound || kept == "" {
		t.Fatalf("sign-in: %+v", r)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer := must.Get(client.Get(r.Headers["Location"] + "&person=" + person))
	answer.Body.Close()
	back, err := answer.Location()
	if err != nil || !strings.HasPrefix(back.String(), "http://localhost/live/admin/callback?") {
		t.Fatalf("sent back to %v, %v", back, err)
	}
	return ask(t, admin, browsed(t, http.MethodGet, "/admin/callback?"+back.RawQuery, "", kept))
}

// TestStaffInABrowser signs a person in at an issuer with the function as it is deployed, who then stops a sale. A
// person without a role, and whoever has no cookie, can give no command.
func TestStaffInABrowser(t *testing.T) {
	w := newDeployment(t)
	w.loaded(t, live("2002", 10))
	issuer := issuerServer(t)
	stage := w.start(t, "stage", "LOG_LEVEL", "error")
	w.aws.SetFunction("seckill-stage", func(event []byte) ([]byte, string, error) {
		answer, err := stage.Invoke(event)
		return answer, "", err
	})
	admin := w.start(t, "admin", "LOG_LEVEL", "error", "STAFF_ISSUER", issuer+"|shop", "STAFF_CLIENT_SECRET_NAME",
		"staff-client-secret", "PUBLIC_URL", "http://localhost/live")
	stop := `{"operator":{"command":"stop","item":"2002"}}`
	if r := ask(t, admin, browsed(t, http.MethodPost, "/admin/commands", stop)); r.Status != http.StatusUnauthorized {
		t.Errorf("without a cookie: %+v", r)
	}
	if r := signedIn(t, admin, "13800138000"); r.Status != http.StatusForbidden ||
		!strings.Contains(r.Body, "no role in this back office") || cookie(r, "staff") != "" {
		t.Errorf("without a role: %+v", r)
	}
	in := signedIn(t, admin, "b")
	session := cookie(in, "staff")
	if in.Status != http.StatusSeeOther || in.Headers["Location"] != "/live/admin" || session == "" {
		t.Fatalf("signed in: %+v", in)
	}
	r := ask(t, admin, browsed(t, http.MethodPost, "/admin/commands", stop, session))
	if r.Status != http.StatusOK || !strings.HasPrefix(r.Body, `{"result":{"id":"2002"`) {
		t.Errorf("stop: %+v", r)
	}
	who := strings.TrimPrefix(issuer, "http://") + "/b"
	if !stage.Says(`"who":"` + who + `","command":"stop","item":"2002"`) {
		t.Errorf("log: %s", stage.Output())
	}
	none := w.start(t, "admin", "LOG_LEVEL", "error")
	for path, status := range map[string]int{"/admin/signin": 404, "/admin/callback": 404, "/admin/session": 401,
		"/admin/link": 404} {
		if r := ask(t, none, browsed(t, http.MethodGet, path, "")); r.Status != status {
			t.Errorf("without an issuer: %s: %+v", path, r)
		}
	}
}
