// Package stackstate reads deployed stacks, and deletes them. In: CloudFormation's client, a stack's name. Out: the
// stack, its outputs and parameters, what can be done with it, why it failed, and what its deletion left.
package stackstate

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

// Find returns the stack with a name, or nil if there is no such stack. Its errors are CloudFormation's.
func Find(ctx context.Context, cfn *cloudformation.Client, name string) (*types.Stack, error) {
	out, err := cfn.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
	var refused smithy.APIError
	if errors.As(err, &refused) && refused.ErrorCode() == "ValidationError" &&
		strings.Contains(refused.ErrorMessage(), "does not exist") {
		return nil, nil //nolint:nilnil // no stack is not an error
	}
	if err != nil || len(out.Stacks) == 0 {
		return nil, err
	}
	return &out.Stacks[0], nil
}

// Life is what can be done with a stack.
type Life int

// A stack's lives.
const (
	None   Life = iota // there is none, or only a change set that would make it
	Alive              // it can be updated and deleted
	Busy               // CloudFormation is at work on it
	Halted             // the rollback of an update failed, and has to be continued
	Dead               // its creation or deletion failed: it can only be deleted
)

// LifeOf returns a stack's life; s may be nil.
func LifeOf(s *types.Stack) Life {
	if s == nil {
		return None
	}
	switch s.StackStatus {
	case types.StackStatusReviewInProgress:
		return None
	case types.StackStatusRollbackComplete, types.StackStatusRollbackFailed, types.StackStatusCreateFailed,
		types.StackStatusDeleteFailed:
		return Dead
	case types.StackStatusUpdateRollbackFailed:
		return Halted
	}
	if strings.HasSuffix(string(s.StackStatus), "_IN_PROGRESS") {
		return Busy
	}
	return Alive
}

// Updatable returns nil if a stack can be updated or deleted, or there is none; else what has to be done before.
func Updatable(s *types.Stack, region string) error {
	switch LifeOf(s) {
	case Busy:
		return fmt.Errorf("CloudFormation is still at work on %s (%s): try again when it is done",
			aws.ToString(s.StackName), s.StackStatus)
	case Halted:
		return fmt.Errorf("neither the last update of %s nor its rollback came to an end: %s; then deploy again",
			aws.ToString(s.StackName), ContinueRollback(s, region))
	case None, Alive, Dead:
	}
	return nil
}

// ContinueRollback returns the command that ends the rollback of a halted stack.
func ContinueRollback(s *types.Stack, region string) string {
	return fmt.Sprintf("aws cloudformation continue-update-rollback --stack-name %s --region %s",
		aws.ToString(s.StackName), region)
}

// Sandbox reports whether a stack has a fake payment gateway. One whose creation failed has no outputs.
func Sandbox(s *types.Stack) bool {
	return Output(s, "Sandbox") == "true" || Parameter(s, "Sandbox") == "true"
}

// patience is long because Lambda keeps network interfaces for up to 20 minutes, and a network can only be deleted
// after them; and because CloudFront disables a distribution everywhere before it is deleted.
const patience = 45 * time.Minute

// Delete deletes a stack and waits until it is gone. Its error says what cannot be deleted.
func Delete(ctx context.Context, cfn *cloudformation.Client, s *types.Stack) error {
	began := time.Now()
	if _, err := cfn.DeleteStack(ctx, &cloudformation.DeleteStackInput{StackName: s.StackId}); err != nil {
		return err
	}
	gone := cloudformation.NewStackDeleteCompleteWaiter(cfn, func(o *cloudformation.StackDeleteCompleteWaiterOptions) {
		o.MinDelay, o.MaxDelay = time.Second, 30*time.Second
	})
	// By id: a deleted stack is found by no name.
	err := gone.Wait(ctx, &cloudformation.DescribeStacksInput{StackName: s.StackId}, patience)
	if err == nil {
		return nil
	}
	if why, asked := failure(ctx, cfn, *s.StackId, began.Add(-Skew), "DELETE_FAILED"); asked == nil && why != "" {
		err = errors.New(why)
	}
	name := aws.ToString(s.StackName)
	return fmt.Errorf("%s cannot be deleted: %w; mend that and try again, or leave it where it is: aws cloudformation "+
		"delete-stack --deletion-mode FORCE_DELETE_STACK --stack-name %s --region %s", name, err, name,
		cfn.Options().Region)
}

// Resource is one of a stack's resources.
type Resource struct{ Logical, Type, Name string }

// Left returns what the deletion of a stack, or the rollback of its creation, has left, nested stacks' included. id is
// the stack's ARN.
func Left(ctx context.Context, cfn *cloudformation.Client, id string) ([]Resource, error) {
	return resources(ctx, cfn, id, func(s types.ResourceStatus) bool { return s == types.ResourceStatusDeleteSkipped })
}

// Resources returns all of a stack's resources, nested stacks' included. stack is its name or ARN.
func Resources(ctx context.Context, cfn *cloudformation.Client, stack string) ([]Resource, error) {
	return resources(ctx, cfn, stack, func(types.ResourceStatus) bool { return true })
}

func resources(ctx context.Context, cfn *cloudformation.Client, stack string,
	wanted func(types.ResourceStatus) bool) (out []Resource, err error) {
	pages := cloudformation.NewListStackResourcesPaginator(cfn,
		&cloudformation.ListStackResourcesInput{StackName: &stack})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, r := range page.StackResourceSummaries {
			kind, name := aws.ToString(r.ResourceType), aws.ToString(r.PhysicalResourceId)
			switch {
			case name == "":
			case kind == nestedStack:
				of, err := resources(ctx, cfn, name, wanted)
				if err != nil {
					return nil, err
				}
				out = append(out, of...)
			case wanted(r.ResourceStatus):
				out = append(out, Resource{Logical: aws.ToString(r.LogicalResourceId), Type: kind, Name: name})
			}
		}
	}
	return out, nil
}

const nestedStack = "AWS::CloudFormation::Stack"

// Skew is by how much CloudFormation's clock may be behind ours.
const Skew = time.Minute

// Failure returns what the stack's first failed event since a time says, as "Acl (AWS::WAFv2::WebACL): reason", or ""
// if none failed. If that event is a nested stack's, Failure looks for the reason there. id is the stack's ARN: a
// deleted stack is found by no other.
func Failure(ctx context.Context, cfn *cloudformation.Client, id string, since time.Time) (string, error) {
	return failure(ctx, cfn, id, since, "_FAILED")
}

// failure is Failure for events whose status has this end.
func failure(ctx context.Context, cfn *cloudformation.Client, id string, since time.Time, end string) (string, error) {
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
			if strings.HasSuffix(string(e.ResourceStatus), end) &&
				!strings.Contains(aws.ToString(e.ResourceStatusReason), "cancelled") {
				first = e
			}
		}
	}
	if first == nil {
		return "", nil
	}
	if nested := aws.ToString(first.PhysicalResourceId); nested != "" && nested != id &&
		aws.ToString(first.ResourceType) == nestedStack {
		if why, err := failure(ctx, cfn, nested, since, end); err == nil && why != "" {
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
