package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/your-org/seckill/infra/stackstate"
)

// bury says why a dead stack is dead, deletes it, and then the tables without rows that this has left. A shop's name
// has to be typed first.
func (g *guard) bury(ctx context.Context, cfn *cloudformation.Client, db *dynamodb.Client, s *types.Stack) error {
	why, err := g.reason(ctx, cfn, s)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%s is %s: %s\nIt can only be deleted. This does so, and then deploys.", g.stack, s.StackStatus,
		why)
	if stackstate.Sandbox(s) {
		fmt.Fprintln(g.out, what)
	} else if err := g.named(what + " Tables with rows stay."); err != nil {
		return err
	}
	if err := g.protect(ctx, cfn, false); err != nil {
		return err
	}
	if err := stackstate.Delete(ctx, cfn, s); err != nil {
		return err
	}
	left, err := stackstate.Left(ctx, cfn, *s.StackId)
	if err != nil {
		return err
	}
	for _, r := range left {
		if r.Type != "AWS::DynamoDB::Table" {
			fmt.Fprintf(g.out, "%s %s stays, and is in nobody's way; delete it by: %s\n", r.Logical, r.Name,
				removal(r, g.region))
			continue
		}
		some, err := hasRows(ctx, db, r.Name, "")
		if errors.As(err, new(*dynamotypes.ResourceNotFoundException)) {
			continue
		}
		if err == nil && !some {
			_, err = db.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &r.Name})
		}
		if err != nil {
			return fmt.Errorf("table %s: %w", r.Name, err)
		}
	}
	return nil
}

// removal returns the command that deletes a resource which CloudFormation left.
func removal(r stackstate.Resource, region string) string {
	switch r.Type {
	case "AWS::Cognito::UserPool":
		return "aws cognito-idp delete-user-pool --region " + region + " --user-pool-id " + r.Name
	case "AWS::S3::Bucket":
		return "aws s3 rb --force s3://" + r.Name
	}
	return "the console (" + r.Type + ")"
}

// reason returns why a stack is as it is.
func (g *guard) reason(ctx context.Context, cfn *cloudformation.Client, s *types.Stack) (string, error) {
	since := s.LastUpdatedTime
	if since == nil || stackstate.LifeOf(s) == stackstate.Dead {
		since = s.CreationTime
	}
	why, err := stackstate.Failure(ctx, cfn, aws.ToString(s.StackId), aws.ToTime(since).Add(-stackstate.Skew))
	if why == "" {
		why = aws.ToString(s.StackStatusReason)
	}
	return why, err
}

// failed tells why a deployment failed, and what to type.
func (g *guard) failed(ctx context.Context, cfn *cloudformation.Client, s *types.Stack) error {
	why, err := g.reason(ctx, cfn, s)
	if err != nil {
		return err
	}
	next := "the release before is at work as if nothing had happened; mend that, and deploy again"
	switch stackstate.LifeOf(s) {
	case stackstate.Dead, stackstate.None:
		next = "mend that, and deploy again, which deletes what is left"
	case stackstate.Halted:
		next = "mend that, then: " + stackstate.ContinueRollback(s, g.region) + "; then deploy again"
	case stackstate.Busy:
		next = "CloudFormation is still at work (" + string(s.StackStatus) + ")"
	case stackstate.Alive:
	}
	return fmt.Errorf("%s failed: %s\n%s", g.stack, why, next)
}

// tableName finds the names of tables in templates.
var tableName = regexp.MustCompile(`TableName: !Sub "\$\{Name\}-([a-z-]+)"`)

// fresh refuses to make a stack whose tables are there already: CloudFormation would roll it back.
func (g *guard) fresh(ctx context.Context, db *dynamodb.Client) error {
	ctx, cancel := context.WithTimeout(ctx, guardPatience)
	defer cancel()
	files, err := fs.Glob(g.root, "infra/*.yaml")
	if err != nil {
		return err
	}
	var there []string
	for _, f := range files {
		text, err := fs.ReadFile(g.root, f)
		if err != nil {
			return err
		}
		for _, m := range tableName.FindAllSubmatch(text, -1) {
			name := g.stack + "-" + string(m[1])
			_, err := db.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
			if err == nil {
				there = append(there, name)
			} else if !errors.As(err, new(*dynamotypes.ResourceNotFoundException)) {
				return fmt.Errorf("table %s cannot be asked for: %w", name, err)
			}
		}
	}
	if len(there) == 0 {
		return nil
	}
	return fmt.Errorf("refused, an earlier stack %s has left tables with these names: give this one another name "+
		"(STACK=…), or, if nobody needs their rows, delete them: for t in %s; do aws dynamodb update-table "+
		"--region %s --table-name $t --no-deletion-protection-enabled; aws dynamodb delete-table --region %s "+
		"--table-name $t; done",
		g.stack, strings.Join(there, " "), g.region, g.region)
}
