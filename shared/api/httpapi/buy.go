package httpapi

import (
	"context"
	"net/http"
	"sync"

	"github.com/your-org/seckill/shared/flow/office/acts"
	"github.com/your-org/seckill/shared/flow/sale/buy"
	"github.com/your-org/seckill/shared/seckill"
)

// Buyer is the purchase step. The error of Buy is an *seckill.Error.
type Buyer interface {
	Buy(ctx context.Context, p buy.Purchase) (order string, err error)
}

// NewBuy serves POST /seckill/buy.
func NewBuy(flow Buyer, auth Auth, o Options) *Handler {
	// consume asks about the session when it places the order: buy asks no ledger
	b := &buyer{flow: flow, caller: caller{auth: auth, limits: o.Limits}, push: newPusher(o.Push), acts: o.Acts}
	return newHandler(o, newRoute(http.MethodPost, "/seckill/buy", b.buy))
}

type buyer struct {
	flow   Buyer
	caller caller
	push   *pusher   // nil if there is none
	acts   *Acts     // nil if there are none
	bodies sync.Pool // *[seckill.MaxBody + 1]byte
}

func (b *buyer) buy(r *http.Request, _ string) (answer, error) {
	who, err := b.caller.account(r)
	var p buy.Purchase
	if err == nil {
		p, err = b.purchase(r)
	}
	p.User, p.Name, p.Session, p.Network = who.User, who.Name, who.Session, AddressOf(r.RemoteAddr)
	var a answer
	if err == nil {
		a, err = b.pressed(r, &p)
	}
	b.acts.note(r, seckill.ActBuy, p.Item, acts.Seen{User: who.User}, 0, err)
	return a, err
}

// pressed checks a purchase and makes it.
func (b *buyer) pressed(r *http.Request, p *buy.Purchase) (answer, error) {
	request := seckill.Request{Item: p.Item, User: p.User, Count: p.Count, Given: p.Given}
	if err := request.Check(); err != nil {
		return answer{}, err
	}
	if keys, given := r.Header["Idempotency-Key"]; given {
		if len(keys) != 1 || !seckill.ValidKey(keys[0]) {
			return answer{}, errKey
		}
		p.Key = keys[0]
	}
	if tickets := r.Header["Ticket"]; len(tickets) == 1 {
		p.Ticket = tickets[0]
	} else if len(tickets) > 1 {
		return answer{}, errTicket
	}
	order, err := b.flow.Buy(r.Context(), *p)
	if err != nil {
		return answer{}, err
	}
	size := 64
	if b.push != nil {
		size += offerSize
	}
	body := append(make([]byte, 0, size), `{"result":1,"order_id":`...)
	body = appendString(body, order)
	if b.push != nil {
		body = b.push.append(append(body, `,"push":`...), p.User)
	}
	return answer{kindJSON, cacheNever, append(body, '}')}, nil
}

var (
	errKey    = seckill.Invalid("Idempotency-Key", "1..128")
	errTicket = seckill.Invalid("Ticket", "")
)

// purchase reads the body into a pooled buffer and keeps no reference to it.
func (b *buyer) purchase(r *http.Request) (buy.Purchase, error) {
	buf, ok := b.bodies.Get().(*[seckill.MaxBody + 1]byte)
	if !ok {
		buf = new([seckill.MaxBody + 1]byte)
	}
	defer b.bodies.Put(buf)
	body, err := readBody(r, buf[:])
	if err != nil {
		return buy.Purchase{}, err
	}
	return decodePurchase(body)
}
