package aws

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"slices"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/your-org/seckill/shared/api/actlog"
	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/app"
	"github.com/your-org/seckill/shared/driver/bus"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/redisconn"
	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/driver/s3pictures"
	"github.com/your-org/seckill/shared/driver/sqsqueue"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/driver/telemetry"
	"github.com/your-org/seckill/shared/driver/wspush"
	"github.com/your-org/seckill/shared/seckill"
)

// Drivers opens a step's ports on AWS, each from its own part of the function's settings. What is wrong with settings
// and secrets is reported together once the step is built; until then such a port cannot be used.
type Drivers struct {
	Log  *slog.Logger
	Step string // the function's short name

	environ map[string]string
	base    config.Base
	sdk     sdk.Config
	secrets *config.Secrets
	init    context.Context // for the first read of the secrets
	renew   func() error
	clock   seckill.Clock
	ids     *system.IDs
	meter   *telemetry.Meter
	limits  *httpapi.Limits // the limits of a step with an HTTP handler; they outlive a change of secrets

	rows             *dynamoledger.Rows
	items            seckill.Items
	orders, closings seckill.Queue
	// Concrete types here, of what not every step uses, would link it into every function.
	redis         io.Closer // a *redisconn.Runner
	redisPassword string    // with which redis was opened
	stock         seckill.Stock
	provider      app.Provider
	errs          []error
	warm          []func(context.Context) // open connections before the first event
	awaited       bool                    // a shopper, or the payment provider, waits for the answers
}

var _ app.Drivers = (*Drivers)(nil)

// Part reads a part of the function's settings.
func Part[S any](d *Drivers) S {
	s, err := config.Part[S](d.environ)
	d.Fail(err)
	return s
}

// Fail has init fail if err is not nil, or keeps the step as it is when a secret has changed.
func (d *Drivers) Fail(err error) {
	if err != nil {
		d.errs = append(d.errs, err)
	}
}

// wrong returns what is wrong with settings.
func (d *Drivers) wrong() (all config.Problems) {
	for _, err := range d.errs {
		var p config.Problems
		if errors.As(err, &p) {
			all = append(all, p...)
		}
	}
	return all
}

// problems returns all that is wrong as one error: of settings in one line.
func (d *Drivers) problems() error {
	if wrong := d.wrong(); len(wrong) > 0 {
		return wrong // what else failed may follow from it
	}
	var rest []error
	for _, err := range d.errs {
		if !slices.ContainsFunc(rest, func(e error) bool { return e.Error() == err.Error() }) {
			rest = append(rest, err)
		}
	}
	return errors.Join(rest...)
}

// anew returns drivers for secrets that have changed.
func (d *Drivers) anew() *Drivers {
	next := *d
	next.errs, next.warm, next.stock, next.provider, next.init = nil, nil, nil, nil, context.Background()
	return &next
}

// Secret reads a secret, "" if init fails anyway.
func (d *Drivers) Secret(s config.Source) string {
	if len(d.wrong()) > 0 {
		return ""
	}
	text, err := d.secrets.Get(d.init, s)
	d.Fail(err)
	return string(text)
}

// Latest returns a secret as it was read last, for what renews secrets while it serves an event.
func (d *Drivers) Latest(s config.Source) string { return string(d.secrets.Of(s)) }

// Renew applies secrets that are at most renewAge old, or returns why it cannot, which it has logged.
func (d *Drivers) Renew() error { return d.renew() }

// Stack is the stack's name, which the metrics' namespace is.
func (d *Drivers) Stack() string { return d.base.Namespace }

// AWS returns the settings of AWS's clients.
func (d *Drivers) AWS() sdk.Config { return d.sdk }

// Count counts an event.
func (d *Drivers) Count(event seckill.Event) { d.meter.Count(event, 1) }

// Methods without a comment implement app.Drivers.

func (d *Drivers) Clock() seckill.Clock { return d.clock }

func (d *Drivers) IDs() app.IDs { return d.ids }

func (d *Drivers) Meter() seckill.Meter { return d.meter }

func (d *Drivers) Each(most int) func(n int, do func(i int)) { return system.Several(most) }

func (d *Drivers) table() *dynamoledger.Rows {
	if d.rows == nil {
		d.rows = d.Table()
	}
	return d.rows
}

// Table opens tables that are neither the ledger's nor the items'.
func (d *Drivers) Table(tables ...ledger.Table) *dynamoledger.Rows {
	return dynamoledger.New(d.sdk, dynamoledger.Options{Prefix: d.base.TablePrefix, Tables: tables})
}

func (d *Drivers) Ledger() seckill.Ledger { return ledger.New(d.table()) }

func (d *Drivers) StaffSessions() seckill.StaffSessions { return ledger.New(d.table()) }

func (d *Drivers) Items() seckill.Items {
	if d.items == nil {
		d.items = d.table().Items()
	}
	return d.items
}

func (d *Drivers) queue(url, dead string) *sqsqueue.Queue {
	if url == "" {
		return nil // its setting is missing
	}
	return sqsqueue.New(sqs.NewFromConfig(d.sdk), sqsqueue.Options{URL: url, DeadLetterURL: dead})
}

// Orders is the queue of OrdersWork in a step that has asked for that: each queue makes three clients of SQS.
func (d *Drivers) Orders() seckill.Queue {
	if d.orders == nil {
		d.orders = d.queue(Part[config.Orders](d).URL, "")
	}
	return d.orders
}

// Closings is the queue of ClosingsWork in a step that has asked for that.
func (d *Drivers) Closings() seckill.Queue {
	if d.closings == nil {
		d.closings = d.queue(Part[config.Closings](d).URL, "")
	}
	return d.closings
}

func (d *Drivers) OrdersWork() seckill.Queue {
	d.orders = d.OrdersOperated()
	return d.orders
}

func (d *Drivers) ClosingsWork() seckill.Queue {
	d.closings = d.ClosingsOperated()
	return d.closings
}

// OrdersOperated opens the orders queue with its dead letters.
func (d *Drivers) OrdersOperated() *sqsqueue.Queue {
	return d.queue(Part[config.Orders](d).URL, Part[config.OrdersDead](d).URL)
}

// ClosingsOperated opens the closings queue with its dead letters.
func (d *Drivers) ClosingsOperated() *sqsqueue.Queue {
	return d.queue(Part[config.Closings](d).URL, Part[config.ClosingsDead](d).URL)
}

// Redis opens the connection to Redis, which stays when other secrets than its password change.
func (d *Drivers) Redis() *redisconn.Runner {
	s := Part[config.Redis](d)
	password := d.Secret(s.Password)
	if open, ok := d.redis.(*redisconn.Runner); ok && d.redisPassword == password {
		return open
	}
	r, err := redisconn.New(redisconn.Options{Addrs: s.Addrs, Cluster: s.Cluster, TLS: s.TLS, Username: s.Username,
		Password: password})
	if err != nil {
		d.Fail(err)
		return nil
	}
	d.redis, d.redisPassword = r, password
	return r
}

func (d *Drivers) LazyStock() seckill.Stock { return redisstock.New(d.Redis()) }

// Stock connects before the first event, because shoppers wait.
func (d *Drivers) Stock() seckill.Stock {
	if d.stock != nil {
		return d.stock
	}
	r := d.Redis()
	d.stock = redisstock.New(r)
	d.warm = append(d.warm, func(ctx context.Context) {
		if err := r.Ping(ctx); err != nil {
			d.Log.Warn("redis does not answer", "err", err)
		}
	})
	return d.stock
}

func (d *Drivers) Reserver() seckill.Reserver { return d.Stock() }

func (d *Drivers) Bus() seckill.Bus {
	return bus.NewBus(eventbridge.NewFromConfig(d.sdk), Part[config.Bus](d).Name, d.base.Namespace)
}

func (d *Drivers) Connections() seckill.Connections {
	return wspush.NewConnections(d.Table(wspush.Table), d.clock)
}

func (d *Drivers) Wire() seckill.Wire {
	return wspush.New(d.sdk, Part[config.WebSocket](d).URL, d.clock)
}

// Recent is nil: API Gateway sends nothing before a page is connected.
func (d *Drivers) Recent() seckill.Recent { return nil }

func (d *Drivers) GivenUp(ctx context.Context, order string, err error) {
	d.Log.ErrorContext(ctx, "events given up", "order", order, "err", err)
}

// Pictures opens the store of items' pictures, or returns nil if the shop has no pictures.
func (d *Drivers) Pictures() seckill.Pictures {
	if s := Part[config.Pictures](d); s.Bucket != "" {
		return s3pictures.New(d.sdk, s.Bucket, d.clock, d.Log)
	}
	return nil
}

// Contact is whom a blocked shopper may write to; "" means the shop's support.
func (d *Drivers) Contact() string { return seckill.Tidy(Part[config.Contact](d).Text) }

func (d *Drivers) Hold() time.Duration { return Part[config.Hold](d).Time }

func (d *Drivers) KeepNetworks() time.Duration { return days(Part[config.Networks](d).KeepDays) }

func (d *Drivers) KeepAddresses() time.Duration { return days(Part[config.Addresses](d).KeepDays) }

func (d *Drivers) KeepNotifications() time.Duration {
	return days(Part[config.Notifications](d).KeepDays)
}

func days(n uint16) time.Duration { return 24 * time.Hour * time.Duration(n) }

func (d *Drivers) Alone() seckill.AloneLimit {
	s := Part[config.Alone](d)
	return s.Limit()
}

func (d *Drivers) Public() string { return Part[config.Page](d).URL }

// Options completes o, the options of an HTTP handler, which knows shoppers by their tokens; who is nil where only the
// payment provider calls. Such a step never waits for its secrets once it has started.
func (d *Drivers) Options(o httpapi.Options, who httpapi.Who) httpapi.Options {
	d.awaited = true
	if d.limits == nil {
		d.limits = httpapi.NewLimits(d.clock)
	}
	o.Log, o.Version, o.Limits = d.Log, d.base.Version, d.limits
	o.Refusals = httpapi.NewRefusals(d.meter.Refused, who, d.Log, d.clock)
	return o
}

// ShopperOptions is Options for a step that shoppers' pages call.
func (d *Drivers) ShopperOptions(o httpapi.Options, who httpapi.Who) httpapi.Options {
	o = d.Options(o, who)
	o.CORSOrigin = Part[config.CORS](d).Origin
	o.Acts = httpapi.NewActs(actlog.New(os.Stdout, who.Hash), d.clock) // independent of LOG_LEVEL
	return o
}
