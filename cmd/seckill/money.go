package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/seckill"
)

// payments opens the shop, with words for a command that records who gave it, and why.
func (f *shopFlags) payments(cmd *cobra.Command, words bool) (*shop, error) {
	if words && strings.TrimSpace(f.why) == "" {
		return nil, errors.New("--why is missing: give your reason in a few words, for the order's history")
	}
	return f.signed(cmd, words)
}

// checkOrder refuses a malformed order id.
func checkOrder(id string) error {
	if !seckill.ValidOrderID(id) {
		return fmt.Errorf("ORDER %q: want an order id: o and 31 more letters and digits (old orders: 26 more)", id)
	}
	return nil
}

// orderArg accepts one order id, or no argument if the id is optional.
func orderArg(optional bool) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if optional && len(args) == 0 {
			return nil
		}
		if err := exactly("ORDER")(cmd, args); err != nil {
			return err
		}
		return checkOrder(args[0])
	}
}

func paymentsCommand() *cobra.Command {
	var f shopFlags
	var raw bool
	cmd := &cobra.Command{
		Use:   "payments [ORDER]",
		Short: "List money that is due back, refused or unknown, or show one order's payments",
		Long: `List the money that is not where it belongs yet: payments that go back with one of the next
sweeps, refunds that the payment provider refused, which a person has to handle, and the number of
orders whose payment is unknown ("seckill unknown"). With ORDER, show everything about one order's
money: its payments, the provider's notifications, and its history.

The command changes nothing. Times are in UTC+8.`,
		Example: `  seckill payments
  seckill payments obbbbbbbbbbbbbbbbbbbbbbbbbb
  seckill payments obbbbbbbbbbbbbbbbbbbbbbbbbb --raw   with the buyer's account
  seckill payments --stack seckill-prod --region eu-central-1 --json`,
		Args: orderArg(true),
		RunE: func(cmd *cobra.Command, args []string) error {
			if raw && len(args) == 0 {
				return errors.New("--raw applies to one order: give ORDER")
			}
			t, err := f.payments(cmd, false)
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return answer(&f, cmd, t, "order "+args[0], &operator.ReadCase{Order: args[0], Raw: raw},
					func(p *page, c *operator.MoneyCase) { p.moneyCase(c, raw) })
			}
			return answer(&f, cmd, t, "", &operator.ListMoney{},
				func(p *page, open *operator.OpenMoney) { p.open(open, f.sameShop()) })
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&raw, "raw", false, "with ORDER: print the notifications unabridged")
	return cmd
}

func refundCommand() *cobra.Command {
	var f shopFlags
	var again, restock, withdraw, gone bool
	cmd := &cobra.Command{
		Use:   "refund ORDER --why TEXT",
		Short: "Refund a paid order, or retry an order's refunds",
		Long: `Refund a paid order that is not completed: all of its money goes back to the shopper. With --restock
its units are sold again, unless it was shipped. Without it they stay out of sale, as for broken goods.
A refund cannot be undone. If an order was refunded without --restock, the same command with --restock
puts its units on sale again, once.

If all of an order's money went back outside the shop, by the payment provider's console or a
chargeback, and the shop still waits for the provider to confirm it, --gone says so: the order is
refunded, and no money moves. Look into the provider's console first.

A refund above what the shop's settings let one person decide waits until another person refunds the
order with the same --restock and --gone. "seckill payments" lists those that wait; --withdraw drops one.

With --again, retry the order's open refunds at once, including those that the payment provider
refused. Use it after the cause is fixed.

The order's history, which "seckill payments ORDER" shows, records who gave the command and why. A
repetition refunds nothing twice.`,
		Example: `  seckill refund obbbbbbbbbbbbbbbbbbbbbbbbbb --why "arrived broken"
  seckill refund obbbbbbbbbbbbbbbbbbbbbbbbbb --why "ordered by mistake" --restock
  seckill refund obbbbbbbbbbbbbbbbbbbbbbbbbb --withdraw --why "she keeps it"
  seckill refund obbbbbbbbbbbbbbbbbbbbbbbbbb --again --why "balance paid in"`,
		Args: orderArg(false),
		RunE: func(cmd *cobra.Command, args []string) error {
			if withdraw && (again || restock || gone) {
				return errors.New("--withdraw goes with neither --again nor --restock nor --gone")
			}
			if again && gone {
				return errors.New("--gone does not go with --again: it asks for no money")
			}
			if again && restock {
				return errors.New("--restock does not go with --again: the first refund decided about the units")
			}
			t, err := f.payments(cmd, true)
			if err != nil {
				return err
			}
			var c operator.Command = &operator.Refund{Order: args[0], Why: f.why, Restock: restock, Gone: gone}
			said := func(done *operator.MoneyChange) string { return f.saidRefund(done, restock) }
			switch {
			case again:
				c, said = &operator.Again{Order: args[0], Why: f.why}, f.saidAgain
			case withdraw:
				c, said = &operator.Withdraw{Order: args[0], Why: f.why}, f.saidWithdraw
			}
			return f.changed(cmd, t, args[0], c, said)
		},
	}
	f.add(cmd)
	f.addWords(cmd)
	cmd.Flags().BoolVar(&restock, "restock", false, "sell the order's units again; else they stay out of sale")
	cmd.Flags().BoolVar(&gone, "gone", false, "all of its money went back outside the shop: none moves")
	cmd.Flags().BoolVar(&again, "again", false, "retry the order's open refunds at once, including refused ones")
	cmd.Flags().BoolVar(&withdraw, "withdraw", false, "drop the order's refund that waits for a second person")
	return cmd
}

func unknownCommand() *cobra.Command {
	var f shopFlags
	var trade string
	cmd := &cobra.Command{
		Use:   "unknown [ORDER --why TEXT [--trade NUMBER]]",
		Short: "List orders whose payment is unknown, or ask the payment provider again",
		Long: `List the orders that are past their time, or cancelled, and for which the payment provider
has not answered for minutes whether they are paid. The shop asks again each minute. Until there is
an answer, their units are neither sold nor free. With ORDER, ask about that order at once.

With --trade, ask the payment provider about that trade of the order, whatever the order's state,
and record its money if it is paid, as its notification would have done: the order becomes paid, or
the money goes back. Use it for a payment that "seckill reconcile" finds on the bill only.

Times are in UTC+8.`,
		Example: `  seckill unknown
  seckill unknown obbbbbbbbbbbbbbbbbbbbbbbbbb --why "Alipay is back"
  seckill unknown obbbbbbbbbbbbbbbbbbbbbbbbbb --trade 20261122220014 --why "on the bill"
  seckill unknown --stack seckill-prod --json`,
		Args: orderArg(true),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && (cmd.Flags().Changed("why") || cmd.Flags().Changed("who") ||
				cmd.Flags().Changed("trade")) {
				return errors.New("--why, --who and --trade apply to one order: give ORDER")
			}
			t, err := f.payments(cmd, len(args) == 1)
			if err != nil {
				return err
			}
			switch {
			case trade != "":
				return f.changed(cmd, t, args[0], &operator.RecordTrade{Order: args[0], TradeNo: trade, Why: f.why},
					func(done *operator.MoneyChange) string { return f.saidRecorded(done, trade) })
			case len(args) == 1:
				return f.changed(cmd, t, args[0], &operator.Ask{Order: args[0], Why: f.why}, f.saidAsk)
			}
			open, err := give[operator.OpenMoney](cmd, t, "", &operator.ListMoney{})
			return f.print(cmd, err, &open.Unknown, func(p *page) { p.unknown(&open.Unknown, f.sameShop()) })
		},
	}
	f.add(cmd)
	f.addWords(cmd)
	cmd.Flags().StringVar(&trade, "trade", "",
		"ask about this trade number of the payment provider, and record its money")
	return cmd
}

// changed gives a command about an order's money, and says what it did.
func (f *shopFlags) changed(cmd *cobra.Command, s *shop, order string, c operator.Command,
	said func(*operator.MoneyChange) string) error {
	return answer(f, cmd, s, "order "+order, c, func(p *page, done *operator.MoneyChange) { p.line("%s", said(done)) })
}

// saidRefund describes the outcome of a refund.
func (f *shopFlags) saidRefund(c *operator.MoneyChange, restock bool) string {
	decided := ""
	if restock {
		decided = "; that refund decided about its units"
	}
	switch {
	case c.Waits != nil:
		return fmt.Sprintf("Order %s: a refund of %s yuan waits for a second person; %s wanted it at %s. Nothing goes "+
			"back until another one gives: seckill refund %s --why TEXT%s%s", c.Order, c.Waits.Amount.Yuan(),
			printable(c.Waits.Who), at(c.Waits.Since), c.Order, flags(c.Waits.Restock, c.Waits.Gone), f.sameShop())
	case c.State == seckill.Refunded && c.Changed:
		units := ""
		if restock {
			units = ", and its units are sold again"
		}
		return fmt.Sprintf("Order %s: its money has gone back%s. %s", c.Order, units, f.lookAt(c))
	case c.State == seckill.Refunded:
		return fmt.Sprintf("Nothing to do: order %s is already refunded%s. %s", c.Order, decided, f.lookAt(c))
	case !c.Changed && c.Refused > 0:
		return fmt.Sprintf(
			"Order %s: the payment provider refused to refund %s yuan, and the shop does not retry. For the reason: "+
				"seckill payments %s%s. Once the cause is fixed: seckill refund %s --again --why TEXT%s",
			c.Order, c.Refused.Yuan(), c.Order, f.sameShop(), c.Order, f.sameShop())
	case !c.Changed:
		return fmt.Sprintf("Nothing to do: %[2]s yuan of order %[1]s are already going back%[3]s. %[4]s", c.Order,
			c.Due.Yuan(), decided, f.lookAt(c))
	}
	units := "its units stay out of sale"
	if restock {
		units = "its units are sold again"
	}
	return fmt.Sprintf("Order %s: %s yuan go back within two minutes, and %s. %s", c.Order, c.Due.Yuan(), units,
		f.lookAt(c))
}

// flags are those that the second person has to give, too.
func flags(restock, gone bool) (text string) {
	if restock {
		text = " --restock"
	}
	if gone {
		text += " --gone"
	}
	return text
}

// saidWithdraw describes the outcome of withdrawing a refund.
func (f *shopFlags) saidWithdraw(c *operator.MoneyChange) string {
	if !c.Changed {
		return fmt.Sprintf("Nothing to do: no refund of order %s waits. %s", c.Order, f.lookAt(c))
	}
	return fmt.Sprintf("Order %s: its refund is withdrawn, and its money stays. %s", c.Order, f.lookAt(c))
}

// saidAgain describes the outcome of a retry.
func (f *shopFlags) saidAgain(c *operator.MoneyChange) string {
	if c.Asked == 0 {
		return fmt.Sprintf("Nothing to do: order %s is %s, and none of its money is due back. %s", c.Order, c.State,
			f.lookAt(c))
	}
	return fmt.Sprintf("Order %s: the shop asks the payment provider for %s again within a minute. %s", c.Order,
		counted(c.Asked, "refund", "refunds"), f.lookAt(c))
}

// saidAsk describes the outcome of asking about an order.
func (f *shopFlags) saidAsk(c *operator.MoneyChange) string {
	if c.State != seckill.Closing {
		return fmt.Sprintf("Nothing to do: order %s is %s. %s", c.Order, c.State, f.lookAt(c))
	}
	return fmt.Sprintf("Order %s: the shop asks the payment provider again within a minute whether it is paid. %s",
		c.Order, f.lookAt(c))
}

// saidRecorded describes what happened to a trade's money.
func (f *shopFlags) saidRecorded(c *operator.MoneyChange, trade string) string {
	switch {
	case !c.Changed:
		return fmt.Sprintf("Nothing to do: the payment of trade %s is already recorded. %s", trade, f.lookAt(c))
	case c.Due > 0:
		return fmt.Sprintf(
			"Order %s: trade %s is paid, but the order does not take the money: %s yuan go back within two minutes. %s",
			c.Order, trade, c.Due.Yuan(), f.lookAt(c))
	}
	return fmt.Sprintf("Order %s: trade %s is paid and recorded: the order is %s. %s", c.Order, trade, c.State,
		f.lookAt(c))
}

// lookAt names the command that shows an order's money.
func (f *shopFlags) lookAt(c *operator.MoneyChange) string {
	return "See: seckill payments " + c.Order + f.sameShop()
}
