package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/your-org/seckill/crowd"
	"github.com/your-org/seckill/local"
)

// How often a crowd's progress is said: in a line that is redrawn, and in plain lines elsewhere.
const barEvery, plainEvery = 150 * time.Millisecond, 5 * time.Second

// loadFlags are the flags of `seckill load` that are not the crowd's own.
type loadFlags struct {
	crowd.Options
	at            secretsAt
	journal, json string
}

func loadCommand(getenv func(string) string) *cobra.Command { //nolint:funlen // not yet split
	var f loadFlags
	cmd := &cobra.Command{
		Use:   "load",
		Short: "Have a crowd come to a sale at once, and see what it does",
		Long: `Have a crowd come to a sale at once. Each shopper behaves as a browser: opens the page
and asks the server's time, presses the button at the opening or over the ramp, honours Retry-After,
asks again when an answer is lost, follows the order, and pays, cancels, closes the page, or leaves
it open. Shoppers come by a schedule that the seed decides; no answer delays it, and latencies count
from the moment at which something was meant to be sent.

The report says how each shopper's purchase ended, with latencies; placed and paid orders per
second; what was refused, and why. Refusals are never counted as throughput. Of a "seckill run" it
also says units, money, processor time and memory, and afterwards moves the clock until no order is
open and no refund is due: the money that was captured, kept, is due back and went back is then
stated by the ledger's rows and by the gateway's trades. --journal keeps every request and answer,
for "seckill audit".

Not everybody pays as they should: --late, --twice and --two-trades are shares of those who pay,
--lost-notifications and --unknown have the gateway fail them.

Orders are paid at the test cashier that the sale names, if it has one: no money moves. Ctrl-C sends
everybody home and reports; a second Ctrl-C ends at once. The environment variable JWT_SECRET sets
--secret.`,
		Example: `  seckill run --stock 1000                          in one terminal
  seckill load                                      in another: 20,000 shoppers within a second
  seckill load --journal sale.jsonl                 keep every request and answer for seckill audit
  seckill load --shoppers 5000 --ramp 10s --pay 1   everybody who gets one pays
  seckill load --late 0.1 --twice 0.05 --two-trades 0.02 --lost-notifications 0.2 --unknown 0.1   payments fail
  seckill load --flood 10s                          and then how many refusals a second
  seckill load --url "$URL" --item 2002 --path /seckill/test   a stack on AWS`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd, getenv)
		},
	}
	f.Version = currentVersion()
	p := cmd.Flags()
	p.StringVar(&f.URL, "url", defaultURL, "address of the sale")
	p.StringVar(&f.Item, "item", "", "id of the item; without it, the only one on sale")
	p.IntVar(&f.Shoppers, "shoppers", 20_000, "how many come")
	p.DurationVar(&f.Ramp, "ramp", time.Second, "within which time they press the button")
	p.DurationVar(&f.Lead, "lead", 5*time.Second,
		"how long before it they begin to open the page and ask the server's time; 0: they do not ask")
	p.IntVar(&f.Count, "count", 1, "units that each wants")
	p.Float64Var(&f.Pay, "pay", 0.7, "share of orders that are paid")
	p.Float64Var(&f.Cancel, "cancel", 0.05, "share of orders that are cancelled")
	p.Float64Var(&f.Abandon, "abandon", 0.1,
		"share of orders whose page is closed; that of the others stays open, and nobody pays")
	p.Float64Var(&f.Late, "late", 0,
		"share of those who pay: they open the cashier in time and pay when the hold has ended (only a \"seckill "+
			"run\")")
	p.Float64Var(&f.Twice, "twice", 0, "share of those who pay: they press \"pay\" twice")
	p.Float64Var(&f.TwoTrades, "two-trades", 0,
		"share of those who pay: they pay at two cashiers of the order (only a \"seckill run\", as the next two)")
	p.Float64Var(&f.LostNotifications, "lost-notifications", 0,
		"share of the gateway's notifications that never arrive, until no order is open")
	p.Float64Var(&f.Unknown, "unknown", 0,
		"share of the calls to the gateway whose answer says nothing, until no order is open")
	p.Float64Var(&f.Repeat, "repeat", 0.2, "share of shoppers who press twice")
	p.Float64Var(&f.Key, "key", 0.5, "share of shoppers who send an Idempotency-Key")
	p.DurationVar(&f.Think, "think", time.Second, "how long a shopper takes before paying or cancelling, on average")
	p.IntVar(&f.Connections, "connections", 512, "connections at most")
	p.Int64Var(&f.Seed, "seed", 0, "decides who does what and when; 0: another each time, printed")
	p.DurationVar(&f.Timeout, "timeout", 10*time.Second, "of a request")
	p.DurationVar(&f.Patience, "patience", 2*time.Minute,
		"how long a shopper tries for an answer, and waits for the order to be placed")
	p.DurationVar(&f.For, "for", 10*time.Minute, "send everybody home so long after the opening")
	p.DurationVar(&f.Flood, "flood", 0, "afterwards, if all is sold: all connections buy in a closed loop for so long")
	p.StringVar(&f.Secret, "secret", "", "secret of tokens ("+local.DefaultSecret+")")
	p.StringVar(&f.journal, "journal", "", "write every request and answer to this file")
	p.StringVar(&f.json, "json", "", "write the report as JSON to this file; - is standard output, instead of the text")
	f.at.flags(cmd)
	return cmd
}

func (f *loadFlags) run(cmd *cobra.Command, getenv func(string) string) error {
	if err := f.secret(cmd, getenv); err != nil {
		return err
	}
	if f.Seed == 0 {
		f.Seed = 1 + rand.Int64N(999_999_999)
	}
	if err := f.Validate(); err != nil {
		return err
	}
	files, err := f.create()
	defer files.close()
	if err != nil {
		return err
	}
	if files.journal != nil {
		f.Journal = files.journal
	}
	progress := newLoadProgress(cmd.ErrOrStderr(), f.Shoppers)
	f.Watch, f.Note = progress.watch, progress.note
	progress.note(fmt.Sprintf("%d shoppers, seed %d", f.Shoppers, f.Seed))
	rep, err := crowd.Run(cmd.Context(), f.Options)
	progress.end()
	if usage := (crowd.UsageError{}); errors.As(err, &usage) {
		return usage.Unwrap()
	}
	if errors.Is(err, context.Canceled) && cmd.Context().Err() != nil {
		return faultError{errors.New("broken off before the first shopper came")}
	}
	if err != nil {
		return faultError{err}
	}
	if err := files.report(rep); err != nil {
		return faultError{err}
	}
	if f.json == "-" {
		return writeJSON(cmd.OutOrStdout(), rep)
	}
	return rep.Text(cmd.OutOrStdout())
}

// secret finds what tokens are signed with.
func (f *loadFlags) secret(cmd *cobra.Command, getenv func(string) string) error {
	set := cmd.Flags().Changed
	switch {
	case set("path") && set("secret"):
		return errors.New("--secret and --path both name the secret of tokens: want one")
	case set("path"):
		secret, err := f.at.tokenSecret(cmd)
		f.Secret = secret
		return err
	case set("secret"):
		return nil
	}
	if f.Secret = getenv("JWT_SECRET"); f.Secret == "" {
		f.Secret = local.DefaultSecret
	}
	return nil
}

// loadFiles are opened before the crowd comes: a folder that is not there should not cost a run.
type loadFiles struct{ journal, json *os.File }

func (f *loadFlags) create() (files loadFiles, err error) {
	for _, x := range []struct {
		flag, name string
		to         **os.File
	}{{"journal", f.journal, &files.journal}, {"json", f.json, &files.json}} {
		if x.name == "" || x.flag == "json" && x.name == "-" {
			continue
		}
		if *x.to, err = os.Create(x.name); err != nil {
			return files, fmt.Errorf("--%s: %w", x.flag, err)
		}
	}
	return files, nil
}

func (f *loadFiles) close() {
	for _, file := range []*os.File{f.journal, f.json} {
		if file != nil {
			file.Close()
		}
	}
}

func (f *loadFiles) report(rep *crowd.Report) error {
	if f.json != nil {
		if err := errors.Join(writeJSON(f.json, rep), f.json.Close()); err != nil {
			return fmt.Errorf("--json: %w", err)
		}
	}
	return nil
}

// loadProgress says how the crowd gets on: on a terminal in a line that is redrawn, elsewhere in plain lines.
type loadProgress struct {
	w    io.Writer
	bar  *progressbar.ProgressBar // nil where no line can be redrawn
	last time.Time
}

func newLoadProgress(w io.Writer, shoppers int) *loadProgress {
	p := &loadProgress{w: w, last: time.Now()}
	if waitingOn(w).w != nil {
		p.bar = progressbar.NewOptions(shoppers, progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(10),
			progressbar.OptionThrottle(barEvery),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false),
			progressbar.OptionClearOnFinish())
	}
	return p
}

func (p *loadProgress) watch(g crowd.Progress) {
	text, say := waitingLine(g), time.Since(p.last) >= plainEvery
	if p.bar != nil {
		p.bar.Describe(progressLine(g))
		_ = p.bar.Set(g.Decided)
		say = say && text != ""
	} else {
		text = strings.TrimSuffix(progressLine(g)+"; "+text, "; ")
	}
	if say { // in a line of its own, for one that is redrawn has no room
		p.last = time.Now()
		p.note(text)
	}
}

func progressLine(g crowd.Progress) string {
	if g.Since < 0 {
		return fmt.Sprintf("opens in %v", -g.Since.Round(time.Second))
	}
	return fmt.Sprintf("%.1fs: %d came, %d placed, %d paid, %d sold out, %d failed", g.Since.Seconds(), g.Came,
		g.Placed, g.Paid,
		g.SoldOut+g.Refused, g.Failed)
}

// waitingLine says whom the crowd waits for, and until when; "" for nobody.
func waitingLine(g crowd.Progress) string {
	var waits []string
	for _, w := range []struct {
		n    int
		what string
	}{{g.Waits.Answer, "for an answer"}, {g.Waits.Place, "to be placed"}, {g.Waits.Decide, "to pay or cancel"},
		{g.Waits.Hear, "for the shop to hear that they paid"}} {
		if w.n > 0 {
			waits = append(waits, fmt.Sprintf("%d %s", w.n, w.what))
		}
	}
	if len(waits) == 0 {
		return ""
	}
	return "waiting: " + strings.Join(waits, ", ") + "; until " + g.Until.Format(time.TimeOnly) + " at most"
}

func (p *loadProgress) note(text string) {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	fmt.Fprintf(p.w, "seckill: %s\n", text)
}

func (p *loadProgress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
