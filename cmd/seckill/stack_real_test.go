//go:build real

package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/your-org/seckill/cmd/seckill/doctor"
	"github.com/your-org/seckill/cmd/seckill/office/officetest"
	"github.com/your-org/seckill/functions/lambdatest"
	"github.com/your-org/seckill/shared/api/itemfile"
	"github.com/your-org/seckill/shared/api/lambdacall"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/redisconn"
	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/drivertest/dynamotest"
	"github.com/your-org/seckill/shared/fake/redistest"
	"github.com/your-org/seckill/shared/seckill"
)

// stackVariable names the variable with the URL of CloudFormation, Lambda, S3, STS, DynamoDB and SQS.
const stackVariable = "SECKILL_TEST_SQS"

const stackWait = time.Minute // for a stack to be created

// zipped returns a binary in the form that Lambda's provided.al2023 expects.
func zipped(t *testing.T, binary string) []byte {
	t.Helper()
	code, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	h := &zip.FileHeader{Name: "bootstrap", Method: zip.Deflate}
	h.SetMode(0o755)
	w, err := z.CreateHeader(h)
	if err == nil {
		_, err = w.Write(code)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// put uploads to S3 without a signature, which only a stand-in accepts.
func put(t *testing.T, address string, body []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, address, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if answer, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK {
		t.Fatalf("PUT %s: %s\n%s", address, resp.Status, answer)
	}
}

// deploy creates a stack of the stage function and its tables, and returns the names of the stack and the function.
func deploy(t *testing.T, endpoint, redis string) (name, function string) {
	t.Helper()
	folder := t.TempDir()
	lambdatest.Build(t, "", folder, "github.com/your-org/seckill/functions/stage")
	prefix := dynamotest.Prefix()
	name = "s" + strings.TrimSuffix(prefix, "-")
	bucket := strings.ToLower(name)
	put(t, endpoint+"/"+bucket, nil)
	put(t, endpoint+"/"+bucket+"/stage.zip", zipped(t, filepath.Join(folder, "stage")))
	type object = map[string]any
	table := func(of string, keys ...string) object {
		attributes, schema := make([]object, len(keys)), make([]object, len(keys))
		for i, key := range keys {
			attributes[i] = object{"AttributeName": key, "AttributeType": "S"}
			schema[i] = object{"AttributeName": key, "KeyType": []string{"HASH", "RANGE"}[i]}
		}
		return object{"Type": "AWS::DynamoDB::Table", "Properties": object{"TableName": prefix + of,
			"BillingMode": "PAY_PER_REQUEST", "AttributeDefinitions": attributes, "KeySchema": schema}}
	}
	office := table(dynamoledger.TableOffice, "pk", "sk")
	of := office["Properties"].(object)
	of["AttributeDefinitions"] = append(of["AttributeDefinitions"].([]object),
		object{"AttributeName": "listed_pk", "AttributeType": "S"},
		object{"AttributeName": "listed_sk", "AttributeType": "S"})
	of["GlobalSecondaryIndexes"] = []object{{"IndexName": "listed", "KeySchema": []object{
		{"AttributeName": "listed_pk", "KeyType": "HASH"}, {"AttributeName": "listed_sk", "KeyType": "RANGE"}},
		"Projection": object{"ProjectionType": "ALL"}}}
	template, err := json.Marshal(object{
		"Resources": object{
			"Office":  office,
			"Items":   table(dynamoledger.TableItems, "id"),
			"Catalog": table(dynamoledger.TableCatalog, "id"),
			"Stage": object{"Type": "AWS::Lambda::Function",
				"DependsOn": []string{"Items", "Catalog", "Office"},
				"Properties": object{"FunctionName": name + "-stage",
					"Runtime": "provided.al2023", "Handler": "bootstrap",
					"Role": "arn:aws:iam::000000000000:role/stage", "Timeout": 60, "MemorySize": 256,
					"Code": object{"S3Bucket": bucket, "S3Key": "stage.zip"},
					"Environment": object{"Variables": object{"TABLE_PREFIX": prefix, "REDIS_ADDRS": redis,
						"METRICS_NAMESPACE": name, "COMMAND_PUBLIC_KEY": commandKeys.Public().String()}}}},
			"Version": object{"Type": "AWS::Lambda::Version",
				"Properties": object{"FunctionName": object{"Ref": "Stage"}}},
			"Live": object{"Type": "AWS::Lambda::Alias", "Properties": object{"Name": doctor.Live,
				"FunctionName":    object{"Ref": "Stage"},
				"FunctionVersion": object{"Fn::GetAtt": []string{"Version", "Version"}}}},
		},
		"Outputs": object{"ApiId": object{"Value": "api1"}, "ApiStage": object{"Value": "live"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	client := cloudformation.New(cloudformation.Options{Region: "eu-west-1", BaseEndpoint: &endpoint,
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")})
	if _, err := client.CreateStack(t.Context(), &cloudformation.CreateStackInput{StackName: &name,
		TemplateBody: aws.String(string(template))}); err != nil {
		t.Fatal(err)
	}
	waiter := cloudformation.NewStackCreateCompleteWaiter(client,
		func(o *cloudformation.StackCreateCompleteWaiterOptions) {
			o.MinDelay, o.MaxDelay = 50*time.Millisecond, time.Second
		})
	if err := waiter.Wait(t.Context(), &cloudformation.DescribeStacksInput{StackName: &name}, stackWait); err != nil {
		events, _ := client.DescribeStackEvents(t.Context(), &cloudformation.DescribeStackEventsInput{StackName: &name})
		for _, e := range events.StackEvents {
			t.Logf("%s %s %s", aws.ToString(e.LogicalResourceId), e.ResourceStatus,
				aws.ToString(e.ResourceStatusReason))
		}
		t.Fatal(err)
	}
	return name, name + "-stage"
}

// backOffice is the route of commands with function admin in this process: it calls the stack's functions.
func backOffice(t *testing.T, stack, endpoint string) string {
	t.Helper()
	functions := lambdacall.New(aws.Config{Region: "eu-west-1", BaseEndpoint: &endpoint,
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")}, stack)
	admin := operator.Office{Stack: stack, Clock: system.Clock{}, Key: commandKey, Invoke: functions.Invoke}
	return served(t, &officetest.Gateway{Region: "eu-west-1", Admin: admin.Handle,
		Callers: map[string]officetest.Caller{"test": {Secret: "test", ARN: caller, Account: "000000000000"}}}).URL
}

// standIn is a proxy in front of the stand-in for AWS, so that the clients' idle connections end with the test.
func standIn(t *testing.T) string {
	t.Helper()
	endpoint := os.Getenv(stackVariable)
	if endpoint == "" {
		t.Fatalf("%s is not set: it is the endpoint that `e2e/servers/ministack.sh start DIR` prints", stackVariable)
	}
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = &http.Transport{DisableKeepAlives: true}
	return served(t, proxy).URL
}

// TestItemsCommandsOnADeployedStack uses a real template, table, function and Redis, or stand-ins in their own
// processes; only the tool's code runs here.
func TestItemsCommandsOnADeployedStack(t *testing.T) {
	endpoint := standIn(t)
	redis := redistest.Start(t).Addr
	runner, err := redisconn.New(redisconn.Options{Addrs: []string{redis}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { runner.Close() })
	stock := redisstock.New(runner)
	noAWS(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	t.Setenv("AWS_ENDPOINT_URL", endpoint)
	began := time.Now()
	name, function := deploy(t, endpoint, redis)
	t.Setenv("AWS_ENDPOINT_URL_EXECUTE_API", backOffice(t, name, endpoint))
	t.Logf("deployed after %v", time.Since(began).Round(time.Millisecond))

	it := upcoming("7", 5)
	it.Start, it.Limit = time.Now().Add(seckill.StageLead/2).UTC().Truncate(time.Second), 10
	file := written(t, "items.json", itemfile.Format([]seckill.Listing{it, upcoming("8", 5)}))
	buy := func(order string) seckill.ReserveCode {
		t.Helper()
		r, err := stock.Reserve(t.Context(), it.Start.Add(time.Minute), seckill.Request{Order: order, Item: "7",
			User: "u", Count: 1, Given: seckill.Given{Address: "x"}, Created: it.Start}, true, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return r.Code
	}
	items := func(want string, args ...string) {
		t.Helper()
		began := time.Now()
		code, stdout, stderr := command(t, append(append([]string{"items"}, args...), "--stack", name, "--region",
			"eu-west-1")...)
		t.Logf("%v: %v", args, time.Since(began).Round(time.Millisecond))
		if code != exitOK || stderr != "" || !strings.HasPrefix(stdout, want) {
			t.Fatalf("%v: exit %d\n%s%swant %s", args, code, stdout, stderr, want)
		}
	}
	functions := lambda.New(lambda.Options{Region: "eu-west-1", BaseEndpoint: &endpoint,
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")})
	t.Cleanup(func() { // ends the function's process, which MiniStack keeps when its stack is deleted
		if _, err := functions.DeleteFunction(context.Background(),
			&lambda.DeleteFunctionInput{FunctionName: &function}); err != nil {
			t.Error(err)
		}
	})
	items("Imported 2 items: 2 created.\n", "import", file)
	out, err := functions.Invoke(t.Context(), &lambda.InvokeInput{FunctionName: &function,
		Payload: []byte(`{"detail-type":"Scheduled Event","source":"aws.events"}`)})
	if err != nil || out.FunctionError != nil {
		t.Fatalf("schedule: %+v, %v", out, err)
	}
	if got := buy("o1"); got != seckill.Reserved {
		t.Errorf("before the stop: %s", got)
	}
	items("Item 7 is stopped (stopped, 4 of 5 left).\n", "stop", "7")
	if got := buy("o2"); got != seckill.ReserveStopped {
		t.Errorf("after the stop: %s", got)
	}
	items("Nothing to do: item 7 is already stopped", "stop", "7")
	items("Item 7 is resumed (waiting, 4 of 5 left).\n", "resume", "7")
	for i := range 4 {
		if got := buy(fmt.Sprint("o", 3+i)); got != seckill.Reserved {
			t.Errorf("after the resume: %s", got)
		}
	}
	items("Item 7 now has 6 units in total (waiting, 1 of 6 left).\n", "add-stock", "7", "6")
	if got := buy("o7"); got != seckill.Reserved {
		t.Errorf("after more stock: %s", got)
	}
	code, stdout, stderr := command(t, "items", "export", "--stack", name, "--region", "eu-west-1")
	list, err := itemfile.Parse("export.json", []byte(stdout), time.Now())
	if code != exitOK || err != nil || len(list) != 2 || list[0].ID != "7" || list[0].Stock != 6 || list[1].ID != "8" {
		t.Errorf("export: exit %d, %v\n%s%s", code, err, stdout, stderr)
	}
	code, _, stderr = command(t, "items", "stop", "404", "--stack", name, "--region", "eu-west-1")
	if code != exitUsage || !strings.Contains(stderr, "item 404: stack "+name+" has no such item") {
		t.Errorf("unknown item: exit %d, %s", code, stderr)
	}
	code, _, stderr = command(t, "items", "stop", "7", "--stack", "nowhere", "--region", "eu-west-1")
	if code != exitUsage || !strings.Contains(stderr, "there is no stack nowhere in region eu-west-1") {
		t.Errorf("unknown stack: exit %d, %s", code, stderr)
	}
}
