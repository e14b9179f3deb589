package local

import (
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/your-org/seckill/shared/adapter/alipay/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

// What the fake gateway knows the shop by.
const (
	AppID    = "2021000000000001"
	SellerID = "2088000000000001"
)

// Limits and defaults.
const (
	DefaultPort    = 8100
	DefaultSecret  = "helloworld" // of tokens; a local run holds nothing worth keeping from anybody
	DefaultWorkers = 32           // per queue: in a crowd each gets its turn after hundreds of requests
	MinHold        = 5 * time.Second
	MaxClose       = 5 * time.Second // how long Close takes at most

	maxWorkers = 64
	httpDrain  = 2 * time.Second // for requests under way; a browser's unused connection would wait for more
	workDrain  = 2 * time.Second // for messages that can be received

	host = "seckill.local" // of calls that never leave the process
)

// Options are a system's settings. The zero value is the demo on DefaultPort.
type Options struct {
	Addr string // ":8100", ":0" for any free port; on the loopback interface only
	// how long an unpaid order keeps its units, MinHold to seckill.MaxHold; seckill.DefaultHold when 0
	Hold      time.Duration
	JWTSecret string            // DefaultSecret when ""
	Items     []seckill.Listing // the demo items when nil
	Version   string            // shown by /healthz
	Log       *slog.Logger      // nil: none
	Workers   int               // per queue, 1 to 64; DefaultWorkers when 0

	Servers Servers // real servers instead of embedded drivers

	GatewayFaults fakegateway.Faults // what goes wrong with payments; /faults changes it

	// The key pairs of payments: as given; else kept in the directory Keys, which has PEM files and is made if it is
	// missing; else made anew, which takes up to a second.
	ShopKeys, GatewayKeys fakegateway.KeyPair
	Keys                  string
}

// Servers name real servers, each of which replaces an embedded driver. Tables and queues are made where they are
// missing; what is there already is gone on with. A zero field keeps the embedded driver.
type Servers struct {
	Redis         []string // host:port; several only of a cluster
	RedisCluster  bool
	RedisPassword string
	DynamoDB      string // the endpoint's URL
	SQS           string // the endpoint's URL
}

// Any says whether a real server is named.
func (o *Servers) Any() bool { return len(o.Redis) > 0 || o.DynamoDB != "" || o.SQS != "" }

// complete fills in defaults and refuses what is out of range.
func (o *Options) complete() error {
	if o.Addr == "" {
		o.Addr = ":" + strconv.Itoa(DefaultPort)
	}
	name, port, err := net.SplitHostPort(o.Addr)
	if err != nil {
		return fmt.Errorf("address %q: want a port such as \":8100\"", o.Addr)
	}
	if name == "" || name == "localhost" {
		name = "127.0.0.1"
	}
	if ip := net.ParseIP(name); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf(
			"address %q: this system hands out tokens and moves its clock for anybody, so it listens on this machine "+
				"only", o.Addr)
	}
	o.Addr = net.JoinHostPort(name, port)
	if o.Hold == 0 {
		o.Hold = seckill.DefaultHold
	}
	if o.Hold < MinHold || o.Hold > seckill.MaxHold {
		return fmt.Errorf("hold %v: want %v to %v", o.Hold, MinHold, seckill.MaxHold)
	}
	if o.JWTSecret == "" {
		o.JWTSecret = DefaultSecret
	}
	if o.Workers == 0 {
		o.Workers = DefaultWorkers
	}
	if o.Workers < 0 || o.Workers > maxWorkers {
		return fmt.Errorf("%d workers: want 1 to %d", o.Workers, maxWorkers)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}
