// Package stacks reads deployed stacks. In: CloudFormation's client, a stack's name. Out: the stack, its outputs and
// parameters. It changes nothing.
package stacks

import (
	"context"
	"errors"
	"strings"

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
