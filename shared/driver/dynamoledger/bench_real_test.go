//go:build real

package dynamoledger_test

import (
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/dynamotest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	benchWorkers = 16
	benchOrders  = 50 // per worker and round
)

// BenchmarkPlace alternates on one server between placing orders of one unit from 16 goroutines, and sending as many
// bare TransactWriteItems with the same rows, built in advance. Metrics: both rates, and placed/bare in %.
func BenchmarkPlace(b *testing.B) {
	cfg, prefix := dynamotest.Config(b, nil), dynamotest.Prefix()
	rows := dynamoledger.New(cfg, dynamoledger.Options{Prefix: prefix})
	must.OK(b, rows.CreateTables(ctx))
	b.Cleanup(func() { dynamotest.Drop(b, prefix) })
	l := ledger.New(rows)
	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.HTTPClient = awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
			t.MaxIdleConnsPerHost = benchWorkers
		})
	})
	next := 0
	order := func() seckill.Order {
		next++
		id := seckill.KeyedOrderID("1", strconv.Itoa(next), "")
		return seckill.Order{ID: id, Item: "1", User: strconv.Itoa(next), Count: 1, Units: []int{next}, Price: 100,
			Amount: 100,
			Given:  seckill.Given{Address: "上海市 南京路 1 号"}, Title: "茅台", Buckets: 2000, Created: begun, Placed: begun,
			PayBy: begun.Add(seckill.DefaultHold)}
	}
	first := order()
	must.OK(b, l.Place(ctx, first, 1))
	stored, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(prefix + ledger.TableOrders),
		Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: first.ID}}})
	must.OK(b, err)
	var placed, bare time.Duration
	for b.Loop() {
		orders := make([]seckill.Order, benchWorkers*benchOrders)
		inputs := make([]*dynamodb.TransactWriteItemsInput, len(orders))
		for i := range orders {
			orders[i] = order()
			inputs[i] = bareInput(prefix, stored.Item, order())
		}
		placed += byWorkers(b, func(i int) error { return l.Place(ctx, orders[i], 1) })
		bare += byWorkers(b, func(i int) error {
			_, err := client.TransactWriteItems(ctx, inputs[i])
			return err
		})
	}
	n := float64(b.N * benchWorkers * benchOrders)
	b.ReportMetric(n/placed.Seconds(), "placed/s")
	b.ReportMetric(n/bare.Seconds(), "bare/s")
	b.ReportMetric(100*bare.Seconds()/placed.Seconds(), "%of-bare")
}

// byWorkers does the work of one round and returns its duration.
func byWorkers(b *testing.B, do func(i int) error) time.Duration {
	started := time.Now()
	var wg sync.WaitGroup
	for w := range benchWorkers {
		wg.Go(func() {
			for i := range benchOrders {
				if err := do(w*benchOrders + i); err != nil {
					b.Errorf("worker %d, order %d: %v", w, i, err)
					return
				}
			}
		})
	}
	wg.Wait()
	return time.Since(started)
}

// bareInput returns what Place sends, built from a stored order row.
func bareInput(prefix string, row map[string]types.AttributeValue, o seckill.Order) *dynamodb.TransactWriteItemsInput {
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	number := func(n int) types.AttributeValue { return &types.AttributeValueMemberN{Value: strconv.Itoa(n)} }
	row = maps.Clone(row)
	row["id"], row["user"], row["placed_by"], row["units"] = text(o.ID), text(o.User), text(o.User),
		text(strconv.Itoa(o.Units[0]))
	const old = types.ReturnValuesOnConditionCheckFailureAllOld
	return &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: aws.String(prefix + "orders"), Item: row, ReturnValuesOnConditionCheckFailure: old,
			ConditionExpression:      aws.String("attribute_not_exists(#0)"),
			ExpressionAttributeNames: map[string]string{"#0": "id"}}},
		{Update: &types.Update{TableName: aws.String(prefix + "quotas"), ReturnValuesOnConditionCheckFailure: old,
			Key:                 map[string]types.AttributeValue{"user": text(o.User), "item": text(o.Item)},
			ConditionExpression: aws.String("(attribute_not_exists(#0) OR #0 <= :0)"),
			UpdateExpression:    aws.String("SET #1 = :1, #2 = :2 ADD #3 :3, #4 :4"),
			ExpressionAttributeNames: map[string]string{"#0": "units", "#1": "v", "#2": "newest", "#3": "units",
				"#4": "orders"},
			ExpressionAttributeValues: map[string]types.AttributeValue{":0": number(0), ":1": number(1),
				":2": text(o.ID), ":3": number(1),
				":4": &types.AttributeValueMemberSS{Value: []string{o.ID + ":1"}}}}},
		{Put: &types.Put{TableName: aws.String(prefix + "units"), ReturnValuesOnConditionCheckFailure: old,
			Item: map[string]types.AttributeValue{"bucket": text(fmt.Sprintf("1#%d", o.Units[0]%o.Buckets)),
				"v":    number(1),
				"unit": text(fmt.Sprintf("%07d", o.Units[0])), "order": text(o.ID), "user": text(o.User)},
			ConditionExpression:      aws.String("attribute_not_exists(#0)"),
			ExpressionAttributeNames: map[string]string{"#0": "bucket"}}},
	}}
}
