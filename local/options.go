package local

import (
	"cmp"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/api/oidc"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

// The shop's ids at the fake gateway.
const (
	AppID    = "2021000000000001"
	SellerID = "2088000000000001"
)

// The demo issuer, of which shoppers get their sign-in.
const (
	issuerPath = "/demo-issuer"
	demoClient = "seckill-demo"
)

// Limits and defaults.
const (
	DefaultPort    = 8100
	DefaultSecret  = "helloworld" // of tokens; a local run has no secrets
	DefaultWorkers = 32           // per queue; under load a worker is scheduled only after hundreds of requests
	MinHold        = 5 * time.Second
	MaxClose       = 5 * time.Second // the longest that Close takes

	maxWorkers = 64
	httpDrain  = 2 * time.Second // for running requests; an idle browser connection would take longer
	workDrain  = 2 * time.Second // for visible messages

	host = "seckill.local" // of calls within the process
)

// DefaultEventSecret signs webhooks if Options name no other; a local run has no secrets.
const DefaultEventSecret = "whsec_c2Vja2lsbC1sb2NhbC1ydW4taGFzLW5vLXNlY3JldHM="

// Options are a system's settings. The zero value is the demo on DefaultPort.
type Options struct {
	Addr string // ":8100", ":0" for any free port; on the loopback interface only
	// how long an unpaid order keeps its units, MinHold to seckill.MaxHold; seckill.DefaultHold when 0
	Hold      time.Duration
	Alone     seckill.AloneLimit // what one person of staff may refund; anything when zero
	JWTSecret string             // DefaultSecret when ""
	// from when on tokens without an audience are refused; never when zero
	AudienceFrom time.Time
	Items        []seckill.Listing // the demo items when nil
	Past         int               // paid orders of a sale that has long ended, up to MaxPast
	Covers       string            // folder of pictures that package cover made; if "", pictures are in memory
	Version      string            // shown by /healthz
	Log          *slog.Logger      // nil if there is none
	Workers      int               // per queue, 1 to 64; DefaultWorkers when 0
	Work         seckill.Work      // the work of a proof; zero means seckill.UsualWork
	Machines     bool              // for a simulated crowd: see MachineAddr

	Servers Servers           // real servers instead of embedded drivers
	Issuers []oidc.Client     // issuers instead of the demo issuer, called over the network
	Staff   oidc.StaffOptions // the issuer of staff, called over the network; without clients links only sign them in

	GatewayFaults fakegateway.Faults // PUT /faults changes them

	// how long after the end of a sale orders keep the network addresses that bought them; 0 if they keep none
	KeepNetworks time.Duration

	Contact string // whom a blocked shopper may write to; "" means the shop's support

	Salts httpapi.Salts // of reports, which orders show once their sale is over; nil if there is none

	NoPush bool // pages are pushed nothing, and poll

	// where the events of orders go: a URL of https, or of http on this machine, or the name of a file; "" means
	// nowhere
	Events       string
	EventSecrets []string // sign the posts to a URL; DefaultEventSecret when nil

	// The key pairs that sign payments: as given; else from the directory Keys, which has PEM files and is created if
	// missing; else generated, which takes up to a second.
	ShopKeys, GatewayKeys fakegateway.KeyPair
	Keys                  string
}

// Servers names real servers, each of which replaces an embedded driver. Missing tables and queues are created, and
// existing data is used. A zero field keeps the embedded driver.
type Servers struct {
	Redis         []string // host:port; several only for a cluster
	RedisCluster  bool
	RedisPassword string
	DynamoDB      string // the endpoint's URL
	SQS           string // the endpoint's URL
	Prefix        string // prefix of the names of tables and queues; "" means "seckill-"
}

func (o *Servers) prefix() string { return cmp.Or(o.Prefix, "seckill-") }

// Any reports whether a real server is named.
func (o *Servers) Any() bool { return len(o.Redis) > 0 || o.DynamoDB != "" || o.SQS != "" }

// complete sets defaults and refuses values out of range.
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
			"address %q: want a loopback address, because this system gives anyone tokens and lets them move its clock",
			o.Addr)
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
	if o.EventSecrets == nil {
		o.EventSecrets = []string{DefaultEventSecret}
	}
	if o.Work == (seckill.Work{}) {
		o.Work = seckill.UsualWork
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
