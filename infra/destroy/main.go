// Command destroy deletes a deployed stack. In: -stack, -region, AWS credentials (or AWS_ENDPOINT_URL). Its tables
// stay, and it prints their names; -tables also deletes those of a sandbox. `sam delete` is unsuitable: it also
// deletes what other stacks share in the bucket.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/your-org/seckill/infra/stacks"
)

// patience is long because Lambda keeps network interfaces for up to 20 minutes, and the network can only be deleted
// after them.
const patience = 45 * time.Minute

func main() {
	stack := flag.String("stack", "", "its name")
	region := flag.String("region", "", "where it is")
	tables := flag.Bool("tables", false, "delete its tables, too, if it is a sandbox")
	flag.Parse()
	if *stack == "" || *region == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(context.Background(), *stack, *region, *tables); err != nil {
		fmt.Fprintf(os.Stderr, "destroy: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, stack, region string, withTables bool) error {
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(region))
	if err != nil {
		return err
	}
	cfn := cloudformation.NewFromConfig(cfg)
	found, err := cfn.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &stack})
	if err != nil {
		return err
	}
	if sandbox := stacks.Output(&found.Stacks[0], "Sandbox"); withTables && sandbox != "true" {
		return fmt.Errorf("%s is no sandbox: its tables are not deleted from here", stack)
	}
	tables, err := tablesOf(ctx, cfn, stack)
	if err != nil {
		return err
	}
	if _, err := cfn.DeleteStack(ctx, &cloudformation.DeleteStackInput{StackName: &stack}); err != nil {
		return err
	}
	fmt.Printf("deleting %s; with a network it may take 20 minutes\n", stack)
	// Wait by id: a deleted stack can no longer be found by its name.
	gone := cloudformation.NewStackDeleteCompleteWaiter(cfn, func(o *cloudformation.StackDeleteCompleteWaiterOptions) {
		o.MinDelay, o.MaxDelay = time.Second, 30*time.Second
	})
	if err := gone.Wait(ctx, &cloudformation.DescribeStacksInput{StackName: found.Stacks[0].StackId},
		patience); err != nil {
		return fmt.Errorf("%s: %w; the stack's events say why", stack, err)
	}
	if !withTables {
		fmt.Printf("deleted. Its tables stay with their data, and while they do, no new stack can have this name: %v\n",
			tables)
		return nil
	}
	db := dynamodb.NewFromConfig(cfg)
	for _, t := range tables {
		if _, err := db.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &t}); err != nil {
			return err
		}
	}
	fmt.Printf("deleted, and its tables: %v\n", tables)
	return nil
}

// playMoney is the logical id of the table that is deleted with its stack.
const playMoney = "GatewayTradesTable"

// ends is that of a table whose rows last hours, which is deleted with its stack, too.
const ends = "ConnectionsTable"

// tablesOf returns the tables that a stack and its nested stacks leave behind.
func tablesOf(ctx context.Context, cfn *cloudformation.Client, stack string) (out []string, err error) {
	pages := cloudformation.NewListStackResourcesPaginator(cfn,
		&cloudformation.ListStackResourcesInput{StackName: &stack})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, r := range page.StackResourceSummaries {
			if aws.ToString(r.ResourceType) == "AWS::DynamoDB::Table" &&
				aws.ToString(r.LogicalResourceId) != playMoney && aws.ToString(r.LogicalResourceId) != ends {
				out = append(out, aws.ToString(r.PhysicalResourceId))
			}
			if aws.ToString(r.ResourceType) == "AWS::CloudFormation::Stack" &&
				aws.ToString(r.PhysicalResourceId) != "" {
				of, err := tablesOf(ctx, cfn, *r.PhysicalResourceId)
				if err != nil {
					return nil, err
				}
				out = append(out, of...)
			}
		}
	}
	slices.Sort(out)
	return out, nil
}
