// Package functions_test starts each function's binary as Lambda would and drives it with recorded events.
package functions_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	_ "github.com/your-org/seckill/functions/internal/aws" // contents of the binaries; see binary
	"github.com/your-org/seckill/functions/lambdatest"
	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/drivertest/alipaytest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/fake/redistest"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	secret   = "a-secret-of-tokens"
	appID    = "2021000000000001"
	sellerID = "2088000000000001"

	notifyPath = "/seckill/alipay/notify"
	storefront = "https://shop.example.com"
	page       = "https://api.example.com/live"
	address    = "浙江省杭州市西湖区文三路 1 号"
)

var steps = []string{"buy", "consume", "notify", "expire", "refund", "reconcile", "stage", "repair", "shop", "pay",
	"signin", "tell", "deliver", "connect", "admit", "acts", "admin"}

// bin holds the binaries, which are built once for all tests.
var bin = struct {
	sync.Once
	folder string
}{}

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "functions")
	if err != nil {
		panic(err)
	}
	bin.folder = folder
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

func binary(t *testing.T, step string) string {
	t.Helper()
	bin.Do(func() { lambdatest.Build(t, "", bin.folder, "./...") })
	// The go command reuses a cached result unless something that a test imports or reads has changed; binaries do
	// not count.
	must.Get(os.ReadFile(filepath.Join(step, "main.go")))
	return filepath.Join(bin.folder, step)
}

// keys returns the shop's and the gateway's key pairs; generating one takes at least a tenth of a second.
var keys = sync.OnceValue(func() [2]fakegateway.KeyPair {
	var out [2]fakegateway.KeyPair
	for i := range out {
		var err error
		if out[i], err = fakegateway.GenerateKeys(); err != nil {
			panic(err)
		}
	}
	return out
})

// secrets returns the entries of the one secret that all functions read here.
func secrets() map[string]string {
	return map[string]string{"jwt-secret": secret, "redis-password": "redis-password",
		"ticket-secret":      "1764000000:a-secret-of-tickets",
		"alipay-private-key": keys()[0].Private, "alipay-public-key": keys()[1].Public,
		"command-key":         commandKeys.String(),
		"command-public-key":  commandKeys.Public().String(),
		"staff-client-secret": "a-secret-of-the-back-office",
		"webhook-secret":      "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
		"gateway-private-key": keys()[1].Private, "alipay-shop-public-key": keys()[0].Public}
}

// environ returns every setting of every function.
func environ(prefix, redis, gateway string, queues map[string]string) map[string]string {
	env := map[string]string{
		"AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "TABLE_PREFIX": prefix,
		"REDIS_ADDRS":     redis,
		"JWT_SECRET_NAME": "jwt-secret", "CORS_ORIGIN": storefront, "ALIPAY_APP_ID": appID,
		"ALIPAY_SELLER_ID": sellerID, "ALIPAY_GATEWAY": gateway + "/gateway.do",
		"ALIPAY_NOTIFY_URL": gateway + notifyPath, "ALIPAY_PRIVATE_KEY_NAME": "alipay-private-key",
		// longer than any test takes
		"ALIPAY_PUBLIC_KEY_NAME": "alipay-public-key", "ALIPAY_FAKE": "true", "HOLD": "1h", "PUBLIC_URL": page,
		"EVENT_BUS": "seckill", "WEBHOOK_URL": "https://erp.example.com/hook", "WEBHOOK_SECRET_NAME": "webhook-secret",
	}
	env["TICKET_SECRET_NAME"] = "ticket-secret"
	env["COMMAND_KEY_NAME"], env["COMMAND_PUBLIC_KEY_NAME"] = "command-key", "command-public-key"
	env["SIGNIN_ISSUERS"] = "https://id.example.com|shop" // never called
	maps.Copy(env, queues)
	return env
}

// deployment fakes everything that functions talk to, in this process.
type deployment struct {
	aws     *lambdatest.AWS
	redis   *redistest.Fake
	gateway *fakegateway.Gateway
	environ map[string]string
	rows    *dynamoledger.Rows
	items   *dynamoledger.Items
}

func newDeployment(t *testing.T) *deployment {
	t.Helper()
	w := &deployment{aws: lambdatest.NewAWS(t, secrets(), "orders", "orders-dead", "closings", "closings-dead")}
	w.redis = redistest.NewFake(t, memory.NewRedis())
	w.redis.RequirePassword("redis-password")
	var url string
	w.gateway, url = gateway(t)
	w.environ = environ(w.aws.Prefix, w.redis.Addr, url, map[string]string{
		"ORDERS_QUEUE_URL": w.aws.Queue("orders"), "ORDERS_DEAD_LETTER_QUEUE_URL": w.aws.Queue("orders-dead"),
		"CLOSINGS_QUEUE_URL": w.aws.Queue("closings"), "CLOSINGS_DEAD_LETTER_QUEUE_URL": w.aws.Queue("closings-dead"),
		"AWS_ENDPOINT_URL": w.aws.URL, "CONNECTIONS_URL": w.aws.Stage(),
		"SECRETS": lambdatest.Secret, "REDIS_PASSWORD_NAME": "redis-password"})
	w.rows = dynamoledger.New(w.config(), dynamoledger.Options{Prefix: w.aws.Prefix})
	w.items = w.rows.Items()
	return w
}

// config returns the configuration of a client of the fake AWS.
func (w *deployment) config() aws.Config {
	return aws.Config{Region: "eu-west-1", BaseEndpoint: &w.aws.URL,
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")}
}

// gateway starts a fake payment gateway on its own port.
func gateway(t *testing.T) (*fakegateway.Gateway, string) {
	t.Helper()
	g, err := fakegateway.New(fakegateway.Options{Clock: system.Clock{}, AppID: appID, SellerID: sellerID,
		MerchantPublicKey: keys()[0].Public, PrivateKey: keys()[1].Private})
	must.OK(t, err)
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	return g, server.URL
}

// loaded puts an item into the table and the stock.
func (w *deployment) loaded(t *testing.T, it seckill.Item) {
	t.Helper()
	must.OK(t, w.items.Put(t.Context(), it, nil))
	run(t, w.start(t, "repair"), recorded(t, "schedule.json"), "null")
}

func (w *deployment) start(t *testing.T, step string, changes ...string) *lambdatest.Function {
	t.Helper()
	env := maps.Clone(w.environ)
	if step == "gateway" {
		maps.Copy(env, gatewayFields)
	}
	for i := 0; i < len(changes); i += 2 {
		env[changes[i]] = changes[i+1]
	}
	return lambdatest.Start(t, binary(t, step), env)
}

// certificates adds the entries of certificate mode and returns its settings.
func (w *deployment) certificates(t *testing.T) (changes []string) {
	t.Helper()
	now := time.Now()
	files := alipaytest.Make(t, keys()[0], keys()[1], now.AddDate(0, -1, 0), now.AddDate(0, 1, 0))
	changes = []string{"ALIPAY_PUBLIC_KEY_NAME", ""}
	for setting, file := range map[string]string{"ALIPAY_APP_CERT_NAME": files.App, "ALIPAY_CERT_NAME": files.Alipay,
		"ALIPAY_ROOT_CERT_NAME": files.Root} {
		w.aws.SetSecret(setting, file)
		changes = append(changes, setting, setting)
	}
	return changes
}

// live returns an item that has been on sale for an hour.
func live(id string, stock int) seckill.Item {
	it := local.DemoItems(time.Now(), stock, 1)[1].Item
	it.ID = id
	return it
}

// recorded returns an event from package apigw's collection.
func recorded(t *testing.T, name string) []byte {
	return must.Get(os.ReadFile(filepath.Join("..", "shared", "api", "apigw", "testdata", name)))
}

// call returns the recorded API Gateway event with another method, path, body and shopper; user "" sends no token.
func call(t *testing.T, method, path, body, user string) []byte {
	t.Helper()
	var e map[string]any
	must.OK(t, json.Unmarshal(recorded(t, "apigateway.json"), &e))
	headers, _ := e["multiValueHeaders"].(map[string]any)
	delete(headers, "Idempotency-Key")
	delete(headers, "Authorization")
	if user != "" {
		token := must.Get(jwtauth.Sign(secret, user, time.Now().Add(time.Hour)))
		headers["Authorization"] = []string{"Bearer " + token}
	}
	if path == notifyPath {
		headers["content-type"] = []string{"application/x-www-form-urlencoded; charset=utf-8"}
	}
	e["httpMethod"], e["path"], e["resource"], e["body"] = method, path, path, body
	return must.Get(json.Marshal(e))
}

func purchase(t *testing.T, item, user string) []byte {
	t.Helper()
	return call(t, "POST", "/seckill/buy", fmt.Sprintf(`{"seckill_id":%q,"count":1,"address":%q}`, item, address), user)
}

// batch returns the recorded SQS event with these bodies, as messages m0, m1, …
func batch(t *testing.T, bodies ...string) []byte {
	t.Helper()
	var e struct{ Records []map[string]any }
	must.OK(t, json.Unmarshal(recorded(t, "sqs.json"), &e))
	first, records := e.Records[0], []map[string]any{}
	for i, body := range bodies {
		m := maps.Clone(first)
		m["messageId"], m["body"] = fmt.Sprintf("m%d", i), body
		records = append(records, m)
	}
	return must.Get(json.Marshal(map[string]any{"Records": records}))
}

// response is an HTTP function's answer.
type response struct {
	Status  int                 `json:"statusCode"`
	Headers map[string]string   `json:"headers"`
	Many    map[string][]string `json:"multiValueHeaders"`
	Body    string              `json:"body"`
	Base64  bool                `json:"isBase64Encoded"`
	Fields  map[string]any      // of a body that is a JSON object
}

func (r response) text(field string) string {
	s, _ := r.Fields[field].(string)
	return s
}

// ask invokes an HTTP function.
func ask(t *testing.T, f *lambdatest.Function, event []byte) response {
	t.Helper()
	out := must.Get(f.Invoke(event))
	var r response
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	_ = json.Unmarshal([]byte(r.Body), &r.Fields) // other bodies have no fields
	return r
}

// pay acts like a shopper at the cashier with the order's pay string, and returns the notification that follows.
func pay(t *testing.T, g *fakegateway.Gateway, payString string) url.Values {
	t.Helper()
	no := must.Get(g.Open(payString))
	for _, trade := range g.Trades() {
		if trade.TradeNo != no {
			continue
		}
		must.OK(t, g.Pay(trade.OutTradeNo))
	}
	for _, trade := range g.Trades() {
		if trade.TradeNo == no {
			return must.Get(g.NotificationForm("n-"+no, trade, time.Now()))
		}
	}
	t.Fatalf("the gateway has no trade %s", no)
	return nil
}

// run invokes a function and compares its answer.
func run(t *testing.T, f *lambdatest.Function, event []byte, want string) {
	t.Helper()
	if out, err := f.Invoke(event); err != nil || string(out) != want {
		t.Fatalf("got %s, %v; want %s", out, err, want)
	}
}
