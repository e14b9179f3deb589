package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/seckill"
)

func reconcileCommand() *cobra.Command {
	var f shopFlags
	var date string
	var list bool
	cmd := &cobra.Command{
		Use:   "reconcile",
		Short: "Match a day's bill of the payment provider against the ledger",
		Long: `Match a day's bill of the payment provider against the ledger, in both directions, and list
the differences: payments and refunds that only one of them has, or that differ. The command changes
neither money nor orders; the shop keeps its result. The shop does the same by itself each morning,
once for each day. Days are in UTC+8; the bill of a day is available the next morning.

With --list, show earlier results, at most ten, and match nothing.

What takes a stack longer than a call may goes on there, and the command asks for the result, for
five minutes. Times are in UTC+8. The exit code is 1 if bill and ledger differ (with --list: if they differed
the last time).`,
		Example: `  seckill reconcile                                     yesterday
  seckill reconcile --date 2026-11-11 --list
  seckill reconcile --stack seckill-prod --region eu-central-1 --json`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("date") && !seckill.ValidDay(date) {
				return fmt.Errorf("--date %q: want a day such as 2026-11-11", date)
			}
			b, err := f.shop(cmd)
			if err != nil {
				return err
			}
			if date == "" {
				now, err := b.now(cmd.Context())
				if err != nil {
					return b.explain(err, "")
				}
				date = seckill.Day(now.Add(-24 * time.Hour))
			}
			if list {
				all, err := give[operator.Reconciled](cmd, b, "bill of "+date, &operator.ListReconciled{Day: date})
				err = f.print(cmd, err, &all, func(p *page) { p.reconciled(&all, f.sameShop()) })
				if n := len(all.Reconciliations); err == nil && n > 0 {
					err = differing(&all.Reconciliations[n-1])
				}
				return err
			}
			r, err := reconciled(cmd, b, date)
			err = b.explain(err, "bill of "+date)
			err = f.print(cmd, err, &r, func(p *page) { p.reconciliation(&r, f.sameShop()) })
			if err != nil {
				return err
			}
			return differing(&r)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&date, "date", "", "day of the bill in UTC+8, such as 2026-11-11 (default yesterday)")
	cmd.Flags().BoolVar(&list, "list", false, "show earlier results, and match nothing")
	return cmd
}

// Limits of a comparison that outlasts its call. Tests shorten them.
var (
	outlasts   = 20 * time.Second // a call that fails after this time was given up while the function went on
	askEvery   = 5 * time.Second
	reconciles = 5 * time.Minute // the function's own limit
)

// reconciled has the shop compare a day's bill. A back office waits half a minute for the comparison; if it takes
// longer, it goes on, and reconciled asks for the result later.
func reconciled(cmd *cobra.Command, b *shop, day string) (seckill.Reconciliation, error) {
	ctx := cmd.Context()
	match, list := &operator.Reconcile{Day: day}, &operator.ListReconciled{Day: day}
	if !b.deployed {
		return operator.Give[seckill.Reconciliation](ctx, &b.Client, match)
	}
	before, err := operator.Give[operator.Reconciled](ctx, &b.Client, list)
	if err != nil {
		return seckill.Reconciliation{}, err
	}
	began := time.Now()
	r, err := operator.Give[seckill.Reconciliation](ctx, &b.Client, match)
	if err == nil || time.Since(began) < outlasts || !passing(err) {
		return r, err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "seckill: it takes longer than a call may, and goes on: waiting for its result\n")
	for time.Since(began) < reconciles && wait(ctx, askEvery) == nil {
		now, failed := operator.Give[operator.Reconciled](ctx, &b.Client, list)
		if n := len(now.Reconciliations); failed == nil && n > 0 && !now.Reconciliations[n-1].At.Equal(last(&before)) {
			return now.Reconciliations[n-1], nil
		}
	}
	return r, err
}

// last returns the time of the newest of some results.
func last(all *operator.Reconciled) time.Time {
	if n := len(all.Reconciliations); n > 0 {
		return all.Reconciliations[n-1].At
	}
	return time.Time{}
}

// differing returns an error for exit code 1 if bill and ledger differ.
func differing(r *seckill.Reconciliation) error {
	if r.Count == 0 {
		return nil
	}
	return faultError{fmt.Errorf("bill of %s: %s", r.Day, counted(r.Count, "difference", "differences"))}
}

// meanings describes each kind of difference.
var meanings = map[seckill.DifferenceKind]string{
	seckill.PaymentNotHere:  "the bill has a payment that the ledger does not have",
	seckill.PaymentNotThere: "the ledger has a payment that is not on the bills of that day and the 30 days before",
	seckill.PaymentAmount:   "both have the payment, with different amounts",
	seckill.PaymentTwice:    "the bill has the payment more than once",
	seckill.RefundNotHere:   "the bill has the refund, the ledger does not, or not yet",
	seckill.RefundNotThere:  "the ledger has the refund, but no bill does",
	seckill.RefundAmount:    "both have the refund, with different amounts",
	seckill.RefundForeign:   "refunded in the provider's console, not by this shop",
	seckill.RefundTwice:     "the bill has the refund more than once",
	seckill.RowUnreadable:   "this version cannot read the ledger's row, so it was not matched",
	seckill.LineUnreadable:  "the bill's line cannot be read, so it was not matched",
}

// reconciled prints earlier results of a day.
func (p *page) reconciled(all *operator.Reconciled, shop string) {
	if len(all.Reconciliations) == 0 {
		p.line("The bill of %s has not been matched yet. To match it: seckill reconcile --date %s%s", all.Day, all.Day,
			shop)
	}
	for i := range all.Reconciliations {
		p.reconciliation(&all.Reconciliations[i], shop)
	}
}

// reconciliation prints the result of matching a day's bill.
func (p *page) reconciliation(r *seckill.Reconciliation, shop string) {
	if r.NoBill { // and the ledger has no payment of the day
		p.line(
			"At %s there was no bill of %s: no money moved on that day, or the bill is not ready yet (it is by 10:00 "+
				"UTC+8 of the next day).", at(r.At), r.Day)
		return
	}
	p.line("Bill of %s, matched at %s:", r.Day, at(r.At))
	p.row(counted(r.Payments, "payment", "payments"), r.Captured.Yuan()+" yuan captured")
	p.row(counted(r.Refunds, "refund", "refunds"), r.Returned.Yuan()+" yuan returned")
	if r.Others > 0 {
		p.row(counted(r.Others, "line", "lines"), "of the seller's other shops, not matched")
	}
	if r.Count == 0 {
		p.line("Bill and ledger agree.")
		return
	}
	p.line("Bill and ledger differ. HERE is the ledger, THERE the bill, in yuan:")
	p.row("DIFFERENCE", "ORDER", "TRADE", "REFUND", "HERE", "THERE", "MEANS")
	for _, d := range r.Differences {
		means := meanings[d.Kind]
		if d.Line > 0 {
			means = fmt.Sprintf("%s: line %d, %s", means, d.Line, d.Why)
		} else if d.Why != "" {
			means += "; " + d.Why
		}
		p.row(string(d.Kind), d.Order, d.TradeNo, d.RefundID, d.Here.Yuan(), d.There.Yuan(), means)
	}
	p.more(r.Count - len(r.Differences))
	if slices.ContainsFunc(r.Differences, func(d seckill.Difference) bool { return d.Kind == seckill.PaymentNotHere }) {
		p.line("To record a payment that is not here: seckill unknown ORDER --trade TRADE --why TEXT%s", shop)
	}
	p.line("What to do: docs/runbooks/bill-differences.md. An order's money: seckill payments ORDER%s", shop)
}
