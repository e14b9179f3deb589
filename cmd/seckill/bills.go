package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/adapter/operator"
	"github.com/your-org/seckill/shared/seckill"
)

func reconcileCommand() *cobra.Command {
	var f moneyFlags
	var date string
	var list bool
	cmd := &cobra.Command{
		Use:   "reconcile",
		Short: "Match a day's bill of the payment provider against the ledger",
		Long: `Match a day's bill of the payment provider against the ledger, both ways, and show in
what they differ: payments and refunds that only one of them has, or has otherwise. Neither money
nor orders are changed; what came of it is kept. A shop does so by itself each morning, once for
each day. A day is one in UTC+8, and its bill is there the next morning.

With --list, show what came of it before, at most ten times, and match nothing.

The shop is one that runs by "seckill run" (--url), or a stack on AWS (--stack), whose reconcile
function does it. Times are UTC. The exit code is 1 when bill and ledger differ (with --list: when
they did the last time).`,
		Example: `  seckill reconcile                                     yesterday
  seckill reconcile --date 2026-11-11 --list
  seckill reconcile --stack seckill-prod --region eu-central-1 --json`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("date") && !seckill.ValidDay(date) {
				return fmt.Errorf("--date %q: want a day such as 2026-11-11", date)
			}
			b, err := f.shop(cmd, reconcileOutput)
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
				all, err := b.Reconciled(cmd.Context(), date)
				err = f.print(cmd, b.explain(err, "bill of "+date), &all, func(p *page) {
					p.reconciled(&all, f.sameShop())
				})
				if n := len(all.Reconciliations); err == nil && n > 0 {
					err = differing(&all.Reconciliations[n-1])
				}
				return err
			}
			r, err := b.Reconcile(cmd.Context(), date)
			err = f.print(cmd, b.explain(err, "bill of "+date), &r, func(p *page) {
				p.reconciliation(&r, f.sameShop())
			})
			if err != nil {
				return err
			}
			return differing(&r)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&date, "date", "", "the bill's day in UTC+8, as 2006-01-02 (else yesterday)")
	cmd.Flags().BoolVar(&list, "list", false, "show what came of it before, and match nothing")
	return cmd
}

// differing is the error that leads to exit code 1 when bill and ledger differ.
func differing(r *seckill.Reconciliation) error {
	if r.Count == 0 {
		return nil
	}
	return faultError{fmt.Errorf("bill of %s: %s", r.Day, counted(r.Count, "difference", "differences"))}
}

// meanings says what each kind of difference means.
var meanings = map[seckill.DifferenceKind]string{
	seckill.PaymentNotHere:  "the bill has a payment that the ledger does not have",
	seckill.PaymentNotThere: "the ledger has a payment that is on no bill of that day or of the 30 before",
	seckill.PaymentAmount:   "both have the payment, with other amounts",
	seckill.PaymentTwice:    "the payment stands on the bill more than once",
	seckill.RefundNotHere:   "by the bill the money went back, by the ledger not, or not yet",
	seckill.RefundNotThere:  "by the ledger the money went back, but no bill has it",
	seckill.RefundAmount:    "both have the refund, with other amounts",
	seckill.RefundForeign:   "refunded in the provider's console, not by this shop",
	seckill.RefundTwice:     "the refund stands on the bill more than once",
	seckill.RowUnreadable:   "the ledger's row cannot be read by this version, so it was not matched",
}

// reconciled prints what came of a day's bill before.
func (p *page) reconciled(all *operator.Reconciled, shop string) {
	if len(all.Reconciliations) == 0 {
		p.line("The bill of %s has not been matched. Now: seckill reconcile --date %s%s", all.Day, all.Day, shop)
	}
	for i := range all.Reconciliations {
		p.reconciliation(&all.Reconciliations[i], shop)
	}
}

// reconciliation prints what came of matching a day's bill.
func (p *page) reconciliation(r *seckill.Reconciliation, shop string) {
	if r.NoBill { // and the ledger has nothing of the day, else it would not have been kept
		p.line(
			"At %s there was no bill of %s: nothing moved, or it is not made yet, which it is by 10:00 in UTC+8 of "+
				"the next day.", at(r.At), r.Day)
		return
	}
	p.line("Bill of %s, matched at %s:", r.Day, at(r.At))
	p.row(counted(r.Payments, "payment", "payments"), r.Captured.Yuan()+" yuan captured")
	p.row(counted(r.Refunds, "refund", "refunds"), r.Returned.Yuan()+" yuan returned")
	if r.Others > 0 {
		p.row(counted(r.Others, "line", "lines"), "of other shops of the seller, not looked at")
	}
	if r.Count == 0 {
		p.line("Bill and ledger agree.")
		return
	}
	p.line("Bill and ledger differ, HERE is the ledger and THERE the bill, in yuan:")
	p.row("DIFFERENCE", "ORDER", "TRADE", "REFUND", "HERE", "THERE", "MEANS")
	for _, d := range r.Differences {
		p.row(string(d.Kind), d.Order, d.TradeNo, d.RefundID, d.Here.Yuan(), d.There.Yuan(), meanings[d.Kind])
	}
	p.more(r.Count - len(r.Differences))
	if slices.ContainsFunc(r.Differences, func(d seckill.Difference) bool { return d.Kind == seckill.PaymentNotHere }) {
		p.line("To have a payment recorded that is not here: seckill unknown ORDER --trade TRADE --why TEXT%s", shop)
	}
	p.line("What to do: docs/runbooks/bill-differences.md. All of an order's money: seckill payments ORDER%s", shop)
}
