//go:build e2e

package suite

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"

	"github.com/your-org/seckill/infra/edge/edgetest"
	"github.com/your-org/seckill/shared/drivertest/contracttest"
)

// testEdge puts a stand-in for the CDN in front of the stack: a browser buys and pays through it, and what does not
// come through it starts no function, except Alipay's notifications.
func testEdge(t *testing.T, s *stack) {
	s.needs(t, s.key != "", "no stack is behind a CDN")
	s.needs(t, s.Endpoint != "", "AWS has a real CDN")
	report.timed(t, nil)
	if url := s.cdn(t, "deploy", strings.TrimSuffix(s.Outputs["StackPrefix"], "-")); !strings.HasPrefix(url, "https://") {
		t.Errorf("the CDN's stack says its address is %q", url)
	}
	it := contracttest.Item(newItemID(), time.Now().Add(-time.Minute), time.Now().Add(6*time.Hour), 3, 1)
	sale := s.sellItem(t, it)
	buyer := sale.shopper(t, newShoppers(1))
	past := &contracttest.Client{URL: s.URL, HTTP: http.DefaultClient}
	call := func(token, method, path string, body any, header ...string) contracttest.Answer {
		t.Helper()
		a, err := past.Call(t.Context(), token, method, path, body, header...)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for what, header := range map[string][]string{"no key": nil, "a wrong key": {"X-Api-Key", "wrong"}} {
		for _, path := range []string{"/", "/healthz", "/seckill/ing", "/order/list", "/seckill/time"} {
			if a := call("", "GET", path, nil, header...); !refused(a) {
				t.Errorf("%s past the CDN with %s: %v", path, what, a)
			}
		}
		if a := call(buyer.token, "POST", "/seckill/buy", map[string]any{"seckill_id": it.ID, "count": 1,
			"address": "x"}, header...); !refused(a) {
			t.Errorf("a purchase past the CDN with %s: %v", what, a)
		}
	}
	if left := sale.left(t); left != "3" {
		t.Errorf("%s units left, want 3", left)
	}
	if a := call("", "POST", "/seckill/alipay/notify", "sign=x", "Content-Type",
		"application/x-www-form-urlencoded"); a.Text("code") != "notify_forged" {
		t.Errorf("a notification past the CDN: %v", a)
	}

	through := s.Outputs["Url"] // where issuer and cashier send shoppers back to
	edgetest.StartAt(t, strings.TrimPrefix(through, "http://"), s.URL, s.key)
	for path, want := range map[string]int{"/": 200, "/healthz": 200, "/seckill/ing": 200, "/order/list": 403,
		"/seckill/time": 200, "/signin": 200} {
		a, err := (&contracttest.Client{URL: through, HTTP: http.DefaultClient}).Call(t.Context(), "", "GET", path, nil)
		if err != nil || a.Status != want {
			t.Errorf("%s through the CDN: %v, %v; want %d", path, a, err, want)
		}
	}
	s.browse(t, through)
}

// refused reports whether the gateway answered, not a function: 404 as infra/api.yaml has it for all that is not told
// apart, 403 on MiniStack.
func refused(a contracttest.Answer) bool {
	return a.Status == 404 || a.Status == 403 && a.Text("message") == "Forbidden"
}

// keyed sends the CDN's key with requests that have no key.
type keyed struct {
	key  string
	next http.RoundTripper
}

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	if k.key != "" && r.Header.Get("X-Api-Key") == "" {
		r = r.Clone(r.Context())
		r.Header.Set("X-Api-Key", k.key)
	}
	return k.next.RoundTrip(r)
}

// cdn runs the command that deploys the CDN, without what MiniStack does not know: sets of
// addresses, and the delivery of logs.
func (s *stack) cdn(t *testing.T, action, name string) string {
	t.Helper()
	whole, err := os.ReadFile("../../infra/edge.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := string(whole)
	for _, part := range [][2]string{{"        - Name: blocked-addresses", "        - Name: body-size"},
		{"  # Filled by hand", "\nOutputs:\n"}, {"  Logs: {Value", ""}} {
		before, rest, found := strings.Cut(text, part[0])
		_, after, also := strings.Cut(rest, part[1])
		if part[1] == "" {
			_, after, also = strings.Cut(rest, "\n")
		}
		if !found || !also {
			t.Fatalf("infra/edge.yaml has no part from %q to %q", part[0], part[1])
		}
		text = before + part[1] + after
	}
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "infra"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "infra", "edge.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), built(t, "../../infra/stack"), "cdn", action, "-stack", name,
		"-region", s.Region)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "AWS_ENDPOINT_URL="+s.Endpoint, "AWS_ACCESS_KEY_ID=test",
		"AWS_SECRET_ACCESS_KEY=test")
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("cdn %s: %v\n%s", action, err, said.String())
	}
	return strings.TrimSpace(string(out))
}

// edgeKey returns the value of the CDN's key a.
func (s *stack) edgeKey(ctx context.Context, cfg aws.Config) (string, error) {
	name := s.Outputs["StackPrefix"] + "edge-a-"
	out, err := apigateway.NewFromConfig(cfg).GetApiKeys(ctx,
		&apigateway.GetApiKeysInput{NameQuery: &name, IncludeValues: aws.Bool(true)})
	if err != nil || len(out.Items) != 1 {
		return "", fmt.Errorf("keys %s: %v, %w", name, out, err)
	}
	return aws.ToString(out.Items[0].Value), nil
}
