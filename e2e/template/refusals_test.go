//go:build sam

package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// TestRefusalsOfTheGateway compares them with what package httpapi writes.
func TestRefusalsOfTheGateway(t *testing.T) {
	api := deployed(t, everything).resource("Api")
	responses, _ := api.prop("GatewayResponses").(map[string]any)
	refusal := httptest.NewRecorder()
	httpapi.NewBuy(nil, nil, httpapi.Options{CORSOrigin: "*"}).ServeHTTP(refusal, httptest.NewRequest(http.MethodGet,
		"/", nil))
	exposed := refusal.Header().Get("Access-Control-Expose-Headers")
	for kind, r := range responses {
		if kind == "ACCESS_DENIED" || kind == "EXPIRED_TOKEN" {
			continue // TestRefusalsOfStaff
		}
		text := str(r, "ResponseTemplates", "application/json")
		var got map[string]any
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Errorf("%s: %v: %s", kind, err, text)
			continue
		}
		code, _ := got["code"].(string)
		w := httptest.NewRecorder()
		httpapi.Problem(w, httptest.NewRequest(http.MethodGet, "/", nil), seckill.Refuse(seckill.Code(code)))
		var want map[string]any
		must.OK(t, json.Unmarshal(w.Body.Bytes(), &want))
		status := number(r, "StatusCode")
		want["status"] = float64(status) // only the gateway uses 429
		if status != w.Code && (status != http.StatusTooManyRequests || code != string(seckill.CodeUnavailable)) {
			t.Errorf("%s: status %d, want %d", kind, status, w.Code)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: httpapi (-), template (+):\n%s", kind, diff)
		}
		headers, _ := at(r, "ResponseParameters", "Headers").(map[string]any)
		for name := range w.Header() {
			if name == "Vary" {
				continue // one language
			}
			if want := "'" + w.Header().Get(name) + "'"; headers[name] != want {
				t.Errorf("%s: header %s: %v, want %s", kind, name, headers[name], want)
			}
		}
		for name, want := range map[string]any{"Access-Control-Allow-Origin": at(api.prop("Cors"), "AllowOrigin"),
			"Access-Control-Expose-Headers": "'" + exposed + "'",
			"Content-Security-Policy":       "'" + httpapi.Policy + "'"} {
			must.Equal(t, want, headers[name], kind, "a storefront elsewhere cannot read it: header", name)
		}
	}
	for _, kind := range []string{"DEFAULT_4XX", "DEFAULT_5XX", "THROTTLED", "MISSING_AUTHENTICATION_TOKEN",
		"BAD_REQUEST_BODY", "REQUEST_TOO_LARGE"} {
		if responses[kind] == nil {
			t.Errorf("no response for %s", kind)
		}
	}
}

// TestStaffAreAskedForASignature checks that only IAM opens staff's route and that it opens no other, for whichever CDN
// stands in front, and that each role has a policy that lets its holder take that role alone.
func TestStaffAreAskedForASignature(t *testing.T) {
	tpl := deployed(t, everything)
	policies := map[string]string{}
	paths, _ := tpl.resource("Api").prop("DefinitionBody", "paths").(map[string]any)
	for path, item := range paths {
		text := must.Get(json.Marshal(item))
		if strings.Contains(string(text), `"iam"`) != (path == "/operator/{role}") {
			t.Errorf("%s asks for %s", path, text)
		}
	}
	want := []any{map[string]any{"iam": []any{}}}
	if diff := cmp.Diff(want, at(paths["/operator/{role}"], "post", "security")); diff != "" {
		t.Errorf("staff's route: %s", diff)
	}
	if kind := str(tpl.resource("Api").prop("DefinitionBody"), "components", "securitySchemes", "iam",
		"x-amazon-apigateway-authtype"); kind != "awsSigv4" {
		t.Errorf("iam is %q", kind)
	}
	for _, r := range deployed(t, sandbox).resources("AWS::IAM::ManagedPolicy") {
		statements := list(r.prop(), "PolicyDocument", "Statement")
		if len(statements) != 1 || str(statements[0], "Action") != "execute-api:Invoke" {
			t.Errorf("%s: %v", r.id, statements)
		}
		policies[r.id] = str(statements[0], "Resource")
	}
	for _, role := range seckill.Roles() {
		id := strings.ToUpper(string(role[:1])) + string(role[1:]) + "Policy"
		const api = "arn:aws:execute-api:eu-west-1:111122223333:Api/live/POST/operator/"
		if policies[id] != api+string(role) {
			t.Errorf("%s is about %q", id, policies[id])
		}
		delete(policies, id)
	}
	if len(policies) > 0 {
		t.Errorf("more policies: %v", policies)
	}
}

// TestRefusalsOfStaff checks that the gateway's own refusals of staff are problems as the function admin writes them.
func TestRefusalsOfStaff(t *testing.T) {
	responses, _ := deployed(t, everything).resource("Api").prop("GatewayResponses").(map[string]any)
	for kind, code := range map[string]string{"ACCESS_DENIED": "role_denied", "EXPIRED_TOKEN": "signature_expired"} {
		var got map[string]any
		text := str(responses[kind], "ResponseTemplates", "application/json")
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Errorf("%s: %v: %s", kind, err, text)
		}
		detail, _ := got["detail"].(string)
		if diff := cmp.Diff(map[string]any{"type": "urn:problem-type:seckill:" + code, "title": "Not allowed",
			"status": float64(http.StatusForbidden), "code": code, "detail": detail}, got); diff != "" ||
			detail == "" || number(responses[kind], "StatusCode") != http.StatusForbidden {
			t.Errorf("%s: %s", kind, diff)
		}
	}
}
