package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/adapter/operator"
	"github.com/your-org/seckill/shared/seckill"
)

// moneyFlags are what the commands about money are told.
type moneyFlags struct {
	target
	printer
	why, who string
}

// add adds the flags to a command.
func (f *moneyFlags) add(cmd *cobra.Command) {
	f.on(cmd)
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON document")
}

// addWords adds the flags of a command that stands in an order's history.
func (f *moneyFlags) addWords(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.why, "why", "", "your reason, up to 200 characters; it stands in the order's history")
	cmd.Flags().StringVar(&f.who, "who", "", "your name (else your login name); with --stack it is what AWS calls you")
}

// payments opens the shop. words: the command records who gave it, and why.
func (f *moneyFlags) payments(cmd *cobra.Command, words bool) (*shop, error) {
	deployed, err := f.isDeployed(cmd)
	named := cmd.Flags().Changed("who")
	switch {
	case err != nil:
		return nil, err
	case words && strings.TrimSpace(f.why) == "":
		return nil, errors.New("--why is missing: give your reason in a few words, for the order's history")
	case words && deployed && named:
		return nil, errors.New("--who does not go with --stack: AWS knows who you are")
	case words && named && strings.TrimSpace(f.who) == "":
		return nil, errors.New("--who is empty: give your name, 1 to 64 characters")
	case words && !deployed && !named && loginName() == "":
		return nil, errors.New("--who is missing, and this machine does not know your login name: give your name")
	}
	s, err := f.shop(cmd, refundOutput)
	if err == nil && named {
		s.Who = f.who
	}
	return s, err
}

// checkOrder refuses what is no order's id.
func checkOrder(id string) error {
	if !seckill.ValidOrderID(id) {
		return fmt.Errorf(
			"ORDER %q: want an order's id, which is 32 letters and digits (of old orders 27) and begins with o", id)
	}
	return nil
}

// orderArg wants an order's id, or nothing when the command can do without.
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
	var f moneyFlags
	var raw bool
	cmd := &cobra.Command{
		Use:   "payments [ORDER]",
		Short: "Show money that is due back, refused or unknown, or all that is known of one order's",
		Long: `Show the money that is not where it has to be yet: what goes back with one of the next
sweeps, what the payment provider refuses to give back, so that a person has to act, and how many
orders it does not tell about (seckill unknown). With ORDER, show all that is known of one order's
money: its payments, the provider's notifications, and its history.

It is that of a shop that runs by "seckill run" (--url), or of a stack on AWS (--stack), whose
refund function looks. It changes nothing. Times are UTC. With --stack the AWS credentials have to
allow sts:GetCallerIdentity, cloudformation:DescribeStacks and lambda:InvokeFunction.`,
		Example: `  seckill payments
  seckill payments obbbbbbbbbbbbbbbbbbbbbbbbbb
  seckill payments obbbbbbbbbbbbbbbbbbbbbbbbbb --raw      with each notification, the buyer's account included
  seckill payments --stack seckill-prod --region eu-central-1 --json`,
		Args: orderArg(true),
		RunE: func(cmd *cobra.Command, args []string) error {
			if raw && len(args) == 0 {
				return errors.New("--raw is about one order: name it")
			}
			t, err := f.payments(cmd, false)
			if err != nil {
				return err
			}
			if len(args) == 1 {
				c, err := t.Case(cmd.Context(), args[0], raw)
				return f.print(cmd, t.explain(err, "order "+args[0]), &c, func(p *page) { p.moneyCase(&c, raw) })
			}
			open, err := t.Open(cmd.Context())
			return f.print(cmd, t.explain(err, ""), &open, func(p *page) { p.open(&open, f.sameShop()) })
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&raw, "raw", false, "with ORDER: each notification as it came")
	return cmd
}

func refundCommand() *cobra.Command {
	var f moneyFlags
	var again, restock bool
	cmd := &cobra.Command{
		Use:   "refund ORDER --why TEXT",
		Short: "Refund a paid order, or have an order's refunds asked for again",
		Long: `Refund a paid order whose goods are not on their way: all of its money goes back to the
shopper. With --restock its units are sold again; else nobody gets them, as for goods that broke.
There is no way back.

With --again, have the refunds that an order owes asked for at once, those that the payment provider
refused as well: after its cause was mended.

Who and why stand in the order's history, which seckill payments ORDER shows. The shop is one that
runs by "seckill run" (--url), or a stack on AWS (--stack), whose refund function does it. A
repetition refunds nothing twice.`,
		Example: `  seckill refund obbbbbbbbbbbbbbbbbbbbbbbbbb --why "arrived broken"
  seckill refund obbbbbbbbbbbbbbbbbbbbbbbbbb --why "ordered by mistake" --restock
  seckill refund obbbbbbbbbbbbbbbbbbbbbbbbbb --again --why "paid into the account" --stack seckill-prod`,
		Args: orderArg(false),
		RunE: func(cmd *cobra.Command, args []string) error {
			if again && restock {
				return errors.New(
					"--restock and --again contradict each other: what becomes of the units was decided with the " +
						"refund")
			}
			t, err := f.payments(cmd, true)
			if err != nil {
				return err
			}
			var done operator.MoneyChange
			if again {
				done, err = t.Again(cmd.Context(), args[0], f.why)
				return f.print(cmd, t.explain(err, "order "+args[0]), &done, func(p *page) {
					p.line("%s", f.saidAgain(&done))
				})
			}
			done, err = t.Refund(cmd.Context(), args[0], f.why, restock)
			return f.print(cmd, t.explain(err, "order "+args[0]), &done, func(p *page) {
				p.line("%s", f.saidRefund(&done, restock))
			})
		},
	}
	f.add(cmd)
	f.addWords(cmd)
	cmd.Flags().BoolVar(&restock, "restock", false, "its units are sold again; else nobody gets them")
	cmd.Flags().BoolVar(&again, "again", false,
		"have the refunds that it owes asked for at once, also those that were refused")
	return cmd
}

func unknownCommand() *cobra.Command {
	var f moneyFlags
	var trade string
	cmd := &cobra.Command{
		Use:   "unknown [ORDER --why TEXT [--trade NUMBER]]",
		Short: "Show orders of which the payment provider does not say whether they are paid, or ask again",
		Long: `Show the orders that are over their time, or cancelled, and of which the payment
provider has not said for minutes whether they are paid. Each minute it is asked again, and until it
answers their units are neither sold nor free. With ORDER, have it asked at once about that one.

With --trade, have the payment provider asked about that trade of the order, in whatever state the
order is, and record its money if it is paid, as its notification would have done: the order becomes
paid, or the money goes back. That is for a payment that "seckill reconcile" finds on the bill and
not here.

The shop is one that runs by "seckill run" (--url), or a stack on AWS (--stack), whose refund
function looks. Times are UTC.`,
		Example: `  seckill unknown
  seckill unknown obbbbbbbbbbbbbbbbbbbbbbbbbb --why "Alipay is back"
  seckill unknown obbbbbbbbbbbbbbbbbbbbbbbbbb --trade 2026112222001400000000000001 --why "on the bill of the 21st"
  seckill unknown --stack seckill-prod --json`,
		Args: orderArg(true),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && (cmd.Flags().Changed("why") || cmd.Flags().Changed("who") ||
				cmd.Flags().Changed("trade")) {
				return errors.New("--why, --who and --trade are about one order: name it")
			}
			t, err := f.payments(cmd, len(args) == 1)
			if err != nil {
				return err
			}
			if trade != "" {
				done, err := t.RecordTrade(cmd.Context(), args[0], trade, f.why)
				return f.print(cmd, t.explain(err, "order "+args[0]), &done, func(p *page) {
					p.line("%s", f.saidRecorded(&done, trade))
				})
			}
			if len(args) == 1 {
				done, err := t.Ask(cmd.Context(), args[0], f.why)
				return f.print(cmd, t.explain(err, "order "+args[0]), &done, func(p *page) {
					p.line("%s", f.saidAsk(&done))
				})
			}
			open, err := t.Open(cmd.Context())
			return f.print(cmd, t.explain(err, ""), &open.Unknown, func(p *page) {
				p.unknown(&open.Unknown, f.sameShop())
			})
		},
	}
	f.add(cmd)
	f.addWords(cmd)
	cmd.Flags().StringVar(&trade, "trade", "", "the payment provider's number of a trade whose money is to be recorded")
	return cmd
}

// saidRefund says what a refund does now.
func (f *moneyFlags) saidRefund(c *operator.MoneyChange, restock bool) string {
	decided := ""
	if restock {
		decided = "; what becomes of its units was decided then"
	}
	switch {
	case c.State == seckill.Refunded && c.Changed:
		return fmt.Sprintf("Order %s: its money went back. %s", c.Order, f.lookAt(c))
	case c.State == seckill.Refunded:
		return fmt.Sprintf("Nothing to do: order %s was refunded already%s. %s", c.Order, decided, f.lookAt(c))
	case !c.Changed && c.Refused > 0:
		return fmt.Sprintf(
			"Order %s: the payment provider refused to give %s yuan back, and is not asked again by itself. Why: "+
				"seckill payments %s%s. Once that is mended: seckill refund %s --again --why TEXT%s",
			c.Order, c.Refused.Yuan(), c.Order, f.sameShop(), c.Order, f.sameShop())
	case !c.Changed:
		return fmt.Sprintf("Nothing to do: order %s is being refunded already, %s yuan%s. %s", c.Order, c.Due.Yuan(),
			decided, f.lookAt(c))
	}
	units := "nobody gets its units"
	if restock {
		units = "its units are sold again"
	}
	return fmt.Sprintf("Order %s: %s yuan go back within a minute or two, and %s. %s", c.Order, c.Due.Yuan(), units,
		f.lookAt(c))
}

// saidAgain says what asking again does now.
func (f *moneyFlags) saidAgain(c *operator.MoneyChange) string {
	if c.Asked == 0 {
		return fmt.Sprintf("Nothing to do: order %s is %s, and no money of it is due back. %s", c.Order, c.State,
			f.lookAt(c))
	}
	return fmt.Sprintf("Order %s: the payment provider is asked again for %s within a minute. %s", c.Order,
		counted(c.Asked, "refund", "refunds"), f.lookAt(c))
}

// saidAsk says what asking about an order does now.
func (f *moneyFlags) saidAsk(c *operator.MoneyChange) string {
	if c.State != seckill.Closing {
		return fmt.Sprintf("Nothing to do: order %s is %s by now. %s", c.Order, c.State, f.lookAt(c))
	}
	return fmt.Sprintf("Order %s: the payment provider is asked again within a minute whether it is paid. %s", c.Order,
		f.lookAt(c))
}

// saidRecorded says what became of a trade's money.
func (f *moneyFlags) saidRecorded(c *operator.MoneyChange, trade string) string {
	switch {
	case !c.Changed:
		return fmt.Sprintf("Nothing to do: the payment by trade %s was recorded already. %s", trade, f.lookAt(c))
	case c.Due > 0:
		return fmt.Sprintf("Order %s: trade %s is paid, and was not wanted: %s yuan go back within a minute or two. %s",
			c.Order, trade, c.Due.Yuan(), f.lookAt(c))
	}
	return fmt.Sprintf("Order %s: trade %s is paid, and recorded: the order is %s. %s", c.Order, trade, c.State,
		f.lookAt(c))
}

// lookAt says how to see what becomes of it.
func (f *moneyFlags) lookAt(c *operator.MoneyChange) string {
	return "See: seckill payments " + c.Order + f.sameShop()
}
