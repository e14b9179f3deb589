package doctor

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/your-org/seckill/infra/stackstate"
)

// stack checks the last deployment, and finds the stack's resources for the next checks.
func (d *Doctor) stack(ctx context.Context, c *check) {
	d.resources = map[string]resource{}
	if err := d.find(ctx, aws.ToString(d.Stack.StackName)); err != nil {
		d.resourcesErr = err
		c.unasked("for the stack's resources", err)
	}
	switch s := d.Stack.StackStatus; {
	case s == types.StackStatusUpdateRollbackComplete:
		c.fault("the last update was rolled back, so the previous release runs: see the stack's events (aws " +
			"cloudformation describe-stack-events)")
	case strings.HasSuffix(string(s), "_FAILED") || strings.Contains(string(s), "ROLLBACK"):
		c.fault("the stack is %s: deploy it again, or delete it if it never ran", s)
	case s == types.StackStatusUpdateCompleteCleanupInProgress, s == types.StackStatusCreateComplete,
		s == types.StackStatusUpdateComplete:
		c.ok("%s is deployed (%s), release %s", d.name(), s, d.parameters["Release"])
	default:
		c.fault("the stack is %s: wait until that ends, then repeat the check", s)
	}
}

// find lists the resources of a stack and its nested stacks. Of two resources with the same logical id, the outer one
// counts.
func (d *Doctor) find(ctx context.Context, stack string) error {
	var nested []string
	pages := cloudformation.NewListStackResourcesPaginator(cloudformation.NewFromConfig(d.AWS),
		&cloudformation.ListStackResourcesInput{StackName: &stack})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, r := range page.StackResourceSummaries {
			id, kind, name := aws.ToString(r.LogicalResourceId), aws.ToString(r.ResourceType),
				aws.ToString(r.PhysicalResourceId)
			if d.resources[id].id == "" {
				d.resources[id] = resource{kind, name}
			}
			if kind == "AWS::CloudFormation::Stack" && name != "" {
				nested = append(nested, name)
			}
		}
	}
	for _, name := range nested {
		if err := d.find(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// nested returns one of the stack's nested stacks, or an error if the stack has no such nested stack.
func (d *Doctor) nested(ctx context.Context, id string) (*types.Stack, error) {
	name := d.resources[id].id
	if name == "" {
		return nil, errors.New("the stack's resources name no " + id)
	}
	found, err := stackstate.Find(ctx, cloudformation.NewFromConfig(d.AWS), name)
	if err == nil && found == nil {
		err = errors.New("there is no stack " + name)
	}
	return found, err
}
