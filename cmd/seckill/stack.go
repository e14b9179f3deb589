package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"

	"github.com/your-org/seckill/cmd/seckill/doctor"
	"github.com/your-org/seckill/shared/adapter/operator"
)

// The stack's outputs with the names of the functions that execute an operator's commands.
const (
	stageOutput     = "StageFunction"     // about items
	refundOutput    = "RefundFunction"    // about money
	reconcileOutput = "ReconcileFunction" // about bills
	repairOutput    = "RepairFunction"    // about users
	tellOutput      = "TellFunction"      // about events
	deliverOutput   = "DeliverFunction"   // about webhooks
	actsOutput      = "ActsFunction"      // about suspicious acts
)

// Limits of calls to AWS.
const (
	lookTimeout   = 30 * time.Second // to find credentials, caller and stack, with retries
	invokeTimeout = 6 * time.Minute  // of one command; the function's own limit is shorter
	busyStep      = 100 * time.Millisecond
)

// busyFor is how long calls to a busy function are repeated: its schedule or another operator's command ends soon.
// Tests shorten it.
var busyFor = 2 * time.Second

// stackName matches what CloudFormation accepts (CreateStack): a name, or a stack's id.
var stackName = regexp.MustCompile(`^([A-Za-z][-A-Za-z0-9]{0,127}|arn:[-A-Za-z0-9:/]{1,1000})$`)

// deployedShop is a stack on AWS and one of its functions.
type deployedShop struct {
	who     string // the caller's ARN
	lambda  *lambda.Client
	wait    waiting
	stack   string
	output  string // that names the function
	region  string
	account string
	name    string // of the function, or its ARN
	cfg     aws.Config
	found   types.Stack
}

// openStack finds the caller, the stack, and the function that an output names.
func openStack(ctx context.Context, t *target, output string, wait waiting) (*deployedShop, error) {
	if !stackName.MatchString(t.stack) {
		return nil, fmt.Errorf("--stack %q: want the name of a stack, letters, digits and hyphens", t.stack)
	}
	s := &deployedShop{stack: t.stack, output: output, wait: wait}
	err := wait.during("AWS", func() error {
		ctx, cancel := context.WithTimeout(ctx, lookTimeout)
		defer cancel()
		cfg, err := awsConfig(ctx, t)
		if ctx.Err() != nil {
			return s.fault(ctx.Err()) // not err, which would blame the credentials
		}
		if err != nil {
			return err
		}
		s.region, s.cfg = cfg.Region, cfg
		return s.find(ctx, cfg)
	})
	return s, err
}

// awsConfig finds region and credentials as every AWS tool does. Both are required.
func awsConfig(ctx context.Context, t *target) (aws.Config, error) {
	// The SDK's own log lines, such as one about a missing checksum, are not for operators.
	options := []func(*config.LoadOptions) error{config.WithLogger(logging.Nop{})}
	if t.region != "" {
		options = append(options, config.WithRegion(t.region))
	}
	if t.profile != "" {
		options = append(options, config.WithSharedConfigProfile(t.profile))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	var missing config.SharedConfigProfileNotExistError
	switch {
	case errors.As(err, &missing):
		return cfg, fmt.Errorf("the AWS configuration has no profile %q", missing.Profile)
	case err != nil:
		return cfg, fmt.Errorf("the AWS configuration cannot be used: %w", err)
	case cfg.Region == "":
		return cfg, errors.New("no AWS region: give --region, or set AWS_REGION")
	}
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		// EC2's metadata service is the last source that the SDK tries, so no other source has credentials.
		if strings.Contains(err.Error(), "EC2 IMDS") {
			return cfg,
				errors.New(
					"no AWS credentials: sign in and give --profile, or set AWS_ACCESS_KEY_ID and " +
						"AWS_SECRET_ACCESS_KEY")
		}
		return cfg, fmt.Errorf("no AWS credentials: %w", err)
	}
	return cfg, nil
}

// find gets the caller's identity, the stack, and the name of its function.
func (s *deployedShop) find(ctx context.Context, cfg aws.Config) error {
	me, err := sts.NewFromConfig(cfg).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return s.fault(err)
	}
	s.account = aws.ToString(me.Account)
	out, err := cloudformation.NewFromConfig(cfg).DescribeStacks(ctx,
		&cloudformation.DescribeStacksInput{StackName: &s.stack})
	var refused smithy.APIError
	if errors.As(err, &refused) && refused.ErrorCode() == "ValidationError" &&
		strings.Contains(refused.ErrorMessage(), "does not exist") ||
		err == nil && len(out.Stacks) == 0 {
		return fmt.Errorf("there is no stack %s in region %s of account %s", s.stack, s.region, s.account)
	}
	if err != nil {
		return s.fault(err)
	}
	s.found = out.Stacks[0]
	if s.name = s.outputOf(s.output); s.name == "" {
		return fmt.Errorf("stack %s (%s) has no output %s: it is no stack of this system, or was never deployed whole",
			s.stack,
			s.found.StackStatus, s.output)
	}
	// No retries, unless the function was busy: the operator decides, and the error says that a repetition is harmless.
	s.lambda = lambda.NewFromConfig(cfg, func(o *lambda.Options) { o.Retryer = aws.NopRetryer{} })
	s.who = aws.ToString(me.Arn)
	return nil
}

// shop returns the client of the stack's function.
func (s *deployedShop) shop() *shop {
	return &shop{Client: operator.Client{Who: s.who, Call: s.invoke}, name: "stack " + s.stack,
		answers: "function " + s.name, deployed: true,
		now: func(context.Context) (time.Time, error) { return time.Now(), nil }}
}

// outputOf returns one of the stack's outputs, "" if there is none of that name.
func (s *deployedShop) outputOf(key string) string {
	for _, o := range s.found.Outputs {
		if aws.ToString(o.OutputKey) == key {
			return aws.ToString(o.OutputValue)
		}
	}
	return ""
}

// invoke calls the function with an event.
func (s *deployedShop) invoke(ctx context.Context, event []byte) (answer []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, invokeTimeout)
	defer cancel()
	var out *lambda.InvokeOutput
	err = s.wait.during("function "+s.name, func() error {
		for until := time.Now().Add(busyFor); ; time.Sleep(busyStep) {
			out, err = s.lambda.Invoke(ctx, &lambda.InvokeInput{FunctionName: &s.name,
				Qualifier: aws.String(doctor.Live), Payload: event})
			if !busy(err) || time.Now().After(until) || ctx.Err() != nil {
				return err
			}
		}
	})
	if err != nil {
		return nil, s.fault(err)
	}
	if out.FunctionError != nil {
		var failed struct{ ErrorMessage, ErrorType string }
		if json.Unmarshal(out.Payload, &failed) != nil || failed.ErrorMessage == "" {
			failed.ErrorMessage = *out.FunctionError
		}
		return nil, faultError{fmt.Errorf(
			"function %s failed: %s; the command may have been carried out all the same, and can be repeated", s.name,
			failed.ErrorMessage)}
	}
	return out.Payload, nil
}

// tooMany is Lambda's error for a call beyond the concurrency. Nothing was done, so the call can be repeated.
const tooMany = "TooManyRequestsException"

func busy(err error) bool {
	var refused smithy.APIError
	return errors.As(err, &refused) && refused.ErrorCode() == tooMany
}

// fault describes the error of a call to AWS.
func (s *deployedShop) fault(err error) error {
	var refused smithy.APIError
	if errors.As(err, &refused) {
		switch refused.ErrorCode() {
		case "ResourceNotFoundException":
			return fmt.Errorf("stack %s names function %s, and region %s has no such function", s.stack, s.name,
				s.region)
		case tooMany:
			return faultError{fmt.Errorf("function %s is busy, nothing was done: repeat the command (%s)", s.name,
				why(refused))}
		}
	}
	again := ""
	if s.name != "" {
		again = "; the command may have been carried out, and can be repeated"
	}
	return awsFault(err, s.region, again)
}

// awsFault describes the error of a call to AWS; it appends again if there was no answer.
func awsFault(err error, region, again string) error {
	var refused smithy.APIError
	if errors.As(err, &refused) {
		switch refused.ErrorCode() {
		case "ExpiredToken", "ExpiredTokenException", "RequestExpired":
			return fmt.Errorf("the AWS credentials have expired: sign in again (%s)", why(refused))
		case "InvalidClientTokenId", "UnrecognizedClientException", "SignatureDoesNotMatch",
			"InvalidSignatureException", "IncompleteSignature", "AuthFailure":
			return fmt.Errorf("AWS does not accept these credentials: %s", why(refused))
		case "AccessDenied", "AccessDeniedException", "UnauthorizedOperation":
			return fmt.Errorf("not allowed: %s", why(refused))
		}
		return faultError{fmt.Errorf("AWS answers %s: %s", refused.ErrorCode(), why(refused))}
	}
	var call *url.Error
	switch {
	case errors.Is(err, context.Canceled):
		return faultError{errors.New("interrupted" + again)}
	case errors.Is(err, context.DeadlineExceeded):
		return faultError{errors.New("AWS did not answer in time" + again)}
	case errors.As(err, &call):
		return faultError{fmt.Errorf("AWS in region %s cannot be reached: %w%s", region, call, again)}
	}
	return faultError{fmt.Errorf("%w%s", err, again)}
}

// why returns AWS's text of a refusal, else its code.
func why(refused smithy.APIError) string {
	if text := refused.ErrorMessage(); text != "" {
		return text
	}
	return refused.ErrorCode()
}
