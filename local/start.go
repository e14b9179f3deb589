package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/your-org/seckill/local/demoissuer"
	"github.com/your-org/seckill/shared/api/captcha"
	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/api/oidc"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/app"
	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// New checks the options, opens the port and builds the parts. An error says in one line what to do. The caller must
// close the system, started or not.
func New(o Options) (*System, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", o.Addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", o.Addr, err)
	}
	s, err := build(o, l)
	if err != nil {
		l.Close()
		return nil, err
	}
	return s, nil
}

func build(o Options, l net.Listener) (*System, error) {
	clock := memory.NewRealClock()
	s := &System{
		Clock: clock, Meter: NewMeter(), opt: o, log: o.Log, listener: l, stop: make(chan struct{}),
	}
	s.drivers = drivers{s: s, ids: system.NewIDs(nil)}
	ctx := context.Background()
	if err := s.connect(ctx, o.Servers); err != nil {
		return nil, errors.Join(err, s.disconnect())
	}
	if s.opt.Items == nil {
		s.opt.Items = DemoItems(clock.Now(), DemoStock, DemoLimit)
	}
	if err := errors.Join(s.seed(ctx, s.opt.Items), s.seedPast(ctx, o.Past)); err != nil {
		return nil, err
	}
	var err error
	if s.auth, err = jwtauth.New(jwtauth.Keys{Current: o.JWTSecret, AudienceFrom: o.AudienceFrom}, clock); err != nil {
		return nil, err
	}
	s.acts = newActRing(s.auth.Hash)
	s.traffic.begun.at = clock.Now()
	s.traffic.last = s.traffic.begun
	s.priority.line = make(chan struct{}, signLine)
	s.priority.queued = s.unplaced
	if err := s.buildPayments(); err != nil {
		return nil, err
	}
	if err := s.buildEvents(); err != nil {
		return nil, errors.Join(err, s.disconnect())
	}
	if err := s.buildAdmission(); err != nil {
		return nil, errors.Join(err, s.disconnect())
	}
	if err := s.buildFlows(); err != nil {
		return nil, errors.Join(err, s.disconnect())
	}
	s.buildPush()
	if err := s.buildSignIn(ctx); err != nil {
		return nil, err
	}
	s.inside = s.handler()
	s.server = &http.Server{Handler: httpapi.Headers(s.thisMachine(whole(s.machines(s.inside)))),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second,
		WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn)}
	s.employ()
	return s, nil
}

// employ makes the workers on queues and schedules.
func (s *System) employ() {
	for _, w := range []struct {
		*worker
		copies int
	}{
		{s.schedule("stage", s.Stage.Run), 1},
		{s.schedule("repair", app.EachMinute(s.Repair, s.erase)), 1},
		{s.schedule("expire", s.Expire.Sweep), 1},
		{s.schedule("refund", s.Refund.Sweep), 1},
		{s.schedule("reconcile", s.Reconcile.Run), 1},
		{s.schedule("traffic", s.endMinute), 1},
		{s.notifier(), 1},
		{s.follower("counts", s.counts.changes, s.counts), 1},
		{s.actKeeper(), 1},
	} {
		for range w.copies {
			s.workers = append(s.workers, w.worker)
		}
	}
	if s.Push != nil {
		s.workers = append(s.workers, s.follower("pushes", s.pushed.changes, s.Push))
	}
	if s.Deliver != nil {
		s.workers = append(s.workers, s.teller())
		if s.Rows == nil {
			s.workers = append(s.workers, s.lookBack())
		}
	}
	if s.Orders != nil {
		for range s.opt.Workers {
			s.workers = append(s.workers, s.poller("orders", s.Orders, s.Consume.Handle),
				s.poller("closings", s.Closings, s.Expire.Handle))
		}
	}
}

// unplaced returns the number of visible messages in an embedded orders queue.
func (s *System) unplaced() int {
	if s.Orders == nil {
		return 0
	}
	d, err := s.Orders.Depth(context.Background())
	if err != nil {
		return 0
	}
	return d.Visible
}

// buildPayments connects the payment client and the fake gateway, each with its own key pair.
func (s *System) buildPayments() error {
	if err := s.opt.completeKeys(); err != nil {
		return err
	}
	var toGateway inProcess
	toShop := notifications{inside: inProcess{before: s.priority.pause},
		outside: &http.Transport{DisableKeepAlives: true}}
	toShop.inside.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.inside.ServeHTTP(w, r) })
	gateway, err := fakegateway.New(fakegateway.Options{Clock: s.Clock, AppID: AppID, SellerID: SellerID,
		MerchantPublicKey: s.opt.ShopKeys.Public, PrivateKey: s.opt.GatewayKeys.Private, ReturnURL: s.URL() + "/",
		Faults: s.opt.GatewayFaults,
		Store:  s.trades, Log: s.log, FinishAfter: fakegateway.AlipayFinishes,
		HTTP: &http.Client{Transport: toShop, Timeout: alipay.CallTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}})
	if err != nil {
		return err
	}
	toGateway.handler = gateway
	s.Gateway = gateway
	client := alipay.Config{AppID: AppID, SellerID: SellerID, PrivateKey: s.opt.ShopKeys.Private,
		AlipayPublicKey: gateway.PublicKey(), Gateway: "http://" + host + "/gateway.do", NotifyURL: "http://" + host +
			"/seckill/alipay/notify",
		HTTP: &http.Client{Transport: toGateway, Timeout: alipay.CallTimeout}, Clock: s.Clock}
	if s.Payments, err = alipay.New(client); err != nil {
		return err
	}
	client.Gateway = s.URL() + "/gateway.do"
	s.Pages, err = alipay.NewSigner(client)
	return err
}

// buildFlows makes the steps, and the back office, from the drivers.
func (s *System) buildFlows() error {
	d := &s.drivers
	s.reserve.Reserver = s.Stock
	s.Buy, s.Consume, s.Expire, s.Repair = app.Buy(d), app.Consume(d), app.Expire(d), app.Repair(d)
	s.Admit, s.Stage, s.Shop = app.Admit(d, captcha.Painter{}), app.Stage(d), app.Shop(d)
	s.Notify, s.Pay, s.Refund, s.Reconcile = app.Notify(d), app.Pay(d), app.Refund(d), app.Reconcile(d)
	s.Fulfil, s.Audit, s.erase, s.tell = app.Fulfil(d), app.Audit(d), app.Erase(d), app.Tell(d)
	s.Activity = app.Activity(d, s.Stage)
	if s.told != nil {
		s.Deliver = app.Deliver(d)
	}
	s.counts = newCounts(app.Count(d), &s.takers)
	s.items = operator.NewItemHandler(s.Stage)
	s.items.Imported = s.load
	return s.buildStaff(&operator.Recorder{Log: s.Audit, Text: s.log}, []operator.Handler{s.items,
		operator.NewActivityHandler(s.Activity, s.items), operator.NewPaymentHandler(s.Refund),
		operator.NewBillHandler(s.Reconcile), operator.NewOrderHandler(s.Fulfil), operator.NewEventHandler(s.tell),
		operator.NewWebhookHandler(s.Deliver), operator.NewActHandler(app.Acts(d)),
		operator.NewBlockHandler(app.Block(d)), operator.NewUserHandler(s.erase),
		operator.NewCountHandler(app.Count(asked{d}))})
}

// buildSignIn connects the sign-in and the demo issuer, whose people keep their fixed user ids.
func (s *System) buildSignIn(ctx context.Context) error {
	people := make([]demoissuer.Person, len(Shoppers))
	for i, p := range Shoppers {
		people[i] = demoissuer.Person(p)
		id := seckill.Identity{Issuer: s.issuerURL(), Subject: p.User}
		// A kept ledger may have them from a run on another port, where the issuer has another name.
		if _, err := s.Ledger.Enrol(ctx, id, p.User, s.Clock.Now()); errors.Is(err, seckill.ErrUserTaken) {
			s.log.Warn("a demo shopper gets another user id: an earlier run used another port", "user", p.User)
		} else if err != nil {
			return fmt.Errorf("demo shopper %s: %w", p.User, err)
		}
	}
	var err error
	s.issuer, err = demoissuer.New(demoissuer.Options{Issuer: s.issuerURL(), ClientID: demoClient, People: people,
		Clock: s.Clock})
	if err != nil {
		return err
	}
	toIssuer := inProcess{handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.inside.ServeHTTP(w, r)
	})}
	with := oidc.Options{Clients: s.opt.Issuers, Clock: s.Clock, Log: s.opt.Log}
	if len(with.Clients) == 0 {
		with.Clients, with.HTTP = []oidc.Client{{Issuer: s.issuerURL(), ClientID: demoClient}}, toIssuer
	}
	if s.drivers.issuers, err = oidc.New(with); err != nil {
		return err
	}
	if s.drivers.signer, err = jwtauth.NewSigner(jwtauth.Keys{Current: s.opt.JWTSecret}); err != nil {
		return err
	}
	s.SignIn = app.SignIn(&s.drivers)
	return nil
}

// issuerURL is the name of the demo issuer, and where a browser reaches it.
func (s *System) issuerURL() string { return s.URL() + issuerPath }

// Start loads the items into the stock, then serves requests and runs the workers until Close. ctx only limits the
// loading. An unreadable row is logged and does not stop the sale of other items. Call Start once.
func (s *System) Start(ctx context.Context) error {
	if err := s.readable(errors.Join(s.Stage.Run(ctx), s.Repair.Run(ctx))); err != nil {
		return fmt.Errorf("load the items: %w", err)
	}
	if err := s.readable(s.resend(ctx)); err != nil {
		return fmt.Errorf("resend the messages of an earlier run: %w", err)
	}
	work, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	for _, w := range s.workers {
		s.running.Go(func() { s.run(work, w, s.stop) })
	}
	if s.Orders == nil {
		for range s.opt.Workers {
			s.running.Go(func() { s.consumeServer(work, "orders", s.orders, s.Consume.Handle, s.stop) })
			s.running.Go(func() { s.consumeServer(work, "closings", s.closings, s.Expire.Handle, s.stop) })
		}
	}
	s.running.Go(func() {
		if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("server stopped", "err", err)
		}
	})
	return nil
}

// Close waits for running requests, handles the visible messages, and stops, within MaxClose or until ctx ends. The
// error says what was interrupted. A second call does nothing.
func (s *System) Close(ctx context.Context) (err error) {
	s.once.Do(func() { err = s.close(ctx) })
	return err
}

func (s *System) close(ctx context.Context) error {
	if s.cancel == nil {
		return errors.Join(s.listener.Close(), s.disconnect()) // never started
	}
	drained := func(limit time.Duration, f func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return f(ctx)
	}
	var errs []error
	if err := drained(httpDrain, s.server.Shutdown); err != nil {
		errs = append(errs, fmt.Errorf("requests interrupted: %w", err), s.server.Close())
	}
	if err := drained(workDrain, s.WaitIdle); err != nil {
		errs = append(errs, fmt.Errorf("messages left: %w", err))
	}
	close(s.stop)
	stuck := time.AfterFunc(MaxClose-httpDrain-workDrain, s.cancel)
	s.running.Wait()
	stuck.Stop()
	s.cancel()
	if s.live != nil {
		s.live.shut()
	}
	return errors.Join(append(errs, s.disconnect())...)
}

// disconnect closes the connections to real servers.
func (s *System) disconnect() error {
	var errs []error
	for _, c := range s.closers {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// answerTime is the limit of a request; the server writes nothing after 30 s.
const answerTime = 25 * time.Second

// whole makes the handler complete a request even if its client closes the connection or its sending half. net/http
// cancels the request's context in both cases, though a client may close its half and wait for the answer. A Lambda
// function is not told either that a client has left.
//
// The request gets an id for the log, which the answer has as X-Request-Id. An id that the client sends is ignored.
func whole(next http.Handler) http.Handler {
	ids := system.NewIDs(nil)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), answerTime)
		defer cancel()
		id := ids.Token()
		w.Header()["X-Request-Id"] = []string{id}
		ctx = seckill.WithTrace(ctx, id)
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}
