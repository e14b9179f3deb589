//go:build linux

package main

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/redis/go-redis/v9"

	"github.com/your-org/seckill/e2e/lambdahost"
	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/provision"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

// newRig starts everything that a drill needs, and puts its item on sale. If it fails, it closes what it started.
func newRig(ctx context.Context, s *shared, d *drill) (_ *rig, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*startLimit)
	defer cancel()
	w := &rig{shared: s, name: d.name, dir: filepath.Join(s.dir, d.name), stock: s.stock, sums: newSums()}
	if d.account != nil {
		w.stock = d.account.stock
	}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	w.redis = &server{script: "redis", dir: filepath.Join(w.dir, "redis")}
	w.dynamo = &server{script: "dynamodb", dir: filepath.Join(w.dir, "dynamodb"),
		environ: []string{"DB=" + filepath.Join(w.dir, "dynamodb", "tables")}}
	for _, server := range []*server{w.redis, w.dynamo} {
		if err := server.start(ctx, s.root); err != nil {
			return nil, err
		}
	}
	w.client = redis.NewClient(&redis.Options{Addr: w.redis.addr, MaxRetries: -1, DialTimeout: time.Second,
		ReadTimeout: time.Second, PoolSize: 4})
	w.rows = dynamodb.NewFromConfig(config(w.dynamo.addr))
	tables := provision.Tables{Client: w.rows, Prefix: w.prefix(), More: []ledger.Table{fakegateway.Table}}
	if err := tables.Create(ctx); err != nil {
		return nil, err
	}
	w.sqs = sqs.NewFromConfig(config(s.ministack.addr))
	if err := w.start(ctx, d); err != nil {
		return nil, err
	}
	it := local.DemoItems(time.Now(), w.stock, limit)[1]
	it.ID, it.CreateTime = item, time.Now().Add(-time.Hour) // so that repair takes it for one that sold already
	if d.account != nil {                                   // a row of the largest size: every read pays for all of it
		it.Detail = strings.Repeat("<p>明前采摘，一芽一叶</p>", seckill.MaxDetail/len([]rune("<p>明前采摘，一芽一叶</p>")))
	}
	rows := dynamoledger.New(config(w.dynamo.addr), dynamoledger.Options{Prefix: w.prefix()})
	if err := rows.Items().Put(ctx, it.Item, &it.Description); err != nil {
		return nil, err
	}
	for w.client.Exists(ctx, key("item")).Val() == 0 || w.client.HExists(ctx, key("item"), "back").Val() {
		if ctx.Err() != nil {
			return nil, errors.New("the item is not loaded for sale, or holds units back")
		}
		time.Sleep(restLook / 20)
	}
	w.sums.installed()
	if w.account != nil {
		if err := w.answers(ctx); err != nil {
			return nil, err
		}
		w.initsBefore = w.initErrors()
		w.sums.reset()
	}
	w.created = time.Now()
	return w, nil
}

// start creates the queues and runs the functions.
func (w *rig) start(ctx context.Context, d *drill) error {
	orders, err := provision.Queue(ctx, w.sqs, w.prefix()+"orders")
	if err != nil {
		return err
	}
	closings, err := provision.Queue(ctx, w.sqs, w.prefix()+"closings")
	if err != nil {
		return err
	}
	w.ordersURL = orders.URL
	logs := filepath.Join(w.dir, "logs")
	if err := os.MkdirAll(logs, 0o700); err != nil {
		return err
	}
	o := lambdahost.Options{Bin: w.bin, Logs: logs, Instances: instances, Patience: patience, Answered: w.count}
	if d.account != nil {
		if err := w.within(d.account, &o); err != nil {
			return err
		}
		o.Own = map[string]map[string]string{"gateway": {"AWS_ENDPOINT_URL_DYNAMODB": w.dynamo.addr}} // Alipay's own
	}
	w.host, err = lambdahost.New(o)
	if err != nil {
		return err
	}
	if w.account != nil {
		w.account.Output("Url", w.host.URL)
	}
	w.environ = map[string]string{
		"AWS_REGION": region, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "TABLE_PREFIX": w.prefix(),
		"GOMAXPROCS": "1", "METRICS_NAMESPACE": strings.TrimSuffix(w.prefix(), "-"),
		"COMMAND_KEY": drillCommands.String(), "COMMAND_PUBLIC_KEY": drillCommands.Public().String(),
		"AWS_ENDPOINT_URL_DYNAMODB": w.dynamo.addr, "AWS_ENDPOINT_URL_SQS": w.ministack.addr,
		"REDIS_ADDRS":      w.redis.addr,
		"ORDERS_QUEUE_URL": orders.URL, "ORDERS_DEAD_LETTER_QUEUE_URL": orders.DeadLetterURL,
		"CLOSINGS_QUEUE_URL": closings.URL, "CLOSINGS_DEAD_LETTER_QUEUE_URL": closings.DeadLetterURL,
		"JWT_SECRET": drillSecret, "TICKET_SECRET": drillTickets, "HOLD": hold.String(), "ALIPAY_FAKE": "true",
		"ALIPAY_APP_ID": appID, "ALIPAY_SELLER_ID": sellerID,
		"ALIPAY_GATEWAY": w.host.URL + "/gateway.do", "ALIPAY_NOTIFY_URL": w.host.URL + "/seckill/alipay/notify",
		"CASHIER_URL": w.host.URL + "/cashier", "PUBLIC_URL": w.host.URL,
		"ALIPAY_PRIVATE_KEY": w.shop.Private, "ALIPAY_PUBLIC_KEY": w.gateway.Public,
		"GATEWAY_PRIVATE_KEY": w.gateway.Private, "ALIPAY_SHOP_PUBLIC_KEY": w.shop.Public,
	}
	if d.account != nil {
		w.limitedEnviron(w.environ)
		if d.account.prepare != nil {
			if err := d.account.prepare(w, w.environ); err != nil {
				return err
			}
		}
	}
	if d.proxied {
		over, err := w.proxies.open(ctx, w.name, map[string]string{"REDIS_ADDRS": w.redis.addr,
			"AWS_ENDPOINT_URL_DYNAMODB": w.dynamo.addr, "AWS_ENDPOINT_URL_SQS": w.ministack.addr})
		if err != nil {
			return err
		}
		maps.Copy(w.environ, over)
	}
	if err := w.host.Start(ctx, w.environ); err != nil {
		return err
	}
	w.orders = w.host.Poll(w.sqs, orders.URL, "consume")
	w.closing = w.host.Poll(w.sqs, closings.URL, "expire")
	for _, step := range []string{"stage", "repair", "expire", "refund", "reconcile", "gateway"} {
		w.host.Schedule(step, every)
	}
	return nil
}

// count counts buy's answers.
func (w *rig) count(a lambdahost.Answer) {
	w.sums.add(&a)
	switch {
	case a.Function != "buy":
	case a.Status == http.StatusOK:
		w.accepted.Add(1)
	case a.Status < http.StatusInternalServerError:
		w.refused.Add(1)
	default:
		w.unavailable.Add(1)
	}
}
