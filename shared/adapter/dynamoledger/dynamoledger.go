// Package dynamoledger keeps the ledger's rows and the items in Amazon DynamoDB. It is the production driver of
// ledger.Rows and seckill.Items: a row is an item of a table, a transaction is one TransactWriteItems, and what the
// ledger decides by is read with ConsistentRead.
//
// In: calls of the two ports. Out: HTTP calls to DynamoDB, nothing else. Each call is bounded in time and in tries;
// what is still unknown then is a fault, which callers never take for a "no".
package dynamoledger

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/your-org/seckill/shared/adapter/ledger"
)

// Limits of a call. The SDK repeats a request that got no answer, a 5xx or a throttle (httpTries); Transact begins a
// transaction again that another one cancelled (tries).
const (
	DefaultTryTimeout  = time.Second     // one HTTP request, its answer read
	DefaultCallTimeout = 5 * time.Second // one call of a port, whatever is tried again in it

	tries       = 4
	httpTries   = 3
	firstDelay  = 25 * time.Millisecond // the longest wait before the second try; it doubles
	longestWait = 200 * time.Millisecond
	idleConns   = 64 // more than the calls that one instance makes at once, so that none pays for a handshake
)

// Options are the settings of Rows. The zero value is good.
type Options struct {
	Prefix      string         // before each table's name
	TryTimeout  time.Duration  // 0: DefaultTryTimeout
	CallTimeout time.Duration  // 0: DefaultCallTimeout
	Tables      []ledger.Table // besides Schema
}

// Rows is ledger.Rows on DynamoDB. It is safe for use by several goroutines and keeps no row itself.
type Rows struct {
	client  *dynamodb.Client
	prefix  string
	timeout time.Duration
	schema  []ledger.Table // every table that can be used
	tables  map[string]ledger.Table
	indexes map[string]tableIndex
}

type tableIndex struct {
	ledger.Index
	table ledger.Table
}

var _ ledger.Rows = (*Rows)(nil)

// New makes the driver without a network call. Region, credentials, endpoint (AWS_ENDPOINT_URL) and HTTP client are
// cfg's; the retries and timeouts are this package's.
func New(cfg aws.Config, o Options) *Rows {
	if o.TryTimeout == 0 {
		o.TryTimeout = DefaultTryTimeout
	}
	if o.CallTimeout == 0 {
		o.CallTimeout = DefaultCallTimeout
	}
	r := &Rows{prefix: o.Prefix, timeout: o.CallTimeout, schema: slices.Concat(Schema(), o.Tables),
		tables: map[string]ledger.Table{}, indexes: map[string]tableIndex{}}
	r.client = dynamodb.NewFromConfig(cfg, func(d *dynamodb.Options) {
		d.HTTPClient = httpClient(cfg.HTTPClient, o.TryTimeout)
		d.RetryMaxAttempts = 0 // the environment's AWS_MAX_ATTEMPTS would wrap the retryer
		d.Retryer = retry.NewStandard(func(s *retry.StandardOptions) {
			s.MaxAttempts = httpTries
			s.Backoff = retry.BackoffDelayerFunc(func(attempt int, _ error) (time.Duration, error) {
				return jitter(attempt), nil
			})
		})
	})
	for _, t := range r.schema {
		r.tables[t.Name] = t
		for _, i := range t.Indexes {
			r.indexes[i.Name] = tableIndex{i, t}
		}
	}
	return r
}

// httpClient bounds each request of a client that it knows how to bound, which are the SDK's and the standard
// library's; nil makes one.
func httpClient(c aws.HTTPClient, timeout time.Duration) aws.HTTPClient {
	switch c := c.(type) {
	case nil:
		return httpClient(awshttp.NewBuildableClient(), timeout)
	case *awshttp.BuildableClient:
		return c.WithTimeout(timeout).WithTransportOptions(func(t *http.Transport) {
			t.MaxIdleConnsPerHost = max(t.MaxIdleConnsPerHost, idleConns)
		})
	case *http.Client:
		bounded := *c
		bounded.Timeout = timeout
		return &bounded
	default:
		return c
	}
}

// jitter is how long to wait before try n+2: anything up to a bound that doubles, so that those who met once do not
// meet again.
func jitter(n int) time.Duration { return rand.N(min(firstDelay<<n, longestWait)) }

func (r *Rows) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, r.timeout)
}

func (r *Rows) name(table string) *string { return aws.String(r.prefix + table) }

func (r *Rows) table(name string) (ledger.Table, error) {
	t, ok := r.tables[name]
	if !ok {
		return t, fmt.Errorf("dynamoledger: no table %q", name)
	}
	return t, nil
}

// key writes a row's key attributes, if its table can have them.
func (r *Rows) key(k ledger.Key) (map[string]types.AttributeValue, error) {
	t, err := r.table(k.Table)
	if err == nil {
		err = t.CheckKey(k)
	}
	if err != nil {
		return nil, err
	}
	return tableKey(t, k), nil
}

func tableKey(t ledger.Table, k ledger.Key) map[string]types.AttributeValue {
	out := map[string]types.AttributeValue{t.PK: text(k.PK)}
	if t.SK != "" {
		out[t.SK] = text(k.SK)
	}
	return out
}
