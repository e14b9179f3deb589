package edge

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// deployed is what this test reads of infra/edge.yaml. Intrinsic functions are read as their arguments.
type deployed struct {
	Resources map[string]struct {
		Type       string
		Properties struct {
			CachePolicyConfig struct {
				MinTTL, DefaultTTL, MaxTTL               int
				ParametersInCacheKeyAndForwardedToOrigin struct {
					EnableAcceptEncodingGzip, EnableAcceptEncodingBrotli bool
					CookiesConfig                                        struct{ CookieBehavior string }
					HeadersConfig                                        struct {
						HeaderBehavior string
						Headers        []string
					}
					QueryStringsConfig struct {
						QueryStringBehavior string
						QueryStrings        []string
					}
				}
			}
			FunctionCode       string
			DistributionConfig struct {
				DefaultCacheBehavior behaviour
				CacheBehaviors       []behaviour
				CustomErrorResponses []struct{ ErrorCode, ErrorCachingMinTTL int }
			}
			CustomResponseBodies map[string]struct{ Content string }
			Rules                []rule
		}
	}
}

type behaviour struct {
	PathPattern, CachePolicyId, OriginRequestPolicyId, ViewerProtocolPolicy string //nolint:revive // CloudFormation's
	AllowedMethods, CachedMethods                                           []string
	FunctionAssociations                                                    []struct{ EventType string }
}

// rule is a rule of the web ACL.
type rule struct {
	Name      string
	Priority  int
	Statement struct {
		RateBasedStatement struct {
			AggregateKeyType    string
			EvaluationWindowSec int
			Limit               int
			CustomKeys          []struct {
				Header struct {
					Name                string
					TextTransformations []struct{ Type string }
				}
			}
			ScopeDownStatement scope
		}
		AndStatement        struct{ Statements []scope }
		RegexMatchStatement struct {
			RegexString         string
			TextTransformations []struct{ Type string }
		}
	}
	Action struct {
		Block struct {
			CustomResponse struct {
				ResponseCode          int
				CustomResponseBodyKey string
				ResponseHeaders       []struct{ Name, Value string }
			}
		}
	}
}

// scope is one path, or several.
type scope struct {
	RegexMatchStatement struct {
		RegexString         string
		TextTransformations []struct{ Type string }
	}
	ByteMatchStatement struct {
		FieldToMatch                       map[string]any
		PositionalConstraint, SearchString string
		TextTransformations                []struct{ Type string }
	}
	SizeConstraintStatement struct {
		FieldToMatch       map[string]any
		ComparisonOperator string
		Size               int
	}
	AndStatement, OrStatement struct{ Statements []scope }
	NotStatement              struct{ Statement *scope }
}

// paths returns the paths that a scope has, each compared as the API reads it.
func (s scope) paths(t *testing.T) (out []string) {
	t.Helper()
	for _, of := range s.OrStatement.Statements {
		out = append(out, of.paths(t)...)
	}
	if m := s.ByteMatchStatement; m.SearchString != "" {
		types := ""
		for _, change := range m.TextTransformations {
			types += change.Type + " "
		}
		if m.PositionalConstraint == "STARTS_WITH" {
			m.SearchString += "*"
		} else if m.PositionalConstraint != "EXACTLY" {
			t.Errorf("%s is compared with %+v", m.SearchString, m)
		}
		if m.FieldToMatch["UriPath"] == nil ||
			types != "URL_DECODE NORMALIZE_PATH " {
			t.Errorf("%s is compared with %+v", m.SearchString, m)
		}
		out = append(out, m.SearchString)
	}
	return out
}

// TestFloodOfAToken checks that one token is bounded on the paths that want one, however its scheme is written.
func TestFloodOfAToken(t *testing.T) {
	t.Parallel()
	_, d := readTemplate(t)
	rules := d.Resources["Acl"].Properties.Rules
	i := slices.IndexFunc(rules, func(r rule) bool { return r.Name == "flood-of-a-token" })
	if i < 0 {
		t.Fatal("no such rule")
	}
	rate := rules[i].Statement.RateBasedStatement
	if len(rate.CustomKeys) != 1 || rate.CustomKeys[0].Header.Name != "authorization" ||
		fmt.Sprint(rate.CustomKeys[0].Header.TextTransformations) != "[{LOWERCASE} {COMPRESS_WHITE_SPACE}]" ||
		rate.ScopeDownStatement.RegexMatchStatement.RegexString != ownPaths {
		t.Errorf("%+v", rate)
	}
	for _, r := range rules[i:] {
		d.says(t, &r, 429, "too_many_requests", 60_000)
	}
}

// from returns the rules from one on, which is made of so many statements that all have to hold.
func (d deployed) from(t *testing.T, name string, statements int) []rule {
	t.Helper()
	rules := d.Resources["Acl"].Properties.Rules
	i := slices.IndexFunc(rules, func(r rule) bool { return r.Name == name })
	if i < 0 || len(rules[i].Statement.AndStatement.Statements) != statements {
		t.Fatalf("rule %d: %+v", i, rules)
	}
	return rules[i:]
}

// TestLargeBodies checks that only a browser with staff's cookie sends more than 16 KiB, and only commands.
func TestLargeBodies(t *testing.T) {
	t.Parallel()
	_, d := readTemplate(t)
	r := d.from(t, "body-size", 2)[0]
	both := r.Statement.AndStatement.Statements
	size, but := both[0], both[1].NotStatement
	if s := size.SizeConstraintStatement; s.ComparisonOperator != "GT" || s.Size != 16<<10 ||
		s.FieldToMatch["Body"] == nil {
		t.Errorf("size: %+v", s)
	}
	if but.Statement == nil || len(but.Statement.AndStatement.Statements) != 2 {
		t.Fatalf("the exemption: %+v, want of a path and a cookie", but.Statement)
	}
	both = but.Statement.AndStatement.Statements
	path, cookie := both[0], both[1].ByteMatchStatement
	if diff := cmp.Diff([]string{"/admin/commands"}, path.paths(t)); diff != "" {
		t.Error(diff)
	}
	header, _ := json.Marshal(cookie.FieldToMatch["SingleHeader"])
	if string(header) != `{"Name":"cookie"}` || cookie.PositionalConstraint != "CONTAINS" ||
		cookie.SearchString != "__Host-staff=" || len(cookie.TextTransformations) != 1 ||
		cookie.TextTransformations[0].Type != "NONE" {
		t.Errorf("cookie: %+v", cookie)
	}
	d.says(t, &r, 413, "body_too_large", 0)
}

// ownPaths are what is a shopper's own.
const ownPaths = `^/(?:seckill/(?:buy|challenge|ticket|order/[^/]+)|order/.+|signin/.+)/?$`

// TestNoToken checks that what is sent without a token to a route that wants one is refused before the API, as the API
// does it, and nothing else is: no preflight of a browser, and no other path.
func TestNoToken(t *testing.T) {
	t.Parallel()
	_, d := readTemplate(t)
	rules := d.from(t, "without-token", 3)
	r := rules[0]
	all := r.Statement.AndStatement.Statements
	if m := all[0].RegexMatchStatement; m.RegexString != ownPaths ||
		fmt.Sprint(m.TextTransformations) != "[{URL_DECODE} {NORMALIZE_PATH}]" {
		t.Errorf("paths: %+v", m)
	}
	method, token := all[1].NotStatement.Statement.ByteMatchStatement, all[2].NotStatement.Statement
	if method.FieldToMatch["Method"] == nil || method.PositionalConstraint != "EXACTLY" ||
		method.SearchString != "OPTIONS" {
		t.Errorf("method: %+v", method)
	}
	want, got := []string{}, []string{}
	var api struct {
		Paths map[string]map[string]struct{ Security []any }
	}
	text, err := os.ReadFile("../../docs/openapi.yaml")
	if err == nil {
		err = decode(text, &api)
	}
	if err != nil {
		t.Fatal(err)
	}
	for path, methods := range api.Paths {
		called := regexp.MustCompile(`{[a-z_]+}`).ReplaceAllString(path, "a1")
		if regexp.MustCompile(ownPaths).MatchString(called) && regexp.MustCompile(ownPaths).MatchString(called+"/") {
			got = append(got, path)
		}
		for _, m := range methods {
			if len(m.Security) > 0 {
				want = append(want, path)
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(slices.Compact(want), got); diff != "" || len(want) < 10 {
		t.Errorf("paths that want a token, of openapi.yaml (-), of the rule (+):\n%s", diff)
	}
	if token == nil {
		t.Fatal("requests with a token are refused")
	}
	has := token.ByteMatchStatement
	header, _ := json.Marshal(has.FieldToMatch["SingleHeader"])
	if string(header) != `{"Name":"authorization"}` || has.PositionalConstraint != "STARTS_WITH" ||
		has.SearchString != "bearer " || len(has.TextTransformations) != 1 ||
		has.TextTransformations[0].Type != "LOWERCASE" {
		t.Errorf("token: %+v", has)
	}
	d.says(t, &r, 403, "invalid_token", 0)
	for _, before := range rules {
		if before.Name != r.Name && before.Statement.RateBasedStatement.Limit == 0 {
			t.Errorf("%s comes after it", before.Name)
		}
	}
}

// says checks what a rule answers.
func (d deployed) says(t *testing.T, r *rule, status int, code string, retry int) {
	t.Helper()
	says := r.Action.Block.CustomResponse
	var problem struct {
		Type    string `json:"type"`
		Status  int    `json:"status"`
		Code    string `json:"code"`
		RetryMS int    `json:"retry_after_ms"`
	}
	headers := map[string]string{}
	for _, h := range says.ResponseHeaders {
		headers[h.Name] = h.Value
	}
	want := map[string]string{"Cache-Control": "no-store"}
	if retry > 0 {
		want["Retry-After"] = fmt.Sprint(retry / 1000)
	}
	body := d.Resources["Acl"].Properties.CustomResponseBodies[says.CustomResponseBodyKey].Content
	if err := json.Unmarshal([]byte(body), &problem); err != nil || says.ResponseCode != status ||
		problem.Status != status || problem.Code != code || problem.Type != "urn:problem-type:seckill:"+code ||
		problem.RetryMS != retry || !maps.Equal(headers, want) {
		t.Errorf("%s answers %+v, %+v, %v", r.Name, says, problem, err)
	}
}

func readTemplate(t *testing.T) (string, deployed) {
	t.Helper()
	text, err := os.ReadFile("../edge.yaml")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := Template(string(text), defaults, DefaultShare)
	if err != nil {
		t.Fatal(err)
	}
	var d deployed
	if err := decode([]byte(whole), &d); err != nil {
		t.Fatal(err)
	}
	return string(text), d
}

// TestTemplateIsTheTable checks that infra/edge.yaml has the table's paths in its order, with caches that keep what the
// table says, and that no refusal is kept.
func TestTemplateIsTheTable(t *testing.T) {
	t.Parallel()
	_, d := readTemplate(t)
	conf := d.Resources["Distribution"].Properties.DistributionConfig
	got := []Behaviour{}
	for _, b := range conf.CacheBehaviors {
		got = append(got, Behaviour{b.PathPattern, d.cache(t, b.CachePolicyId)})
		if b.OriginRequestPolicyId != "" {
			t.Errorf("%s passes on what is not in its key: %s", b.PathPattern, b.OriginRequestPolicyId)
		}
	}
	if diff := cmp.Diff(Behaviours(), got); diff != "" {
		t.Errorf("behaviours.go (-), infra/edge.yaml (+):\n%s", diff)
	}
	const cachingDisabled, allViewerExceptHost = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad",
		"b689b0a8-53d0-40ab-baf2-68738e2966ac"
	rest := conf.DefaultCacheBehavior
	if rest.CachePolicyId != cachingDisabled || rest.OriginRequestPolicyId != allViewerExceptHost {
		t.Errorf("other paths: policies %s, %s", rest.CachePolicyId, rest.OriginRequestPolicyId)
	}
	for _, b := range append(conf.CacheBehaviors, rest) {
		events := []string{}
		for _, f := range b.FunctionAssociations {
			events = append(events, f.EventType)
		}
		if !slices.Equal(events, []string{"viewer-request", "viewer-response"}) || len(b.AllowedMethods) != 7 ||
			!slices.Equal(b.CachedMethods, []string{"GET", "HEAD"}) || b.ViewerProtocolPolicy != "redirect-to-https" {
			t.Errorf("%s: %+v", b.PathPattern, b)
		}
	}
	// "Control how long CloudFront caches errors": the codes that it takes, each kept for 10 s unless told otherwise.
	kept := map[int]bool{400: true, 403: true, 404: true, 405: true, 414: true, 416: true, 500: true, 501: true,
		502: true, 503: true, 504: true}
	for _, e := range conf.CustomErrorResponses {
		if e.ErrorCachingMinTTL == 0 {
			delete(kept, e.ErrorCode)
		}
	}
	if len(kept) > 0 {
		t.Errorf("CloudFront would keep %v", kept)
	}
}

// TestTLS checks that the CDN speaks TLS 1.2 or newer, to browsers at the shop's own name and to the API.
// TestTemplateIsTheTable checks that it sends browsers that come by http to https.
func TestTLS(t *testing.T) {
	t.Parallel()
	text, _ := readTemplate(t)
	for _, want := range []string{"MinimumProtocolVersion: TLSv1.2_2021}",
		"{OriginProtocolPolicy: https-only, OriginSSLProtocols: [TLSv1.2],"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("infra/edge.yaml lacks %s", want)
		}
	}
}

// cache returns a policy as the table has it.
func (d deployed) cache(t *testing.T, policy string) Cache {
	t.Helper()
	p, ok := d.Resources[policy]
	if !ok {
		t.Fatalf("no cache policy %q", policy)
	}
	conf := p.Properties.CachePolicyConfig
	in := conf.ParametersInCacheKeyAndForwardedToOrigin
	if conf.MinTTL != 0 || conf.DefaultTTL != 0 || in.CookiesConfig.CookieBehavior != "none" ||
		!in.EnableAcceptEncodingGzip || in.EnableAcceptEncodingBrotli {
		t.Errorf("%s: %+v; want no minimum, no default, no cookies, gzip", policy, conf)
	}
	c := Cache{Longest: time.Duration(conf.MaxTTL) * time.Second, Queries: in.QueryStringsConfig.QueryStrings,
		Language: slices.Equal(in.HeadersConfig.Headers, []string{"Accept-Language"}),
		Accept:   slices.Equal(in.HeadersConfig.Headers, []string{"Accept"})}
	if !c.Language && !c.Accept && in.HeadersConfig.HeaderBehavior != "none" {
		t.Errorf("%s: headers %v in the key", policy, in.HeadersConfig)
	}
	return c
}

// TestTemplateGetsTheFunction checks that the deployed text is function.js.
func TestTemplateGetsTheFunction(t *testing.T) {
	t.Parallel()
	text, _ := readTemplate(t)
	whole, err := Template(text, defaults, DefaultShare)
	if err != nil {
		t.Fatal(err)
	}
	var d deployed
	if err := decode([]byte(whole), &d); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Function, d.Resources["Function"].Properties.FunctionCode); diff != "" {
		t.Errorf("function.js (-), the template (+):\n%s", diff)
	}
	if len(whole) > 51200 {
		t.Errorf("%d bytes: CloudFormation takes 51,200 from a command", len(whole))
	}
	if alias := regexp.MustCompile(`(?m)[:\[,-] [*&][a-z]+\b`).FindString(whole); alias != "" {
		t.Errorf("it has %q, and CloudFormation takes no alias", alias)
	}
	parsed := func(text string) map[string]any {
		var v struct{ Resources map[string]any }
		if err := decode([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		delete(v.Resources, "Function")
		delete(v.Resources, "Acl")
		return v.Resources
	}
	if diff := cmp.Diff(parsed(text), parsed(whole)); diff != "" {
		t.Errorf("infra/edge.yaml (-), as deployed (+):\n%s", diff)
	}
	if _, err := Template(whole, defaults, DefaultShare); err == nil {
		t.Error("a template without a place for the function was taken")
	}
}

// TestSubdomains: if asked for, HSTS covers them in all that the CDN answers, its function's own answers, too.
func TestSubdomains(t *testing.T) {
	t.Parallel()
	text, _ := readTemplate(t)
	whole, err := Template(text, defaults, DefaultShare)
	if err != nil || strings.Contains(whole, "ncludeSub") {
		t.Fatalf("not asked for: %v\n%s", err, whole)
	}
	if whole, err = Subdomains(whole); err != nil {
		t.Fatal(err)
	}
	var d struct {
		Resources struct {
			Function struct {
				Properties struct{ FunctionCode string }
			}
			Headers struct {
				Properties struct {
					ResponseHeadersPolicyConfig struct {
						SecurityHeadersConfig struct{ StrictTransportSecurity map[string]any }
					}
				}
			}
		}
	}
	if err := decode([]byte(whole), &d); err != nil {
		t.Fatal(err)
	}
	policy := d.Resources.Headers.Properties.ResponseHeadersPolicyConfig.SecurityHeadersConfig.StrictTransportSecurity
	want := map[string]any{"AccessControlMaxAgeSec": 31536000.0, "IncludeSubdomains": true, "Override": true}
	if diff := cmp.Diff(want, policy); diff != "" {
		t.Errorf("the headers policy, want (-), got (+):\n%s", diff)
	}
	if code := d.Resources.Function.Properties.FunctionCode; !strings.Contains(code,
		"'strict-transport-security': { value: 'max-age=31536000; includeSubDomains' }") {
		t.Errorf("function.js:\n%s", code)
	}
	if _, err := Subdomains(whole); err == nil {
		t.Error("a template that covers them already was taken")
	}
}

// TestEveryPathIsConsidered checks that each path of the API is in the table, or named here as a shopper's own, or
// staff's.
func TestEveryPathIsConsidered(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../api.yaml")
	if err != nil {
		t.Fatal(err)
	}
	own := []string{"/admin", "/admin/{proxy+}", "/bill", "/cashier", "/cashier/pay", "/gateway.do", "/healthz",
		"/order/list", "/order/{id}", "/order/{id}/cancel", "/order/{id}/payment", "/order/{id}/push",
		"/order/{id}/received", "/order/{id}/refund-request", "/operator/{role}", "/seckill/alipay/notify",
		"/seckill/buy", "/seckill/challenge", "/seckill/order/{seckill_id}", "/seckill/ticket", "/seckill/time",
		"/signin", "/signin/end",
		"/signin/sessions", "/{page}"}
	var api struct {
		Resources struct {
			Api struct { //nolint:revive // CloudFormation's
				Properties struct {
					DefinitionBody struct{ Paths map[string]any }
				}
			}
		}
	}
	if err := decode(text, &api); err != nil {
		t.Fatal(err)
	}
	paths := api.Resources.Api.Properties.DefinitionBody.Paths
	if len(paths) < 20 {
		t.Fatalf("%d paths in infra/api.yaml", len(paths))
	}
	for path := range paths {
		cached := slices.ContainsFunc(Behaviours(), func(b Behaviour) bool {
			prefix, starred := strings.CutSuffix(b.Path, "*")
			return path == b.Path || starred && strings.HasPrefix(path, prefix)
		})
		if cached == slices.Contains(own, path) {
			t.Errorf("%s: cached %v, a shopper's own %v", path, cached, !cached)
		}
	}
}

// TestQueriesAreInTheKey checks that the CDN passes on what the API reads of a list's query, and nothing else: else all
// pages of a list would be its first.
func TestQueriesAreInTheKey(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	type parameter struct{ Name, In, Ref string }
	var api struct {
		Paths map[string]struct {
			Get struct{ Parameters []map[string]any }
		}
		Components struct{ Parameters map[string]parameter }
	}
	if err := decode(text, &api); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, b := range Behaviours() {
		path, ok := api.Paths[strings.Replace(b.Path, "*", "{seckill_id}", 1)]
		if !ok || !strings.HasPrefix(b.Path, "/seckill/") {
			continue
		}
		var reads []string
		for _, p := range path.Get.Parameters {
			name, _ := p["$ref"].(string)
			if q := api.Components.Parameters[name[strings.LastIndex(name, "/")+1:]]; q.In == "query" {
				reads = append(reads, q.Name)
			}
		}
		slices.Sort(reads)
		if compared++; !slices.Equal(reads, b.Cache.Queries) {
			t.Errorf("%s reads %v, the CDN passes on %v", b.Path, reads, b.Cache.Queries)
		}
	}
	if compared != 4 {
		t.Errorf("compared %d paths, want 4", compared)
	}
}

// decode reads YAML into v, whose fields are matched as JSON's are. An intrinsic function is read as its arguments.
func decode(text []byte, v any) error {
	var n yaml.Node
	if err := yaml.Unmarshal(text, &n); err != nil {
		return err
	}
	plain(&n)
	var all any
	if err := n.Decode(&all); err != nil {
		return err
	}
	b, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

func plain(n *yaml.Node) {
	if strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!") {
		n.Tag = ""
	}
	for _, c := range n.Content {
		plain(c)
	}
}
