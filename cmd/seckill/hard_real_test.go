//go:build real

package main

import (
	"encoding/json"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/your-org/seckill/cmd/seckill/doctor"
	"github.com/your-org/seckill/shared/drivertest/dynamotest"
	"github.com/your-org/seckill/shared/drivertest/must"
)

// stackVariable names the variable with the URL of CloudFormation, API Gateway and STS.
const stackVariable = "SECKILL_TEST_SQS"

const stackWait = time.Minute // for a stack to be created

// standIn is a proxy in front of the stand-in for AWS, so that the clients' idle connections end with the test.
func standIn(t *testing.T) string {
	t.Helper()
	endpoint := os.Getenv(stackVariable)
	if endpoint == "" {
		t.Fatalf("%s is not set: it is the endpoint that `e2e/servers/ministack.sh start DIR` prints", stackVariable)
	}
	target, err := url.Parse(endpoint)
	must.OK(t, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = &http.Transport{DisableKeepAlives: true}
	return served(t, proxy).URL
}

// TestHardStopOfADeployedStage uses a stand-in's own GetStage and UpdateStage, with its names of methods. It enforces
// no throttle, so the test checks only what the stage reports.
func TestHardStopOfADeployedStage(t *testing.T) {
	endpoint := standIn(t)
	noAWS(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	t.Setenv("AWS_ENDPOINT_URL", endpoint)
	type object = map[string]any
	ref := func(name string) object { return object{"Ref": name} }
	mock := func(resource string) object {
		return object{"Type": "AWS::ApiGateway::Method", "Properties": object{"RestApiId": ref("Api"),
			"ResourceId": ref(resource), "HttpMethod": "POST", "AuthorizationType": "NONE",
			"Integration": object{"Type": "MOCK"}}}
	}
	limit := func(path, method, of string) object {
		return object{"ResourcePath": path, "HttpMethod": method, "ThrottlingRateLimit": ref(of + "Rate"),
			"ThrottlingBurstLimit": ref(of + "Burst")}
	}
	part := func(of, name string) object {
		parent := any(ref(of))
		if of == "Api" {
			parent = object{"Fn::GetAtt": []string{"Api", "RootResourceId"}}
		}
		return object{"Type": "AWS::ApiGateway::Resource",
			"Properties": object{"RestApiId": ref("Api"), "ParentId": parent, "PathPart": name}}
	}
	template, err := json.Marshal(object{
		"Parameters": object{"ThrottleRate": object{"Type": "Number"}, "ThrottleBurst": object{"Type": "Number"},
			"NotifyRate": object{"Type": "Number"}, "NotifyBurst": object{"Type": "Number"}},
		"Resources": object{
			"Api":  object{"Type": "AWS::ApiGateway::RestApi", "Properties": object{"Name": "hard"}},
			"Shop": part("Api", "seckill"), "Alipay": part("Shop", "alipay"), "Notify": part("Alipay", "notify"),
			"Post": mock("Notify"),
			"Deployed": object{"Type": "AWS::ApiGateway::Deployment", "DependsOn": "Post",
				"Properties": object{"RestApiId": ref("Api")}},
			"Stage": object{"Type": "AWS::ApiGateway::Stage", "Properties": object{"RestApiId": ref("Api"),
				"DeploymentId": ref("Deployed"), "StageName": "live", "MethodSettings": []object{
					limit("/*", "*", "Throttle"), limit("/~1seckill~1alipay~1notify", "POST", "Notify")}}},
		},
		"Outputs": object{"ApiId": object{"Value": ref("Api")}, "ApiStage": object{"Value": ref("Stage")},
			"Url": object{"Value": endpoint}},
	})
	must.OK(t, err)
	given := credentials.NewStaticCredentialsProvider("test", "test", "")
	cfn := cloudformation.New(cloudformation.Options{Region: "eu-west-1", BaseEndpoint: &endpoint, Credentials: given})
	name := "h" + strings.TrimSuffix(dynamotest.Prefix(), "-")
	parameter := func(name, value string) types.Parameter {
		return types.Parameter{ParameterKey: &name, ParameterValue: &value}
	}
	if _, err := cfn.CreateStack(t.Context(), &cloudformation.CreateStackInput{StackName: &name,
		TemplateBody: aws.String(string(template)),
		Parameters: []types.Parameter{parameter("ThrottleRate", "5000"),
			parameter("ThrottleBurst", "2500"), parameter("NotifyRate", "300"),
			parameter("NotifyBurst", "600")}}); err != nil {
		t.Fatal(err)
	}
	waiter := cloudformation.NewStackCreateCompleteWaiter(cfn,
		func(o *cloudformation.StackCreateCompleteWaiterOptions) {
			o.MinDelay, o.MaxDelay = 50*time.Millisecond, time.Second
		})
	found, err := waiter.WaitForOutput(t.Context(), &cloudformation.DescribeStacksInput{StackName: &name}, stackWait)
	must.OK(t, err)
	api := ""
	for _, o := range found.Stacks[0].Outputs {
		if aws.ToString(o.OutputKey) == "ApiId" {
			api = aws.ToString(o.OutputValue)
		}
	}
	gateway := apigateway.New(apigateway.Options{Region: "eu-west-1", BaseEndpoint: &endpoint, Credentials: given})
	throttles := func() (common, notify float64) {
		t.Helper()
		out, err := gateway.GetStage(t.Context(), &apigateway.GetStageInput{RestApiId: &api,
			StageName: aws.String("live")})
		must.OK(t, err)
		if len(out.MethodSettings) != 2 {
			t.Fatalf("settings %+v", out.MethodSettings)
		}
		for key, s := range out.MethodSettings {
			if key == doctor.EveryMethod {
				common = s.ThrottlingRateLimit
			} else {
				notify = s.ThrottlingRateLimit
			}
		}
		return common, notify
	}
	wait := seenWithin
	seenWithin = 0
	defer func() { seenWithin = wait }()
	for _, step := range []struct {
		args []string
		want string
		rate float64
	}{
		{[]string{"stop", "--hard", "--yes"}, "Stack " + name + " is stopped hard: ", 0},
		{[]string{"stop", "--hard", "--yes"}, "Nothing to do: stack " + name + " was stopped hard already.", 0},
		{[]string{"resume", "--hard"}, "Stack " + name +
			" is open again: each method lets 5000 calls a second through, 2500 at once", 5000},
	} {
		began := time.Now()
		code, stdout, stderr := command(t, append(append([]string{"items"}, step.args...), "--stack", name, "--region",
			"eu-west-1")...)
		t.Logf("%v: %v", step.args, time.Since(began).Round(time.Millisecond))
		if code != exitOK || stderr != "" || !strings.HasPrefix(stdout, step.want) {
			t.Fatalf("%v: exit %d\n%s%swant %s", step.args, code, stdout, stderr, step.want)
		}
		if common, notify := throttles(); common != step.rate || notify != 300 {
			t.Errorf("%v: the stage has %v and for notify %v, want %v and 300", step.args, common, notify, step.rate)
		}
	}
}
