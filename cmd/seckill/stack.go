package main

import (
	"context"
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
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"

	"github.com/your-org/seckill/cmd/seckill/office"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/seckill"
)

// The stack's outputs with the API's id and the name of its stage.
const (
	apiOutput   = "ApiId"
	stageOutput = "ApiStage"
)

// Limits of calls to AWS.
const (
	lookTimeout = 30 * time.Second // to find credentials, caller and stack, with retries
	busyStep    = 100 * time.Millisecond
)

// busyFor is how long calls to a busy back office are repeated. Tests shorten it.
var busyFor = 2 * time.Second

// stackName matches what CloudFormation accepts (CreateStack): a name, or a stack's id.
var stackName = regexp.MustCompile(`^([A-Za-z][-A-Za-z0-9]{0,127}|arn:[-A-Za-z0-9:/]{1,1000})$`)

// deployedShop is a stack on AWS.
type deployedShop struct {
	wait    waiting
	stack   string
	region  string
	account string
	api     string // its id
	stage   string // the stage of the API
	role    seckill.Role
	office  *office.Office
	cfg     aws.Config
	found   types.Stack
}

// openStack finds the caller and the stack.
func openStack(ctx context.Context, t *target, wait waiting) (*deployedShop, error) {
	if !stackName.MatchString(t.stack) {
		return nil, fmt.Errorf("--stack %q: want the name of a stack, letters, digits and hyphens", t.stack)
	}
	s := &deployedShop{stack: t.stack, role: seckill.Role(t.role), wait: wait}
	err := wait.during("AWS", func() error {
		ctx, cancel := context.WithTimeout(ctx, lookTimeout)
		defer cancel()
		cfg, err := awsConfig(ctx, t)
		if ctx.Err() != nil {
			return awsFault(ctx.Err(), s.region, "") // not err, which would blame the credentials
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
			return cfg, errors.New("no AWS credentials: sign in and give --profile, or set AWS_ACCESS_KEY_ID and " +
				"AWS_SECRET_ACCESS_KEY")
		}
		return cfg, fmt.Errorf("no AWS credentials: %w", err)
	}
	return cfg, nil
}

// find gets the caller's account, the stack, and its API.
func (s *deployedShop) find(ctx context.Context, cfg aws.Config) error {
	me, err := sts.NewFromConfig(cfg).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return awsFault(err, s.region, "")
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
		return awsFault(err, s.region, "")
	}
	s.found = out.Stacks[0]
	s.api, s.stage = s.outputOf(apiOutput), s.outputOf(stageOutput)
	for _, output := range []string{apiOutput, stageOutput} {
		if s.outputOf(output) == "" {
			return fmt.Errorf("stack %s (%s) has no output %s: it is not a stack of this system, or was never "+
				"deployed whole", s.stack, s.found.StackStatus, output)
		}
	}
	s.office, err = office.Open(cfg, s.account, s.api, s.stage)
	return err
}

// shop returns the client of the stack's back office.
func (s *deployedShop) shop() *shop {
	return &shop{Client: s.as(s.role), name: "stack " + s.stack,
		answers: "the back office of stack " + s.stack, deployed: true,
		now: func(context.Context) (time.Time, error) { return time.Now(), nil }}
}

// outputOf returns one of the stack's outputs, or "" if the stack has no output of that name.
func (s *deployedShop) outputOf(key string) string {
	for _, o := range s.found.Outputs {
		if aws.ToString(o.OutputKey) == key {
			return aws.ToString(o.OutputValue)
		}
	}
	return ""
}

// as returns the client of the back office in a role or, if role is "", in the least role that may give a command.
func (s *deployedShop) as(role seckill.Role) operator.Client {
	return operator.Client{Call: func(ctx context.Context, event []byte) ([]byte, error) {
		return s.call(ctx, role, event)
	}}
}

// call has the back office execute a command in a role.
func (s *deployedShop) call(ctx context.Context, role seckill.Role, event []byte) (answer []byte, err error) {
	if role == "" {
		if role, err = office.Least(event); err != nil {
			return nil, err
		}
	}
	err = s.wait.during("the back office of stack "+s.stack, func() error {
		// No repetition, unless it was busy: the operator decides, and the error says that a repetition is harmless.
		for until := time.Now().Add(busyFor); ; time.Sleep(busyStep) {
			answer, err = s.office.Call(ctx, role, event)
			failed := (*office.Error)(nil)
			if !errors.As(err, &failed) || failed.Kind != office.Busy || time.Now().After(until) || ctx.Err() != nil {
				return err
			}
		}
	})
	return answer, s.fault(err)
}

// again says what an operator may do after a call without an answer.
const again = "; the command may have been carried out, and can be repeated"

// fault describes the error of a call to the back office.
func (s *deployedShop) fault(err error) error {
	failed := (*office.Error)(nil)
	switch {
	case errors.Is(err, context.Canceled):
		return awsFault(err, s.region, again)
	case !errors.As(err, &failed):
		return err
	}
	said := fmt.Errorf("stack %s: %w", s.stack, err)
	switch failed.Kind {
	case office.Unknown:
		return faultError{fmt.Errorf("%w%s", said, again)}
	case office.Busy, office.Foreign:
		return faultError{said}
	}
	return said
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
