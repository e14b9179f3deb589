//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/redis/go-redis/v9"

	"github.com/your-org/seckill/e2e/account"
	"github.com/your-org/seckill/e2e/lambdahost"
	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/sqsqueue"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	region   = "eu-west-1"
	appID    = "2021000000000001"
	sellerID = "2088000000000001"
	item     = "2002"

	drillSecret  = local.DefaultSecret // signs shoppers' tokens
	drillTickets = "1764000000:the-secret-of-a-drills-tickets"

	hold       = 25 * time.Second       // units return after it plus a minute of grace
	patience   = 250 * time.Millisecond // for a request that waits for a free instance
	every      = 5 * time.Second        // interval of schedules that run each minute on AWS
	startLimit = time.Minute
	restLook   = 2 * time.Second
	restLimit  = 5 * time.Minute // from the crowd's end until no order is open
)

const limit = 2 // units that a shopper may have

// instances has the processes of each function: as many as the crowd wants.
var instances = map[string]int{"buy": 16, "shop": 8, "consume": 4, "notify": 4, "expire": 2, "refund": 1,
	"reconcile": 1, "gateway": 8, "stage": 1, "repair": 1, "admin": 1}

// drillCommands are the keys that sign staff's commands.
var drillCommands = operator.Keys(nil).Add([32]byte{1}, time.Unix(1764000000, 0))

// shared is what all drills use; no fault touches it.
type shared struct {
	root, bin, dir string
	ministack      *server // serves the queues
	proxies        *proxies
	shop, gateway  fakegateway.KeyPair
	shoppers       int
	stock          int
	ramp           time.Duration
	seed           int64
	nice           bool // whether the load tool runs at a lower priority
}

// rig is one drill's own Redis, database, queues and functions, so that later drills do not affect it, and its audit
// sees only its own faults.
type rig struct {
	*shared
	name            string
	dir             string
	redis, dynamo   *server
	client          *redis.Client
	rows            *dynamodb.Client
	sqs             *sqs.Client
	host            *lambdahost.Host
	orders, closing *lambdahost.Queue
	ordersURL       string
	environ         map[string]string
	created         time.Time

	stock                          int
	accepted, refused, unavailable atomic.Int64 // answers of buy: 200, 4xx, 5xx
	struck                         atomic.Bool  // all faults are over

	account     *account.Account // if nil, no account enforces limits
	cache       *account.Cache
	aws         *http.Server
	awsURL      string
	sums        *sums
	issuer      *http.Server // where visitors sign in; nil if nobody does
	issuerURL   string
	strangers   bool  // somebody buys beside the crowd
	initsBefore int64 // failed inits before the crowd came
}

func config(endpoint string) aws.Config {
	return aws.Config{Region: region, BaseEndpoint: &endpoint,
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")}
}

func (w *rig) prefix() string { return "drill-" + w.name + "-" }

// journal returns the file in which the crowd records its requests and answers.
func (w *rig) journal() string { return filepath.Join(w.dir, "journal.jsonl") }

// key returns the item's Redis key for part, for example "free".
func key(part string) string { return "{" + item + "}:" + part }

// open returns what of the sale is not at rest yet, or "" if all is.
func (w *rig) open(ctx context.Context) (string, error) {
	if w.client.Exists(ctx, key("item")).Val() == 0 {
		return "the item is not installed", nil
	}
	awaiting, err := w.client.ZCard(ctx, key("awaiting")).Result()
	if err != nil {
		return "", err
	}
	states, err := w.states(ctx)
	if err != nil {
		return "", err
	}
	returns, err := w.rows.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String(w.prefix() + "returns"),
		Select: types.SelectCount, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return "", err
	}
	depth, err := sqsqueue.New(w.sqs, sqsqueue.Options{URL: w.ordersURL,
		DeadLetterURL: w.environ["ORDERS_DEAD_LETTER_QUEUE_URL"]}).Depth(ctx)
	if err != nil {
		return "", err
	}
	var out []string
	for _, part := range []struct {
		n    int
		what string
	}{
		{states[string(seckill.PendingPayment)], "orders wait for payment"}, {states[string(seckill.Closing)],
			"orders are closing"}, {states[string(seckill.RefundOwed)], "orders owe a refund"},
		{int(awaiting), "reservations await their order"},
		{int(returns.Count), "returns are under way"}, {depth.Visible + depth.InFlight + depth.Delayed,
			"messages are in the orders queue"},
	} {
		if part.n > 0 {
			out = append(out, fmt.Sprint(part.n, " ", part.what))
		}
	}
	return strings.Join(out, ", "), nil
}

// states returns the number of orders by state.
func (w *rig) states(ctx context.Context) (map[string]int, error) {
	out := map[string]int{}
	pages := dynamodb.NewScanPaginator(w.rows, &dynamodb.ScanInput{TableName: aws.String(w.prefix() + "orders"),
		ConsistentRead:       aws.Bool(true),
		ProjectionExpression: aws.String("#s"), ExpressionAttributeNames: map[string]string{"#s": "state"}})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, row := range page.Items {
			if s, ok := row["state"].(*types.AttributeValueMemberS); ok {
				out[s.Value]++
			}
		}
	}
	return out, nil
}

// rest waits until nothing of the sale is open: orders are paid or expired, and returned units are in the stock.
func (w *rig) rest(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, restLimit)
	defer cancel()
	for {
		open, err := w.open(ctx)
		if err == nil && open == "" {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not at rest %v after the crowd: %s %w", restLimit, open, errors.Join(err, ctx.Err()))
		case <-time.After(restLook):
		}
	}
}

// close ends everything that the rig started.
func (w *rig) close() {
	var both sync.WaitGroup
	for _, s := range []*server{w.redis, w.dynamo} {
		if s != nil {
			both.Go(s.stop)
		}
	}
	if w.host != nil {
		w.host.Close()
	}
	if w.client != nil {
		_ = w.client.Close()
	}
	for _, s := range []*http.Server{w.aws, w.issuer} {
		if s != nil {
			_ = s.Close()
		}
	}
	if w.cache != nil {
		w.cache.Close()
	}
	both.Wait()
}
