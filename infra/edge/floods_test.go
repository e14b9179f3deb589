package edge

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// defaults has the throttles of template.yaml's defaults.
func defaults(parameter string) string {
	return map[string]string{"BuyRate": "1000", "PollRate": "300", "ThrottleRate": "300", "NotifyRate": "200",
		"SigninRate": "80"}[parameter]
}

// meets reports whether f counts a call in a web ACL whose expressions of paths begin with prefix.
func (f *Flood) meets(prefix, method, path string) bool {
	return regexp.MustCompile(whole(prefix, f.Path)).MatchString(path) && (f.Method == "" || f.Method == method) &&
		(f.Except == "" || !regexp.MustCompile(whole(prefix, f.Except)).MatchString(path))
}

// TestEveryMethodHasALimit checks that each method of the API has one limit of an address, with a slash at its end too,
// or is kept by the CDN in a few copies; and that no limit is above a tenth of its throttle, but for those named here.
func TestEveryMethodHasALimit(t *testing.T) {
	t.Parallel()
	fewCopies := []string{"/docs", "/favicon.ico", "/openapi.json"}
	larger := map[string]int{"polls": 25, "looks": 50, "staff-looks": 50, "staff-acts": 50, "notifications": 33}
	var api struct {
		Resources struct {
			Api struct { //nolint:revive // CloudFormation's
				Properties struct {
					MethodSettings []struct {
						ResourcePath, HttpMethod string //nolint:revive // CloudFormation's
						ThrottlingRateLimit      any
					}
					DefinitionBody struct{ Paths map[string]any }
				}
			}
		}
	}
	text, err := os.ReadFile("../api.yaml")
	if err == nil {
		err = decode(text, &api)
	}
	if err != nil {
		t.Fatal(err)
	}
	buckets := map[string]int{}
	for _, s := range api.Resources.Api.Properties.MethodSettings {
		f := Flood{Of: fmt.Sprint(s.ThrottlingRateLimit), Share: 100}
		n, err := f.Limit(defaults, 0)
		if err != nil {
			t.Fatal(err)
		}
		buckets[s.HttpMethod+" "+strings.ReplaceAll(strings.TrimPrefix(s.ResourcePath, "/~1"), "~1", "/")] = n
	}
	const anyMethod = "ANY-METHOD"
	seen := 0
	for path, item := range api.Resources.Api.Properties.DefinitionBody.Paths {
		methods := []string{"get", "post"} // of what only a sandbox has
		if has, ok := item.(map[string]any); ok {
			methods = nil
			for name := range has {
				methods = append(methods, name)
			}
			methods = slices.DeleteFunc(methods, func(name string) bool { return name == "parameters" })
		}
		for _, name := range methods {
			method := strings.ToUpper(strings.TrimPrefix(name, "x-amazon-apigateway-"))
			bucket := buckets[method+" "+strings.TrimPrefix(path, "/")]
			if bucket == 0 {
				bucket = buckets["* /*"]
			}
			seen++
			called := regexp.MustCompile(`{[a-z_]+\+?}`).ReplaceAllString(path, "a1")
			for _, called := range [][2]string{{"", called}, {"", strings.TrimSuffix(called, "/") + "/"},
				{live, called}, {live, "/live" + called}, {live, strings.TrimSuffix("/live"+called, "/")}} {
				met := ""
				for _, f := range Floods() {
					if !f.meets(called[0], method, called[1]) {
						continue
					}
					met += " " + f.Name
					most := max(DefaultShare, larger[f.Name])
					limit, err := f.Limit(defaults, DefaultShare)
					if err != nil || limit > bucket*most/100 && method != anyMethod { // answered 405, needed by nobody
						t.Errorf("%s %s: %d of %d a minute, %v; want %d in 100", method, called, limit, bucket, err,
							most)
					}
				}
				if n := strings.Count(met, " "); n != 1 && (n != 0 || !slices.Contains(fewCopies, path)) {
					t.Errorf("%s %s: limits%s, want one", method, called, met)
				}
				if odd.MatchString(called[1]) {
					t.Errorf("%s is refused as odd", called)
				}
			}
		}
	}
	if seen < 60 || len(buckets) < 10 {
		t.Errorf("%d methods, %d throttles", seen, len(buckets))
	}
}

// limits returns the limits of a template's rules by name, and the paths that they count.
func limits(t *testing.T, text string) (map[string]int, map[string]string) {
	t.Helper()
	var d deployed
	if err := decode([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	out, paths := map[string]int{}, map[string]string{}
	for i, r := range d.Resources["Acl"].Properties.Rules {
		if r.Priority != i {
			t.Errorf("%s is rule %d, of priority %d", r.Name, i, r.Priority)
		}
		rate := r.Statement.RateBasedStatement
		if rate.Limit == 0 {
			continue
		}
		if rate.EvaluationWindowSec != window || r.Action.Block.CustomResponse.ResponseCode != 429 {
			t.Errorf("%s: %+v", r.Name, r)
		}
		out[r.Name] = rate.Limit
		b, err := json.Marshal(rate.ScopeDownStatement)
		if err != nil {
			t.Fatal(err)
		}
		paths[r.Name] = string(b)
	}
	return out, paths
}

// odd are the paths that no web ACL lets through.
var odd = regexp.MustCompile(`%(?:[^89a-fA-F]|$)|//|/\.\.?(?:/|$)`)

// TestOddPathsAreRefused: both web ACLs refuse a path that they could read in another way than the API, as it is
// written, before they count: an encoded slash, dot or letter, a line's end, what is encoded twice or badly.
func TestOddPathsAreRefused(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{"/order/a%2fb/payment": true, "/order/a%2F..%2fzz": true,
		"/item/a%0ab": true, "/seckill/%62uy": true, "/seckill/%%362uy": true, "/admin/../x": true, "/admin/.": true,
		"//signin": true, "/a%": true, "/a%2": true,
		"/%E4%B8%AD.jpg": false, "/pictures/a.b.jpg": false, "/": false, "/admin/commands": false} {
		if odd.MatchString(path) != want {
			t.Errorf("%s: refused %v", path, !want)
		}
	}
	edge, _ := readTemplate(t)
	wall, err := os.ReadFile("../wall.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{edge, string(wall)} {
		whole, err := withFloods(text, Floods(), "", defaults, DefaultShare)
		if err != nil {
			t.Fatal(err)
		}
		var d deployed
		if err := decode([]byte(whole), &d); err != nil {
			t.Fatal(err)
		}
		first := d.Resources["Acl"].Properties.Rules[0]
		m := first.Statement.RegexMatchStatement
		if first.Name != "odd-paths" || first.Priority != 0 || m.RegexString != odd.String() ||
			fmt.Sprint(m.TextTransformations) != "[{NONE}]" || first.Action.Block.CustomResponse.ResponseCode != 404 {
			t.Errorf("the first rule: %+v", first)
		}
	}
}

// TestLimitsFollowTheThrottles checks what is deployed: a share of what the throttles let through in a minute, at least
// WAF's fewest, at most WAF's ten; behind a CDN, the API's own web ACL bounds notifications only.
func TestLimitsFollowTheThrottles(t *testing.T) {
	t.Parallel()
	text, _ := readTemplate(t)
	for share, want := range map[int]map[string]int{
		10: {"flood-of-a-token": 300, "flood-of-purchases": 6000, "flood-of-polls": 4500, "flood-of-sign-ins": 480,
			"flood-of-shoppers": 1800, "flood-of-rare": 72, "flood-of-looks": 9000, "flood-of-staff-looks": 300,
			"flood-of-staff-acts": 360, "flood-of-notifications": 3960},
		1: {"flood-of-a-token": 300, "flood-of-purchases": 600, "flood-of-polls": 4500, "flood-of-sign-ins": 48,
			"flood-of-shoppers": 180, "flood-of-rare": fewest, "flood-of-looks": 9000, "flood-of-staff-looks": 300,
			"flood-of-staff-acts": 360, "flood-of-notifications": 3960},
	} {
		whole, err := Template(text, defaults, share)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := limits(t, whole)
		if diff := cmp.Diff(want, got); diff != "" || len(got) > 10 {
			t.Errorf("%d in 100, want (-), got (+):\n%s", share, diff)
		}
	}
	wall, err := os.ReadFile("../wall.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for cdn, want := range map[bool]int{true: 1, false: 9} {
		whole, err := Wall(string(wall), defaults, cdn)
		if err != nil {
			t.Fatal(err)
		}
		got, paths := limits(t, whole)
		if len(got) != want || got["flood-of-notifications"] != 3960 ||
			!strings.Contains(paths["flood-of-notifications"], `^(?:/live)?/seckill/alipay/notify/?$`) {
			t.Errorf("a CDN %v: %v %v", cdn, got, paths)
		}
	}
	for _, share := range []int{-1, 0, MostShare + 1, 100} {
		if _, err := Template(text, defaults, share); err == nil {
			t.Errorf("%d in 100 was taken", share)
		}
	}
	if _, err := Template(text, func(string) string { return "" }, DefaultShare); err == nil {
		t.Error("a stack without throttles was taken")
	}
}

// TestScopes checks WAF's form of a flood: the path as the API reads it, a method, and paths that are not meant.
func TestScopes(t *testing.T) {
	t.Parallel()
	f := Flood{Path: "/a", Except: "/b", Method: "GET"}
	got, err := json.Marshal(f.scope("/s"))
	path := `{"RegexMatchStatement":{"FieldToMatch":{"UriPath":{}},"RegexString":"^/s/%s/?$","TextTransformations":` +
		`[{"Priority":0,"Type":"URL_DECODE"},{"Priority":1,"Type":"NORMALIZE_PATH"}]}}`
	want := fmt.Sprintf(`{"AndStatement":{"Statements":[`+path+`,{"NotStatement":{"Statement":`+path+`}},`+
		`{"ByteMatchStatement":{"FieldToMatch":{"Method":{}},"PositionalConstraint":"EXACTLY","SearchString":"GET",`+
		`"TextTransformations":[{"Priority":0,"Type":"NONE"}]}}]}}`, "a", "b")
	if string(got) != want || err != nil {
		t.Errorf("%s, %v, want\n%s", got, err, want)
	}
	for _, f := range Floods() {
		for _, expression := range []string{f.Path, f.Except} {
			if n := len(whole("(/live)?", expression)); n > 512 {
				t.Errorf("%s: an expression of %d bytes, WAF takes 512", f.Name, n)
			}
		}
	}
}
