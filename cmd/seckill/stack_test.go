package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/your-org/seckill/cmd/seckill/office/officetest"
	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/itemfile"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/driver/telemetry"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/sale/stage"
	"github.com/your-org/seckill/shared/seckill"
)

const caller = "arn:aws:sts::123456789012:assumed-role/Operators/liu"

// anAPI has the outputs of a stack.
var anAPI = map[string]string{"ApiId": "api1", "ApiStage": "live"}

// cloud answers the tool's calls to AWS: the caller's identity, a stack's description, and commands, by a back office
// behind a check of signatures.
type cloud struct {
	outputs    map[string]string // of the stack "sale"; there is no other
	parameters map[string]string
	// function is every function that executes commands, after the back office's signature is taken off
	function func(event []byte) (payload []byte, functionError string)
	roles    []seckill.Role     // roles that the caller may take; nil means all roles
	refusals map[string]refusal // by call
	busy     int                // number of commands that are refused first
	took     []string           // the roles in which commands came
	mu       sync.Mutex
	calls    []string
}

// refusal is an AWS error.
type refusal struct {
	status        int
	code, message string
}

func (c *cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	call := "Invoke"
	if r.URL.Path == "/" {
		_, call, _ = strings.Cut(string(body), "Action=")
		call, _, _ = strings.Cut(call, "&")
	}
	c.mu.Lock()
	c.calls = append(c.calls, call)
	c.mu.Unlock()
	no, refused := c.refusals[call]
	if call == "Invoke" && c.busy > 0 {
		c.busy--
		no, refused = refusal{429, "TooManyRequestsException", "Too Many Requests"}, true
	}
	if call == "DescribeStacks" && !refused && !strings.Contains(string(body), "StackName=sale&") {
		no, refused = refusal{400, "ValidationError", "Stack with id nowhere does not exist"}, true
	}
	switch {
	case refused && call == "Invoke":
		officetest.Refuse(w, no.status, no.code, no.message)
	case refused:
		w.WriteHeader(no.status)
		fmt.Fprintf(w,
			"<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error></ErrorResponse>",
			no.code, no.message)
	case call == "GetCallerIdentity":
		fmt.Fprintf(w,
			"<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>%s</Arn><Account>123456789012</Account>"+
				"</GetCallerIdentityResult></GetCallerIdentityResponse>", caller)
	case call == "DescribeStacks":
		type output struct{ OutputKey, OutputValue string }
		var list []output
		for k, v := range c.outputs {
			list = append(list, output{k, v})
		}
		type parameter struct{ ParameterKey, ParameterValue string }
		var parameters []parameter
		for k, v := range c.parameters {
			parameters = append(parameters, parameter{k, v})
		}
		b, _ := xml.Marshal(struct {
			XMLName    xml.Name    `xml:"DescribeStacksResponse"`
			Status     string      `xml:"DescribeStacksResult>Stacks>member>StackStatus"`
			Outputs    []output    `xml:"DescribeStacksResult>Stacks>member>Outputs>member"`
			Parameters []parameter `xml:"DescribeStacksResult>Stacks>member>Parameters>member"`
		}{Status: "CREATE_COMPLETE", Outputs: list, Parameters: parameters})
		_, _ = w.Write(b)
	case strings.HasPrefix(r.URL.Path, "/_aws/execute-api/api1/live/operator/"):
		r.Body = io.NopCloser(bytes.NewReader(body))
		c.operate(w, r)
	default:
		officetest.Refuse(w, http.StatusForbidden, "MissingAuthenticationTokenException",
			"Missing Authentication Token")
	}
}

// operate is the API's route of commands.
func (c *cloud) operate(w http.ResponseWriter, r *http.Request) {
	(&officetest.Gateway{Region: "eu-central-1", Admin: c.admin, Callers: map[string]officetest.Caller{
		"test": {Secret: "test", ARN: caller, Account: "123456789012", Roles: c.roles}}}).ServeHTTP(w, r)
}

// admin is function admin.
func (c *cloud) admin(ctx context.Context, event []byte) ([]byte, error) {
	office := operator.Office{Stack: "sale", Clock: system.Clock{}, Key: commandKey,
		Invoke: func(_ context.Context, function string, event []byte) ([]byte, error) {
			var e struct {
				Signed struct {
					Statement []byte
					Command   json.RawMessage
				}
			}
			var s struct{ Role string }
			if err := errors.Join(json.Unmarshal(event, &e), json.Unmarshal(e.Signed.Statement, &s)); err != nil {
				return nil, err
			}
			c.mu.Lock()
			c.took = append(c.took, s.Role+" "+function)
			c.mu.Unlock()
			payload, functionError := c.function(e.Signed.Command)
			if max(len(event), len(payload)) > officetest.MaxPayload {
				functionError = "Function.ResponseSizeTooLarge"
			}
			if functionError != "" {
				return nil, fmt.Errorf("it failed: %s", payload)
			}
			return payload, nil
		}}
	return office.Handle(ctx, event)
}

var commandKeys = operator.Keys(nil).Add([ed25519.SeedSize]byte{7}, time.Unix(0, 0))

func commandKey() ed25519.PrivateKey { return commandKeys.Signs(time.Now()) }

// called returns and clears the calls so far.
func (c *cloud) called() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() { c.calls = nil }()
	return strings.Join(c.calls, " ")
}

// noAWS removes this machine's AWS settings from the environment.
func noAWS(t *testing.T) {
	t.Helper()
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_DEFAULT_PROFILE",
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
		"AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_EXECUTE_API", "AWS_WEB_IDENTITY_TOKEN_FILE",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "config"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "credentials"))
}

// account sets AWS settings that lead to a server.
func account(t *testing.T, endpoint string) {
	t.Helper()
	noAWS(t)
	t.Setenv("AWS_REGION", "eu-central-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	t.Setenv("AWS_ENDPOINT_URL", endpoint)
}

func served(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// itemFunction is a stage function in this process.
func itemFunction(t *testing.T, items ...seckill.Listing) (function func([]byte) ([]byte, string), audit *output) {
	t.Helper()
	return executes(itemHandler(t, items...))
}

func itemHandler(t *testing.T, items ...seckill.Listing) operator.Handler {
	t.Helper()
	table := memory.NewItems()
	for _, it := range items {
		if err := table.Put(t.Context(), it.Item, &it.Description); err != nil {
			t.Fatal(err)
		}
	}
	l := ledger.New(memory.NewRows(memory.RowsOptions{Clock: system.Clock{}}))
	flow := stage.New(stage.Deps{Stock: redisstock.New(memory.NewRedis()), Items: table, Clock: system.Clock{},
		IDs: system.NewIDs(nil), Questions: l, Activities: l, Blocks: l})
	return operator.NewItemHandler(flow)
}

// executes returns a function of a stack that executes a handler's commands, and its log.
func executes(h operator.Handler) (function func([]byte) ([]byte, string), audit *output) {
	audit = &output{}
	handle := operator.Serve(telemetry.NewLog(audit, slog.LevelInfo), h)
	return func(event []byte) ([]byte, string) {
		out, err := handle(context.Background(), event)
		if err != nil {
			return []byte(err.Error()), "Unhandled"
		}
		return out, ""
	}, audit
}

// running is the address of a running shop that executes the handlers' commands. answers is called before each command.
// If it returns false, the shop fails; if answers is nil, the shop never fails.
func running(t *testing.T, answers func(event []byte) bool, handlers ...operator.Handler) string {
	t.Helper()
	handle := operator.Serve(slog.New(slog.DiscardHandler), handlers...)
	return served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		event, err := io.ReadAll(r.Body)
		if answers != nil && !answers(event) {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		answer, e := handle(r.Context(), event)
		if err := errors.Join(err, e); err != nil {
			t.Error(err)
		}
		_, _ = w.Write(answer)
	})).URL
}

// onStack makes an account whose stack "sale" executes a handler's commands.
func onStack(t *testing.T, h operator.Handler) (c *cloud, audit *output) {
	t.Helper()
	c = &cloud{outputs: anAPI}
	c.function, audit = executes(h)
	account(t, served(t, c).URL)
	return c, audit
}

// upcoming returns an item that will be loaded in time.
func upcoming(id string, stock int) seckill.Listing {
	it := local.DemoItems(time.Now(), stock, 1)[1]
	it.ID, it.Start = id, time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	it.End = it.Start.Add(time.Hour)
	return it
}

func TestItemsCommandsAgainstAStack(t *testing.T) {
	c, audit := onStack(t, itemHandler(t))
	file := written(t, "items.csv", []byte("id,title,price,sk_price,start_time,end_time,stock,limit\n33,表 "+
		"<b>,2,1,2999-01-01T00:00:00Z,2999-01-02T00:00:00Z,5,1\n"))
	steps := []step{
		{"items import " + file + "  --stack sale", exitOK, "Imported 1 item: 1 created.\n", ""},
		{"items import " + file + "  --stack sale", exitOK, "Nothing to do: 1 item is up to date.\n", ""},
		{"items stop 33 --stack sale", exitOK, "Item 33 is stopped (stopped, not loaded yet).\n", ""},
		{"items add-stock 33 9 --stack sale", exitOK, "Item 33 now has 9 units in total (stopped, not loaded yet).\n",
			""},
		{"items import " + file + "  --stack sale", exitUsage, "",
			"seckill: item 33: stock: 5 is less than the 9 that it has, and stock only grows (see: seckill items " +
				"import --help)\n"},
		{"items stop 404 --stack sale", exitUsage, "",
			"seckill: item 404: stack sale has no such item (see: seckill items stop --help)\n"},
	}
	for _, step := range steps {
		try(t, step)
		if calls := c.called(); calls != "GetCallerIdentity DescribeStacks Invoke" {
			t.Errorf("%s: called %s", step.line, calls)
		}
	}
	code, stdout, stderr := command(t, "items", "export", "--stack", "sale")
	items, err := itemfile.Parse("export.json", []byte(stdout), time.Now())
	if code != exitOK || stderr != "" || err != nil || len(items) != 1 || items[0].ID != "33" || items[0].Stock != 9 {
		t.Errorf("export: exit %d, %v\n%s%s", code, err, stdout, stderr)
	}
	if log := audit.String(); strings.Count(log, "\n") != 7 || strings.Count(log, caller) != 7 {
		t.Errorf("audit log:\n%s\nwant seven lines, each with %s", log, caller)
	}
}

func TestFlagsOfAStack(t *testing.T) {
	noAWS(t)
	refuses(t, exitUsage, "items export *", [][2]string{
		{"--stack sale --url http://localhost:1", "--stack and --url contradict each other"},
		{"--region eu-west-1", "name it with --stack"},
		{"--profile p", "name it with --stack"},
		{"--stack \"\"", `--stack "": want the name of a stack`},
		{"--stack my_sale", `--stack "my_sale"`},
		{"--stack sale --profile nobody", `the AWS configuration has no profile "nobody"`},
		{"--stack sale", "no AWS region: give --region, or set AWS_REGION"},
		{"--stack sale --region eu-west-1", "no AWS credentials: sign in and give --profile"},
	})
}

func TestRegionAndProfileAreUsed(t *testing.T) {
	c := &cloud{outputs: map[string]string{}}
	s := served(t, c)
	noAWS(t)
	t.Setenv("AWS_CONFIG_FILE", written(t, "config", []byte(
		"[profile shop]\nregion = ap-east-1\naws_access_key_id = a\naws_secret_access_key = b\nendpoint_url = "+
			s.URL+"\n")))
	for want, args := range map[string][]string{
		"region ap-east-1 of account 123456789012":  {"--profile", "shop"},
		"region eu-north-1 of account 123456789012": {"--profile", "shop", "--region", "eu-north-1"},
	} {
		code, _, stderr := command(t, append([]string{"items", "export", "--stack", "nowhere"}, args...)...)
		if code != exitUsage || !strings.Contains(stderr, "there is no stack nowhere in "+want) {
			t.Errorf("%v: exit %d, %s; want %q", args, code, stderr, want)
		}
	}
}

func TestAWSRefusesInOneLine(t *testing.T) {
	impatient(t)
	payload := func(text, functionError string) func([]byte) ([]byte, string) {
		return func([]byte) ([]byte, string) { return []byte(text), functionError }
	}
	problem := func(code seckill.Code) func([]byte) ([]byte, string) {
		return payload(fmt.Sprintf(`{"problem":{"code":%q,"detail":"The shop is busy."}}`, code), "")
	}
	for _, tt := range []struct {
		behaviour string
		cloud     *cloud
		stack     string
		code      int
		want      string
		calls     string
	}{
		{"no such stack", &cloud{}, "nowhere", exitUsage,
			"there is no stack nowhere in region eu-central-1 of account 123456789012", "DescribeStacks"},
		{"another stack", &cloud{outputs: map[string]string{"Url": "x"}}, "sale", exitUsage,
			"stack sale (CREATE_COMPLETE) has no output ApiId", "DescribeStacks"},
		{"credentials expired", &cloud{refusals: map[string]refusal{"GetCallerIdentity": {403, "ExpiredToken",
			"The security token included in the request is expired"}}},
			"sale", exitUsage, "the AWS credentials have expired: sign in again", "GetCallerIdentity"},
		{"credentials wrong", &cloud{refusals: map[string]refusal{"GetCallerIdentity": {403, "InvalidClientTokenId",
			"The security token included in the request is invalid."}}},
			"sale", exitUsage, "AWS does not accept these credentials: The security token", "GetCallerIdentity"},
		{"may not look", &cloud{refusals: map[string]refusal{"DescribeStacks": {403, "AccessDenied",
			"User: u is not authorized to perform: cloudformation:DescribeStacks"}}},
			"sale", exitUsage, "not allowed: User: u is not authorized to perform: cloudformation:DescribeStacks",
			"DescribeStacks"},
		{"may not take the role", &cloud{roles: []seckill.Role{seckill.RoleFinance}}, "sale", exitUsage,
			"stack sale: your AWS identity may not invoke operator/operator: ask for a policy that allows " +
				"execute-api:Invoke on arn:aws:execute-api:eu-central-1:123456789012:api1/live/POST/operator/operator",
			"Invoke"},
		{"signature refused", &cloud{refusals: map[string]refusal{"Invoke": {403, "InvalidSignatureException",
			"Signature expired"}}}, "sale", exitUsage,
			"AWS does not accept these credentials, or this machine's clock " + `is wrong: "Signature expired"`, "Invoke"},
		{"an older stack", &cloud{refusals: map[string]refusal{"Invoke": {404, "", ""}}}, "sale", exitUsage,
			"stack sale: it has no back office that knows this command: the stack is of an older release", "Invoke"},
		{"leads elsewhere", &cloud{refusals: map[string]refusal{"Invoke": {301, "", ""}}}, "sale", exitFault,
			"leads elsewhere (301 Moved Permanently)", "Invoke"},
		{"back office busy", &cloud{refusals: map[string]refusal{"Invoke": {429, "TooManyRequestsException",
			"Rate Exceeded."}}}, "sale", exitFault,
			"stack sale: its back office is busy, nothing was done: repeat the command", "Invoke"},
		{"AWS in trouble", &cloud{refusals: map[string]refusal{"Invoke": {500, "ServiceException", "oh"}}}, "sale",
			exitFault, "stack sale: its back office answers 500 Internal Server Error; the command may have been " +
				"carried out, and can be repeated", "Invoke"},
		{"function out of time", &cloud{function: payload(`Task timed out after 3.00 seconds`, "Unhandled")}, "sale",
			exitFault, `503 Service Unavailable: "function stage: it failed: Task timed out after 3.00 seconds"; the command ` +
				"may have been carried out", "Invoke"},
		{"function of an older version", &cloud{function: payload("null", "")}, "sale", exitFault,
			"cannot be read: does stack sale have the version of this tool?", "Invoke"},
		{"stock lost", &cloud{function: problem(seckill.CodeNotReady)}, "sale", exitFault,
			"item 7: the change is recorded, but the stock is being rebuilt", "Invoke"},
		{"function's Redis away", &cloud{function: problem(seckill.CodeUnavailable)}, "sale", exitFault,
			"The shop is busy.", "Invoke"},
	} {
		t.Run(tt.behaviour, func(t *testing.T) {
			if tt.cloud.outputs == nil {
				tt.cloud.outputs = anAPI
			}
			account(t, served(t, tt.cloud).URL)
			code, stdout, stderr := command(t, "items", "stop", "7", "--stack", tt.stack)
			if code != tt.code || stdout != "" || strings.Count(stderr, "\n") != 1 ||
				!strings.Contains(stderr, tt.want) {
				t.Errorf("exit %d\n%s%s\nwant exit %d and one line with %q", code, stdout, stderr, tt.code, tt.want)
			}
			if calls := tt.cloud.called(); !strings.HasSuffix(calls, tt.calls) || strings.Count(calls, "Invoke") > 1 {
				t.Errorf("called %s; want the last to be %s, and no invocation twice", calls, tt.calls)
			}
		})
	}
}

// impatient makes the tool try a busy function once.
func impatient(t *testing.T) {
	wait := busyFor
	busyFor = 0
	t.Cleanup(func() { busyFor = wait })
}

// TestAFunctionThatIsBusy checks that a function's schedule, which soon ends, does not keep an operator from stopping
// a sale.
func TestAFunctionThatIsBusy(t *testing.T) {
	d, _ := itemFunction(t, upcoming("33", 5))
	c := &cloud{outputs: anAPI, function: d, busy: 3}
	account(t, served(t, c).URL)
	code, stdout, stderr := command(t, "items", "stop", "33", "--stack", "sale")
	if code != exitOK || !strings.HasPrefix(stdout, "Item 33 is stopped") || stderr != "" ||
		strings.Count(c.called(), "Invoke") != 4 {
		t.Errorf("exit %d, %s%s", code, stdout, stderr)
	}
}

func TestAWSThatIsNotThere(t *testing.T) {
	s := served(t, http.NotFoundHandler())
	s.Close()
	account(t, s.URL)
	code, _, stderr := command(t, words("items stop 7 --stack sale")...)
	if code != exitFault || !strings.Contains(stderr, "AWS in region eu-central-1 cannot be reached: ") ||
		strings.Contains(stderr, "carried out") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

// TestAnAnswerThatIsLost checks that after a cut connection the tool does not repeat an executed command, and says
// that the outcome is unknown.
func TestAnAnswerThatIsLost(t *testing.T) {
	c := &cloud{outputs: anAPI}
	c.function = func([]byte) ([]byte, string) { panic(http.ErrAbortHandler) }
	account(t, served(t, c).URL)
	code, _, stderr := command(t, "items", "stop", "7", "--stack", "sale")
	if code != exitFault || !strings.Contains(stderr, "the command may have been carried out, and can be repeated") ||
		strings.Count(c.called(), "Invoke") != 1 {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

func TestInterrupted(t *testing.T) {
	noAWS(t)
	t.Setenv("AWS_REGION", "eu-central-1")
	over, end := context.WithCancel(t.Context())
	end()
	var stderr bytes.Buffer
	if code := run(over, []string{"items", "stop", "7", "--stack", "sale"}, io.Discard, &stderr,
		noEnv); code != exitFault || stderr.String() != "seckill: interrupted\n" {
		t.Errorf("before anything: exit %d, %s", code, stderr.String())
	}
	for _, tt := range []struct{ during, want string }{
		{"GetCallerIdentity", "seckill: interrupted\n"},
		{"Invoke", "seckill: interrupted; the command may have been carried out, and can be repeated\n"},
	} {
		c := &cloud{outputs: anAPI}
		c.function, _ = itemFunction(t)
		ctx, interrupt := context.WithCancel(t.Context())
		account(t, served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if (r.URL.Path == "/") == (tt.during != "Invoke") {
				_, _ = io.Copy(io.Discard, r.Body) // so that the end of the connection is noticed
				interrupt()
				<-r.Context().Done()
				return
			}
			c.ServeHTTP(w, r)
		})).URL)
		var stdout, stderr bytes.Buffer
		code := run(ctx, []string{"items", "stop", "7", "--stack", "sale"}, &stdout, &stderr, noEnv)
		if code != exitFault || stdout.Len() > 0 || stderr.String() != tt.want {
			t.Errorf("during %s: exit %d\n%s%s\nwant exit %d\n%s", tt.during, code, stdout.String(), stderr.String(),
				exitFault, tt.want)
		}
	}
}

func TestAFileThatIsTooLargeForACall(t *testing.T) {
	c := &cloud{outputs: anAPI}
	account(t, served(t, c).URL)
	var items []seckill.Listing
	for i := range 300 {
		it := upcoming(fmt.Sprint(1+i), 5)
		it.Detail = strings.Repeat("&", seckill.MaxDetail/5) // five times as long after sanitizing
		items = append(items, it)
	}
	file := written(t, "large.json", itemfile.Format(items))
	refused(t, exitUsage, file+": its items are more than 5 MiB, which is what a call takes: split it",
		words("items import "+file+" --stack sale")...)
}

func TestWaitingIsSaidAfterTwoSeconds(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration]string{time.Second: "",
		3 * time.Second: "seckill: waiting for function f …\n"} {
		synctest.Test(t, func(t *testing.T) {
			var b bytes.Buffer
			err := waiting{&b}.during("function f", func() error {
				time.Sleep(took) // on the synctest clock
				return io.EOF
			})
			if b.String() != want || !errors.Is(err, io.EOF) {
				t.Errorf("after %v: %q, %v; want %q", took, b.String(), err, want)
			}
		})
	}
	if w := waitingOn(&bytes.Buffer{}); w.w != nil {
		t.Error("a buffer is taken for a terminal")
	}
}
