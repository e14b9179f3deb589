package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/plan"
	"github.com/your-org/seckill/shared/adapter/config"
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
		"a network, no cache": {cluster, []string{"CreateNetwork", "true"}, ""},
		"nothing given":       {map[string]string{"Sandbox": "true"}, nil, "RedisEndpoint is missing"},
		"two caches":          {whole, []string{"RedisEndpoint", "a:1"}, "CreateCache=true makes the Redis"},
		"a cache without a network": {whole, []string{"CreateNetwork", "false"},
			"CreateCache=true needs CreateNetwork=true"},
		"a cache with a password": {whole, []string{"RedisPassword", "true"}, ""},
		"a cache with another user": {whole, []string{"RedisUsername", "bob", "RedisPassword", "true"},
			"CreateCache=true names the cache's user itself"},
		"a user without a password": {cluster, []string{"RedisPassword", "false"}, "RedisUsername is set"},
		"no app":                    {cluster, []string{"AlipayAppId", ""}, "AlipayAppId is missing"},
		"no seller":                 {cluster, []string{"AlipaySellerId", ""}, "AlipaySellerId is missing"},
		"the fake gateway's address": {cluster, []string{"GatewayEndpoint", "https://x.example.com"},
			"GatewayEndpoint is of the fake gateway"},
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
		"notify without a path":      {sandbox, []string{"NotifyUrl", "https://x.example.com"}, "NotifyUrl has to be"},
		"Redis without a port":       {sandbox, []string{"RedisEndpoint", "redis"}, "RedisEndpoint has to be"},
		"boolean":                    {sandbox, []string{"RedisTls", "yes"}, "RedisTls has to be one of"},
		"secrets' path with a slash": {sandbox, []string{"SecretsPath", "/seckill/"}, "SecretsPath has to be"},
		"kid with a sign":            {sandbox, []string{"JwtKids", "2026="}, "JwtKids has to be"},
		"seven kids": {sandbox, []string{"JwtKids", strings.Repeat("a,", 6) + "a"},
			"JwtKids has to be"},
		"an address that is no email": {sandbox, []string{"AlarmEmail", "me"}, "AlarmEmail has to be"},
		"issuers":                     {cluster, []string{"SigninIssuers", issuers}, ""},
		"issuers and a pool": {cluster, []string{"SigninIssuers", issuers, "CreateIdentity", "true", "IdentityEmail",
			"arn:aws:ses:eu-west-1:111122223333:identity/shop.example.com"}, ""},
		"an issuer without a client": {cluster, []string{"SigninIssuers", "https://id.example.com"},
			"SigninIssuers has to be"},
		"eleven issuers": {cluster, []string{"SigninIssuers", strings.Repeat("https://a|b,", 10) + "https://a|b"},
			"SigninIssuers has to be"},
		"a stand-in for AWS": {sandbox, []string{"StandIn", "127.0.0.1:4566"}, ""},
		"a stand-in for AWS, in a shop": {cluster, []string{"StandIn", "127.0.0.1:4566"},
			"StandIn is of a stand-in"},
		"a stand-in with a scheme": {sandbox, []string{"StandIn", "http://127.0.0.1:4566"}, "StandIn has to be"},
		"a sender that is an address": {cluster, []string{"IdentityEmail", "shop@example.com"},
			"IdentityEmail has to be"},
		"release":                 {sandbox, []string{"Release", "a b"}, "Release has to be"},
		"processor":               {sandbox, []string{"Architecture", "riscv"}, "Architecture has to be one of"},
		"days of logs":            {sandbox, []string{"LogRetention", "2"}, "LogRetention has to be one of"},
		"notifications for ever":  {sandbox, []string{"NotificationRetentionDays", "0"}, ""},
		"addresses for ever":      {sandbox, []string{"AddressRetentionDays", "0"}, ""},
		"addresses for a month":   {sandbox, []string{"AddressRetentionDays", "30"}, ""},
		"network addresses":       {sandbox, []string{"NetworkRetentionDays", "1"}, ""},
		"addresses for too short": {sandbox, []string{"AddressRetentionDays", "29"}, "AddressRetentionDays"},
		"instances that wait":     {whole, []string{"BuyProvisioned", "1"}, ""},
		"batches at once": {whole, []string{"ConsumeConcurrency", "21"},
			"ConsumeConcurrency has to be one of"},
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

// TestPlansCanBeDeployed checks that every parameter in `seckill plan` exists, accepts the value, and has the default
// that the plan assumes.
func TestPlansCanBeDeployed(t *testing.T) {
	tpl := open(t)
	named := map[string]bool{}
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
		for _, o := range plan.Make(s).Overrides {
			p := at(tpl.tree, "Parameters", o.Name)
			if p == nil {
				t.Errorf("there is no parameter %s", o.Name)
			}
			if least := number(p, "MinValue"); str(p, "Type") == "Number" &&
				(o.Value < least || o.Value > number(p, "MaxValue")) {
				t.Errorf("%d shoppers: %s=%d is out of its bounds", s.Shoppers, o.Name, o.Value)
			}
			params[o.Name] = fmt.Sprint(o.Value)
			named[o.Name] = true
		}
		if got, err := tpl.deploy(params).refusals(); err != nil || len(got) > 0 {
			t.Errorf("%d shoppers: %q, %v", s.Shoppers, got, err)
		}
	}
	defaults := map[string]float64{plan.BuyRate: plan.Today.BuyRate, plan.BuyBurst: plan.Today.BuyBurst,
		plan.PollRate: plan.Today.Poll, plan.PollBurst: plan.Today.PollBurst,
		plan.NotifyRate: plan.Today.Notify, plan.NotifyBurst: plan.Today.NotifyBurst,
		plan.NotifyConcurrency: plan.Today.NotifyKept, plan.SigninRate: plan.Today.Signin,
		plan.SigninConcurrency: plan.Today.SigninKept, plan.ThrottleRate: plan.Today.Rate,
		plan.ThrottleBurst: plan.Today.Burst, plan.BuyProvisioned: plan.Today.Provisioned,
		plan.ConsumeConcurrency: plan.Today.Consume, plan.CacheGigabytes: 5, plan.CacheEcpu: 0,
		plan.WarmUnits: plan.Today.Writes, plan.WarmOrders: plan.Today.Writes, plan.WarmQuotas: plan.Today.Writes,
		plan.WarmPayments:      plan.Today.Writes,
		plan.WarmNotifications: plan.Today.Writes}
	for name, want := range defaults {
		if got := fmt.Sprint(at(tpl.tree, "Parameters", name, "Default")); got != fmt.Sprint(want) {
			t.Errorf("%s is %s by default, the plan takes it for %v", name, got, want)
		}
		if !named[name] && name != plan.CacheGigabytes { // a million units take less than a GB
			t.Errorf("no plan names %s", name)
		}
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
				_, err = config.Read[config.Consume](env)
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
			_, err = config.Read[config.Buy](env)
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
