package operator_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/seckill"
)

// TestAFaultSaysWhatItCameOf checks that operators see a fault's cause on one line, without signatures and
// credentials. Code, status and retry hint equal those in a shopper's problem document.
func TestAFaultSaysWhatItCameOf(t *testing.T) {
	t.Parallel()
	const busy = "The shop is busy. Please try again in a moment."
	unavailable := func(err error) error {
		return &seckill.Error{Code: seckill.CodeUnavailable, RetryAfter: 3 * time.Second, Err: err}
	}
	call := func(address string) error {
		return fmt.Errorf("alipay: query o1: %w", &url.Error{Op: "Post", URL: address, Err: errors.New("i/o timeout")})
	}
	for _, tt := range []struct {
		name   string
		err    error
		code   seckill.Code
		detail string
		retry  string
	}{
		{"the provider's word", unavailable(errors.New(`alipay: query o1: code "20000", sub_code "ACQ.SYSTEM_ERROR"`)),
			seckill.CodeUnavailable,
			`alipay: query o1: code "20000", sub_code "ACQ.SYSTEM_ERROR"`, "3"},
		{"a line of a bill", errors.New(`alipay: bill of 2026-11-11: line 17: 业务类型 "转账"`), seckill.CodeUnavailable,
			`alipay: bill of 2026-11-11: line 17: 业务类型 "转账"`, "1"},
		{"wrapped", fmt.Errorf("item 8: %w", errors.New("no answer")), seckill.CodeUnavailable, "item 8: no answer",
			"1"},
		{"ours", &seckill.Error{Code: seckill.CodeInternal, Err: errors.New("a bug")}, seckill.CodeInternal, "a bug",
			""},
		{"no cause", seckill.Refuse(seckill.CodeUnavailable), seckill.CodeUnavailable, busy, "1"},
		{"a cause of white space", errors.New(" \n"), seckill.CodeUnavailable, busy, "1"},
		{"a refusal with a cause", &seckill.Error{Code: seckill.CodeOrderUnknown, Err: errors.New("inner")},
			seckill.CodeOrderUnknown, "You have no such order.", ""},
		{"an address", call("https://gateway.example/gateway.do"), seckill.CodeUnavailable,
			`alipay: query o1: Post "https://gateway.example/gateway.do": i/o timeout`, "1"},
		{"an address with a query", call("https://gateway.example:8443/gateway.do?app_id=1&sign=S3CRET%2B#S3CRET"),
			seckill.CodeUnavailable,
			`alipay: query o1: Post "https://gateway.example:8443/gateway.do": i/o timeout`, "1"},
		{"addresses with passwords",
			errors.New("dial redis://ann:S3CRET@cache:6379/0, rediss://:S3C@RET@cache?x=S3CRET: refused"),
			seckill.CodeUnavailable,
			"dial redis://cache:6379/0, rediss://cache refused", "1"},
		{"several lines and control characters", errors.Join(errors.New("a\r\nb\tc"), errors.New("d\x1b[2J\u2028e")),
			seckill.CodeUnavailable, "a b c d [2J e", "1"},
		{"bytes that are not text", errors.New("a\xffb"), seckill.CodeUnavailable, "a\ufffdb", "1"},
		{"as long as is told", errors.New(strings.Repeat("因", 2500)), seckill.CodeUnavailable,
			strings.Repeat("因", 2500), "1"},
		{"longer", errors.New(strings.Repeat("因", 2501)), seckill.CodeUnavailable, strings.Repeat("因", 2499) + "…",
			"1"},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", nil)
		r.Header.Set("Accept-Language", "en")
		operator.WriteProblem(w, r, tt.err)
		var got struct {
			Type, Title, Detail string
			Status              int
			Code                seckill.Code
		}
		err := json.Unmarshal(w.Body.Bytes(), &got)
		if err != nil || got.Detail != tt.detail || got.Code != tt.code || got.Status != httpapi.Status(tt.code) ||
			w.Code != got.Status || got.Title == "" ||
			got.Type != "urn:problem-type:seckill:"+string(tt.code) || w.Header().Get("Retry-After") != tt.retry ||
			w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %v, %d %v %s\nwant %s: %s", tt.name, err, w.Code, w.Header(), w.Body, tt.code, tt.detail)
		}
		if strings.Contains(w.Body.String(), "S3C") {
			t.Errorf("%s: a secret came out: %s", tt.name, w.Body)
		}
	}
}
