package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/your-org/seckill/infra/stackstate"
)

func destroyMain(args []string) error {
	flags := flag.NewFlagSet("destroy", flag.ExitOnError)
	stack := flags.String("stack", "", "its name")
	region := flags.String("region", "", "where it is")
	tables := flags.Bool("tables", false, "delete its tables, too, if it is a sandbox")
	if flags.Parse(args) != nil || *stack == "" || *region == "" || flags.NArg() > 0 {
		return errUsage
	}
	return destroy(context.Background(), *stack, *region, *tables)
}

// destroy deletes a stack. `sam delete` is unsuitable: it also deletes what other stacks share in the bucket.
func destroy(ctx context.Context, stack, region string, withTables bool) error {
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(region))
	if err != nil {
		return err
	}
	cfn := cloudformation.NewFromConfig(cfg)
	found, err := stackstate.Find(ctx, cfn, stack)
	if err != nil {
		return err
	}
	if found == nil {
		return fmt.Errorf("there is no stack %s in %s", stack, region)
	}
	if withTables && !stackstate.Sandbox(found) {
		return fmt.Errorf("%s is not a sandbox: its tables are not deleted from here", stack)
	}
	all, err := stackstate.Resources(ctx, cfn, stack)
	if err != nil {
		return err
	}
	fmt.Printf("deleting %s; with a network it may take 20 minutes\n", stack)
	if err := stackstate.Delete(ctx, cfn, found); err != nil {
		return err
	}
	var tables []string
	for _, r := range all {
		if r.Type == "AWS::DynamoDB::Table" && r.Logical != playMoney && r.Logical != ends {
			tables = append(tables, r.Name)
		}
	}
	slices.Sort(tables)
	if !withTables {
		fmt.Printf("deleted. Its tables stay with their data, and while they do, no new stack can have this name: %v\n",
			tables)
		return nil
	}
	db := dynamodb.NewFromConfig(cfg)
	for _, t := range tables {
		_, err := db.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &t})
		if err != nil && !errors.As(err, new(*types.ResourceNotFoundException)) { // a rollback may have taken it along
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
