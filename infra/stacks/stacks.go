// Package stacks reads deployed stacks. In: CloudFormation's client, a stack's name. Out: the stack, its outputs and
// parameters, and why it failed. It changes nothing.
package stacks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/smithy-go"
)

// Find returns the stack with a name, nil if there is none. Its errors are CloudFormation's.
func Find(ctx context.Context, cfn *cloudformation.Client, name string) (*types.Stack, error) {
	out, err := cfn.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
	var refused smithy.APIError
	if errors.As(err, &refused) && refused.ErrorCode() == "ValidationError" &&
		strings.Contains(refused.ErrorMessage(), "does not exist") {
		return nil, nil //nolint:nilnil // no stack is no error
	}
	if err != nil || len(out.Stacks) == 0 {
		return nil, err
	}
	return &out.Stacks[0], nil
}

// Failure returns what the stack's first failed event since a time says, as "Acl (AWS::WAFv2::WebACL): reason"; "" if
// none failed. If that event is a nested stack's, Failure looks for the reason there. id is the stack's ARN: a deleted
// stack is found by no other.
func Failure(ctx context.Context, cfn *cloudformation.Client, id string, since time.Time) (string, error) {
	var first *types.StackEvent
	pages := cloudformation.NewDescribeStackEventsPaginator(cfn,
		&cloudformation.DescribeStackEventsInput{StackName: &id})
	for over := false; pages.HasMorePages() && !over; { // the newest comes first
		out, err := pages.NextPage(ctx)
		if err != nil {
			return "", err
		}
		for i := range out.StackEvents {
			e := &out.StackEvents[i]
			if over = aws.ToTime(e.Timestamp).Before(since); over {
				break
			}
			if strings.HasSuffix(string(e.ResourceStatus), "_FAILED") &&
				!strings.Contains(aws.ToString(e.ResourceStatusReason), "cancelled") {
				first = e
			}
		}
	}
	if first == nil {
		return "", nil
	}
	if nested := aws.ToString(first.PhysicalResourceId); nested != "" && nested != id &&
		aws.ToString(first.ResourceType) == "AWS::CloudFormation::Stack" {
		if why, err := Failure(ctx, cfn, nested, since); err == nil && why != "" {
			return aws.ToString(first.LogicalResourceId) + ": " + why, nil
		}
	}
	return fmt.Sprintf("%s (%s): %s", aws.ToString(first.LogicalResourceId), aws.ToString(first.ResourceType),
		aws.ToString(first.ResourceStatusReason)), nil
}

// Output returns the value of one of the stack's outputs, "" if it has no such output.
func Output(s *types.Stack, key string) string {
	for _, o := range s.Outputs {
		if aws.ToString(o.OutputKey) == key {
			return aws.ToString(o.OutputValue)
		}
	}
	return ""
}

// Parameter returns the value of one of the stack's parameters, "" if it has no such parameter.
func Parameter(s *types.Stack, key string) string {
	for _, p := range s.Parameters {
		if aws.ToString(p.ParameterKey) == key {
			return aws.ToString(p.ParameterValue)
		}
	}
	return ""
}
