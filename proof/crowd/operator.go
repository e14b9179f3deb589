package crowd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/seckill"
)

const operatorTimeout = 30 * time.Second

// operatorClient sends the requests that a browser does not send: for what is on sale and, at a `seckill run`, for what
// only that serves.
type operatorClient struct {
	base string
	http *http.Client
}

func newOperatorClient(o *Options) *operatorClient {
	return &operatorClient{o.base(), &http.Client{
		Transport: &http.Transport{TLSClientConfig: o.TLS, Proxy: http.ProxyFromEnvironment}}}
}

func (d *operatorClient) close() { d.http.CloseIdleConnections() }

// errStatus is an answer other than 200.
type errStatus struct {
	url    string
	status int
}

func (e errStatus) Error() string {
	return fmt.Sprintf("%s answers %d %s", e.url, e.status, http.StatusText(e.status))
}

// request returns a response with status 200, whose body the caller closes.
func (d *operatorClient) request(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var text io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		text = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, d.base+path, text)
	if err != nil {
		return nil, err
	}
	resp, err := d.http.Do(req)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil, fmt.Errorf("nothing answers at %s: start the sale with \"seckill run\", or name another with --url",
			d.base)
	}
	if err == nil && resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return nil, errStatus{d.base + path, resp.StatusCode}
	}
	return resp, err
}

// call sends a request and decodes the JSON of its answer.
func (d *operatorClient) call(ctx context.Context, method, path string, body, into any) error {
	ctx, stop := context.WithTimeout(ctx, operatorTimeout)
	defer stop()
	resp, err := d.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(into); err != nil {
		return fmt.Errorf("cannot read the answer of %s%s (%w): is it a flash sale?", d.base, path, err)
	}
	return nil
}

// scene is the sale before the crowd comes.
type scene struct {
	item    item
	now     time.Time     // by the server's clock
	offset  time.Duration // offset of the server's clock from the local clock
	version string
	cashier string
	state   *localState // nil: not a `seckill run`
	process *record.Usage
}

// item is an item as the API describes it. Left is the unsold units.
type item struct {
	ID     string         `json:"id"`
	Price  seckill.Fen    `json:"sk_price"`
	Start  time.Time      `json:"start_time"`
	Stock  int            `json:"max_sk_count"`
	Limit  int            `json:"sk_per_max_count"`
	Checks seckill.Checks `json:"checks"`
	Left   int            `json:"stock"`
	About  struct {
		Title string `json:"title"`
	} `json:"commodity"`
}

// look reads the scene.
func (d *operatorClient) look(ctx context.Context, o *Options) (sc scene, err error) {
	var health struct {
		Version string `json:"version"`
		Cashier string `json:"cashier_url"`
	}
	if err := d.call(ctx, http.MethodGet, "/healthz", nil, &health); err != nil {
		return sc, err
	}
	var clock struct {
		Milli int64 `json:"now_ms"`
	}
	sent := time.Now()
	if err := d.call(ctx, http.MethodGet, "/seckill/time", nil, &clock); err != nil {
		return sc, err
	}
	sc.now = time.UnixMilli(clock.Milli)
	sc.offset = sc.now.Sub(sent.Add(time.Since(sent) / 2))
	sc.version = health.Version
	if health.Cashier != "" {
		sc.cashier = resolved(d.base, health.Cashier)
	}
	if sc.item, err = d.item(ctx, o.Item); err != nil {
		return sc, err
	}
	if !seckill.ValidItemID(sc.item.ID) {
		return sc, fmt.Errorf("cannot read the item's page: id %q", sc.item.ID)
	}
	switch {
	case o.Count > sc.item.Limit:
		return sc, UsageError{fmt.Errorf("--count %d: the limit of item %s is %d", o.Count, sc.item.ID, sc.item.Limit)}
	case o.Bots == nil && sc.item.Checks != seckill.ChecksOff:
		return sc, UsageError{fmt.Errorf("item %s has %s checks, and this crowd gets no tickets: every purchase would "+
			"be refused; name an item without checks, or send people and scripts who pass checks with --bots",
			sc.item.ID, sc.item.Checks)}
	}
	sc.state, sc.process = d.state(ctx), d.process(ctx)
	return sc, nil
}

// resolved returns the cashier's address. The API names it in full, or as a path on its own server.
func resolved(base, cashier string) string {
	if strings.Contains(cashier, "://") {
		return cashier
	}
	return base + "/" + strings.TrimLeft(cashier, "/")
}

func (d *operatorClient) item(ctx context.Context, id string) (it item, err error) {
	if id != "" {
		err = d.call(ctx, http.MethodGet, "/seckill/detail/"+url.PathEscape(id), nil, &it)
		if status := (errStatus{}); errors.As(err, &status) && status.status == http.StatusNotFound {
			err = UsageError{fmt.Errorf("--item %s: %s has no such item", id, d.base)}
		}
		return it, err
	}
	var list struct {
		Items []item `json:"seckills"`
	}
	if err := d.call(ctx, http.MethodGet, "/seckill/ing?page=1&size=10", nil, &list); err != nil {
		return it, err
	}
	switch len(list.Items) {
	case 0:
		return it, UsageError{errors.New("no item is on sale: name an upcoming one with --item")}
	case 1:
		return list.Items[0], nil
	}
	var ids []string
	for _, it := range list.Items {
		ids = append(ids, it.ID)
	}
	return it, UsageError{fmt.Errorf("several items are on sale: name one with --item (%s)", strings.Join(ids, ", "))}
}

// localState is the part of GET /_local/state that the crowd uses.
type localState struct {
	Now    time.Time             `json:"now"`
	Orders map[seckill.State]int `json:"orders"`
	Items  []struct {
		ID     string `json:"id"`
		Stock  int    `json:"stock"`
		Left   int    `json:"left"`
		Held   int    `json:"held"`
		Loaded bool   `json:"installed"`
	} `json:"items"`
	Refunds []json.RawMessage `json:"refunds_due"` // automatic ones
}

// openOrders counts orders that are queued, unpaid or closing.
func (s *localState) openOrders() int {
	return s.Orders[seckill.Queued] + s.Orders[seckill.PendingPayment] + s.Orders[seckill.Closing]
}

// state returns nil when the sale is not a `seckill run`.
func (d *operatorClient) state(ctx context.Context) *localState {
	s := new(localState)
	if d.call(ctx, http.MethodGet, "/_local/state", nil, s) != nil || s.Orders == nil {
		return nil
	}
	return s
}

// process returns nil when the sale is not a `seckill run`.
func (d *operatorClient) process(ctx context.Context) *record.Usage {
	p := new(record.Usage)
	if d.call(ctx, http.MethodGet, "/_local/process", nil, p) != nil || p.Go == "" {
		return nil
	}
	return p
}

// advance moves the clock of a `seckill run` forward.
func (d *operatorClient) advance(ctx context.Context, by time.Duration) error {
	var done struct{}
	return d.call(ctx, http.MethodPost, "/_local/clock", map[string]int64{"advance_seconds": int64(by / time.Second)},
		&done)
}
