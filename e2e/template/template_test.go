//go:build sam

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/infra/plan"
	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/wspush"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/flow/front/shop"
	"github.com/your-org/seckill/shared/seckill"
	"github.com/your-org/seckill/web"
)

// environment returns the settings of a step's function, if there is one.
func (t *template) environment(step string) map[string]string {
	if f := t.functions()[step]; f != nil {
		return environment(f)
	}
	return nil
}

func TestTables(t *testing.T) {
	tpl := deployed(t, everything)
	got := map[string]ledger.Table{}
	for _, r := range tpl.resources(kindTable) {
		name := strings.TrimPrefix(fmt.Sprint(r.prop("TableName")), "shop-")
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
				t.Errorf("%s: attribute %s is not text", r.id, str(a, "AttributeName"))
			}
			attributes = append(attributes, str(a, "AttributeName"))
		}
		slices.Sort(keys)
		slices.Sort(attributes)
		must.Equal(t, slices.Compact(keys), attributes, r.id, "attributes are not those of its keys")
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
	tpl := deployed(t, everything)
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
	serve("signin", httpapi.NewSignIn(nil, nil, httpapi.Options{}).Routes()...)
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
	got, allowed := map[string]string{}, map[string]string{}
	paths, _ := tpl.resource("Api").prop("DefinitionBody", "paths").(map[string]any)
	for path, item := range paths {
		methods, _ := item.(map[string]any)
		for method, m := range methods {
			if method == "parameters" {
				continue
			}
			uri := str(m, "x-amazon-apigateway-integration", "uri")
			step, isAlias := strings.CutSuffix(strings.TrimPrefix(uri, lambdaURI), ":live/invocations")
			if !isAlias {
				t.Errorf("%s %s leads to %v", path, method, uri)
			}
			got[path+" "+method] = step
		}
		if strings.Contains(path, "{") != (at(item, "parameters") != nil) {
			t.Errorf("%s: parameters %v", path, at(item, "parameters"))
		}
	}
	must.Equal(t, want, got, "handlers , API")
	own, _ := deployed(t, whole).resource("Api").prop("DefinitionBody", "paths").(map[string]any)
	for path := range own {
		if strings.HasPrefix(path, "/gateway.do") || strings.HasPrefix(path, "/cashier") || path == "/bill" {
			t.Errorf("a real shop has %s", path)
		}
	}
	for _, r := range tpl.resources(kindPermission) {
		step, _ := strings.CutSuffix(r.id, "Calls")
		step = strings.ToLower(step)
		if r.prop("FunctionName") != tpl.functions()[strings.TrimSuffix(step, "browser")].id+".Alias" {
			t.Errorf("%s: it is about %v", r.id, r.prop("FunctionName"))
		}
		allowed[step] = fmt.Sprint(r.prop("SourceArn"))
	}
	const api = "arn:aws:execute-api:eu-west-1:111122223333:Api/live/*"
	if diff := cmp.Diff(map[string]string{"buy": api + "/seckill/buy", "notify": api + "/seckill/alipay/notify",
		"shop": api, "gateway": api, "signin": api + "/signin*", "pay": api + "/order/*/payment",
		"admit": api + "/seckill/*", "admin": strings.TrimSuffix(api, "*") + "POST/operator/*",
		"adminbrowser": api + "/admin/*", "connect": api}, allowed); diff != "" {
		t.Errorf("the API may call (-want +got): %s", diff)
	}
}

// lambdaURI is the prefix of API Gateway's name for a function of the stack, up to its step.
const lambdaURI = "arn:aws:apigateway:eu-west-1:lambda:path/2015-03-31/functions/" +
	"arn:aws:lambda:eu-west-1:111122223333:function:shop-"

// TestAccessLog checks that it has no personal data.
func TestAccessLog(t *testing.T) {
	format := str(deployed(t, everything).resource("Api").prop("AccessLogSetting"), "Format")
	var fields map[string]string
	must.OK(t, json.Unmarshal([]byte(format), &fields))
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
	"WebSocket": of[config.WebSocket](), "Push": of[config.Push](), "Page": of[config.Page](),
	"Site": of[config.Site](), "Pictures": of[config.Pictures](), "Webhook": of[config.Webhook](),
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
func known(kind reflect.Type, prefix string) map[string]bool {
	out := map[string]bool{}
	for i := range kind.NumField() {
		f := kind.Field(i)
		if tag, ok := f.Tag.Lookup("env"); ok {
			name, _, _ := strings.Cut(tag, ",")
			out[prefix+name] = f.Type == reflect.TypeFor[config.Secret]()
		} else if f.Type.Kind() == reflect.Struct {
			maps.Copy(out, known(f.Type, f.Tag.Get("envPrefix")))
		}
	}
	return out
}

// cacheAddress is the address of the stack's own cache.
const cacheAddress = "Cache.Endpoint.Address:Cache.Endpoint.Port"

// TestSettings checks that every function gets all settings that it needs, none that it does not know, and that each
// of its settings is used in some deployment.
func TestSettings(t *testing.T) {
	tpl, src := deployed(t, everything), newSource(root)
	folders, err := filepath.Glob(filepath.Join(root, "functions", "*", "main.go"))
	if err != nil || len(folders) != len(tpl.functions()) {
		t.Fatalf("%d functions in folders, %d in the template (%v)", len(folders), len(tpl.functions()), err)
	}
	for _, folder := range folders {
		step := filepath.Base(filepath.Dir(folder))
		main := must.Get(src.main(step))
		told, all := map[string]bool{}, map[string]bool{}
		for name, params := range map[string]map[string]string{"sandbox": sandbox, "cluster": cluster, "whole": whole,
			"certified": certified, "elsewhere": elsewhere} {
			if step == "gateway" && params["Sandbox"] != "true" || step == "deliver" && params["WebhookUrl"] == "" ||
				step == "connect" && params["CreatePush"] != "true" {
				continue
			}
			env := deployed(t, params).environment(step)
			if addrs, ok := env["REDIS_ADDRS"]; ok && params["CreateCache"] == "true" {
				if addrs != cacheAddress {
					t.Errorf("%s in %s: REDIS_ADDRS is %s", step, name, addrs)
				}
				env["REDIS_ADDRS"] = "made.cache.amazonaws.com:6379"
			}
			for _, part := range main.settings {
				if step == "tell" && part == "WebSocket" && env["CONNECTIONS_URL"] == "" {
					continue // it pushes nothing
				}
				if err := settings[part].read(env); err != nil {
					t.Errorf("%s in %s: %v", step, name, err)
				}
				maps.Copy(all, known(settings[part].kind, ""))
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

// TestPushAddresses checks where pages connect, and where functions send.
func TestPushAddresses(t *testing.T) {
	standIn := maps.Clone(sandbox)
	standIn["CreatePush"], standIn["StandIn"] = "true", "127.0.0.1:4566"
	for _, c := range []struct {
		params       map[string]string
		page, client string
	}{
		{sandbox, "", ""},
		{whole, "wss://Api.execute-api.eu-west-1.amazonaws.com/Stage",
			"https://Api.execute-api.eu-west-1.amazonaws.com/Stage"},
		{standIn, "ws://127.0.0.1:4566/_aws/execute-api/Api/Stage", "http://127.0.0.1:4566/_aws/execute-api/Api/Stage"},
	} {
		for setting, steps := range map[string][]string{"PUSH_URL": {"buy", "shop"},
			"CONNECTIONS_URL": {"tell", "connect"}} {
			want := c.page
			if setting == "CONNECTIONS_URL" {
				want = c.client
			}
			for _, step := range steps {
				must.Equal(t, want, deployed(t, c.params).environment(step)[setting], step, setting)
			}
		}
	}
}

func TestAddresses(t *testing.T) {
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
		env := deployed(t, c.params).environment("shop")
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
	key := map[string]string{"ALIPAY_PUBLIC_KEY_NAME": "alipay-public-key"}
	certificates := map[string]string{"ALIPAY_APP_CERT_NAME": "alipay-app-cert", "ALIPAY_CERT_NAME": "alipay-cert",
		"ALIPAY_ROOT_CERT_NAME": "alipay-root-cert"}
	trusting := maps.Clone(elsewhere)
	trusting["AlipayCertificates"] = "true"
	for name, c := range map[string]struct{ params, want map[string]string }{"a shop": {whole, key},
		"certificate mode": {certified, certificates}, "a sandbox": {trusting, key}} {
		for _, step := range []string{"notify", "expire", "refund", "reconcile", "shop", "pay"} {
			env := deployed(t, c.params).environment(step)
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
	alone := maps.Clone(whole)
	alone["StorefrontOrigin"] = ""
	for name, c := range map[string]struct {
		params map[string]string
		want   string
	}{"a sandbox": {sandbox, "*"}, "a sandbox with a storefront": {elsewhere, elsewhere["StorefrontOrigin"]},
		"a shop with a page elsewhere": {whole, whole["StorefrontOrigin"]},
		"a shop with its own page":     {alone, "https://none.invalid"}} {
		stack := deployed(t, c.params)
		if preflight := stack.resource("Api").prop("Cors", "AllowOrigin"); preflight != "'"+c.want+"'" {
			t.Errorf("%s: the preflight names %v, want %s", name, preflight, c.want)
		}
		for step, want := range map[string]string{"buy": c.want, "shop": c.want, "pay": c.want, "signin": c.want,
			"admit": c.want, "connect": c.want, "notify": ""} {
			if step == "connect" && c.params["CreatePush"] != "true" {
				continue // the stack has none
			}
			must.Equal(t, want, stack.environment(step)["CORS_ORIGIN"], name, step, "names")
		}
	}
}

// TestAlarmsOnEvents checks that what the alarms watch in the stack's own namespace is what the functions count
// there, for every function that counts it. Only operators' acts have no alarm.
func TestAlarmsOnEvents(t *testing.T) {
	tpl, src := deployed(t, everything), newSource(root)
	got := map[string]bool{}
	for _, a := range tpl.resources(kindAlarm) {
		if a.prop("Namespace") != "shop" {
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
			seckill.EventOutside, seckill.EventUnknown, seckill.EventDifferences, seckill.EventDrift,
			seckill.EventIssuerFault,
			seckill.EventUntold, seckill.EventUncounted, seckill.EventGivenUp} {
			counted := must.Get(src.counts(step, main.flows))
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
	delete(want, string(seckill.EventOutside)+" reconcile") // it is a difference, too
	if diff := cmp.Diff(want, got); diff != "" || len(want) < 3 {
		t.Errorf("counted (-), watched (+):\n%s", diff)
	}
}

func TestTimes(t *testing.T) {
	tpl := deployed(t, everything)
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

// passed returns a number as a nested stack gets it.
func (t *template) passed(name string) string {
	stacks, _ := t.tree["Stacks"].(map[string]any)
	own := map[string]string{plan.CacheGigabytes: "MaxGigabytes", plan.CacheEcpu: "MinEcpu"}
	for _, params := range stacks {
		for _, parameter := range []string{name, own[name]} {
			if v := at(params, parameter); v != nil {
				return fmt.Sprint(v)
			}
		}
	}
	return ""
}

// TestPlansCanBeDeployed checks that the template accepts what `seckill plan` prints, that each of its numbers reaches
// a nested stack, and that the template's sizes are the plan's.
func TestPlansCanBeDeployed(t *testing.T) {
	tpl, sale := file(t, rootFile), file(t, "infra/sale.yaml")
	must.Equal(t, plan.Pattern(), str(tpl.tree, "Parameters", "Plan", "AllowedPattern"), "Plan's pattern")
	for _, size := range []string{plan.Small, plan.Large} {
		must.Equal(t, plan.SizeText(size), str(tpl.tree, "Mappings", "Sizes", size, "Plan"), size)
	}
	_, choices, _ := strings.Cut(str(tpl.tree, "Parameters", "Plan", "AllowedPattern"), "ConsumeConcurrency=(")
	choices, _, _ = strings.Cut(choices, ")")
	batches, _ := at(sale.tree, "Mappings", "Batches", "AtOnce").(map[string]any)
	want := strings.Split(choices, "|")
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(batches)); !slices.Equal(got, want) {
		t.Errorf("sale.yaml knows ConsumeConcurrency %v, Plan allows %v", got, want)
	}
	for number, n := range batches {
		if fmt.Sprint(n) != number || n.(int) < 2 { // as Lambda requires
			t.Errorf("ConsumeConcurrency=%s means %v", number, n)
		}
	}
	for _, s := range []plan.Sale{
		{Shoppers: 1000, Units: 10}, {Shoppers: 1_000_000, Units: 1000, Edge: true, Signin: time.Hour},
		{Shoppers: 100_000_000, Units: 1_000_000}, {Shoppers: 2_000_000, Units: 1_000_000, Count: 50},
	} {
		s.Count = max(s.Count, 1)
		s.Items = plan.DefaultItems
		s.First, s.Within, s.Rest, s.Before = plan.DefaultFirst, plan.DefaultWithin, plan.DefaultRest,
			plan.DefaultBefore
		s.Looks, s.Paying, s.Wait = plan.DefaultLooks, plan.DefaultPaying, plan.DefaultWait
		params := maps.Clone(whole)
		for o := range strings.SplitSeq(plan.Make(s).Deploy(), " ") {
			name, value, _ := strings.Cut(o, "=")
			if at(tpl.tree, "Parameters", name) == nil {
				t.Errorf("there is no parameter %s", name)
			}
			params[name] = value
		}
		if got := tpl.refusals(params); len(got) > 0 {
			t.Errorf("%d shoppers: %q", s.Shoppers, got)
		}
		stack := deployed(t, params)
		want := plan.Numbers(func(name string) string { return params[name] })
		for table, units := range plan.List(params["Warm"]) {
			want["Warm"+strings.ToUpper(table[:1])+table[1:]] = units
		}
		for name, value := range want {
			must.Equal(t, value, stack.passed(name), s.Shoppers, "shoppers: a nested stack gets", name)
		}
	}
}

// TestOwnNamesSpeakNewTLS: the API's own name takes TLS 1.2 and 1.3 alone; the default takes 1.0, too. WebSocket APIs
// have no such setting, and take no older TLS.
func TestOwnNamesSpeakNewTLS(t *testing.T) {
	stack := deployed(t, everything)
	for kind, want := range map[string]int{"AWS::Serverless::Api": 1, "AWS::ApiGateway::RestApi": 0,
		"AWS::ApiGateway::DomainName": 0, "AWS::Serverless::HttpApi": 0} {
		apis := stack.resources(kind)
		must.Equal(t, want, len(apis), kind)
		for _, api := range apis {
			must.Equal(t, "SecurityPolicy_TLS13_1_2_2021_06", str(api.prop("SecurityPolicy")), api.id)
			must.Equal(t, "BASIC", str(api.prop("EndpointAccessMode")), api.id, "which such a policy needs")
		}
	}
}

// TestImportsEndInTime: the place of an import is free only when stage, which carries it out, has surely ended: admin
// calls it before its own end.
func TestImportsEndInTime(t *testing.T) {
	functions := deployed(t, everything).functions()
	most := number(functions["stage"].prop("Timeout")) + number(functions["admin"].prop("Timeout"))
	if most < 60 || time.Duration(most)*time.Second > operator.ImportTime {
		t.Errorf("an import takes up to %d s, and its place is free after %s", most, operator.ImportTime)
	}
}

// TestReservations checks that functions which a crowd must not starve have reserved instances if the account is
// large enough, and no reservations otherwise.
func TestReservations(t *testing.T) {
	tpl := deployed(t, everything)
	params := maps.Clone(whole)
	params["Size"] = plan.Planned
	params["Plan"] = strings.Replace(plan.SizeText(plan.Small), "ConsumeConcurrency=20", "ConsumeConcurrency=50", 1)
	for _, c := range []struct {
		on   string
		want map[string]string
	}{{"false", map[string]string{}}, {"true", map[string]string{"consume": "50", "notify": "180", "expire": "7",
		"refund": "3", "repair": "5", "signin": "20", "stage": "5", "acts": "3", "admin": "7"}}} {
		params["ReserveConcurrency"] = c.on
		got, sum := map[string]string{}, 0
		for step, f := range deployed(t, params).functions() {
			if v := f.prop("ReservedConcurrentExecutions"); v != nil {
				got[step] = fmt.Sprint(v)
				if n, ok := v.(int); ok && step != "consume" && step != "notify" && step != "signin" {
					sum += n
				}
			}
		}
		must.Equal(t, c.want, got, "ReserveConcurrency=", c.on)
		if c.on == "true" && (sum != plan.Reserved || int(plan.Today.Reserved())+plan.Unreserved > 1000) {
			t.Errorf("%d are reserved beside those of consume, notify and signin", sum)
		}
	}
	browsers := 0
	for _, m := range list(tpl.resource("Api").prop(), "MethodSettings") {
		if n, ok := at(m, "ThrottlingBurstLimit").(int); ok && str(m, "ResourcePath") == staffPath {
			browsers += n
		}
	}
	if browsers == 0 || browsers > 10-2 {
		t.Errorf("anybody may start %d instances of admin at once, which leaves too few of 10 to commands", browsers)
	}
}

// TestQueuesRefusePlainHTTP checks that the policy that denies requests without TLS covers each queue.
func TestQueuesRefusePlainHTTP(t *testing.T) {
	tpl, held := deployed(t, everything), map[string]bool{}
	for _, p := range tpl.resources("AWS::SQS::QueuePolicy") {
		s := list(p.prop("PolicyDocument"), "Statement")[0]
		if str(s, "Effect") == "Deny" && str(s, "Condition", "Bool", "aws:SecureTransport") == "false" &&
			str(s, "Action") == "sqs:*" {
			for _, q := range list(p.prop(), "Queues") {
				held[target(q)] = true
			}
		}
	}
	for _, q := range tpl.resources(kindQueue) {
		if !held[q.id] {
			t.Errorf("%s takes messages without TLS", q.id)
		}
	}
}
