// Package dynamoledger stores the ledger's rows and the items in Amazon DynamoDB. It is the production driver of
// ledger.Rows and seckill.Items: a row is a DynamoDB item, a transaction is one TransactWriteItems, and every read
// that decides something uses ConsistentRead.
//
// In: calls of the two ports. Out: HTTP calls to DynamoDB only. Each call is bounded in time and attempts; an outcome
// that is still unknown then is a fault, which callers never take for a "no".
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

	"github.com/your-org/seckill/shared/driver/ledger"
)

// Limits of a call. The SDK repeats a request after a lost answer, a 5xx or throttling (httpTries); Transact starts
// over if another transaction cancelled its own (tries).
const (
	DefaultTryTimeout  = time.Second     // one HTTP request, including reading the answer
	DefaultCallTimeout = 5 * time.Second // one call of a port, including all retries

	tries       = 4
	httpTries   = 3
	firstDelay  = 25 * time.Millisecond // longest wait before the second attempt; it doubles
	longestWait = 200 * time.Millisecond
	idleConns   = 64 // exceeds the concurrent calls of one instance, so that none waits for a handshake
)

// Options are the settings of Rows. The zero value works.
type Options struct {
	Prefix      string         // prefix of each table's name
	TryTimeout  time.Duration  // 0 means DefaultTryTimeout
	CallTimeout time.Duration  // 0 means DefaultCallTimeout
	Tables      []ledger.Table // besides Schema
}

// Rows is ledger.Rows on DynamoDB. It is safe for concurrent use and caches no row.
type Rows struct {
	client  *dynamodb.Client
	prefix  string
	timeout time.Duration
	schema  []ledger.Table // every table in DynamoDB that can be used
	homes   map[string]*home
	indexes map[string]tableIndex
}

type tableIndex struct {
	ledger.Index
	home *home
}

var _ ledger.Rows = (*Rows)(nil)

// New returns the driver without a network call. cfg provides region, credentials, endpoint (AWS_ENDPOINT_URL) and
// HTTP client; this package sets retries and timeouts.
func New(cfg aws.Config, o Options) *Rows {
	if o.TryTimeout == 0 {
		o.TryTimeout = DefaultTryTimeout
	}
	if o.CallTimeout == 0 {
		o.CallTimeout = DefaultCallTimeout
	}
	r := &Rows{prefix: o.Prefix, timeout: o.CallTimeout, schema: slices.Concat(Schema(), o.Tables),
		homes: map[string]*home{}, indexes: map[string]tableIndex{}}
	r.client = dynamodb.NewFromConfig(cfg, func(d *dynamodb.Options) {
		d.HTTPClient = httpClient(cfg.HTTPClient, o.TryTimeout)
		d.RetryMaxAttempts = 0 // otherwise AWS_MAX_ATTEMPTS in the environment would wrap the retryer
		d.Retryer = retry.NewStandard(func(s *retry.StandardOptions) {
			s.MaxAttempts = httpTries
			s.Backoff = retry.BackoffDelayerFunc(func(attempt int, _ error) (time.Duration, error) {
				return jitter(attempt), nil
			})
		})
	})
	for _, t := range slices.Concat(ledger.Schema, own(), o.Tables) {
		h := homeOf(t)
		r.homes[t.Name] = h
		for _, i := range t.Indexes {
			r.indexes[i.Name] = tableIndex{i, h}
		}
	}
	return r
}

// httpClient returns c with a timeout per request, if it is the SDK's or the standard library's client; for nil it
// makes one.
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

// jitter returns the wait before attempt n+2: random up to a bound that doubles, so that callers that collided do not
// collide again.
func jitter(n int) time.Duration { return rand.N(min(firstDelay<<n, longestWait)) }

func (r *Rows) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, r.timeout)
}

// name returns a table's name in DynamoDB.
func (r *Rows) name(table string) *string {
	if h := r.homes[table]; h != nil {
		table = h.in
	}
	return aws.String(r.prefix + table)
}

func (r *Rows) home(table string) (*home, error) {
	h, ok := r.homes[table]
	if !ok {
		return nil, fmt.Errorf("dynamoledger: no table %q", table)
	}
	return h, nil
}

// key encodes a row's key attributes after checking them against its table.
func (r *Rows) key(k ledger.Key) (map[string]types.AttributeValue, error) {
	h, err := r.home(k.Table)
	if err == nil {
		err = h.CheckKey(k)
	}
	if err != nil {
		return nil, err
	}
	return h.key(k), nil
}
