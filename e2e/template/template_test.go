package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/wspush"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/flow/front/shop"
	"github.com/your-org/seckill/shared/seckill"
	"github.com/your-org/seckill/web"
)

func TestTables(t *testing.T) {
	tpl := open(t)
	got := map[string]ledger.Table{}
	for _, r := range tpl.resources(kindTable) {
		name, _ := strings.CutPrefix(str(r.prop("TableName"), "Fn::Sub"), "${AWS::StackName}-")
		name = strings.TrimPrefix(name, "${Tables}") // what a restore need not have
		if r.id != tableID(name) {
			t.Errorf("%s is the table %q", r.id, name)
		}
		table := ledger.Table{Name: name}
		if on, _ := r.prop("TimeToLiveSpecification", "Enabled").(bool); on {
			table.TTL = str(r.prop("TimeToLiveSpecification", "AttributeName"))
		}
		var keys []string
		table.PK, table.SK = keySchema(r.prop(), &keys)
		for _, x := range list(r.prop(), "GlobalSecondaryIndexes") {
			index := ledger.Index{Name: str(x, "IndexName"), KeysOnly: str(x, "Projection",
				"ProjectionType") == "KEYS_ONLY"}
			index.PK, index.SK = keySchema(x, &keys)
			table.Indexes = append(table.Indexes, index)
		}
		var attributes []string
		for _, a := range list(r.prop(), "AttributeDefinitions") {
			if str(a, "AttributeType") != "S" {
				t.Errorf("%s: attribute %s is no text", r.id, str(a, "AttributeName"))
			}
			attributes = append(attributes, str(a, "AttributeName"))
		}
		slices.Sort(keys)
		slices.Sort(attributes)
		if diff := cmp.Diff(slices.Compact(keys), attributes); diff != "" {
			t.Errorf("%s: attributes are not those of its keys: %s", r.id, diff)
		}
		got[name] = table
	}
	want := map[string]ledger.Table{}
	for _, table := range append(dynamoledger.Schema(), fakegateway.Table, wspush.Table) {
		want[table.Name] = table
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("code (-), template (+):\n%s", diff)
	}
}

func keySchema(v any, keys *[]string) (pk, sk string) {
	for _, k := range list(v, "KeySchema") {
		name := str(k, "AttributeName")
		*keys = append(*keys, name)
		if str(k, "KeyType") == "HASH" {
			pk = name
		} else {
			sk = name
		}
	}
	return pk, sk
}

// TestRoutes checks that each path leads to the function whose handler serves it, for its own method, HEAD beside
// GET, and any other.
func TestRoutes(t *testing.T) {
	tpl := open(t)
	want := map[string]string{}
	serve := func(step string, routes ...httpapi.Route) {
		for _, r := range routes {
			for _, method := range []string{strings.ToLower(r.Method), "x-amazon-apigateway-any-method"} {
				want[r.Pattern+" "+method] = step
			}
			if r.Method == http.MethodGet {
				want[r.Pattern+" head"] = step
			}
		}
	}
	serve("buy", httpapi.NewBuy(nil, nil, httpapi.Options{}).Routes()...)
	serve("admit", httpapi.NewAdmit(nil, nil, httpapi.Options{}).Routes()...)
	serve("notify", httpapi.NewNotify(nil, httpapi.Options{}).Routes()...)
	serve("pay", httpapi.NewPay(nil, nil, httpapi.Options{}).Routes()...)
	serve("signin", httpapi.NewSignIn(nil, httpapi.Options{}).Routes()...)
	serve("shop", httpapi.NewShop(shop.New(shop.Deps{}), nil, httpapi.Options{}).Routes()...)
	for _, path := range web.Paths() {
		serve("shop", httpapi.Route{Method: "GET", Pattern: path})
	}
	serve("gateway", httpapi.Route{Method: "POST", Pattern: "/gateway.do"},
		httpapi.Route{Method: "GET", Pattern: "/gateway.do"},
		httpapi.Route{Method: "GET", Pattern: "/cashier"}, httpapi.Route{Method: "POST", Pattern: "/cashier/pay"},
		httpapi.Route{Method: "GET", Pattern: "/bill"})

	// Methods of staff. The first asks for a signature of AWS.
	want["/operator/{role} post"], want["/admin/{proxy+} get"], want["/admin/{proxy+} post"] = "admin", "admin", "admin"
	pushing := maps.Clone(sandbox)
	pushing["CreatePush"] = "true"
	got, allowed, w := map[string]string{}, map[string]string{}, tpl.deploy(pushing)
	paths, _ := tpl.resource("Api").prop("DefinitionBody", "paths").(map[string]any)
	for path, item := range paths {
		if l := list(item, "Fn::If"); l != nil {
			if l[0] != "IsSandbox" || !strings.HasPrefix(path, "/gateway.do") && !strings.HasPrefix(path, "/cashier") &&
				path != "/bill" {
				t.Errorf("%s depends on %v", path, l[0])
			}
			item = l[1]
		}
		methods, _ := item.(map[string]any)
		for method, m := range methods {
			if method == "parameters" {
				continue
			}
			uri, err := w.eval(at(m, "x-amazon-apigateway-integration", "uri"))
			step, isAlias := strings.CutSuffix(strings.TrimPrefix(fmt.Sprint(uri), lambdaURI), ":live/invocations")
			if err != nil || !isAlias {
				t.Errorf("%s %s leads to %v (%v)", path, method, uri, err)
			}
			got[path+" "+method] = step
		}
		if strings.Contains(path, "{") != (at(item, "parameters") != nil) {
			t.Errorf("%s: parameters %v", path, at(item, "parameters"))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("handlers (-), API (+):\n%s", diff)
	}
	for _, r := range tpl.resources(kindPermission) {
		step, _ := strings.CutSuffix(r.id, "Calls")
		step = strings.ToLower(step)
		source, err := w.eval(r.prop("SourceArn"))
		if err != nil || str(r.prop(), "FunctionName", "Ref") != tpl.functions()[strings.TrimSuffix(step,
			"browser")].id+".Alias" {
			t.Errorf("%s: it is about %v (%v)", r.id, r.prop("FunctionName"), err)
		}
		allowed[step] = fmt.Sprint(source)
	}
	const api = "arn:aws:execute-api:eu-west-1:111122223333:Api/live/*"
	if diff := cmp.Diff(map[string]string{"buy": api + "/seckill/buy", "notify": api + "/seckill/alipay/notify",
		"shop": api, "gateway": api, "signin": api + "/signin", "pay": api + "/order/*/payment",
		"admit": api + "/seckill/*", "admin": strings.TrimSuffix(api, "*") + "POST/operator/*",
		"adminbrowser": api + "/admin/*",
		"connect":      strings.Replace(api, "Api", "[Push Outputs.Id]", 1)}, allowed); diff != "" {
		t.Errorf("the API may call (-want +got): %s", diff)
	}
}

// lambdaURI is the prefix of API Gateway's name for a function of the stack, up to its step.
const lambdaURI = "arn:aws:apigateway:eu-west-1:lambda:path/2015-03-31/functions/" +
	"arn:aws:lambda:eu-west-1:111122223333:function:shop-"

// TestAccessLog checks that it has no personal data.
func TestAccessLog(t *testing.T) {
	format := str(open(t).resource("Api").prop("AccessLogSetting"), "Format")
	var fields map[string]string
	if err := json.Unmarshal([]byte(format), &fields); err != nil {
		t.Fatal(err)
	}
	for name, v := range fields {
		for _, personal := range []string{"identity", "authorizer", "path", "header", "protocol", "domain"} {
			if strings.Contains(v, "$context."+personal) {
				t.Errorf("%s is %s", name, v)
			}
		}
	}
}

// settings has the parts of settings by the names of their types.
var settings = map[string]struct {
	kind reflect.Type
	read func(map[string]string) error
}{
	"Base": of[config.Base](), "Redis": of[config.Redis](), "Orders": of[config.Orders](),
	"OrdersDead": of[config.OrdersDead](), "Closings": of[config.Closings](),
	"ClosingsDead": of[config.ClosingsDead](), "Tokens": of[config.Tokens](), "Tickets": of[config.Tickets](),
	"Salts": of[config.Salts](), "Commands": of[config.Commands](), "CommandKey": of[config.CommandKey](),
	"Issuers": of[config.Issuers](), "Staff": of[config.Staff](), "CORS": of[config.CORS](),
	"Verifier": of[config.Verifier](), "Alipay": of[config.Alipay](), "FakeGateway": of[config.FakeGateway](),
	"Alone": of[config.Alone](), "Hold": of[config.Hold](), "Networks": of[config.Networks](),
	"Addresses": of[config.Addresses](), "Notifications": of[config.Notifications](),
	"Contact": of[config.Contact](), "Bus": of[config.Bus](), "Pushes": of[config.Pushes](),
	"Door": of[config.Door](), "Push": of[config.Push](), "Page": of[config.Page](),
	"Pictures": of[config.Pictures](), "Webhook": of[config.Webhook](),
}

func of[T any]() (out struct {
	kind reflect.Type
	read func(map[string]string) error
},
) {
	out.kind = reflect.TypeFor[T]()
	out.read = func(environ map[string]string) error {
		_, err := config.Part[T](environ)
		return err
	}
	return out
}

// known returns a function's settings, and whether each is a secret in plain text, which a template must not have.
func known(kind reflect.Type) map[string]bool {
	out := map[string]bool{}
	for i := range kind.NumField() {
		f := kind.Field(i)
		if tag, ok := f.Tag.Lookup("env"); ok {
			name, _, _ := strings.Cut(tag, ",")
			out[name] = f.Type == reflect.TypeFor[config.Secret]()
		} else if f.Type.Kind() == reflect.Struct {
			maps.Copy(out, known(f.Type))
		}
	}
	return out
}

var (
	sandbox = map[string]string{"Sandbox": "true", "RedisEndpoint": "redis:6379", "Hold": "20s"}
	cluster = map[string]string{"AlipayAppId": "2021000000000009", "AlipaySellerId": "2088000000000009",
		"StorefrontOrigin": "https://shop.example.com",
		"RedisEndpoint":    "a:1,b:2", "RedisMode": "tls-cluster", "RedisUsername": "app",
		"RedisPassword": "true", "JwtKids": "2026", "SigninIssuers": issuers, "CreatePush": "true"}
	whole = map[string]string{"AlipayAppId": "2021000000000009", "AlipaySellerId": "2088000000000009",
		"StorefrontOrigin": "https://shop.example.com",
		"CreateCache":      "true", "CreateApiLogRole": "true",
		"PublicUrl": "https://api.example.com", "AlarmEmail": "a@example.com",
		"WebhookUrl": "https://erp.example.com/hook", "CreatePush": "true",
		"StaffIssuer": "https://id.example.com|office", "StaffSecret": "true"}
	certified = map[string]string{"AlipayAppId": "2021000000000009", "AlipaySellerId": "2088000000000009",
		"StorefrontOrigin": "https://shop.example.com",
		"RedisEndpoint":    "redis:6379", "AlipayCertificates": "true"}
	elsewhere = map[string]string{"Sandbox": "true", "RedisEndpoint": "redis:6379",
		"StorefrontOrigin": "http://localhost:8100",
		"PublicUrl":        "http://127.0.0.1:4566/_aws/execute-api/x/live",
		"ApiUrl":           "http://172.17.0.1:4566/_aws/execute-api/x/live", "GatewayFaults": "unknown=0.1"}
)

// TestSettings checks that every function gets all settings that it needs, none that it does not know, and that each
// of its settings is used in some deployment.
func TestSettings(t *testing.T) {
	tpl, src := open(t), newSource(root)
	folders, err := filepath.Glob(filepath.Join(root, "functions", "*", "main.go"))
	if err != nil || len(folders) != len(tpl.functions()) {
		t.Fatalf("%d functions in folders, %d in the template (%v)", len(folders), len(tpl.functions()), err)
	}
	for _, folder := range folders {
		step := filepath.Base(filepath.Dir(folder))
		main, err := src.main(step)
		if err != nil {
			t.Fatal(err)
		}
		told, all := map[string]bool{}, map[string]bool{}
		for name, params := range map[string]map[string]string{"sandbox": sandbox, "cluster": cluster, "whole": whole,
			"certified": certified, "elsewhere": elsewhere} {
			if step == "gateway" && params["Sandbox"] != "true" || step == "deliver" && params["WebhookUrl"] == "" ||
				step == "connect" && params["CreatePush"] != "true" {
				continue
			}
			env, err := environ(tpl.deploy(params), tpl.functions()[step])
			if err != nil {
				t.Fatalf("%s in %s: %v", step, name, err)
			}
			if addrs, ok := env["REDIS_ADDRS"]; ok && params["CreateCache"] == "true" {
				if addrs != "[Cache Outputs.Endpoint]" {
					t.Errorf("%s in %s: REDIS_ADDRS is %s", step, name, addrs)
				}
				env["REDIS_ADDRS"] = "made.cache.amazonaws.com:6379"
			}
			for _, part := range main.settings {
				if step == "tell" && part == "Door" && env["CONNECTIONS_URL"] == "" {
					continue // it pushes nothing
				}
				if err := settings[part].read(env); err != nil {
					t.Errorf("%s in %s: %v", step, name, err)
				}
				maps.Copy(all, known(settings[part].kind))
			}
			for setting := range env {
				told[setting] = true
			}
		}
		for setting := range told {
			if _, ok := all[setting]; !ok {
				t.Errorf("%s is told %s, which it does not know", step, setting)
			}
		}
		for setting, plain := range all {
			if setting == "CASHIER_URL" && step != "shop" {
				continue // part of Alipay's settings; only shop shows it
			}
			if told[setting] == plain {
				t.Errorf("%s: %s: told %v, a secret in plain text %v", step, setting, told[setting], plain)
			}
		}
	}
}

func environ(w *stackValues, f *resource) (map[string]string, error) {
	out := map[string]string{}
	for name, v := range w.t.environment(f) {
		value, err := w.eval(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if value != (nothing{}) {
			out[name] = fmt.Sprint(value)
		}
		if output, ok := strings.CutPrefix(out[name], "[Push Outputs."); ok {
			if out[name], err = ofPush(w, strings.TrimSuffix(output, "]")); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return out, nil
}

// ofPush returns an output of the nested stack Push, which a condition opens, so that it is not among the others.
func ofPush(w *stackValues, output string) (string, error) {
	push, err := flatten(map[string][]byte{rootFile: w.t.files["infra/push.yaml"]})
	if err != nil {
		return "", err
	}
	v, err := push.deploy(map[string]string{"StandIn": w.params["StandIn"]}).eval(at(push.tree, "Outputs", output,
		"Value"))
	return fmt.Sprint(v), err
}

// TestPushAddresses checks where pages connect, and where functions send.
func TestPushAddresses(t *testing.T) {
	tpl, standIn := open(t), maps.Clone(sandbox)
	standIn["CreatePush"], standIn["StandIn"] = "true", "127.0.0.1:4566"
	for _, c := range []struct {
		params       map[string]string
		page, client string
	}{
		{sandbox, "", ""},
		{whole, "wss://Api.execute-api.eu-west-1.amazonaws.com/Stage",
			"https://Api.execute-api.eu-west-1.amazonaws.com/Stage"},
		{standIn, "ws://127.0.0.1:4566/_aws/execute-api/Api/Stage",
			"http://127.0.0.1:4566/_aws/execute-api/Api/Stage"},
	} {
		for setting, steps := range map[string][]string{"PUSH_URL": {"buy", "shop"},
			"CONNECTIONS_URL": {"tell", "connect"}} {
			want := c.page
			if setting == "CONNECTIONS_URL" {
				want = c.client
			}
			for _, step := range steps {
				env, err := environ(tpl.deploy(c.params), tpl.functions()[step])
				if err != nil || env[setting] != want {
					t.Errorf("%s: %s is %q, want %q; %v", step, setting, env[setting], want, err)
				}
			}
		}
	}
}

func TestAddresses(t *testing.T) {
	tpl := open(t)
	for name, c := range map[string]struct {
		params map[string]string
		want   map[string]string
	}{
		"its own": {sandbox, map[string]string{
			"ALIPAY_GATEWAY":    "https://Api.execute-api.eu-west-1.amazonaws.com/live/gateway.do",
			"ALIPAY_NOTIFY_URL": "https://Api.execute-api.eu-west-1.amazonaws.com/live/seckill/alipay/notify",
			"CASHIER_URL":       "https://Api.execute-api.eu-west-1.amazonaws.com/live/cashier",
			"ALIPAY_FAKE":       "true"}},
		"elsewhere": {elsewhere, map[string]string{"ALIPAY_GATEWAY": elsewhere["ApiUrl"] + "/gateway.do",
			"ALIPAY_NOTIFY_URL": elsewhere["ApiUrl"] + "/seckill/alipay/notify",
			"CASHIER_URL":       elsewhere["PublicUrl"] + "/cashier", "ALIPAY_FAKE": "true"}},
		"Alipay": {whole, map[string]string{"ALIPAY_GATEWAY": "https://openapi.alipay.com/gateway.do",
			"ALIPAY_NOTIFY_URL": "https://api.example.com/seckill/alipay/notify",
			"CASHIER_URL":       "", "ALIPAY_FAKE": "false"}},
	} {
		env, err := environ(tpl.deploy(c.params), tpl.functions()["shop"])
		if err != nil {
			t.Fatal(err)
		}
		for setting, want := range c.want {
			if env[setting] != want {
				t.Errorf("%s: %s is %q, want %q", name, setting, env[setting], want)
			}
		}
	}
}

// TestWhatAlipayIsTrustedBy checks that a function gets either the public key or the certificates, never both, and
// that a sandbox has a key.
func TestWhatAlipayIsTrustedBy(t *testing.T) {
	tpl := open(t)
	key := map[string]string{"ALIPAY_PUBLIC_KEY_NAME": "alipay-public-key"}
	certificates := map[string]string{"ALIPAY_APP_CERT_NAME": "alipay-app-cert", "ALIPAY_CERT_NAME": "alipay-cert",
		"ALIPAY_ROOT_CERT_NAME": "alipay-root-cert"}
	trusting := maps.Clone(elsewhere)
	trusting["AlipayCertificates"] = "true"
	for name, c := range map[string]struct{ params, want map[string]string }{"a shop": {whole, key},
		"certificate mode": {certified, certificates}, "a sandbox": {trusting, key}} {
		for _, step := range []string{"notify", "expire", "refund", "reconcile", "shop", "pay"} {
			env, err := environ(tpl.deploy(c.params), tpl.functions()[step])
			if err != nil {
				t.Fatal(err)
			}
			got, want := map[string]string{}, maps.Clone(c.want)
			if step == "notify" {
				delete(want, "ALIPAY_APP_CERT_NAME") // it signs nothing
			}
			for setting, v := range env {
				if strings.HasSuffix(setting, "_CERT_NAME") || setting == "ALIPAY_PUBLIC_KEY_NAME" {
					got[setting] = v
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s: want (-), told (+):\n%s", name, step, diff)
			}
		}
	}
}

// TestOrigins checks that functions name the same origin as the preflight, and that only a sandbox allows any.
func TestOrigins(t *testing.T) {
	tpl, alone := open(t), maps.Clone(whole)
	alone["StorefrontOrigin"] = ""
	for name, c := range map[string]struct {
		params map[string]string
		want   string
	}{"a sandbox": {sandbox, "*"}, "a sandbox with a storefront": {elsewhere, elsewhere["StorefrontOrigin"]},
		"a shop with a page elsewhere": {whole, whole["StorefrontOrigin"]},
		"a shop with its own page":     {alone, "https://none.invalid"}} {
		w := tpl.deploy(c.params)
		preflight, err := w.eval(at(tpl.resource("Api").prop("Cors"), "AllowOrigin"))
		if err != nil || preflight != "'"+c.want+"'" {
			t.Errorf("%s: the preflight names %v (%v), want %s", name, preflight, err, c.want)
		}
		for step, want := range map[string]string{"buy": c.want, "shop": c.want, "pay": c.want, "signin": c.want,
			"admit": c.want, "notify": ""} {
			env, err := environ(w, tpl.functions()[step])
			if err != nil || env["CORS_ORIGIN"] != want {
				t.Errorf("%s: %s names %q (%v), want %q", name, step, env["CORS_ORIGIN"], err, want)
			}
		}
	}
}

// TestAlarmsOnEvents checks that what the alarms watch in the stack's own namespace is what the functions count
// there, for every function that counts it. Only operators' acts have no alarm.
func TestAlarmsOnEvents(t *testing.T) {
	tpl, src := open(t), newSource(root)
	got := map[string]bool{}
	for _, a := range tpl.resources(kindAlarm) {
		if target(a.prop("Namespace")) != "AWS::StackName" {
			continue
		}
		for _, d := range list(a.prop(), "Dimensions") {
			got[str(a.prop(), "MetricName")+" "+str(d, "Value")] = true
		}
	}
	want := map[string]bool{}
	for step := range tpl.functions() {
		main, err := src.main(step)
		if err != nil || len(main.flows) == 0 {
			continue // the fake gateway counts nothing
		}
		for _, event := range []seckill.Event{seckill.EventForged, seckill.EventRefundDue, seckill.EventRefundRefused,
			seckill.EventUnknown, seckill.EventDifferences, seckill.EventDrift, seckill.EventIssuerFault,
			seckill.EventUntold, seckill.EventUncounted, seckill.EventGivenUp} {
			counted, err := src.counts(step, main.flows)
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(counted, event) {
				want[string(event)+" "+step] = true
			}
		}
	}
	// aws.MetricCertificate, measured around its flow
	want["alipay_cert_days_left reconcile"] = true
	// by package httpapi, with two dimensions
	for _, value := range []string{"buy", "shop", "pay", "signin", "admit", string(seckill.TokenSignature)} {
		want["refusals "+value] = true
	}
	operators := string(seckill.EventRefundDue) + " refund"
	if !want[operators] {
		t.Errorf("%s is not counted", operators)
	}
	delete(want, operators)
	if diff := cmp.Diff(want, got); diff != "" || len(want) < 3 {
		t.Errorf("counted (-), watched (+):\n%s", diff)
	}
}

func TestTimes(t *testing.T) {
	tpl := open(t)
	for step, f := range tpl.functions() {
		timeout := time.Duration(number(f.prop(), "Timeout")) * time.Second
		limit := 60 * time.Second // the schedule's next event
		for _, e := range events(f) {
			switch {
			case e.kind == "Api":
				limit = 29 * time.Second // API Gateway waits no longer
			case e.kind == "Schedule" && str(e.props, "Schedule") != "rate(1 minute)":
				limit = 15 * time.Minute // Lambda waits no longer
			}
		}
		if timeout < seckill.PlaceTimeout || timeout > limit {
			t.Errorf("%s: timeout %v, want at most %v", step, timeout, limit)
		}
	}
}

func TestSamconfigNamesKnownParameters(t *testing.T) {
	tpl := open(t)
	params, _ := tpl.tree["Parameters"].(map[string]any)
	text, err := os.ReadFile(filepath.Join(root, "samconfig.toml"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for line := range strings.Lines(string(text)) {
		line, _ = strings.CutPrefix(strings.TrimSpace(line), "# ")
		name, value, ok := strings.Cut(strings.Trim(line, `",`), "=")
		if !strings.HasPrefix(line, `"`) || !ok {
			continue
		}
		found++
		if params[name] == nil {
			t.Errorf("samconfig.toml: no parameter %s (%s)", name, value)
		}
	}
	if found < 20 {
		t.Errorf("found %d parameters only", found)
	}
}
