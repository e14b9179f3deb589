package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/flow/office/fulfil"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	shownOrders = 100     // by default
	maxOrders   = 100_000 // orders that one command lists; an export has no limit
	maxLooked   = 100_000 // orders that it looks at
)

// orderFlags are the flags of the commands about orders.
type orderFlags struct {
	shopFlags
	operator.ListOrders
}

// filters adds the flags that choose orders.
func (f *orderFlags) filters(cmd *cobra.Command) { flagsOf(cmd, &f.ListOrders, "cursor", "limit") }

// check refuses flags that choose no orders.
func (f *orderFlags) check() error {
	switch l := &f.ListOrders; {
	case l.User != "" && !seckill.ValidUserID(l.User):
		return fmt.Errorf("--user %+.60q: want a user id, up to 19 digits without a leading zero", l.User)
	case !l.To.IsZero() && !l.From.Before(l.To):
		return errors.New("--from and --to: want --from before --to")
	}
	return nil
}

func listOrdersCommand(f *orderFlags) *cobra.Command {
	var limit int
	var after string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List orders, the newest first",
		Long: `List orders, the newest first: all, or those of an item, a user or both. The other filters leave
orders out that are read all the same. A page ends after --limit orders, or when ` + strconv.Itoa(maxLooked) + ` were read,
and says how to get the next one. A change may be missing for some seconds. Without --item and --user,
orders that an older release wrote are missing.

"older" is the number that older systems give the order's state: 0 queued, 1 to pay, 2 paid, 3
expired, 4 confirmed, 5 cancelled, 6 hidden, 7 shipped, 8 received, 9 completed. The states are
` + operator.StateNames() + `.`,
		Example: `  seckill orders list
  seckill orders list --item 2002 --state paid
  seckill orders list --user 1001
  seckill orders list --item 2002 --refund-asked --from 2026-11-11T02:00:00Z --json`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if limit < 1 || limit > maxOrders {
				return fmt.Errorf("--limit %d: want 1 to %d", limit, maxOrders)
			}
			s, err := f.signed(cmd, false)
			if err != nil {
				return err
			}
			list := operator.OrderList{Orders: []operator.Order{}}
			list.Next, err = eachOrder(cmd, s, f.ListOrders, after, limit, func(page *operator.OrderList) error {
				list.Orders = append(list.Orders, page.Orders...)
				list.Looked, list.Unreadable = list.Looked+page.Looked, list.Unreadable+page.Unreadable
				if !page.Back.IsZero() {
					list.Back = page.Back
				}
				return nil
			})
			if err == nil && len(list.Orders) == 0 && f.Item != "" {
				err = known(cmd, s, f.Item)
			}
			return f.print(cmd, s.explain(err, ""), &list, func(p *page) { p.orders(&list) })
		},
	}
	f.filters(cmd)
	cmd.Flags().IntVar(&limit, "limit", shownOrders, fmt.Sprintf("orders in a page, 1 to %d", maxOrders))
	cmd.Flags().StringVar(&after, "after", "", "where the page begins: what the page before said")
	return cmd
}

// known returns an error if a shop says that it has no such item. It is not an error if the shop does not say.
func known(cmd *cobra.Command, s *shop, item string) error {
	_, err := operator.Give[json.RawMessage](cmd.Context(), &s.Client, &operator.ReadItem{Item: item})
	if refusedAs(err, seckill.CodeItemUnknown) {
		return s.explain(err, "item "+item)
	}
	return nil
}

// eachOrder calls do with each page of orders, until it has had limit orders, or has looked at maxLooked; a limit of 0
// means all. It returns the cursor of the next page. Once a page was read, it repeats reads that fail for the
// moment.
func eachOrder(cmd *cobra.Command, s *shop, c operator.ListOrders, after string, limit int,
	do func(*operator.OrderList) error) (string, error) {
	said, n, looked, begun := newProgress(cmd.ErrOrStderr()), 0, 0, false
	err := s.steps(after, func(next string) (_ string, err error) {
		c.Cursor, c.Limit = next, fulfil.MaxPage
		if limit > 0 {
			c.Limit = min(c.Limit, limit-n)
		}
		var p operator.OrderList
		read := func(ctx context.Context) (err error) {
			p, err = operator.Give[operator.OrderList](ctx, &s.Client, &c)
			return err
		}
		if !begun {
			err = read(cmd.Context())
		} else {
			err = tried(cmd, s, "after "+counted(n, "order", "orders"), read)
		}
		if err != nil {
			return "", err
		}
		begun = true
		if p.Next == next && next != "" {
			return next, nil
		}
		if err := do(&p); err != nil {
			return "", err
		}
		n, looked, after = n+len(p.Orders), looked+p.Looked, p.Next
		if limit > 0 && (n >= limit || looked >= maxLooked) {
			return "", nil
		}
		if after != "" {
			said.line("%s", counted(n, "order", "orders"))
		}
		return after, nil
	})
	return after, err
}

// orders prints a list of orders.
func (p *page) orders(list *operator.OrderList) {
	if len(list.Orders) == 0 {
		p.line("No orders.")
	} else {
		p.row("order", "item", "user", "count", "yuan", "state", "older", "made", "changed", "carrier", "number",
			"refund asked")
	}
	for i := range list.Orders {
		o := &list.Orders[i]
		p.row(o.ID, o.Item, o.User, strconv.Itoa(o.Count), o.Amount.Yuan(), shownState(o), older(o), at(o.Created),
			at(o.Changed), o.Carrier, o.Number, o.Refund)
	}
	if list.Unreadable > 0 {
		p.line("%s cannot be read.", counted(list.Unreadable, "order", "orders"))
	}
	if list.Next != "" && list.Looked > len(list.Orders) {
		p.line("Looked at %s, back to %s.", counted(list.Looked, "order", "orders"), at(list.Back))
	}
	if list.Next != "" {
		p.line("More: the same command with --after '%s'", printable(list.Next))
	}
}

// order prints an order and its history.
func (p *page) order(o *operator.Order) {
	p.line("Order %s", o.ID)
	p.row("item", o.Item+", "+o.Title)
	if o.Options != "" {
		p.row("variant", o.Options)
	}
	if o.Activity != "" {
		p.row("activity", o.Activity)
	}
	p.row("user", o.User)
	if o.Name != "" {
		p.row("name", o.Name)
	}
	p.row("units", fmt.Sprintf("%d, of which %d are not for sale", o.Count, o.Held))
	if o.Version > 0 {
		p.row("bought", fmt.Sprintf("at %s yuan each, ordinary price %s; item version %d", o.Price.Yuan(),
			o.List.Yuan(), o.Version))
		p.row("picture", o.Cover)
	}
	p.row("yuan", o.Amount.Yuan())
	if o.Outside > 0 {
		p.row("went back outside", o.Outside.Yuan()+" yuan")
	}
	state := shownState(o)
	if n := older(o); n != "" {
		state += ", older " + n
	}
	p.row("state", state)
	if o.Carrier != "" {
		p.row("parcel", o.Carrier+", "+o.Number)
	}
	if o.Refund != "" {
		p.row("refund asked", o.Refund)
	}
	p.line("")
	p.row("time", "state", "by")
	for _, c := range o.History {
		p.row(at(c.At), string(c.State), c.Cause)
	}
}

// shownState returns an order's state, and whether it waits for a person.
func shownState(o *operator.Order) string {
	if o.Undecided {
		return string(o.State) + " (undecided)"
	}
	return string(o.State)
}

// older returns the number that older systems give an order, "" if they have no number.
func older(o *operator.Order) string {
	if n := o.Older(); n != seckill.NoOlder {
		return strconv.Itoa(n)
	}
	return ""
}
