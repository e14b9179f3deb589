package office_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/your-org/seckill/cmd/seckill/office"
	"github.com/your-org/seckill/cmd/seckill/office/officetest"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/seckill"
)

const liu = "arn:aws:sts::123456789012:assumed-role/Finance/liu"

// config returns AWS settings that lead to a server.
func config(t *testing.T, h http.Handler, key, secret, token string) aws.Config {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return aws.Config{Region: "eu-west-1", BaseEndpoint: &s.URL,
		Credentials: credentials.NewStaticCredentialsProvider(key, secret, token)}
}

func open(t *testing.T, cfg aws.Config) *office.Office {
	t.Helper()
	o, err := office.Open(cfg, "123456789012", "api1", "live")
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// gateway answers with what function admin was told.
func gateway() *officetest.Gateway {
	return &officetest.Gateway{Region: "eu-west-1", Callers: map[string]officetest.Caller{
		"AKIA1": {Secret: "s1", ARN: liu, Account: "123456789012", Roles: []seckill.Role{seckill.RoleFinance}},
		"ASIA2": {Secret: "s2", Token: "t2", ARN: liu, Account: "123456789012"},
	}, Admin: func(_ context.Context, event []byte) ([]byte, error) {
		var e events.APIGatewayProxyRequest
		if err := json.Unmarshal(event, &e); err != nil {
			return nil, err
		}
		return json.Marshal(events.APIGatewayProxyResponse{StatusCode: http.StatusOK,
			Body: e.Path + " " + e.RequestContext.Identity.UserArn + " " + e.Body})
	}}
}

// TestSigned checks that a request has the signature that AWS computes, of users and of sessions.
func TestSigned(t *testing.T) {
	for _, key := range [][3]string{{"AKIA1", "s1", ""}, {"ASIA2", "s2", "t2"}} {
		o := open(t, config(t, gateway(), key[0], key[1], key[2]))
		b, err := o.Call(t.Context(), seckill.RoleFinance, []byte(`{"operator":{"command":"open"}}`))
		if want := "/operator/finance " + liu + ` {"operator":{"command":"open"}}`; err != nil || string(b) != want {
			t.Errorf("%s: %s, %v; want %s", key[0], b, err, want)
		}
	}
}

// TestNotSigned checks that the test's own gateway accepts nothing but what was signed.
func TestNotSigned(t *testing.T) {
	change := func(do func(*http.Request)) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			do(r)
			gateway().ServeHTTP(w, r)
		})
	}
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for what, do := range map[string]func(*http.Request){
		"another body":    func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader(`{}`)) },
		"another role":    func(r *http.Request) { r.URL.Path = strings.Replace(r.URL.Path, "finance", "auditor", 1) },
		"another host":    func(r *http.Request) { r.Host = "elsewhere" },
		"another type":    set("Content-Type", "text/plain"),
		"another session": set("X-Amz-Security-Token", "t3"),
		"another time":    set("X-Amz-Date", time.Now().Add(time.Second).UTC().Format("20060102T150405Z")),
		"an old time":     set("X-Amz-Date", "20260101T000000Z"),
		"no signature":    func(r *http.Request) { r.Header.Del("Authorization") },
	} {
		o := open(t, config(t, change(do), "ASIA2", "s2", "t2"))
		_, err := o.Call(t.Context(), seckill.RoleFinance, []byte(`{"operator":{"command":"open"}}`))
		var failed *office.Error
		if !errors.As(err, &failed) || failed.Kind != office.Credentials {
			t.Errorf("%s: %v", what, err)
		}
	}
	wrong := config(t, gateway(), "ASIA2", "s2", "t2")
	wrong.Region = "eu-west-2"
	for what, cfg := range map[string]aws.Config{"another secret": config(t, gateway(), "AKIA1", "s2", ""),
		"an unknown key": config(t, gateway(), "AKIA9", "s1", ""), "another region": wrong} {
		_, err := open(t, cfg).Call(t.Context(), seckill.RoleFinance, []byte(`{}`))
		var failed *office.Error
		if !errors.As(err, &failed) || failed.Kind != office.Credentials {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// answers answers every request alike.
func answers(status int, body string, header ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

// TestAnotherInTheWay: a command is repeated until what is in its way has ended, unless the caller stops before.
func TestAnotherInTheWay(t *testing.T) {
	calls := 0
	busy := answers(429, `{"code":"too_many_requests","retry_after_ms":20}`)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls++; calls < 4 {
			busy.ServeHTTP(w, r)
			return
		}
		answers(200, `{"done":1}`).ServeHTTP(w, r)
	})
	got, err := open(t, config(t, h, "AKIA1", "s1", "")).Call(t.Context(), seckill.RoleEditor, []byte(`{}`))
	if err != nil || string(got) != `{"done":1}` || calls != 4 {
		t.Errorf("%s, %v, after %d calls", got, err, calls)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	long := answers(429, `{"code":"too_many_requests","retry_after_ms":60000}`)
	_, err = open(t, config(t, long, "AKIA1", "s1", "")).Call(ctx, seckill.RoleEditor, []byte(`{}`))
	var failed *office.Error
	if !errors.As(err, &failed) || failed.Kind != office.Busy {
		t.Errorf("stopped: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	const kind = "X-Amzn-Errortype"
	for _, tt := range []struct {
		behaviour string
		answer    http.Handler
		kind      office.Kind
		want      string
	}{
		{"not allowed by IAM", answers(403, `{"Message":"User: u is not authorized"}`, kind, "AccessDeniedException:x"),
			office.Denied, "your AWS identity may not invoke operator/finance: ask for a policy that allows " +
				"execute-api:Invoke on arn:aws:execute-api:eu-west-1:123456789012:api1/live/POST/operator/finance, " +
				`or name a role that you have with --role ("User: u is not authorized")`},
		{"the same, by its status only", answers(403, `Forbidden`), office.Denied, "may not invoke operator/finance"},
		{"the same, behind this API's own words", answers(404, `{"code":"not_found"}`, kind, "AccessDeniedException"),
			office.Denied, "may not invoke operator/finance"},
		{"credentials expired", answers(403, `{"message":"The security token is expired"}`, kind, "ExpiredTokenException"),
			office.Credentials, `clock is wrong: "The security token is expired"`},
		{"not allowed by IAM, in this API's words", answers(403, `{"code":"role_denied","detail":"IAM does not"}`),
			office.Denied, `("IAM does not")`},
		{"expired, in this API's words", answers(403, `{"code":"signature_expired","detail":"sign in again"}`),
			office.Credentials, `"sign in again"`},
		{"an older stack", answers(404, `{"code":"not_found","title":"页面不存在"}`), office.NoRoute,
			"it has no back office that knows this command: the stack is of an older"},
		{"an older stack without its words", answers(403, `{"message":"Missing Authentication Token"}`, kind,
			"MissingAuthenticationTokenException"), office.NoRoute, "no back office"},
		{"a role that may not", answers(403, `{"code":"role_forbidden","detail":"Role viewer may not refund."}`),
			office.Denied, "Role viewer may not refund. Name another role with --role."},
		{"throttled", answers(429, `{"code":"unavailable"}`), office.Busy, "nothing was done: repeat"},
		{"the function fails", answers(503, `{"code":"unavailable","detail":"系统繁忙"}`, "Content-Language", "zh-CN",
			"Retry-After", "1"), office.Unknown, "its back office answers 503 Service Unavailable (try again in 1 s)"},
		{"the function is late", answers(504, ``), office.Unknown, "its back office answers 504 Gateway Timeout"},
		{"a fault in words", answers(500, `{"code":"internal","detail":"function stage: throttled"}`), office.Unknown,
			`500 Internal Server Error: "function stage: throttled"`},
		{"another server", answers(200+3, ``), office.Foreign, "answers 203"},
		{"another server's refusal", answers(400, "<html>\n"+strings.Repeat("x", 1000)), office.Foreign, `"<html> x`},
		{"an endless answer", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write(bytes.Repeat([]byte("x"), 1<<20)); err != nil {
					return
				}
			}
		}), office.Unknown, "longer than 10 MiB"},
		{"a connection that breaks off", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}), office.Unknown, "cannot be reached, or broke off"},
	} {
		t.Run(tt.behaviour, func(t *testing.T) {
			_, err := open(t, config(t, tt.answer, "AKIA1", "s1", "")).Call(t.Context(), seckill.RoleFinance, []byte(`{}`))
			var failed *office.Error
			if !errors.As(err, &failed) || failed.Kind != tt.kind || !strings.Contains(failed.Text, tt.want) ||
				len(failed.Text) > 700 {
				t.Errorf("%v\nwant %s", err, tt.want)
			}
		})
	}
	var refused *operator.Refusal
	_, err := open(t, config(t, answers(422, `{"code":"invalid_request","detail":"The field is wrong."}`), "A", "s",
		"")).Call(t.Context(), seckill.RoleViewer, []byte(`{}`))
	if !errors.As(err, &refused) || refused.Code != seckill.CodeInvalid || refused.Detail != "The field is wrong." {
		t.Errorf("the back office's refusal: %v", err)
	}
	for _, h := range []http.Handler{answers(413, ``), answers(422, `{"code":"body_too_large"}`)} {
		if _, err := open(t, config(t, h, "A", "s", "")).Call(t.Context(), seckill.RoleViewer,
			[]byte(`{}`)); !errors.Is(err, operator.ErrTooLarge) {
			t.Errorf("too large: %v", err)
		}
	}
}

// TestRedirectsAreNotFollowed checks that a command goes to no other address.
func TestRedirectsAreNotFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		led := false
		other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { led = true }))
		t.Cleanup(other.Close)
		_, err := open(t, config(t, answers(status, "", "Location", other.URL), "A", "s", "")).Call(t.Context(),
			seckill.RoleViewer, []byte(`{}`))
		var failed *office.Error
		if !errors.As(err, &failed) || failed.Kind != office.Foreign || led {
			t.Errorf("%d: %v, followed: %t", status, err, led)
		}
	}
}

// TestTooLargeToSend checks that what Lambda would refuse is not sent: its quotes count twice.
func TestTooLargeToSend(t *testing.T) {
	sent := 0
	o := open(t, config(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { sent++ }), "A", "s", ""))
	for body, want := range map[string]int{strings.Repeat(`"`, 3_000_001): 0, strings.Repeat(`x`, 5_000_000): 1} {
		sent = 0
		if _, err := o.Call(t.Context(), seckill.RoleEditor, []byte(body)); sent != want ||
			errors.Is(err, operator.ErrTooLarge) != (want == 0) {
			t.Errorf("%.1q: sent %d times, %v", body, sent, err)
		}
	}
}

// TestLate checks that a call ends with its time, and with its caller.
func TestLate(t *testing.T) {
	hang := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // so that the end of the connection is noticed
		<-r.Context().Done()
	})
	o := open(t, config(t, hang, "A", "s", ""))
	late, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	var failed *office.Error
	if _, err := o.Call(late, seckill.RoleViewer, []byte(`{}`)); !errors.As(err, &failed) ||
		failed.Kind != office.Unknown || failed.Text != "the API did not answer in time" {
		t.Errorf("late: %v", err)
	}
	gone, leave := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, leave)
	if _, err := o.Call(gone, seckill.RoleViewer, []byte(`{}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func TestAddresses(t *testing.T) {
	for region, want := range map[string][2]string{
		"eu-west-1": {"https://a.execute-api.eu-west-1.amazonaws.com/live", "arn:aws:execute-api:eu-west-1:1:a/live/POST"},
		"cn-north-1": {"https://a.execute-api.cn-north-1.amazonaws.com.cn/live",
			"arn:aws-cn:execute-api:cn-north-1:1:a/live/POST"},
		"us-gov-west-1": {"https://a.execute-api.us-gov-west-1.amazonaws.com/live",
			"arn:aws-us-gov:execute-api:us-gov-west-1:1:a/live/POST"},
	} {
		o, err := office.Open(aws.Config{Region: region}, "1", "a", "live")
		if err != nil || o.Address != want[0] || o.Resource != want[1] {
			t.Errorf("%s: %+v, %v", region, o, err)
		}
	}
	for _, endpoint := range []string{"ftp://h", "http://u:p@h", "h", "http://h?x", "https://"} {
		if o, err := office.Open(aws.Config{Region: "eu-west-1", BaseEndpoint: &endpoint}, "1", "a",
			"live"); err == nil {
			t.Errorf("%s: %+v", endpoint, o)
		}
	}
}

func TestLeast(t *testing.T) {
	for command, want := range map[string]seckill.Role{"health": seckill.RoleViewer, "refund": seckill.RoleFinance,
		"import": seckill.RoleEditor, "audit": seckill.RoleAuditor, "order": seckill.RoleOperator} {
		if role, err := office.Least([]byte(`{"operator":{"command":"` + command + `"}}`)); err != nil || role != want {
			t.Errorf("%s: %s, %v; want %s", command, role, err, want)
		}
	}
	for _, event := range []string{`{}`, `{"operator":{"command":"shell"}}`, `x`} {
		if role, err := office.Least([]byte(event)); err == nil {
			t.Errorf("%s: %s", event, role)
		}
	}
}
