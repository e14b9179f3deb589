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

	"github.com/your-org/seckill/shared/adapter/ledger"
	"github.com/your-org/seckill/shared/adapter/system"
)

// Transact implements ledger.Rows with one TransactWriteItems, and with up to tries of them while other transactions
// or throttling stand in its way.
//
// A request whose answer is lost is sent again by the SDK with the same ClientRequestToken, which it draws at random
// for each transaction: within 10 minutes DynamoDB answers success to the repeat of a transaction that it has carried
// out, and does nothing (API reference, TransactWriteItems). A cancelled transaction changed nothing, so the next
// try is a new one with a new token. The token never comes from an order's id: a redraw changes the rows, and
// DynamoDB refuses a known token with other rows.
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
		canceled, again, err := classify(err, len(writes))
		if canceled != nil {
			return canceled
		}
		if !again || n+1 == tries || !system.Pause(ctx, jitter(n)) {
			return fmt.Errorf("dynamoledger: transaction of %d rows (%s), try %d: %w", len(writes), r.names(writes),
				n+1, err)
		}
	}
}

// names are the tables that writes are for: of one that does not exist, DynamoDB's error does not say which.
func (r *Rows) names(writes []ledger.Write) string {
	var names []string
	for i := range writes {
		names = append(names, *r.name(writes[i].Table))
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// Codes of a cancelled transaction's reasons (API reference, TransactionCanceledException) after which another try may
// succeed.
const (
	reasonConflict   = "TransactionConflict"
	reasonThrottled  = "ThrottlingError"
	reasonThroughput = "ProvisionedThroughputExceeded"
)

// classify says what a failed transaction means: a condition that did not hold, an obstacle that may be gone at the
// next try, or a fault. The first row that stands against it decides, because refusals count in the order of the
// writes: a unit that is taken says nothing while another transaction has the order's row, which may be a repeat of
// this very order. All that is read here is the exception's; nothing was written.
func classify(err error, writes int) (canceled *ledger.Canceled, again bool, fault error) {
	var e *types.TransactionCanceledException
	if !errors.As(err, &e) || len(e.CancellationReasons) != writes {
		return nil, false, err
	}
	for _, reason := range e.CancellationReasons {
		switch aws.ToString(reason.Code) {
		case string(ledger.ReasonNone), "":
			continue
		case string(ledger.ReasonCondition):
			return reasons(e.CancellationReasons), false, nil
		case reasonConflict, reasonThrottled, reasonThroughput:
			return nil, true, err
		}
		break
	}
	return nil, false, err
}

func reasons(from []types.CancellationReason) *ledger.Canceled {
	c := &ledger.Canceled{Reasons: make([]ledger.Reason, len(from))}
	for i, reason := range from {
		if aws.ToString(reason.Code) != string(ledger.ReasonCondition) {
			c.Reasons[i].Code = ledger.ReasonNone
			continue
		}
		c.Reasons[i] = ledger.Reason{Code: ledger.ReasonCondition, Old: decodeRow(reason.Item)}
	}
	return c
}
