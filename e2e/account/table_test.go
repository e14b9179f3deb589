package account_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/your-org/seckill/e2e/account"
	"github.com/your-org/seckill/shared/fake/memory"
)

func dynamo(t *testing.T, clock *memory.Clock, l account.Limits) *dynamodb.Client {
	t.Helper()
	_, cfg := open(t, account.Options{Limits: l, Clock: clock.Now, DynamoDB: server(t)})
	return dynamodb.NewFromConfig(cfg)
}

const plenty = 1e6

func get(t *testing.T, c *dynamodb.Client, id func() string) func() error {
	return func() error {
		_, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{
			TableName: aws.String("orders"),
			Key:       map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: id()}},
		})
		return err
	}
}

func put(t *testing.T, c *dynamodb.Client, id func() string, shard string) func() error {
	return func() error {
		_, err := c.PutItem(t.Context(),
			&dynamodb.PutItemInput{TableName: aws.String("orders"), Item: map[string]types.AttributeValue{
				"id": &types.AttributeValueMemberS{Value: id()}, "shard": &types.AttributeValueMemberS{Value: shard}}})
		return err
	}
}

func one() string { return "1" }

// another returns a function that returns a new key at each call.
func another() func() string {
	n := 0
	return func() string { n++; return fmt.Sprint(n) }
}

func TestPartitionReads(t *testing.T) {
	t.Parallel()
	clock := memory.NewClock(begin)
	c := dynamo(t, clock, account.Limits{PartitionReads: 30, TableReads: plenty})
	hundred(t, clock, 30, time.Second/30, "ThrottlingException", get(t, c, one))
	if err := get(t, c, func() string { return "2" })(); err != nil {
		t.Errorf("another key: %v", err)
	}
}

func TestPartitionWrites(t *testing.T) {
	t.Parallel()
	clock := memory.NewClock(begin)
	c := dynamo(t, clock, account.Limits{PartitionWrites: 10, TableWrites: plenty})
	hundred(t, clock, 10, time.Second/10, "ThrottlingException", put(t, c, one, ""))
	clock.Advance(time.Minute)
	hundred(t, clock, 10, time.Second/10, "ThrottlingException", put(t, c, another(), "a")) // of the index: one shard
}

func TestTable(t *testing.T) {
	t.Parallel()
	clock := memory.NewClock(begin)
	c := dynamo(t, clock,
		account.Limits{PartitionReads: plenty, PartitionWrites: plenty, TableReads: 120, TableWrites: 40})
	hundred(t, clock, 120, time.Second/120, "ThrottlingException", get(t, c, another()))
	hundred(t, clock, 40, time.Second/40, "ThrottlingException", put(t, c, another(), "a"))
	write := func() error {
		_, err := c.TransactWriteItems(t.Context(),
			&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
				{
					Put: &types.Put{
						TableName: aws.String("orders"),
						Item:      map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}},
					},
				},
				{
					Put: &types.Put{
						TableName: aws.String("orders"),
						Item:      map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "2"}},
					},
				}}})
		return err
	}
	clock.Advance(time.Minute)
	hundred(t, clock, 10, time.Second/10, "TransactionCanceledException", write)
	var cancelled *types.TransactionCanceledException
	if err := write(); !errors.As(err, &cancelled) || len(cancelled.CancellationReasons) != 2 ||
		aws.ToString(cancelled.CancellationReasons[0].Code) != "ThrottlingError" {
		t.Errorf("%v", err)
	}
}

// A table that used 40 a second half an hour ago allows 80 now.
func TestTableGrows(t *testing.T) {
	t.Parallel()
	clock := memory.NewClock(begin)
	c := dynamo(t, clock, account.Limits{PartitionWrites: plenty, TableWrites: 40})
	do := put(t, c, another(), "a")
	for range 40 {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	clock.Advance(account.TableGrows - time.Second)
	hundred(t, clock, 40, time.Second/40, "ThrottlingException", do)
	clock.Advance(2 * time.Second)
	_ = do() // now it knows that it may grow
	clock.Advance(time.Second)
	hundred(t, clock, 80, time.Second/80, "ThrottlingException", do)
}

func TestControlPlane(t *testing.T) {
	t.Parallel()
	clock := memory.NewClock(begin)
	c := dynamo(t, clock, account.Limits{Control: 25})
	hundred(t, clock, 25, time.Second/25, "ThrottlingException", func() error {
		_, err := c.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("orders")})
		return err
	})
}
