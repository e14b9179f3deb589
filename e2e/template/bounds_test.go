package main

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/your-org/seckill/cmd/seckill/doctor"
	"github.com/your-org/seckill/infra/plan"
	"github.com/your-org/seckill/shared/drivertest/must"

	"github.com/google/go-cmp/cmp"
)

// TestThrottles checks that Alipay's notifications do not share a crowd's token bucket, nor purchases and sign-ins that
// of other requests, and that the methods that pages call together allow less than an account with default limits.
func TestThrottles(t *testing.T) {
	rare := 0
	api, got := file(t, "infra/api.yaml").resource("Api").prop(), map[string]string{}
	var limited []string
	for _, m := range list(api, "MethodSettings") {
		if path := str(m, "ResourcePath"); path != everyPath {
			limited = append(limited, doctor.Method(path+"/"+str(m, "HttpMethod")))
		}
		if rate, burst := at(m, "ThrottlingRateLimit"), at(m, "ThrottlingBurstLimit"); rate == plan.RareRate &&
			burst == plan.RareBurst {
			rare++
			continue
		}
		if str(m, "ResourcePath") == staffPath { // TestReservations
			continue
		}
		got[str(m, "ResourcePath")+" "+str(m, "HttpMethod")] = str(m, "ThrottlingRateLimit", "Ref") + " " +
			str(m, "ThrottlingBurstLimit", "Ref")
	}
	if diff := cmp.Diff(map[string]string{"/* *": "ThrottleRate ThrottleBurst",
		"/~1seckill~1buy POST":                "BuyRate BuyBurst",
		"/~1seckill~1order~1{seckill_id} GET": "PollRate PollBurst",
		"/~1seckill~1alipay~1notify POST":     "NotifyRate NotifyBurst",
		"/~1signin POST":                      "SigninRate SigninConcurrency"}, got); diff != "" {
		t.Errorf("-want +got: %s", diff)
	}
	slices.Sort(limited)
	if diff := cmp.Diff(limited, doctor.Limited); diff != "" {
		t.Errorf("seckill doctor looks for limits of other methods (-template +doctor): %s", diff)
	}
	others := 0
	paths, _ := at(api, "DefinitionBody", "paths").(map[string]any)
	for path, methods := range paths {
		if path != "/seckill/buy" && path != "/seckill/alipay/notify" && path != "/admin/{proxy+}" &&
			path != "/seckill/order/{seckill_id}" &&
			(at(methods, "get") != nil || at(methods, "post") != nil) {
			others++ // of /signin this is the list of issuers
		}
	}
	if others-rare != plan.Methods || rare != plan.RareMethods {
		t.Errorf("pages call %d methods beside buy, polls, notify and the sign-in, %d of them rarely; package plan "+
			"counts %d and %d", others, rare, plan.Methods+plan.RareMethods, plan.RareMethods)
	}
}

// Paths of method settings: what anybody may ask of function admin, and all without their own.
const (
	staffPath = "/~1admin~1{proxy+}"
	everyPath = "/*"
)

// TestEndpointsInChina checks that of the services that functions reach through endpoints only SQS has another name
// there.
func TestEndpointsInChina(t *testing.T) {
	network := string(all(t)["infra/network.yaml"])
	var got []string
	for _, m := range regexp.MustCompile(`ServiceName: (!Sub .*)`).FindAllStringSubmatch(network, -1) {
		got = append(got, m[1])
	}
	if diff := cmp.Diff([]string{
		`!Sub "com.amazonaws.${AWS::Region}.dynamodb"`,
		`!Sub "com.amazonaws.${AWS::Region}.s3"`,
		`!Sub ["${China}com.amazonaws.${AWS::Region}.sqs", {China: !If [InChina, cn., ""]}]`,
		`!Sub "com.amazonaws.${AWS::Region}.secretsmanager"`}, got); diff != "" {
		t.Error(diff)
	}
}

// TestAnyPartition checks that no template names AWS's standard partition. Service principals are the same in aws-cn.
// infra/edge.yaml is for the standard partition only.
func TestAnyPartition(t *testing.T) {
	allowed := []string{"lambda.amazonaws.com", "apigateway.amazonaws.com", "delivery.logs.amazonaws.com",
		"codedeploy.amazonaws.com", "elasticache.amazonaws.com", "ops.apigateway.amazonaws.com",
		"replication.dynamodb.amazonaws.com", "email.cognito-idp.amazonaws.com", "sts.amazonaws.com"}
	files := all(t)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for _, found := range regexp.MustCompile(`arn:aws:|[a-z0-9.-]+\.amazonaws\.com`).FindAllString(
			string(files[name]), -1) {
			if !slices.Contains(allowed, found) {
				t.Errorf("%s names %s", name, found)
			}
		}
	}
}

// TestEndpointsAreOfThisAccount checks that requests which leave the network through an endpoint reach only this
// account's resources, with its principals.
func TestEndpointsAreOfThisAccount(t *testing.T) {
	endpoints := file(t, "infra/network.yaml").resources("AWS::EC2::VPCEndpoint")
	for _, e := range endpoints {
		statements := list(e.prop("PolicyDocument"), "Statement")
		if len(statements) != 1 || str(statements[0], "Condition", "StringEquals", "aws:PrincipalAccount",
			"Ref") != "AWS::AccountId" ||
			str(statements[0], "Condition", "StringEquals", "aws:ResourceAccount", "Ref") != "AWS::AccountId" {
			t.Errorf("%s lets through %v", e.id, statements)
		}
	}
	if len(endpoints) != 4 {
		t.Errorf("%d endpoints", len(endpoints))
	}
}

// TestPoolOfShoppers checks what the pool of CreateIdentity asks of passwords and gives to pages: the shop's page, at
// its own address alone, keeps no secret and gets codes only. Its tokens end within an hour; a refresh token is good
// once, and each sign-in's end within half a day.
func TestPoolOfShoppers(t *testing.T) {
	tpl := file(t, "infra/identity.yaml")
	policy := tpl.resource("Pool").prop("Policies", "PasswordPolicy").(map[string]any)
	if n := number(policy, "MinimumLength"); n < 12 {
		t.Errorf("passwords of %d characters", n)
	}
	for name, wanted := range policy {
		if strings.HasPrefix(name, "Require") && wanted != false {
			t.Errorf("%s: %v; a class of characters makes nobody choose a better password", name, wanted)
		}
	}
	client := tpl.resource("Client")
	got := []any{client.prop("GenerateSecret"), client.prop("AllowedOAuthFlows"), client.prop("ExplicitAuthFlows"),
		client.prop("PreventUserExistenceErrors"), client.prop("EnableTokenRevocation"),
		client.prop("TokenValidityUnits", "AccessToken"), client.prop("TokenValidityUnits", "IdToken"),
		client.prop("AllowedOAuthScopes"), client.prop("RefreshTokenRotation", "Feature"),
		client.prop("TokenValidityUnits", "RefreshToken")}
	want := []any{false, []any{"code"}, []any{"ALLOW_USER_SRP_AUTH"}, "ENABLED", true, "minutes", "minutes",
		[]any{"openid"}, "ENABLED", "hours"}
	must.Equal(t, want, got)
	if back := list(client.prop(), "CallbackURLs"); len(back) != 1 || str(back[0], "Fn::Sub") != "${BaseUrl}/" {
		t.Errorf("codes go to %v", back)
	}
	if n := number(client.prop(), "RefreshTokenValidity"); n < 1 || n > 12 {
		t.Errorf("a sign-in is renewed for %d hours", n)
	}
	for _, kind := range []string{"IdTokenValidity", "AccessTokenValidity"} {
		if n := number(client.prop(), kind); n > 60 {
			t.Errorf("%s: %d minutes", kind, n)
		}
	}
}
