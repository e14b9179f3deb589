package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/adapter/operator"
	"github.com/your-org/seckill/shared/seckill"
)

// billsPath is where a running shop's reconciliations are.
const billsPath = "/_local/reconcile"

// billsClient is where the payment provider's bills are matched against a ledger: a running `seckill run`, or a
// deployed stack. Errors as those of shop.
type billsClient interface {
	// Yesterday is the seckill.Day before today, by the shop's clock.
	Yesterday(ctx context.Context) (string, error)
	// Reconcile matches a day's bill now.
	Reconcile(ctx context.Context, day string) (seckill.Reconciliation, error)
	// Reconciled lists what came of it before.
	Reconciled(ctx context.Context, day string) (operator.Reconciled, error)
}

// runningBills are those of a `seckill run`, whose clock may be ahead.
type runningBills struct{ *runningShop }

func (b *runningBills) Yesterday(ctx context.Context) (string, error) {
	var clock struct {
		Now time.Time `json:"now"`
	}
	err := b.get(ctx, http.MethodGet, "/_local/clock", nil, &clock)
	return dayBefore(clock.Now), err
}

func (b *runningBills) Reconcile(ctx context.Context, day string) (out seckill.Reconciliation, err error) {
	return out, ofDay(b.get(ctx, http.MethodPost, billsPath+"/"+day, nil, &out), day)
}

func (b *runningBills) Reconciled(ctx context.Context, day string) (out operator.Reconciled, err error) {
	return out, ofDay(b.get(ctx, http.MethodGet, billsPath+"/"+day, nil, &out), day)
}

// deployedBills are those of a stack, whose reconcile function has them.
type deployedBills struct {
	*deployedShop
	bills *operator.BillClient
}

func (b *deployedBills) Yesterday(context.Context) (string, error) { return dayBefore(time.Now()), nil }

func (b *deployedBills) Reconcile(ctx context.Context, day string) (seckill.Reconciliation, error) {
	out, err := b.bills.Reconcile(ctx, day)
	return out, ofDay(b.explain(err), day)
}

func (b *deployedBills) Reconciled(ctx context.Context, day string) (operator.Reconciled, error) {
	out, err := b.bills.Reconciled(ctx, day)
	return out, ofDay(b.explain(err), day)
}

func dayBefore(t time.Time) string { return seckill.Day(t.Add(-24 * time.Hour)) }

// ofDay puts a refusal about a day into words.
func ofDay(err error, day string) error {
	var refused *operator.Refusal
	if errors.As(err, &refused) && refused.Code == seckill.CodeInvalid {
		return fmt.Errorf("bill of %s: %w", day, refused)
	}
	return err
}

func (f *moneyFlags) bills(cmd *cobra.Command) (billsClient, error) {
	deployed, err := f.deployed(cmd)
	if err != nil {
		return nil, err
	}
	if deployed {
		s, err := openStack(cmd.Context(), &f.target, reconcileOutput, waitingOn(cmd.ErrOrStderr()))
		if err != nil {
			return nil, err
		}
		return &deployedBills{s, (*operator.BillClient)(&s.client)}, nil
	}
	s, err := newRunningShop(f.url)
	if err != nil {
		return nil, err
	}
	return &runningBills{s}, nil
}

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
			b, err := f.bills(cmd)
			if err == nil && date == "" {
				date, err = b.Yesterday(cmd.Context())
			}
			if err != nil {
				return err
			}
			if list {
				all, err := b.Reconciled(cmd.Context(), date)
				err = f.print(cmd, err, &all, func(p *page) { p.reconciled(&all, f.sameShop()) })
				if n := len(all.Reconciliations); err == nil && n > 0 {
					err = differing(&all.Reconciliations[n-1])
				}
				return err
			}
			r, err := b.Reconcile(cmd.Context(), date)
			if err = f.print(cmd, err, &r, func(p *page) { p.reconciliation(&r, f.sameShop()) }); err != nil {
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
