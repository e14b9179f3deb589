package dynamoledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/system"
)

// Transact implements ledger.Rows with one TransactWriteItems, repeated up to tries times while other transactions or
// throttling cancel it.
//
// The SDK repeats a request whose answer was lost with the same ClientRequestToken, which it draws at random for each
// transaction: for 10 minutes DynamoDB answers success to a repeated token without executing the transaction again
// (API reference, TransactWriteItems). A cancelled transaction changed nothing, so the next attempt has a new token.
// The token never depends on an order's id: a redraw changes the rows, and DynamoDB refuses a known token with other
// rows.
func (r *Rows) Transact(ctx context.Context, writes []ledger.Write) error {
	if len(writes) < 1 || len(writes) > ledger.MaxWrites {
		return fmt.Errorf("dynamoledger: transaction of %d writes, want 1..%d", len(writes), ledger.MaxWrites)
	}
	items := make([]types.TransactWriteItem, len(writes))
	seen := make(map[ledger.Key]bool, len(writes))
	for i := range writes {
		item, err := r.item(&writes[i])
		if err != nil {
			return err
		}
		if k := writes[i].Key; seen[k] {
			return fmt.Errorf("dynamoledger: transaction with two writes of %s %s/%s", k.Table, k.PK, k.SK)
		}
		seen[writes[i].Key] = true
		items[i] = item
	}
	ctx, cancel := r.bound(ctx)
	defer cancel()
	for n := 0; ; n++ {
		_, err := r.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: items})
		if err == nil {
			return nil
		}
		canceled, again, err := r.classify(err, len(writes))
		if canceled != nil {
			return canceled
		}
		if !again || n+1 == tries || !system.Pause(ctx, jitter(n)) {
			return fmt.Errorf("dynamoledger: transaction of %d rows (%s), try %d: %w", len(writes), r.names(writes),
				n+1, err)
		}
	}
}

// Update implements ledger.Rows with one UpdateItem.
func (r *Rows) Update(ctx context.Context, w ledger.Write) error {
	item, err := r.item(&w)
	if err == nil && item.Update == nil {
		err = fmt.Errorf("dynamoledger: %s %s/%s is not an update", w.Table, w.PK, w.SK)
	}
	if err != nil {
		return err
	}
	ctx, cancel := r.bound(ctx)
	defer cancel()
	u := item.Update
	_, err = r.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: u.TableName, Key: u.Key,
		UpdateExpression: u.UpdateExpression, ConditionExpression: u.ConditionExpression,
		ExpressionAttributeNames: u.ExpressionAttributeNames, ExpressionAttributeValues: u.ExpressionAttributeValues,
		ReturnValuesOnConditionCheckFailure: u.ReturnValuesOnConditionCheckFailure})
	var failed *types.ConditionalCheckFailedException
	switch {
	case errors.As(err, &failed):
		return &ledger.Canceled{Reasons: []ledger.Reason{{Code: ledger.ReasonCondition, Old: r.decodeRow(failed.Item)}}}
	case err != nil:
		return fmt.Errorf("dynamoledger: update of %s: %w", *u.TableName, err)
	}
	return nil
}

// names returns the tables of the writes: DynamoDB's error for a missing table does not name it.
func (r *Rows) names(writes []ledger.Write) string {
	var names []string
	for i := range writes {
		names = append(names, *r.name(writes[i].Table))
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// Cancellation reasons (API reference, TransactionCanceledException) after which another attempt may succeed.
const (
	reasonConflict   = "TransactionConflict"
	reasonThrottled  = "ThrottlingError"
	reasonThroughput = "ProvisionedThroughputExceeded"
)

// classify returns what a failed transaction means: a condition that did not hold, a conflict that may be gone at the
// next attempt, or a fault. The first refused row decides, because refusals have the order of the writes: a taken
// unit proves nothing while another transaction holds the order's row, because that may be a repetition of this very
// order. classify reads only the exception; nothing was written.
func (r *Rows) classify(err error, writes int) (canceled *ledger.Canceled, again bool, fault error) {
	var e *types.TransactionCanceledException
	if !errors.As(err, &e) || len(e.CancellationReasons) != writes {
		return nil, false, err
	}
	for _, reason := range e.CancellationReasons {
		switch aws.ToString(reason.Code) {
		case string(ledger.ReasonNone), "":
			continue
		case string(ledger.ReasonCondition):
			return r.reasons(e.CancellationReasons), false, nil
		case reasonConflict, reasonThrottled, reasonThroughput:
			return nil, true, err
		}
		break
	}
	return nil, false, err
}

func (r *Rows) reasons(from []types.CancellationReason) *ledger.Canceled {
	c := &ledger.Canceled{Reasons: make([]ledger.Reason, len(from))}
	for i, reason := range from {
		if aws.ToString(reason.Code) != string(ledger.ReasonCondition) {
			c.Reasons[i].Code = ledger.ReasonNone
			continue
		}
		c.Reasons[i] = ledger.Reason{Code: ledger.ReasonCondition, Old: r.decodeRow(reason.Item)}
	}
	return c
}
