// Package local runs the whole system in one process: every flow over embedded drivers, the fake payment gateway, the
// storefront, workers on the queues, schedules, and a clock that can be moved. From Options it makes a server on a
// loopback port, whose parts tests can inspect. It writes nothing to disk but keys, if a directory is given, and
// events, if a file is. The data is gone when it stops, unless it is on real servers.
//
// This package enforces no guarantee itself: flows and drivers do.
package local

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/your-org/seckill/local/demoissuer"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/front/deliver"
	"github.com/your-org/seckill/shared/flow/front/push"
	"github.com/your-org/seckill/shared/flow/front/shop"
	"github.com/your-org/seckill/shared/flow/front/signin"
	"github.com/your-org/seckill/shared/flow/front/tell"
	"github.com/your-org/seckill/shared/flow/money/notify"
	"github.com/your-org/seckill/shared/flow/money/pay"
	"github.com/your-org/seckill/shared/flow/money/reconcile"
	"github.com/your-org/seckill/shared/flow/money/refund"
	activities "github.com/your-org/seckill/shared/flow/office/activity"
	"github.com/your-org/seckill/shared/flow/office/auditlog"
	"github.com/your-org/seckill/shared/flow/office/erase"
	"github.com/your-org/seckill/shared/flow/office/fulfil"
	"github.com/your-org/seckill/shared/flow/office/session"
	"github.com/your-org/seckill/shared/flow/sale/admit"
	"github.com/your-org/seckill/shared/flow/sale/buy"
	"github.com/your-org/seckill/shared/flow/sale/consume"
	"github.com/your-org/seckill/shared/flow/sale/expire"
	"github.com/your-org/seckill/shared/flow/sale/repair"
	"github.com/your-org/seckill/shared/flow/sale/stage"
	"github.com/your-org/seckill/shared/seckill"
)

// System is a running system. Its fields are for tests; the parts are safe for concurrent use.
type System struct {
	Clock    *memory.Clock
	Redis    *memory.Redis // nil with a real server, like Rows, Orders and Closings
	Rows     *memory.Rows
	Items    seckill.Items
	Orders   *memory.Queue
	Closings *memory.Queue
	Gateway  *fakegateway.Gateway // its trades are stored beside the ledger
	Meter    *Meter

	Stock    *redisstock.Stock
	Ledger   *ledger.Ledger
	Payments *alipay.Client
	Pages    seckill.Pages // signs as Payments does, for the gateway's address as browsers see it

	Buy     *buy.Flow
	Consume *consume.Flow
	Notify  *notify.Flow
	Expire  *expire.Flow
	Refund  *refund.Flow
	Fulfil  *fulfil.Flow
	Stage   *stage.Flow
	Repair  *repair.Flow
	Shop    *shop.Flow
	SignIn  *signin.Flow
	Pay     *pay.Flow
	Admit   *admit.Flow
	Audit   *auditlog.Flow
	Staff   *session.Flow
	erase   *erase.Flow

	Activity *activities.Flow

	Reconcile *reconcile.Flow
	Deliver   *deliver.Flow // nil without Options.Events
	Push      *push.Flow    // nil with Options.NoPush

	drivers  drivers
	opt      Options
	log      *slog.Logger
	auth     *jwtauth.Verifier
	issuer   *demoissuer.Issuer
	items    *operator.ItemHandler
	operator func(ctx context.Context, event []byte) (answer []byte, err error)
	staff    *operator.BrowserHandler
	links    *operator.Links
	drawn    memory.Pictures // pictures of items, unless they are in a folder
	listener net.Listener
	server   *http.Server
	inside   http.Handler // the server's handler, for calls within the process

	priority         priority
	traffic          traffic
	reserve          countedReserver
	shut             atomic.Bool // the whole shop is stopped hard
	orders, closings seckill.OperatedQueue
	trades           fakegateway.Store // nil if they are in the gateway's memory
	tables           *dynamodb.Client  // the driver of a real ledger, for reads of whole tables
	closers          []func() error    // of connections

	takers takers // of changes of orders
	tell   *tell.Flow
	told   *changes // nil without Options.Events
	counts *counts
	acts   *actRing
	live   *live // nil with Options.NoPush, like pushed
	pushed *pushed

	workers []*worker
	active  activity
	stop    chan struct{} // closed: workers begin no more steps
	once    sync.Once
	running sync.WaitGroup
	cancel  context.CancelFunc // interrupts running steps
}

// URL is the storefront's address without a slash at the end.
func (s *System) URL() string {
	_, port, _ := net.SplitHostPort(s.listener.Addr().String()) // an address that a listener has can be split
	return "http://localhost:" + port
}

// Token makes an access token of a shopper that is valid for this long on the system's clock.
func (s *System) Token(user string, valid time.Duration) (string, error) {
	return jwtauth.Sign(s.opt.JWTSecret, user, s.Clock.Now().Add(valid))
}

// readable logs unreadable rows and returns the other errors.
func (s *System) readable(err error) error {
	rows, rest := seckill.SplitUnreadable(err)
	for _, row := range rows {
		s.log.Warn("left out", "err", row)
	}
	return rest
}
