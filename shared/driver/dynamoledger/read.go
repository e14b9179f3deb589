package dynamoledger

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/seckill"
)

// maxPage is the number of rows that one request asks for; DynamoDB also ends a page at 1 MB.
const maxPage = 1000

// Get implements ledger.Rows.
func (r *Rows) Get(ctx context.Context, k ledger.Key) (ledger.Row, bool, error) {
	return r.get(ctx, k, true)
}

// get reads a row: consistently, or eventually consistently for half the price.
func (r *Rows) get(ctx context.Context, k ledger.Key, consistently bool) (ledger.Row, bool, error) {
	key, err := r.key(k)
	if err != nil {
		return nil, false, err
	}
	ctx, cancel := r.bound(ctx)
	defer cancel()
	out, err := r.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: r.name(k.Table), Key: key,
		ConsistentRead: &consistently})
	if err != nil {
		return nil, false, fmt.Errorf("dynamoledger: get from %s: %w", *r.name(k.Table), err)
	}
	row := r.decodeRow(out.Item)
	return row, row != nil, nil
}

// GetBatch implements ledger.Rows.
func (r *Rows) GetBatch(ctx context.Context, keys []ledger.Key) ([]ledger.Row, error) {
	return r.batch(ctx, keys, true)
}

// PeekBatch implements ledger.Rows.
func (r *Rows) PeekBatch(ctx context.Context, keys []ledger.Key) ([]ledger.Row, error) {
	return r.batch(ctx, keys, false)
}

// batch reads rows: consistently, or eventually consistently for half the price. DynamoDB may leave keys for
// another request, so batch repeats until none is left; it gives up after as many answers without progress as a
// transaction has attempts.
func (r *Rows) batch(ctx context.Context, keys []ledger.Key, consistently bool) ([]ledger.Row, error) {
	if len(keys) < 1 || len(keys) > ledger.MaxBatch {
		return nil, fmt.Errorf("dynamoledger: batch of %d reads, want 1..%d", len(keys), ledger.MaxBatch)
	}
	left := map[string]types.KeysAndAttributes{}
	for _, k := range keys {
		key, err := r.key(k)
		if err != nil {
			return nil, err
		}
		name := *r.name(k.Table)
		of := left[name]
		of.ConsistentRead = &consistently
		of.Keys = append(of.Keys, key)
		left[name] = of
	}
	ctx, cancel := r.bound(ctx)
	defer cancel()
	rows := make([]ledger.Row, 0, len(keys))
	for idle, count := 0, len(keys); ; {
		out, err := r.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: left})
		if err != nil {
			return nil, fmt.Errorf("dynamoledger: batch of %d reads of %s: %w", len(keys), *r.name(keys[0].Table), err)
		}
		for _, items := range out.Responses {
			rows = append(rows, r.decodeRows(items)...)
		}
		before := count
		left, count = out.UnprocessedKeys, 0
		for _, of := range left {
			count += len(of.Keys)
		}
		if count == 0 {
			return rows, nil
		}
		if count < before {
			idle = 0
			continue
		}
		if idle++; idle == tries || !system.Pause(ctx, jitter(idle-1)) {
			return nil, fmt.Errorf("dynamoledger: batch of %d reads: %d were never answered", len(keys), count)
		}
	}
}

// Query implements ledger.Rows.
func (r *Rows) Query(ctx context.Context, table, pk, afterSK string, limit int) ([]ledger.Row, error) {
	h, err := r.home(table)
	if err != nil {
		return nil, err
	}
	if h.SK == "" || pk == "" || limit < 1 {
		return nil, fmt.Errorf("dynamoledger: query of table %q, partition %q, limit %d", table, pk, limit)
	}
	q := partition(r.name(table), h.attr(h.PK), h.pk(pk))
	q.ConsistentRead = aws.Bool(true)
	if afterSK != "" {
		*q.KeyConditionExpression += " AND #sk > :sk"
		q.ExpressionAttributeNames["#sk"] = h.attr(h.SK)
		q.ExpressionAttributeValues[":sk"] = text(afterSK)
	}
	rows, _, err := r.pages(ctx, q, limit)
	return rows, err
}

func partition(table *string, attr, pk string) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{TableName: table, KeyConditionExpression: aws.String("#pk = :pk"),
		ExpressionAttributeNames:  map[string]string{"#pk": attr},
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": text(pk)}}
}

// pages reads until it has limit rows or there are no more, because a page also ends at 1 MB. last is where it
// stopped, nil at the end.
func (r *Rows) pages(ctx context.Context, q *dynamodb.QueryInput, limit int) (rows []ledger.Row,
	last map[string]types.AttributeValue, err error) {
	ctx, cancel := r.bound(ctx)
	defer cancel()
	for {
		q.Limit = aws.Int32(int32(min(limit-len(rows), maxPage)))
		out, err := r.client.Query(ctx, q)
		if err != nil {
			return nil, nil, fmt.Errorf("dynamoledger: query of %s%s: %w", *q.TableName, aws.ToString(q.IndexName), err)
		}
		rows = append(rows, r.decodeRows(out.Items)...)
		if len(rows) >= limit || len(out.LastEvaluatedKey) == 0 {
			return rows, out.LastEvaluatedKey, nil
		}
		q.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// Index implements ledger.Rows. DynamoDB usually updates an index within a moment, without a guaranteed bound.
func (r *Rows) Index(ctx context.Context, index, pk, after string, limit int, descending bool) ([]ledger.Row, string,
	error) {
	x, ok := r.indexes[index]
	if !ok || pk == "" || limit < 1 {
		return nil, "", fmt.Errorf("dynamoledger: read of index %q, partition %q, limit %d", index, pk, limit)
	}
	q := partition(r.name(x.home.Name), x.home.attr(x.PK), x.home.pk(pk))
	q.IndexName = aws.String(x.home.index(index))
	q.ScanIndexForward = aws.Bool(!descending)
	if after != "" {
		start, err := x.decodeCursor(pk, after)
		if err != nil {
			return nil, "", err
		}
		q.ExclusiveStartKey = start
	}
	rows, last, err := r.pages(ctx, q, limit)
	if err != nil || last == nil {
		return rows, "", err
	}
	next, err := x.encodeCursor(last)
	return rows, next, err
}

// Newest implements ledger.Rows.
func (r *Rows) Newest(ctx context.Context, index, pk, before string, limit int) ([]ledger.Row, error) {
	x, ok := r.indexes[index]
	if !ok || pk == "" || limit < 1 {
		return nil, fmt.Errorf("dynamoledger: newest of index %q, partition %q, limit %d", index, pk, limit)
	}
	q := partition(r.name(x.home.Name), x.home.attr(x.PK), x.home.pk(pk))
	q.IndexName = aws.String(x.home.index(index))
	q.ScanIndexForward = aws.Bool(false)
	if before != "" {
		*q.KeyConditionExpression += " AND #sk < :sk"
		q.ExpressionAttributeNames["#sk"] = x.home.attr(x.SK)
		q.ExpressionAttributeValues[":sk"] = text(before)
	}
	rows, _, err := r.pages(ctx, q, limit)
	return rows, err
}

// cursorAttrs returns the attributes that locate the end of a page in the index, without its partition key.
func (x *tableIndex) cursorAttrs() []string {
	switch h := x.home; {
	case h.attrs != nil:
		return []string{listedSK, sharedPK, sharedSK}
	case h.SK == "":
		return []string{x.SK, h.PK}
	default:
		return []string{x.SK, h.PK, h.SK}
	}
}

func (x *tableIndex) encodeCursor(last map[string]types.AttributeValue) (string, error) {
	var parts []string
	for _, attr := range x.cursorAttrs() {
		s, ok := last[attr].(*types.AttributeValueMemberS)
		if !ok {
			return "", fmt.Errorf("dynamoledger: a page of index %s ended without %s", x.Name, attr)
		}
		parts = append(parts, s.Value)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(strings.Join(parts, "\x00"))), nil
}

var errCursor = seckill.Invalid("cursor", "")

func (x *tableIndex) decodeCursor(pk, cursor string) (map[string]types.AttributeValue, error) {
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	parts := strings.Split(string(b), "\x00")
	attrs := x.cursorAttrs()
	if err != nil || len(parts) != len(attrs) {
		return nil, errCursor
	}
	start := map[string]types.AttributeValue{x.home.attr(x.PK): text(x.home.pk(pk))}
	for i, attr := range attrs {
		if parts[i] == "" {
			return nil, errCursor
		}
		start[attr] = text(parts[i])
	}
	return start, nil
}
