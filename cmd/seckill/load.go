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

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/proof/crowd"
)

// How often progress is printed: on a terminal, where a line is redrawn, and elsewhere.
const barEvery, plainEvery = 150 * time.Millisecond, 5 * time.Second

// loadFlags are the flags of `seckill load`.
type loadFlags struct {
	crowd.Options
	at            secretsAt
	bots          botsSettings
	journal, json string
}

func loadCommand(getenv func(string) string) *cobra.Command {
	var f loadFlags
	cmd := &cobra.Command{
		Use:   "load",
		Short: "Send a crowd of shoppers to a sale, and report what happened",
		Long: `Send a crowd of shoppers to a sale. Each shopper acts as a browser would: opens the page and
asks for the server's time, presses the button at the opening or during the ramp, honours
Retry-After, retries after a lost answer, follows the order, and then pays, cancels, closes the page
or leaves it open. The seed decides the schedule. Answers do not delay it, and latencies count from
the scheduled time of a request.

The report has the outcome of each shopper's purchase with latencies, placed and paid orders per
second, and refusals by reason. Refusals never count as throughput. For a "seckill run" it also has
units, money, processor time and memory. Afterwards the command moves that shop's clock until no
order is open and no refund is due, and compares the money captured, kept, due back and refunded by
the ledger's rows and by the gateway's trades. --journal records every request and answer, for
"seckill audit".

--bots measures scripts beside people. The command starts a system of its own, as "seckill run" is,
for each preset of checks, and sends the same accounts to each. Of the people seven in ten come, and
press 1.5 s (median) after the opening; scripts press after 10 ms. A quarter of the scripts each
press from before the opening on, press on several connections at once, are many late-registered
accounts on few machines, or know the answers to all questions. Before the opening all pass the
checks; only the work of solving is a drawn delay: a phone takes 1 to 2 s, a script the time that a
core of this machine would. The report has units per account, people and scripts (fair: 1.00), and
what one more unit costs a script. With --journal each sale has a file of its own, and the command
audits it before the sale's data is gone.

Shoppers pay at the test cashier of the sale, if it has one: no money moves. Ctrl-C ends the run and
prints the report; a second Ctrl-C ends at once. The environment variable JWT_SECRET sets --secret.`,
		Example: `  seckill run --stock 1000                          in one terminal
  seckill load                                      in another: 20,000 shoppers within a second
  seckill load --journal sale.jsonl                 record requests and answers
  seckill load --shoppers 5000 --ramp 10s --pay 1   every order is paid
  seckill load --flood 10s                          then measure refusals per second
  seckill load --bots 0.5 --stock 1000              scripts beside people, checks off, standard, strict
  seckill load --url "$URL" --item 2002 --path /seckill/test   a stack on AWS`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd, getenv)
		},
	}
	f.Version = currentVersion()
	f.add(cmd)
	return cmd
}

// add adds the flags to the command.
func (f *loadFlags) add(cmd *cobra.Command) {
	p := cmd.Flags()
	p.StringVar(&f.URL, "url", defaultURL, "address of the sale")
	p.StringVar(&f.Item, "item", "", "item id (default the only item on sale)")
	p.IntVar(&f.Shoppers, "shoppers", 20_000, "number of shoppers")
	p.DurationVar(&f.Ramp, "ramp", time.Second, "time within which they press the button")
	p.DurationVar(&f.Lead, "lead", 5*time.Second,
		"how long before that they begin to open the page and to ask for the server's time; 0: they do not ask")
	p.BoolVar(&f.Pages, "pages", false, "load the page's files and look at lists, as the storefront's page does")
	p.BoolVar(&f.NoPush, "no-push", false, "poll for orders, also where the shop would push what happens to them")
	p.IntVar(&f.Count, "count", 1, "units per order")
	for _, share := range []struct {
		to    *float64
		name  string
		value float64
		usage string
	}{
		{&f.Pay, "pay", 0.7, "share of orders that are paid"},
		{&f.Cancel, "cancel", 0.05, "share of orders that are cancelled"},
		{&f.Abandon, "abandon", 0.1, "share of orders whose page is closed; all other unpaid orders stay open"},
		{&f.Repeat, "repeat", 0.2, "share of shoppers who press the button twice"},
		{&f.Key, "key", 0.5, "share of shoppers who send an Idempotency-Key"},
	} {
		p.Float64Var(share.to, share.name, share.value, share.usage)
	}
	p.DurationVar(&f.Think, "think", time.Second, "average time before a shopper pays or cancels")
	p.IntVar(&f.Connections, "connections", 512, "maximum number of connections")
	p.Int64Var(&f.Seed, "seed", 0, "decides who does what and when; 0: a random one, which is printed")
	p.DurationVar(&f.Timeout, "timeout", 10*time.Second, "timeout of a request")
	p.DurationVar(&f.Patience, "patience", 2*time.Minute,
		"how long a shopper retries for an answer, and waits for the order to be placed")
	p.DurationVar(&f.For, "for", 10*time.Minute, "end of the run, counted from the opening")
	p.DurationVar(&f.Flood, "flood", 0,
		"afterwards, if all is sold: all connections buy in a closed loop for this time")
	p.StringVar(&f.Secret, "secret", "", "secret of tokens (default "+local.DefaultSecret+")")
	p.StringVar(&f.journal, "journal", "", "file for every request and answer")
	p.StringVar(&f.json, "json", "", "file for the report as JSON; - prints it instead of the text")
	f.bots.add(p)
	f.at.flags(cmd)
}

func (f *loadFlags) run(cmd *cobra.Command, getenv func(string) string) error {
	if err := f.bots.checkFlags(cmd); err != nil {
		return err
	}
	if f.Seed == 0 {
		f.Seed = 1 + rand.Int64N(999_999_999)
	}
	if cmd.Flags().Changed("bots") {
		return f.runBots(cmd)
	}
	if err := f.secret(cmd, getenv); err != nil {
		return err
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
		return faultError{errors.New("interrupted before the first shopper came")}
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

// secret finds the secret that signs tokens.
func (f *loadFlags) secret(cmd *cobra.Command, getenv func(string) string) error {
	set := cmd.Flags().Changed
	switch {
	case set("path") && set("secret"):
		return errors.New("--secret and --path both name the secret of tokens: give one of them")
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

// loadFiles are opened before the run, so that a missing folder does not cost a run.
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

// loadProgress prints the progress of a crowd: on a terminal in one line that is redrawn, elsewhere in plain lines.
type loadProgress struct {
	w    io.Writer
	bar  *progressbar.ProgressBar // nil if w is not a terminal
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
	if say { // in a line of its own: the redrawn line has no space for it
		p.last = time.Now()
		p.note(text)
	}
}

func progressLine(g crowd.Progress) string {
	if g.Since < 0 {
		return fmt.Sprintf("opens in %v", -g.Since.Round(time.Second))
	}
	return fmt.Sprintf("%.1fs: %d came, %d placed, %d paid, %d sold out, %d failed", g.Since.Seconds(), g.Came,
		g.Placed, g.Paid, g.SoldOut+g.Refused, g.Failed)
}

// waitingLine describes what shoppers wait for, and until when, or is "" if no shopper waits.
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
