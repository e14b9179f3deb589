// Package office sends operators' commands to a stack's back office: POST /operator/{role} of its API, signed with the
// operator's own AWS credentials (Signature Version 4). In: a role and a command as package operator writes it. Out:
// what the function that executed it answers, a refusal as an *operator.Refusal, or an *Error that says whether the
// command may have been executed. It follows no redirect, and repeats nothing.
package office

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/seckill"
)

// Limits of a call. API Gateway takes and gives at most 10 MB, and Lambda 6 MB of an event in which the body is a JSON
// text; API Gateway waits 29 s for a function ("Amazon API Gateway quotas", "Lambda quotas").
const (
	Service   = "execute-api" // the service that signatures name
	Timeout   = time.Minute   // of one call; a stand-in for AWS starts functions first
	maxAnswer = 10 << 20      // bytes
	maxEvent  = 6_000_000     // bytes of the body as a JSON text; the rest of 6 MiB is for headers
	maxShown  = 300           // bytes of a foreign answer in an error
)

// endpointVariable names an address for this service only, as AWS's tools have it for other services.
const endpointVariable = "AWS_ENDPOINT_URL_EXECUTE_API"

// Path returns the route of a role.
func Path(role seckill.Role) string { return "/operator/" + string(role) }

// Office is a stack's back office. It is safe for concurrent use.
type Office struct {
	Address     string // of the API's stage, such as https://api1.execute-api.eu-west-1.amazonaws.com/live
	Resource    string // what policies name: arn:aws:execute-api:REGION:ACCOUNT:API/STAGE/POST
	Region      string
	Credentials aws.CredentialsProvider
	Now         func() time.Time // nil means the machine's clock
}

// Open returns the back office of an API. The address is API Gateway's own, not the shop's public address: a CDN
// would change the host, which is signed. It is https, unless the operator names the address of a stand-in for AWS.
func Open(cfg aws.Config, account, id, stage string) (*Office, error) {
	partition, suffix := "aws", "amazonaws.com"
	switch {
	case strings.HasPrefix(cfg.Region, "cn-"):
		partition, suffix = "aws-cn", "amazonaws.com.cn"
	case strings.HasPrefix(cfg.Region, "us-gov-"):
		partition = "aws-us-gov"
	}
	address := fmt.Sprintf("https://%s.execute-api.%s.%s/%s", id, cfg.Region, suffix, stage)
	if endpoint := cmp.Or(os.Getenv(endpointVariable), aws.ToString(cfg.BaseEndpoint)); endpoint != "" {
		u, err := url.Parse(endpoint)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" ||
			u.RawQuery != "" || u.User != nil {
			return nil, fmt.Errorf("AWS's address %+.200q is not a URL", endpoint)
		}
		address = strings.TrimSuffix(endpoint, "/") + "/_aws/execute-api/" + id + "/" + stage
	}
	return &Office{Address: address, Region: cfg.Region, Credentials: cfg.Credentials,
		Resource: fmt.Sprintf("arn:%s:execute-api:%s:%s:%s/%s/POST", partition, cfg.Region, account, id, stage)}, nil
}

// Least returns the least role that may give an event's command.
func Least(event []byte) (seckill.Role, error) {
	var e struct{ Operator struct{ Command string } }
	if err := json.Unmarshal(event, &e); err != nil {
		return "", err
	}
	role, ok := operator.LeastRole(e.Operator.Command)
	if !ok {
		return "", fmt.Errorf("command %q is nobody's", e.Operator.Command)
	}
	return role, nil
}

// client has no redirects: the signature is for one address, and the command for one stack.
var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// Call sends a command in a role and returns the answer. While another command is in the way, it repeats it. Errors:
// *operator.Refusal, operator.ErrTooLarge, *Error, or the caller's context's.
func (o *Office) Call(ctx context.Context, role seckill.Role, event []byte) ([]byte, error) {
	if operator.TextSize(event) > maxEvent {
		return nil, operator.ErrTooLarge
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	for {
		body, again, err := o.once(ctx, role, event)
		if again == 0 {
			return body, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(again):
		}
	}
}

// once sends a command. again is when to repeat one that was not carried out because of another, or 0.
func (o *Office) once(ctx context.Context, role seckill.Role, event []byte) (_ []byte, again time.Duration, _ error) {
	req, err := o.request(ctx, role, event)
	if err != nil {
		return nil, 0, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, 0, unanswered(ctx, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, 0, unanswered(ctx, err)
	case len(body) > maxAnswer:
		return nil, 0, &Error{Kind: Unknown, Text: fmt.Sprintf("the answer is longer than %d MiB", maxAnswer>>20)}
	case resp.StatusCode == http.StatusOK:
		return body, 0, nil
	}
	return nil, waiting(body), o.refused(resp, role, body)
}

// request makes a signed request.
func (o *Office) request(ctx context.Context, role seckill.Role, event []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, o.Address+Path(role), bytes.NewReader(event))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	credentials, err := o.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, &Error{Kind: Credentials, Text: "no AWS credentials: " + err.Error()}
	}
	now := time.Now
	if o.Now != nil {
		now = o.Now
	}
	sum := sha256.Sum256(event)
	return req, v4.NewSigner().SignHTTP(ctx, credentials, req, hex.EncodeToString(sum[:]), Service, o.Region, now())
}

func unanswered(ctx context.Context, err error) error {
	var call *url.Error
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &call) && call.Timeout():
		return &Error{Kind: Unknown, Text: "the API did not answer in time"}
	}
	return &Error{Kind: Unknown, Text: "the API cannot be reached, or broke off: " + err.Error()}
}
