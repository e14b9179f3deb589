package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/infra/plan"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// issuers names two issuers; the metadata of the second are at another address.
const issuers = "https://id.example.com/realms/shop|page,https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_x|7a|" +
	"http://127.0.0.1:4566/eu-west-1_x"

// Parameters of deployments.
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

// TestWrongParametersAreRefused checks that they are refused before anything is created, with a sentence.
func TestWrongParametersAreRefused(t *testing.T) {
	tpl := file(t, rootFile)
	for name, c := range map[string]struct {
		base map[string]string
		set  []string // name, value, …
		want string   // the beginning of the only sentence; "" if accepted
	}{
		"a sandbox":                  {sandbox, nil, ""},
		"a cluster with users":       {cluster, nil, ""},
		"all made":                   {whole, nil, ""},
		"elsewhere":                  {elsewhere, nil, ""},
		"certificate mode":           {certified, nil, ""},
		"certificates, in a sandbox": {sandbox, []string{"AlipayCertificates", "true"}, ""},
		"certificates, in words": {cluster, []string{"AlipayCertificates", "yes"},
			"AlipayCertificates has to be one of"},
		"nothing given":           {map[string]string{"Sandbox": "true"}, nil, "RedisEndpoint is missing"},
		"two caches":              {whole, []string{"RedisEndpoint", "a:1"}, "CreateCache=true makes the Redis"},
		"a cache with a password": {whole, []string{"RedisPassword", "true"}, ""},
		"a cache with another user": {whole, []string{"RedisUsername", "bob", "RedisPassword", "true"},
			"CreateCache=true names the cache's user itself"},
		"a user without a password": {cluster, []string{"RedisPassword", "false"}, "RedisUsername is set"},
		"no app":                    {cluster, []string{"AlipayAppId", ""}, "AlipayAppId is missing"},
		"no seller":                 {cluster, []string{"AlipaySellerId", ""}, "AlipaySellerId is missing"},
		"faults": {sandbox, []string{"GatewayFaults", "notification-lost=0.2,call-5xx=1,unknown=0"},
			""},
		"faults of a real shop": {cluster, []string{"GatewayFaults", "unknown=0.1"},
			"GatewayFaults is of the fake gateway"},
		"a share above 1":          {sandbox, []string{"GatewayFaults", "unknown=2"}, "GatewayFaults has to be"},
		"a short hold with Alipay": {cluster, []string{"Hold", "90s"}, "Hold is shorter than 2m"},
		"a hold of a minute":       {cluster, []string{"Hold", "1m"}, "Hold is shorter than 2m"},
		"a hold of two minutes":    {cluster, []string{"Hold", "2m"}, ""},
		"a hold of 4 s":            {sandbox, []string{"Hold", "4s"}, "Hold has to be"},
		"a hold of 25 h":           {sandbox, []string{"Hold", "25h"}, "Hold has to be"},
		"a hold without a unit":    {sandbox, []string{"Hold", "15"}, "Hold has to be"},
		"app id of letters":        {cluster, []string{"AlipayAppId", "x"}, "AlipayAppId has to be"},
		"seller id of another kind": {cluster, []string{"AlipaySellerId", "1234567890123456"},
			"AlipaySellerId has to be"},
		"Alipay over http": {cluster, []string{"AlipayGateway", "http://openapi.alipay.com/gateway.do"},
			"AlipayGateway has to be"},
		"origin with a path": {cluster, []string{"StorefrontOrigin", "https://shop.example.com/"},
			"StorefrontOrigin has to be"},
		"origin with a usual port": {sandbox, []string{"StorefrontOrigin", "https://shop.example.com:443"},
			"StorefrontOrigin has to be"},
		"origin with capitals": {sandbox, []string{"StorefrontOrigin", "https://Shop.example.com"},
			"StorefrontOrigin has to be"},
		"any origin, in words":       {cluster, []string{"StorefrontOrigin", "*"}, "StorefrontOrigin has to be"},
		"address with a slash":       {sandbox, []string{"PublicUrl", "https://x.example.com/live/"}, "PublicUrl has to be"},
		"the API's with a slash":     {sandbox, []string{"ApiUrl", "https://x.example.com/live/"}, "ApiUrl has to be"},
		"Redis without a port":       {sandbox, []string{"RedisEndpoint", "redis"}, "RedisEndpoint has to be"},
		"boolean":                    {sandbox, []string{"CreatePush", "yes"}, "CreatePush has to be one of"},
		"a way to Redis":             {sandbox, []string{"RedisMode", "true"}, "RedisMode has to be one of"},
		"secrets' path with a slash": {sandbox, []string{"SecretsPath", "/seckill/"}, "SecretsPath has to be"},
		"kid with a sign":            {sandbox, []string{"JwtKids", "2026="}, "JwtKids has to be"},
		"seven kids": {sandbox, []string{"JwtKids", strings.Repeat("a,", 6) + "a"},
			"JwtKids has to be"},
		"an address that is not an email address": {sandbox, []string{"AlarmEmail", "me"}, "AlarmEmail has to be"},
		"issuers": {cluster, []string{"SigninIssuers", issuers}, ""},
		"issuers and a pool": {cluster, []string{"SigninIssuers", issuers, "CreateIdentity",
			"arn:aws:ses:eu-west-1:111122223333:identity/shop.example.com"}, ""},
		"an issuer without a client": {cluster, []string{"SigninIssuers", "https://id.example.com"},
			"SigninIssuers has to be"},
		"eleven issuers": {cluster, []string{"SigninIssuers", strings.Repeat("https://a|b,", 10) + "https://a|b"},
			"SigninIssuers has to be"},
		"a stand-in for AWS":            {sandbox, []string{"StandIn", "127.0.0.1:4566"}, ""},
		"a stand-in for AWS, in a shop": {cluster, []string{"StandIn", "127.0.0.1:4566"}, "StandIn is of a stand-in"},
		"a stand-in with a scheme":      {sandbox, []string{"StandIn", "http://127.0.0.1:4566"}, "StandIn has to be"},
		"a sender that is an address": {cluster, []string{"CreateIdentity", "shop@example.com"},
			"CreateIdentity has to be"},
		"release":                 {sandbox, []string{"Release", "a b"}, "Release has to be"},
		"processor":               {sandbox, []string{"Architecture", "riscv"}, "Architecture has to be one of"},
		"days of logs":            {sandbox, []string{"Retention", retained("logs", "2")}, "Retention has to be"},
		"notifications for ever":  {sandbox, []string{"Retention", retained("notifications", "0")}, ""},
		"addresses for ever":      {sandbox, []string{"Retention", retained("addresses", "0")}, ""},
		"addresses for a month":   {sandbox, []string{"Retention", retained("addresses", "30")}, ""},
		"network addresses":       {sandbox, []string{"Retention", retained("network", "1")}, ""},
		"addresses for too short": {sandbox, []string{"Retention", retained("addresses", "29")}, "Retention has to be"},
		"refunds by two":          {sandbox, []string{"RefundAlone", "yuan=500,daily=20"}, ""},
		"refunds of no number":    {sandbox, []string{"RefundAlone", "yuan=,daily=20"}, "RefundAlone has to be"},
		"large":                   {whole, []string{"Size", "large"}, ""},
		"no size":                 {whole, []string{"Size", "huge"}, "Size has to be one of"},
		"planned, without a plan": {whole, []string{"Size", "planned"}, "Size=planned needs Plan"},
		"planned":                 {whole, []string{"Size", "planned", "Plan", plan.SizeText(plan.Large)}, ""},
		"batches at once": {whole, []string{"Size", "planned", "Plan",
			strings.Replace(plan.SizeText(plan.Large), "ConsumeConcurrency=20", "ConsumeConcurrency=21", 1)},
			"Plan has to be"},
		"half a plan":  {whole, []string{"Size", "planned", "Plan", "BuyRate=5"}, "Plan has to be"},
		"not warm":     {whole, []string{"Warm", "units=4000"}, "Warm has to be"},
		"step by step": {whole, []string{"GradualDeployment", "true"}, ""},
		"neither one nor the other": {whole, []string{"GradualDeployment", "maybe"},
			"GradualDeployment has to be one of"},
		"a deployment of no digits": {whole, []string{"Deployment", "v1.2+3"},
			"Deployment has to be 10 to 64 hexadecimal digits"},
		"another's tables":  {whole, []string{"TablePrefix", "seckill-prod-0212"}, ""},
		"tables of no name": {whole, []string{"TablePrefix", "a b"}, "TablePrefix has to be"},
	} {
		params := maps.Clone(c.base)
		for i := 0; i < len(c.set); i += 2 {
			params[c.set[i]] = c.set[i+1]
		}
		got := tpl.refusals(params)
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], c.want)) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// retained is the parameter Retention with these days.
func retained(what, days string) string {
	return regexp.MustCompile(what+`=\d+`).ReplaceAllString("logs=30,notifications=1095,addresses=1095,network=0",
		what+"="+days)
}

// refusals returns why CloudFormation would refuse the parameters of template.yaml, in its own sentences. SAM's code
// evaluates no rules.
func (t *template) refusals(given map[string]string) (out []string) {
	all, _ := t.tree["Parameters"].(map[string]any)
	params := map[string]string{}
	for name, p := range all {
		v := fmt.Sprint(at(p, "Default"))
		if own, ok := given[name]; ok {
			v = own
		}
		params[name] = v
		if pattern := str(p, "AllowedPattern"); pattern != "" && !matching(pattern).MatchString(v) {
			out = append(out, str(p, "ConstraintDescription"))
		}
		if allowed := list(p, "AllowedValues"); allowed != nil && !slices.ContainsFunc(allowed, func(a any) bool {
			return fmt.Sprint(a) == v
		}) {
			out = append(out, fmt.Sprintf("%s has to be one of %v", name, allowed))
		}
	}
	rules, _ := t.tree["Rules"].(map[string]any)
	for _, r := range rules {
		for _, a := range list(r, "Assertions") {
			if ruled(params, at(r, "RuleCondition")) == true && ruled(params, at(a, "Assert")) != true {
				out = append(out, str(a, "AssertDescription"))
			}
		}
	}
	return out
}

// TestTheHoldIsTheSameEverywhere: a stack that says nothing has the hold that a run has.
func TestTheHoldIsTheSameEverywhere(t *testing.T) {
	text := str(file(t, rootFile).tree, "Parameters", "Hold", "Default")
	must.Equal(t, seckill.DefaultHold, must.Get(time.ParseDuration(text)), "template.yaml has the hold", text,
		"seckill.DefaultHold")
}

// matching has each pattern compiled once.
func matching(pattern string) *regexp.Regexp {
	if patterns[pattern] == nil {
		patterns[pattern] = regexp.MustCompile("^(?:" + pattern + ")$")
	}
	return patterns[pattern]
}

var patterns = map[string]*regexp.Regexp{}

// ruled returns the value of a rule's expression.
func ruled(params map[string]string, v any) any {
	m, _ := v.(map[string]any)
	for name, arg := range m {
		args, _ := arg.([]any)
		switch name {
		case "Ref":
			return params[arg.(string)]
		case "Fn::Equals":
			return ruled(params, args[0]) == ruled(params, args[1])
		case "Fn::Not":
			return ruled(params, args[0]) == false
		case "Fn::Contains":
			return slices.Contains(args[0].([]any), ruled(params, args[1]))
		default:
			panic(name + " is not known here")
		}
	}
	return v
}

// TestHoldsThatAreAcceptedWork checks that functions accept the holds that the template accepts. TestSettings checks
// that they are told.
func TestHoldsThatAreAcceptedWork(t *testing.T) {
	tpl, accepted := file(t, rootFile), 0
	for n := range 1500 {
		for _, unit := range []string{"s", "m", "h"} {
			hold := fmt.Sprint(n, unit)
			for _, base := range []map[string]string{sandbox, cluster} {
				params := maps.Clone(base)
				params["Hold"] = hold
				if len(tpl.refusals(params)) > 0 {
					continue
				}
				accepted++
				env := map[string]string{"HOLD": hold, "ALIPAY_FAKE": fmt.Sprint(base["Sandbox"] == "true")}
				if _, err := config.Part[config.Hold](env); err != nil {
					t.Errorf("Sandbox=%q Hold=%s: %v", base["Sandbox"], hold, err)
				}
			}
		}
	}
	if want := 8 + 1440 + 24 + 1439 + 24; accepted != want {
		t.Errorf("%d holds are accepted, want %d", accepted, want)
	}
}

// TestOriginsThatAreAcceptedWork checks that functions accept the origins that the template accepts.
func TestOriginsThatAreAcceptedWork(t *testing.T) {
	tpl, accepted := file(t, rootFile), 0
	ports := []int{1000, 4430, 8080, 9999, 10000, 44300, 65535}
	for port := range 1000 {
		ports = append(ports, port)
	}
	for _, port := range ports {
		params := maps.Clone(cluster)
		params["StorefrontOrigin"] = fmt.Sprintf("https://shop.example.com:%d", port)
		if len(tpl.refusals(params)) > 0 {
			continue
		}
		accepted++
		env := map[string]string{"CORS_ORIGIN": params["StorefrontOrigin"]}
		if _, err := config.Part[config.CORS](env); err != nil {
			t.Errorf("port %d: %v", port, err)
		}
	}
	if want := len(ports) - 3; accepted != want { // 0, 80 and 443
		t.Errorf("%d ports are accepted, want %d", accepted, want)
	}
}

// TestParametersExplainThemselves checks that a pattern's sentence begins with the parameter's name, because
// CloudFormation shows it alone.
func TestParametersExplainThemselves(t *testing.T) {
	tpl := file(t, rootFile)
	params, _ := tpl.tree["Parameters"].(map[string]any)
	var grouped []string
	for _, g := range list(tpl.tree, "Metadata", "AWS::CloudFormation::Interface", "ParameterGroups") {
		for _, p := range list(g, "Parameters") {
			name, _ := p.(string)
			grouped = append(grouped, name)
		}
	}
	for name, p := range params {
		if str(p, "Description") == "" || !slices.Contains(grouped, name) {
			t.Errorf("%s: described as %q, in a group %v", name, str(p, "Description"), slices.Contains(grouped, name))
		}
		pattern := str(p, "AllowedPattern")
		if pattern != "" && !strings.HasPrefix(str(p, "ConstraintDescription"), name+" has to be ") {
			t.Errorf("%s: %q", name, str(p, "ConstraintDescription"))
		}
		if _, err := regexp.Compile(pattern); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(grouped) != len(params) {
		t.Errorf("%d parameters in groups, %d in all", len(grouped), len(params))
	}
}

func TestSamconfigNamesKnownParameters(t *testing.T) {
	tpl := file(t, rootFile)
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
