package audit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/redis/go-redis/v9"

	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	segments  = 4    // segments of a table, read concurrently
	scanCount = 1000 // fields per call to Redis
)

// Sale is a sale on servers: tables of DynamoDB, keys of Redis, depths of queues. Its reads of tables are consistent;
// it changes nothing. Without Redis or queues, the guarantees that need them are unknown.
type Sale struct {
	Item     string
	DynamoDB *dynamodb.Client
	Prefix   string // before each table's name
	Redis    redis.UniversalClient
	NoRedis  string // why Redis is nil
	Queues   map[string]seckill.Queue
}

var _ Source = (*Sale)(nil)

// Read implements Source. It fails when a table cannot be read.
func (s *Sale) Read(ctx context.Context, each func(*record.Line) error) error {
	if err := each(&record.Line{Now: time.Now().UnixMilli()}); err != nil {
		return err
	}
	if err := ReadItem(ctx, s.DynamoDB, s.Prefix, s.Item, each); err != nil {
		return err
	}
	for _, table := range slices.Concat([]string{record.PartTrades}, record.Tables) {
		if err := ReadTable(ctx, s.DynamoDB, s.Prefix, table, each); err != nil {
			return err
		}
	}
	if s.Redis == nil {
		if err := each(&record.Line{Missing: record.PartRedis, Why: s.NoRedis}); err != nil {
			return err
		}
	} else if err := ReadKeys(ctx, s.Redis, s.Item, each); err != nil {
		return err
	}
	return ReadQueues(ctx, s.Queues, each)
}

// ReadItem calls each with the item's row. The error is ErrNoItem when there is no such row.
func ReadItem(ctx context.Context, client *dynamodb.Client, prefix, id string, each func(*record.Line) error) error {
	out, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(prefix + record.PartItems),
		ConsistentRead: aws.Bool(true),
		Key:            map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: id}}})
	if err != nil {
		return fmt.Errorf("table %s: %w", prefix+record.PartItems, err)
	}
	if out.Item == nil {
		return fmt.Errorf("item %s: %w", id, ErrNoItem)
	}
	return each(&record.Line{Table: record.PartItems, Row: decode(out.Item)})
}

// ReadTable calls each with every row of a table. The fake gateway's table may be missing.
func ReadTable(ctx context.Context, client *dynamodb.Client, prefix, table string,
	each func(*record.Line) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	var all sync.WaitGroup
	count := 0
	for segment := range int32(segments) {
		all.Go(func() {
			scan := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: aws.String(prefix + table),
				ConsistentRead: aws.Bool(true),
				Segment:        aws.Int32(segment), TotalSegments: aws.Int32(segments)})
			for scan.HasMorePages() && ctx.Err() == nil {
				out, err := scan.NextPage(ctx)
				mu.Lock()
				for i := 0; err == nil && ctx.Err() == nil && i < len(out.Items); i++ {
					count++
					err = each(&record.Line{Table: table, Row: decode(out.Items[i])})
				}
				if err != nil {
					cancel(err)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	var missing *types.ResourceNotFoundException
	switch err := context.Cause(ctx); {
	case table == record.PartTrades && errors.As(err, &missing):
		return each(&record.Line{Missing: table, Why: "payments are a real provider's: there is no table " +
			prefix + table})
	case err != nil:
		return fmt.Errorf("table %s: %w", prefix+table, err)
	}
	return each(&record.Line{End: table, Count: count})
}

// decode converts a row. It leaves out attributes of types that docs/DATA.md does not use; the audit reports them as
// missing.
func decode(item map[string]types.AttributeValue) ledger.Row {
	row := make(ledger.Row, len(item))
	for attr, v := range item {
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			row[attr] = v.Value
		case *types.AttributeValueMemberN:
			if n, err := strconv.ParseInt(v.Value, 10, 64); err == nil {
				row[attr] = n
			}
		case *types.AttributeValueMemberSS:
			row[attr] = ledger.Set(v.Value)
		case *types.AttributeValueMemberL:
			row[attr] = texts(v.Value)
		}
	}
	return row
}

// texts returns a list's texts. Other entries become "", which no valid list contains.
func texts(list []types.AttributeValue) []string {
	out := make([]string, len(list))
	for i, e := range list {
		if s, ok := e.(*types.AttributeValueMemberS); ok {
			out[i] = s.Value
		}
	}
	return out
}

// ReadKeys calls each with the item's keys. When Redis does not answer, it reports them as missing.
func ReadKeys(ctx context.Context, client redis.UniversalClient, item string, each func(*record.Line) error) error {
	count := 0
	var refused error // returned by each
	for _, key := range Keys(item) {
		err := scan(ctx, client, key, func(field, value string) error {
			count++
			refused = each(&record.Line{Key: key, Field: field, Value: value})
			return refused
		})
		if refused != nil {
			return refused
		}
		if err != nil {
			return each(&record.Line{Missing: record.PartRedis, Why: fmt.Sprintf("key %s: %v", key, err)})
		}
	}
	return each(&record.Line{End: record.PartRedis, Count: count})
}

// scan reads a hash or a sorted set page by page.
func scan(ctx context.Context, client redis.UniversalClient, key string, each func(field, value string) error) error {
	kind, err := client.Type(ctx, key).Result()
	if err != nil || kind == "none" {
		return err
	}
	call := client.HScan
	if kind == "zset" {
		call = client.ZScan
	}
	for cursor := uint64(0); ; {
		page, next, err := call(ctx, key, cursor, "", scanCount).Result()
		if err != nil {
			return err
		}
		for pair := range slices.Chunk(page, 2) {
			if err := each(pair[0], pair[1]); err != nil {
				return err
			}
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

// ReadQueues calls each with the depths of queues. It reports a queue that does not answer as missing.
func ReadQueues(ctx context.Context, queues map[string]seckill.Queue, each func(*record.Line) error) error {
	for _, name := range slices.Sorted(maps.Keys(queues)) {
		line := record.Line{Queue: name}
		d, err := queues[name].Depth(ctx)
		if err != nil {
			line = record.Line{Missing: record.PartQueues, Why: fmt.Sprintf("%s: %v", name, err)}
		}
		line.Depth = record.Depth(d)
		if err := each(&line); err != nil {
			return err
		}
	}
	return nil
}
