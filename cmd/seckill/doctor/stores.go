package doctor

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/provision"
	"github.com/your-org/seckill/shared/driver/sqsqueue"
	"github.com/your-org/seckill/shared/driver/wspush"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

// queues checks the depths of the queues.
func (d *Doctor) queues(ctx context.Context, c *check) {
	client := sqs.NewFromConfig(d.AWS)
	for _, q := range []struct{ name, url, dead, function string }{
		{"orders", "OrdersQueueUrl", "OrdersDeadLetterQueueUrl", "consume"},
		{"closings", "ClosingsQueueUrl", "ClosingsDeadLetterQueueUrl", "expire"},
	} {
		url, dead := d.outputs[q.url], d.outputs[q.dead]
		if url == "" || dead == "" {
			c.fault("the stack has no outputs %s and %s for its queues: deploy this release", q.url, q.dead)
			continue
		}
		depth, err := sqsqueue.New(client, sqsqueue.Options{URL: url, DeadLetterURL: dead}).Depth(ctx)
		if err != nil {
			c.queueError(q.name, err)
			continue
		}
		if depth.Parked > 0 {
			c.fault("messages in the dead-letter queue of %s: %d (docs/runbooks/dead-letters.md)", q.name, depth.Parked)
		}
		c.depth(q.name, q.function, depth)
	}
}

// depth checks a queue. Delayed messages are the closings of orders that may still be paid.
func (c *check) depth(name, function string, d seckill.Depth) {
	switch {
	case d.Visible > 0:
		c.fault(
			"messages waiting in %s: %d; a sale is in progress, or %s does not keep up (docs/runbooks/queue-age.md)",
			name, d.Visible, function)
	case d.InFlight+d.Delayed > 0:
		c.ok("no message waits in %s; %d are in flight, %d are delayed", name, d.InFlight, d.Delayed)
	default:
		c.ok("%s is empty", name)
	}
}

func (c *check) queueError(name string, err error) {
	if strings.Contains(err.Error(), "there is no queue") { // package sqsqueue does not wrap SQS' error
		c.fault("the queue of %s does not exist: "+byHand, name)
		return
	}
	c.unasked("for the queue "+name, err)
}

// tables compares the tables with their declaration, and checks that they are backed up.
func (d *Doctor) tables(ctx context.Context, c *check) {
	prefix := d.outputs["StackPrefix"]
	declared := dynamoledger.Schema()
	var more []ledger.Table
	if d.sandbox() {
		more = append(more, fakegateway.Table)
	}
	if d.pushes() {
		more = append(more, wspush.Table)
	}
	declared = append(declared, more...)
	client := dynamodb.NewFromConfig(d.AWS)
	tables := provision.Tables{Client: client, Prefix: prefix, More: more}
	good, backed, lost := 0, 0, []string{}
	for _, t := range declared {
		if err := tables.Check(ctx, t.Name); err != nil {
			c.tableError(prefix+t.Name, err)
			continue
		}
		good++
		if t.Name == fakegateway.TableTrades || t.Name == wspush.TableConnections {
			continue // the table of a fake payment gateway, or of rows that end within hours
		}
		switch on, err := backedUp(ctx, client, prefix+t.Name); {
		case err != nil:
			c.unasked("for backups of "+prefix+t.Name, err)
		case on:
			backed++
		default:
			lost = append(lost, prefix+t.Name)
		}
	}
	if good > 0 {
		c.ok("%d of %d tables are as declared", good, len(declared))
	}
	switch {
	case len(lost) > 0 && d.StandIn:
		c.unasked("for backups", errors.New("the stand-in for AWS has none"))
	case len(lost) > 0:
		c.fault("tables without point-in-time recovery (%s): aws dynamodb update-continuous-backups "+
			"--point-in-time-recovery-specification PointInTimeRecoveryEnabled=true --table-name …",
			strings.Join(lost, ", "))
	case backed > 0:
		c.ok("%d of %d tables have point-in-time recovery", backed, len(dynamoledger.Schema()))
	}
}

func (c *check) tableError(name string, err error) {
	if call := (*smithy.OperationError)(nil); errors.As(err, &call) {
		c.unasked("for the table "+name, err)
		return
	}
	c.fault("%s; docs/DATA.md has its declaration",
		strings.ReplaceAll(strings.ReplaceAll(err.Error(), "provision: ", ""), "\n", "; "))
}

func backedUp(ctx context.Context, client *dynamodb.Client, name string) (bool, error) {
	out, err := client.DescribeContinuousBackups(ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: &name})
	if err != nil {
		return false, err
	}
	b := out.ContinuousBackupsDescription
	return b != nil && b.PointInTimeRecoveryDescription != nil &&
		b.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus == types.PointInTimeRecoveryStatusEnabled, nil
}

// warm returns how many writes per second a table takes without warm-up.
func warm(ctx context.Context, client *dynamodb.Client, name string) (int64, error) {
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	switch {
	case err != nil:
		return 0, err
	case out.Table.WarmThroughput == nil || aws.ToInt64(out.Table.WarmThroughput.WriteUnitsPerSecond) <= 0:
		return 0, errors.New("DynamoDB does not report it")
	}
	return aws.ToInt64(out.Table.WarmThroughput.WriteUnitsPerSecond), nil
}
