package sim

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/your-org/seckill/shared/flow/front/shop"
	"github.com/your-org/seckill/shared/flow/sale/buy"
	"github.com/your-org/seckill/shared/seckill"
)

// poison sends a message that no step can handle: of a newer version, of another system, for the other queue, or
// about an unknown item.
func (s *Sim) poison(a uint64) {
	name := []string{"orders", "closings"}[pick(a, 8, 2)]
	n := len(s.anomalies) + 1
	body := fmt.Sprintf(`{"v":99,"n":%d}`, n)
	switch pick(a, 16, 4) {
	case 0:
		body = fmt.Sprintf("not one of ours %d", n)
	case 1:
		m := seckill.Message{Kind: seckill.MessageClose, Order: anomalousOrder(n)}
		if name == "closings" {
			m = seckill.Message{Kind: seckill.MessageReturn, Order: anomalousOrder(n)}
		}
		body = string(m.Encode())
	case 2:
		if name == "orders" {
			m := seckill.Message{Kind: seckill.MessageOrder, Reservation: seckill.Reservation{Units: []int{1},
				Request: seckill.Request{
					Order: anomalousOrder(n), Item: "4040", User: "66", Count: 1, Given: seckill.Given{Address: "x"},
					Created: s.Clock.Now()}}}
			body = string(m.Encode())
		}
	}
	s.trace.say(s.Clock.Now(), "a stranger sends %s to %s", body, name)
	if s.stranger(s.queues[name].Queue, body) == nil {
		s.fire(Poison)
	}
}

func anomalousOrder(n int) string { return seckill.KeyedOrderID("4040", "66", strconv.Itoa(n)) }

// lookAt checks a page, unless clocks jump: then the age limits do not hold.
func (s *Sim) lookAt(ctx context.Context, list func(ctx context.Context, page, size int) (shop.Page, error)) {
	asked := s.Clock.Now()
	if page, err := list(ctx, 1, 10); err == nil && !s.plan.Faults[ClockJump] {
		s.checkPage(asked, page)
	}
}

// browse makes a shopper read lists and details.
func (s *Sim) browse(t Act) {
	s.spawn(t.ID, t.Kind, "shopper browses", t.A, func(i *Instance) {
		ctx := context.Background()
		switch pick(t.A, 8, 4) {
		case 0:
			s.lookAt(ctx, i.Shop.Live)
		case 1:
			s.lookAt(ctx, i.Shop.Upcoming)
		case 2:
			_, _ = i.Shop.Detail(ctx, s.pickItem(t.A).ID)
		default:
			_, _ = i.Shop.Detail(ctx, "4040")
		}
	})
}

var strays = []struct {
	queue   string
	message seckill.Message
}{
	{"closings", seckill.Message{Kind: seckill.MessageClose, Order: anomalousOrder(0)}},
	{"orders", seckill.Message{Kind: seckill.MessageReturn, Order: anomalousOrder(0)}},
	{"orders", seckill.Message{Kind: seckill.MessageWake, Item: "4040"}},
}

// askRefused sends a request that must be refused without any effect.
func (s *Sim) askRefused(t Act) {
	it, user := s.pickItem(t.A), strconv.Itoa(1+pick(t.A, 8, s.plan.Shoppers))
	if k := pick(t.A, 40, 8); k < len(strays) { // messages about things that do not exist: handled without effect
		_ = s.queues[strays[k].queue].Send(context.Background(), strays[k].message, 0)
	}
	s.spawn(t.ID, t.Kind, "somebody asks for what cannot be", t.A, func(i *Instance) {
		ctx := context.Background()
		p := buy.Purchase{Item: it.ID, User: user, Count: 1, Given: seckill.Given{Address: "杭州市"}}
		var err error
		switch pick(t.A, 16, 10) {
		case 0:
			p.Count = 0
			_, err = i.Buy.Buy(ctx, p)
		case 1:
			p.Count = seckill.MaxCount + 1
			_, err = i.Buy.Buy(ctx, p)
		case 2:
			p.Count = it.Limit + 1
			_, err = i.Buy.Buy(ctx, p)
		case 3:
			p.Item = "4040"
			_, err = i.Buy.Buy(ctx, p)
		case 4:
			_, err = i.Shop.Order(ctx, user, anomalousOrder(pick(t.A, 24, 5)))
		case 5:
			_, err = i.Shop.Cancel(ctx, user, "not an order")
		case 6:
			if len(s.truth.list) == 0 {
				return
			}
			_, err = i.Shop.Cancel(ctx, "66", s.truth.list[pick(t.A, 24, len(s.truth.list))])
		case 7:
			err = i.Stage.AddStock(ctx, it.ID, 0)
		case 8:
			_, err = i.Shop.Newest(ctx, user, "no item")
		case 9:
			_, err = i.Shop.Detail(ctx, "no item")
		}
		if err == nil {
			s.truth.fail("I9 somebody got what cannot be: %d", pick(t.A, 16, 10))
		}
	})
}

// importItems makes an operator import a file: an item that sells tomorrow, each time with other values, and an item on
// sale, whose change must be refused.
func (s *Sim) importItems(t Act) {
	tomorrow := itemOf(importedItem, 1+pick(t.A, 8, 4), 1)
	tomorrow.Start, tomorrow.End = epoch.Add(24*time.Hour), epoch.Add(48*time.Hour)
	list := []seckill.Listing{{Item: tomorrow, Description: seckill.Description{Detail: fmt.Sprintf("<p>%d</p>",
		pick(t.A, 20, 3))}}}
	if pick(t.A, 16, 3) == 0 {
		sold := *s.pickItem(t.A)
		sold.Price++
		list = append(list, seckill.Listing{Item: sold})
	}
	s.spawn(t.ID, t.Kind, "operator imports items", t.A, func(i *Instance) {
		began := s.Clock.Now()
		done, _ := i.Stage.Import(context.Background(), list)
		if len(list) > 1 && slices.Contains(done.Changed, list[1].ID) && began.After(list[1].Start) {
			s.truth.fail("I10 an item on sale was changed by an import")
		}
		if pick(t.A, 24, 4) == 0 {
			_ = i.StopOf(importedItem, pick(t.A, 28, 2) == 0)
		}
	})
}
