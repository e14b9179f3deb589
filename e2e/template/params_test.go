package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/infra/plan"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/seckill"
)

// issuers are two, one whose metadata are elsewhere.
const issuers = "https://id.example.com/realms/shop|page,https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_x|7a|" +
	"http://127.0.0.1:4566/eu-west-1_x"

// TestWrongParametersAreRefused checks that they are refused before anything is created, with a sentence.
func TestWrongParametersAreRefused(t *testing.T) {
	tpl := open(t)
	for name, c := range map[string]struct {
		base map[string]string
		set  []string // name, value, …
		want string   // the beginning of the only sentence; "": accepted
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
		"faults": {sandbox,
			[]string{"GatewayFaults", "notification-lost=0.2,call-5xx=1,unknown=0"}, ""},
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
		"any origin, in words": {cluster, []string{"StorefrontOrigin", "*"}, "StorefrontOrigin has to be"},
		"address with a slash": {sandbox, []string{"PublicUrl", "https://x.example.com/live/"},
			"PublicUrl has to be"},
		"the API's with a slash":     {sandbox, []string{"ApiUrl", "https://x.example.com/live/"}, "ApiUrl has to be"},
		"Redis without a port":       {sandbox, []string{"RedisEndpoint", "redis"}, "RedisEndpoint has to be"},
		"boolean":                    {sandbox, []string{"CreatePush", "yes"}, "CreatePush has to be one of"},
		"a way to Redis":             {sandbox, []string{"RedisMode", "true"}, "RedisMode has to be one of"},
		"secrets' path with a slash": {sandbox, []string{"SecretsPath", "/seckill/"}, "SecretsPath has to be"},
		"kid with a sign":            {sandbox, []string{"JwtKids", "2026="}, "JwtKids has to be"},
		"seven kids": {sandbox, []string{"JwtKids", strings.Repeat("a,", 6) + "a"},
			"JwtKids has to be"},
		"an address that is no email": {sandbox, []string{"AlarmEmail", "me"}, "AlarmEmail has to be"},
		"issuers":                     {cluster, []string{"SigninIssuers", issuers}, ""},
		"issuers and a pool": {cluster, []string{"SigninIssuers", issuers, "CreateIdentity",
			"arn:aws:ses:eu-west-1:111122223333:identity/shop.example.com"}, ""},
		"an issuer without a client": {cluster, []string{"SigninIssuers", "https://id.example.com"},
			"SigninIssuers has to be"},
		"eleven issuers": {cluster, []string{"SigninIssuers", strings.Repeat("https://a|b,", 10) + "https://a|b"},
			"SigninIssuers has to be"},
		"a stand-in for AWS": {sandbox, []string{"StandIn", "127.0.0.1:4566"}, ""},
		"a stand-in for AWS, in a shop": {cluster, []string{"StandIn", "127.0.0.1:4566"},
			"StandIn is of a stand-in"},
		"a stand-in with a scheme": {sandbox, []string{"StandIn", "http://127.0.0.1:4566"}, "StandIn has to be"},
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
		got, err := tpl.deploy(params).refusals()
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want == "" && len(got) > 0, c.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], c.want)):
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// retained is the parameter Retention with these days.
func retained(what, days string) string {
	return regexp.MustCompile(what+`=\d+`).ReplaceAllString("logs=30,notifications=1095,addresses=1095,network=0",
		what+"="+days)
}

// passed returns a number as a nested stack gets it.
func passed(w *stackValues, name string) string {
	v, ok := w.t.values[name]
	if !ok { // a stack that a condition opens is not flattened
		own := map[string]string{plan.CacheGigabytes: "MaxGigabytes", plan.CacheEcpu: "MinEcpu"}[name]
		v = at(w.t.tree, "Resources", "Cache", "Properties", "Parameters", own)
	}
	got, err := w.eval(v)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(got)
}

// TestPlansCanBeDeployed checks that the template accepts what `seckill plan` prints, that each of its numbers reaches
// a nested stack, and that the template's sizes are the plan's.
func TestPlansCanBeDeployed(t *testing.T) {
	tpl := open(t)
	if got := str(tpl.tree, "Parameters", "Plan", "AllowedPattern"); got != plan.Pattern() {
		t.Errorf("Plan's pattern is\n%s, want\n%s", got, plan.Pattern())
	}
	for _, size := range []string{plan.Small, plan.Large} {
		if got := str(tpl.tree, "Mappings", "Sizes", size, "Plan"); got != plan.SizeText(size) {
			t.Errorf("%s is %s, want %s", size, got, plan.SizeText(size))
		}
	}
	_, choices, _ := strings.Cut(str(tpl.tree, "Parameters", "Plan", "AllowedPattern"), "ConsumeConcurrency=(")
	choices, _, _ = strings.Cut(choices, ")")
	batches, _ := at(tpl.tree, "Mappings", "Batches", "AtOnce").(map[string]any)
	want := strings.Split(choices, "|")
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(batches)); !slices.Equal(got, want) {
		t.Errorf("sale.yaml knows ConsumeConcurrency %v, Plan allows %v", got, want)
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
		w := tpl.deploy(params)
		if got, err := w.refusals(); err != nil || len(got) > 0 {
			t.Errorf("%d shoppers: %q, %v", s.Shoppers, got, err)
		}
		want := plan.Numbers(func(name string) string { return params[name] })
		for table, units := range plan.List(params["Warm"]) {
			want["Warm"+strings.ToUpper(table[:1])+table[1:]] = units
		}
		for name, value := range want {
			if got := passed(w, name); got != value {
				t.Errorf("%d shoppers: a nested stack gets %s=%s, want %s", s.Shoppers, name, got, value)
			}
		}
	}
}

// TestTheHoldIsTheSameEverywhere: a stack that says nothing has the hold that a run has.
func TestTheHoldIsTheSameEverywhere(t *testing.T) {
	text := str(open(t).tree, "Parameters", "Hold", "Default")
	if hold, err := time.ParseDuration(text); err != nil || hold != seckill.DefaultHold {
		t.Errorf("template.yaml has the hold %q, seckill.DefaultHold is %s", text, seckill.DefaultHold)
	}
}

// TestHoldsThatAreAcceptedWork checks that functions accept the holds that the template accepts.
func TestHoldsThatAreAcceptedWork(t *testing.T) {
	tpl := open(t)
	var holds []string
	for n := range 1500 {
		holds = append(holds, fmt.Sprintf("%ds", n), fmt.Sprintf("%dm", n), fmt.Sprintf("%dh", n))
	}
	accepted := 0
	for _, base := range []map[string]string{sandbox, cluster} {
		for _, hold := range holds {
			params := maps.Clone(base)
			params["Hold"] = hold
			w := tpl.deploy(params)
			if got, err := w.refusals(); err != nil || len(got) > 0 {
				continue
			}
			accepted++
			env, err := environ(w, tpl.functions()["consume"])
			if err == nil {
				_, err = config.Part[config.Hold](env)
			}
			if err != nil {
				t.Errorf("Sandbox=%q Hold=%s: %v", base["Sandbox"], hold, err)
			}
		}
	}
	if want := 8 + 1440 + 24 + 1439 + 24; accepted != want {
		t.Errorf("%d holds are accepted, want %d", accepted, want)
	}
}

// TestOriginsThatAreAcceptedWork checks that functions accept the origins that the template accepts.
func TestOriginsThatAreAcceptedWork(t *testing.T) {
	tpl, accepted := open(t), 0
	ports := []int{1000, 4430, 8080, 9999, 10000, 44300, 65535}
	for port := range 1000 {
		ports = append(ports, port)
	}
	for _, port := range ports {
		params := maps.Clone(cluster)
		params["StorefrontOrigin"] = fmt.Sprintf("https://shop.example.com:%d", port)
		w := tpl.deploy(params)
		if got, err := w.refusals(); err != nil || len(got) > 0 {
			continue
		}
		accepted++
		env, err := environ(w, tpl.functions()["buy"])
		if err == nil {
			_, err = config.Part[config.CORS](env)
		}
		if err != nil {
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
	tpl := open(t)
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
