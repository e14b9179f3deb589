package account

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/your-org/seckill/cmd/seckill/office/officetest"
)

// OfSecrets names the limit of GetSecretValue in counts.
const OfSecrets = "Secrets Manager: GetSecretValue"

// AccountID and ARN are the identity that callers see.
const (
	AccountID = "123456789012"
	ARN       = "arn:aws:iam::" + AccountID + ":user/operator" // of the access key "test"
	region    = "eu-west-1"
)

// ErrThrottled is the error of Options.Invoke when Lambda has no execution for a call.
var ErrThrottled = errors.New("throttled")

// Options configure an account and its contents.
type Options struct {
	Limits   Limits            // as enforced: see Hundredth
	Clock    Clock             // nil means the machine's clock
	DynamoDB string            // URL of the server behind it
	Secrets  map[string]string // values by name, of Secrets Manager
	// Throttles are the stage's, by resource and method ("/seckill/buy/POST"); "*/*" applies to all others.
	Throttles map[string]Throttle
	Resources []string           // the API's resources, such as /order/{id}: others have no settings
	Reserved  map[string]float64 // reserved executions, by function
	Scale     float64            // divisor of UpdateStage's figures and factor of GetStage's
	Stack     string             // its name
	Outputs   map[string]string  // the outputs of the stack
	// Parameters are the parameters of the stack.
	Parameters map[string]string
	// Invoke makes a function handle an event and returns its answer, ErrThrottled, or the function's own error.
	Invoke func(ctx context.Context, function string, event []byte) ([]byte, error)
}

// Account is an http.Handler that answers AWS's services at one URL: Secrets Manager, DynamoDB, and for operators
// STS, CloudFormation, Lambda's Invoke, API Gateway's stage and, by signature, the back office's route.
type Account struct {
	Lambda  *Lambda
	Gateway *Gateway

	options Options
	limits  Limits
	clock   Clock
	counts  counts
	secrets *bucket
	dynamo  *dynamoDB
}

// New returns an account with a stack. The error is the reason why the stack could not be deployed.
func New(o Options) (*Account, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Scale == 0 {
		o.Scale = 1
	}
	a := &Account{
		options: o,
		limits:  o.Limits,
		clock:   o.Clock,
		secrets: aSecond(o.Clock, o.Limits.Secrets),
	}
	a.Gateway, a.dynamo = a.newGateway(o.Throttles, o.Resources), a.newDynamoDB(o.DynamoDB)
	var err error
	a.Lambda, err = a.newLambda(o.Reserved)
	return a, err
}

// Counts returns by limit what passed and what did not.
func (a *Account) Counts() map[string]Count { return a.counts.snapshot() }

// Output adds an output to the stack, before the first call.
func (a *Account) Output(key, value string) { a.options.Outputs[key] = value }

// ServeHTTP answers one call.
func (a *Account) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	target := r.Header.Get("X-Amz-Target")
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	_, isCommand := officetest.Takes(r)
	switch {
	case isCommand:
		(&officetest.Gateway{Region: region, Admin: func(ctx context.Context, event []byte) ([]byte, error) {
			return a.options.Invoke(ctx, "admin", event)
		}, Callers: map[string]officetest.Caller{
			"test": {Secret: "test", ARN: ARN, Account: AccountID}}}).ServeHTTP(w, r)
	case strings.HasPrefix(target, dynamoTarget):
		a.dynamo.ServeHTTP(w, r)
	case target == "secretsmanager.GetSecretValue":
		a.getSecret(w, r)
	case len(path) == 4 && path[0] == "2015-03-31" && path[3] == "invocations":
		a.invoke(w, r, path[2])
	case len(path) == 4 && path[0] == "restapis" && path[2] == "stages":
		a.Gateway.stage(w, r, a.options.Scale)
	case strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded"):
		a.query(w, r)
	default:
		awsError(w, http.StatusBadRequest, "UnknownOperationException",
			"nothing here answers "+r.Method+" "+r.URL.Path+" "+target)
	}
}

func (a *Account) getSecret(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ID string `json:"SecretId"`
	}
	if !a.may(w, r, OfSecrets, a.secrets, &in) {
		return
	}
	v, ok := a.options.Secrets[in.ID]
	if !ok {
		awsError(w, http.StatusBadRequest, "ResourceNotFoundException",
			"Secrets Manager can't find the specified secret.")
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"ARN":           "arn:aws:secretsmanager:eu-west-1:" + AccountID + ":secret:" + in.ID,
		"Name":          in.ID,
		"SecretString":  v,
		"VersionId":     "00000000-0000-4000-8000-000000000001",
		"VersionStages": []string{"AWSCURRENT"},
	})
}

// may reads a call's input, unless the call exceeds the limit.
func (a *Account) may(w http.ResponseWriter, r *http.Request, limit string, b *bucket, in any) bool {
	passed := b.take()
	a.counts.add(limit, passed)
	if !passed {
		awsError(w, http.StatusBadRequest, "ThrottlingException", "Rate exceeded")
		return false
	}
	if err := json.NewDecoder(r.Body).Decode(in); err != nil {
		awsError(w, http.StatusBadRequest, "SerializationException", err.Error())
		return false
	}
	return true
}

func (a *Account) invoke(w http.ResponseWriter, r *http.Request, function string) {
	event, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if a.options.Stack != "" {
		function = strings.TrimPrefix(function, a.options.Stack+"-")
	}
	out, err := a.options.Invoke(r.Context(), function, event)
	switch {
	case errors.Is(err, ErrThrottled):
		w.Header().Set("X-Amzn-Errortype", "TooManyRequestsException")
		writeJSON(w, http.StatusTooManyRequests, map[string]string{
			"Type":    "User",
			"Reason":  "ReservedFunctionConcurrentInvocationLimitExceeded",
			"message": "Rate Exceeded.",
		})
	case err != nil:
		w.Header().Set("X-Amz-Function-Error", "Unhandled")
		writeJSON(w, http.StatusOK, map[string]string{"errorType": "Runtime.ExitError", "errorMessage": err.Error()})
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(out)
	}
}

// query answers the two calls of the query protocol that `seckill` makes before a command.
func (a *Account) query(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	form := string(body)
	action := ""
	for _, pair := range strings.Split(form, "&") {
		if v, ok := strings.CutPrefix(pair, "Action="); ok {
			action = v
		}
	}
	w.Header().Set("Content-Type", "text/xml")
	switch action {
	case "GetCallerIdentity":
		fmt.Fprintf(w, `<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>%s</Arn><UserId>operator</UserId>`+
			`<Account>%s</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`, ARN, AccountID)
	case "DescribeStacks":
		fmt.Fprintf(w, `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>%s</StackName>`+
			`<StackStatus>UPDATE_COMPLETE</StackStatus>`+
			`<CreationTime>2026-11-11T00:00:00Z</CreationTime><Outputs>%s</Outputs><Parameters>%s</Parameters>`+
			`</member></Stacks></DescribeStacksResult></DescribeStacksResponse>`, a.options.Stack,
			members("Output", a.options.Outputs), members("Parameter", a.options.Parameters))
	default:
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `<ErrorResponse><Error><Type>Sender</Type><Code>InvalidAction</Code>`+
			`<Message>nothing here answers %s</Message></Error></ErrorResponse>`, action)
	}
}

// members encodes pairs as lists of the query protocol.
func members(kind string, pairs map[string]string) string {
	var out strings.Builder
	for key, value := range pairs {
		out.WriteString("<member><" + kind + "Key>" + key + "</" + kind + "Key><" + kind + "Value>")
		_ = xml.EscapeText(&out, []byte(value)) // writing to memory cannot fail
		out.WriteString("</" + kind + "Value></member>")
	}
	return out.String()
}

// awsError answers with an error in the format of AWS's JSON services.
func awsError(w http.ResponseWriter, status int, kind, message string) {
	writeJSON(w, status, map[string]string{"__type": kind, "message": message})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, _ := json.Marshal(v) // strings and numbers always marshal
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	// DynamoDB's client verifies it
	w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
