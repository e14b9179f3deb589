package local

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/provision"
	"github.com/your-org/seckill/shared/driver/redisconn"
	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/driver/sqsqueue"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	setUp        = 30 * time.Second // to create tables and queues
	pollWait     = time.Second      // of one receive from a real queue
	pollAgain    = time.Second      // after a receive that failed
	serverRegion = "us-east-1"      // stand-ins ignore it

	serverConnections = 512 // kept
)

// connect makes the drivers: real ones for named servers, embedded ones for the rest.
func (s *System) connect(ctx context.Context, o Servers) error {
	ctx, cancel := context.WithTimeout(ctx, setUp)
	defer cancel()
	if len(o.Redis) > 0 {
		r, err := redisconn.New(redisconn.Options{Addrs: o.Redis, Cluster: o.RedisCluster, Password: o.RedisPassword})
		if err == nil {
			s.closers = append(s.closers, r.Close)
			err = r.Ping(ctx)
		}
		if err != nil {
			return fmt.Errorf("redis %v: %w", o.Redis, err)
		}
		s.Stock = redisstock.New(r)
	} else {
		s.Redis = memory.NewRedis()
		s.Stock = redisstock.New(s.Redis)
	}
	if o.DynamoDB != "" {
		cfg := s.serverConfig(o.DynamoDB)
		more := []ledger.Table{fakegateway.Table}
		s.tables = dynamodb.NewFromConfig(cfg)
		tables := provision.Tables{Client: s.tables, Prefix: o.prefix(), More: more}
		if err := tables.Create(ctx); err != nil {
			return fmt.Errorf("dynamodb %s: %w", o.DynamoDB, err)
		}
		rows := dynamoledger.New(cfg, dynamoledger.Options{Prefix: o.prefix(), Tables: more})
		s.Ledger, s.Items = ledger.New(watchedRows{rows, &s.takers}), rows.Items()
		s.trades = tradeTable{fakegateway.NewTable(rows), s.tables, o.prefix()}
	} else {
		s.Rows = memory.NewRows(memory.RowsOptions{Clock: s.Clock})
		s.Ledger, s.Items = ledger.New(watchedRows{s.Rows, &s.takers}), memory.NewItems()
	}
	if o.SQS == "" {
		s.Orders = memory.NewQueue(s.Clock, memory.QueueOptions{Name: "orders"})
		s.Closings = memory.NewQueue(s.Clock, memory.QueueOptions{Name: "closings"})
		s.orders, s.closings = s.Orders, s.Closings
		return nil
	}
	client := sqs.NewFromConfig(s.serverConfig(o.SQS))
	for name, q := range map[string]*seckill.OperatedQueue{"orders": &s.orders, "closings": &s.closings} {
		opt, err := provision.Queue(ctx, client, o.prefix()+name)
		if err != nil {
			return fmt.Errorf("sqs %s: %w", o.SQS, err)
		}
		opt.Wait = pollWait
		*q = sqsqueue.New(client, opt)
	}
	return nil
}

// serverConfig returns the configuration for a stand-in server, which needs credentials but accepts any. Under load
// hundreds of goroutines call it; the SDK's default client keeps ten connections and would open a new one for most
// calls. Closing the system closes the idle ones.
func (s *System) serverConfig(endpoint string) aws.Config {
	transport := awshttp.NewBuildableClient().GetTransport()
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = serverConnections, serverConnections
	s.closers = append(s.closers, func() error { transport.CloseIdleConnections(); return nil })
	return aws.Config{Region: serverRegion, BaseEndpoint: aws.String(endpoint),
		HTTPClient:  &http.Client{Transport: transport},
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")}
}

// seed writes the items. Items that a real server has from an earlier run stay unchanged.
func (s *System) seed(ctx context.Context, items []seckill.Listing) error {
	for _, it := range items {
		for i, q := range it.Questions {
			q.ID = seckill.QuestionID(i + 1)
			if err := s.Ledger.PutQuestion(ctx, it.ID, q); err != nil {
				return fmt.Errorf("item %s: %w", it.ID, err)
			}
		}
		err := s.Items.Put(ctx, it.Item, &it.Description)
		if err != nil && (s.Rows != nil || !errors.Is(err, seckill.ErrStateChanged)) {
			return fmt.Errorf("item %s: %w", it.ID, err)
		}
	}
	return nil
}

// consumeServer receives messages from a real queue, handles them and deletes the handled messages, until stop is
// closed.
func (s *System) consumeServer(ctx context.Context, name string, q seckill.Queue,
	handle func(context.Context, seckill.Delivery) error, stop <-chan struct{}) {
	for {
		batch, err := q.Receive(ctx, seckill.MaxBatch)
		s.active.begin()
		s.handleBatch(ctx, name, q, batch, handle, stop)
		s.active.end()
		pause := time.Duration(0)
		if err != nil {
			s.log.Warn("receive failed", "queue", name, "err", err)
			pause = pollAgain
		}
		select {
		case <-stop:
			return
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// tradeTable keeps the gateway's trades in a table beside a real ledger, so that they outlive the run.
type tradeTable struct {
	*fakegateway.TableStore
	client *dynamodb.Client
	prefix string
}

var _ fakegateway.Lister = tradeTable{}

// All implements fakegateway.Lister by a consistent scan.
func (t tradeTable) All(ctx context.Context) ([]fakegateway.Record, error) {
	var out []fakegateway.Record
	err := audit.ReadTable(ctx, t.client, t.prefix, fakegateway.TableTrades, func(l *record.Line) error {
		if l.Row == nil || !fakegateway.IsTrade(l.Row) {
			return nil
		}
		r, err := fakegateway.DecodeRow(l.Row)
		out = append(out, r)
		return err
	})
	return out, err
}
