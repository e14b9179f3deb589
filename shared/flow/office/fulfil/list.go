package fulfil

import (
	"context"
	"strconv"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Limits of a list.
const (
	MaxPage  = 500  // orders of one page
	maxRead  = 1000 // orders that one page looks at
	someRows = 250  // orders that one read looks at: the first of a filtered list, and each later one
)

// Query chooses orders: all, or those of one item or user, and of these the ones that match.
type Query struct {
	Item      string
	User      string
	Activity  string        // "" means any
	State     seckill.State // "" means any
	Hidden    bool          // also hidden ones
	Asked     bool          // only those whose shopper asks for a refund
	Undecided bool          // only those that are Undecided
	From, To  time.Time     // created in [From, To); zero means any
}

func (q *Query) match(o *seckill.Order) bool {
	return (q.Item == "" || o.Item == q.Item) && (q.Activity == "" || o.Activity == q.Activity) &&
		(q.State == "" || o.State == q.State) && (q.Hidden || !o.Hidden) && (!q.Asked || o.RefundWhy != "") &&
		(!q.Undecided || o.Undecided) &&
		(q.To.IsZero() || o.Created.Before(q.To))
}

// sifts reports whether a list leaves out orders that it looked at, but for hidden ones.
func (q *Query) sifts() bool { return q.Activity != "" || q.State != "" || q.Asked || q.Undecided }

// Listed is a page of a list.
type Listed struct {
	Orders     []seckill.Order
	Next       string    // "" if there are no more
	Looked     int       // orders that the page looked at, at most maxRead
	Back       time.Time // when the last of them was made; zero if it looked at none
	Unreadable int       // rows that cannot be read
}

// List lists orders, newest first. after is "" or the Next of an earlier page. A page may have fewer than limit orders,
// even none: one page looks at a bounded number. It may lag by seconds. The error is an *seckill.Error: CodeInvalid.
func (f *Flow) List(ctx context.Context, q Query, after string, limit int) (Listed, error) {
	switch {
	case q.State != "" && q.State.Info().State == "":
		return Listed{}, seckill.Invalid("state", "a state")
	case limit < 1 || limit > MaxPage:
		return Listed{}, seckill.Invalid("limit", "1.."+strconv.Itoa(MaxPage))
	case after != "" && q.User == "" && !seckill.ValidPosition(after):
		return Listed{}, seckill.Invalid("cursor", "where an earlier page ended")
	}
	out, size := Listed{Next: after}, limit
	if q.sifts() {
		size = max(limit, someRows)
	}
	for ; out.Looked < maxRead && len(out.Orders) < limit; size = someRows {
		if q.User != "" { // its cursor is only known at a page's end
			size = limit - len(out.Orders)
		}
		page, err := f.read(ctx, &q, out.Next, min(size, maxRead-out.Looked))
		if err != nil {
			return Listed{}, seckill.AsError(err)
		}
		out.Looked, out.Unreadable = out.Looked+len(page.Unreadable), out.Unreadable+len(page.Unreadable)
		if out.take(&q, &page, limit) || out.Next == "" {
			break
		}
	}
	return out, nil
}

// take takes the orders that match, and reports whether the page has enough.
func (l *Listed) take(q *Query, page *seckill.Page[seckill.Order], limit int) bool {
	for i := range page.Rows {
		o := &page.Rows[i]
		if o.Created.Before(q.From) {
			l.Next = ""
			return true
		}
		l.Looked, l.Back = l.Looked+1, o.Created
		if !q.match(o) {
			continue
		}
		l.Orders = append(l.Orders, *o)
		if len(l.Orders) == limit && i < len(page.Rows)-1 {
			l.Next = o.Position()
			return true
		}
	}
	l.Next = page.Next
	return false
}

func (f *Flow) read(ctx context.Context, q *Query, after string, size int) (seckill.Page[seckill.Order], error) {
	if q.User != "" {
		page, err := f.Ledger.OrdersByUser(ctx, q.User, after, size)
		return seckill.Page[seckill.Order]{Rows: page.Orders, Next: page.Next}, err
	}
	return f.Ledger.NewestOrders(ctx, seckill.NewestOrders{Item: q.Item, After: after, To: q.To, Limit: size})
}
