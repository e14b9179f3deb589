package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/proof/report"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/cloudmetrics"
	"github.com/your-org/seckill/shared/flow/office/livescreen"
	"github.com/your-org/seckill/shared/seckill"
)

func reportCommand(getenv func(string) string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Make the signed report of a finished sale, or check one",
		Long: `Make the report of a finished sale: one file with every order, all money, the counts by minute and
what an audit found, signed by the shop. Anyone can check it, without an account and without the
network, and a shopper can check that their order is in it. It names nobody: each order's user is
hashed with a salt of that order alone (docs/REPORT.md).`,
		Example: `  seckill report make --item 2002 --out sale.jsonl --html sale.html
  seckill report verify sale.jsonl --key 'shop.example+1a2b3c4d+AbCd…'
  seckill report show sale.jsonl`,
		Args: group,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(reportMakeCommand(getenv), reportVerifyCommand(), reportShowCommand(), reportProofCommand(),
		reportSaltCommand(), reportKeyCommand())
	return cmd
}

// makeFlags are the flags of `seckill report make`.
type makeFlags struct {
	auditFlags
	items           []string
	dump, out, html string
	key             string

	done []func() // close what was opened; an audit may read twice
}

func reportMakeCommand(getenv func(string) string) *cobra.Command {
	var set makeFlags
	cmd := &cobra.Command{
		Use:   "make",
		Short: "Make the report of one or more items",
		Long: `Read a sale as "seckill audit" does, audit it, and write its report. --out names the file, which must
not exist; one that ends with .gz is compressed. --html writes a page for people beside it. The command
then checks what it wrote.

The sale is one of a "seckill run" (--url), of servers of your own (--dynamodb, --redis), of a stack
(--stack), or a dump of one item (--dump). --key names the file with the private key of the shop's
reports, which "seckill report key" makes. For a "seckill run" it may be absent: then a demo key in
your configuration directory signs, which is made when it is missing.

Refused requests leave no row. The report has how many there were by reason, of the whole shop: of a
stack from CloudWatch while the item was on sale, of a run since it was started.

Wait until the sale is over and its refunds are made: a report is a picture of one moment. It needs
memory for the orders of one item, about 1.5 KB for each. A broken guarantee does not keep the report
from being made: the report says so, and the exit code is 1.`,
		Example: `  seckill report make --item 2002 --out sale.jsonl
  seckill report make --item 2002,2003 --out sale.jsonl.gz --html sale.html --key report.key --stack seckill-prod
  seckill report make --item 2002 --dump dump.jsonl --out sale.jsonl --key report.key`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			set.password = getenv("REDIS_PASSWORD")
			return set.run(cmd)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&set.items, "item", nil, "item id; several, separated by commas, make one report")
	f.StringVar(&set.out, "out", "", "file to write")
	f.StringVar(&set.html, "html", "", "file of a page for people")
	f.StringVar(&set.key, "key", "", "file with the private key of the shop's reports")
	f.StringVar(&set.dump, "dump", "", "file with a dump, as GET /_local/dump?item=ID of a run answers")
	set.from(f)
	f.DurationVar(&set.again, "again", 3*time.Second,
		"how long after the first reading to read again what is broken; 0s: never")
	return cmd
}

func (f *makeFlags) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	if len(f.items) == 0 {
		return errors.New("--item is missing: want an item id, such as 2002")
	}
	for _, id := range f.items {
		if !seckill.ValidItemID(id) {
			return fmt.Errorf("--item %q: want an item id, such as 2002", id)
		}
	}
	switch {
	case f.out == "":
		return errors.New("--out is missing: want the name of the file to write")
	case f.again < 0 || f.again > time.Hour:
		return fmt.Errorf("--again %v: want 0s to 1h", f.again)
	case f.dump != "" && (given("url") || given("dynamodb") || given("stack")):
		return errors.New("--dump contradicts --url, --dynamodb and --stack: give one of them")
	case f.dump != "" && len(f.items) > 1:
		return errors.New("--dump has one item: give one --item")
	}
	for _, name := range []string{f.out, f.html} {
		if _, err := os.Stat(name); name != "" && !errors.Is(err, fs.ErrNotExist) {
			return existsError(name)
		}
	}
	return nil
}

func (f *makeFlags) run(cmd *cobra.Command) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	key, err := f.signer(cmd)
	if err != nil {
		return err
	}
	defer func() {
		for _, done := range f.done {
			done()
		}
	}()
	debug.SetGCPercent(gcPercent)
	var made *report.Made
	err = newFile(f.out, published, func(w io.Writer) error {
		var closed func() error
		if strings.HasSuffix(f.out, ".gz") {
			zip := gzip.NewWriter(w)
			w, closed = zip, zip.Close
		}
		made, err = report.Make(cmd.Context(), w, func(item string) (audit.Source, error) { return f.of(cmd, item) },
			report.Options{Items: f.items, Key: key, Again: f.again, Refused: f.refused(cmd)})
		if err == nil && closed != nil {
			err = closed()
		}
		return err
	})
	switch {
	case errors.Is(err, audit.ErrNoItem):
		return err
	case err != nil:
		return faulty(err)
	}
	c, err := checkedFile(f.out, key.Verifier)
	if err != nil {
		return faultError{err}
	}
	if !c.OK() {
		return faultError{fmt.Errorf("%s is not what was to be written: %s", f.out, c.Findings[0])}
	}
	if f.html != "" {
		if err := newFile(f.html, published, func(w io.Writer) error { return report.WriteHTML(w, c) }); err != nil {
			return faultError{err}
		}
	}
	if err := say(cmd, "%s has %s in %d signed lines. Root %s\nVerifier, for your shoppers: %s", f.out,
		counted(made.Orders, "order", "orders"), made.Lines, made.Root, key.Verifier); err != nil {
		return err
	}
	for i := range c.Items {
		if it := &c.Items[i]; !it.Final {
			fmt.Fprintf(cmd.ErrOrStderr(), "seckill: item %s was read before its sale's end: this report is not "+
				"final\n", it.Item.Item)
		}
	}
	if len(made.Broken) > 0 {
		return faultError{fmt.Errorf("the report is made, and says what the audit found: %s",
			strings.Join(made.Broken, "; "))}
	}
	return nil
}

// of opens an item's data.
func (f *makeFlags) of(cmd *cobra.Command, item string) (audit.Source, error) {
	if f.dump != "" {
		return dumpFile(f.dump), nil
	}
	f.item = item
	src, done, err := f.source(cmd)
	if err != nil {
		return nil, err
	}
	f.done = append(f.done, done)
	return counting(src, waitingOn(cmd.ErrOrStderr())), nil
}

// refused returns a function that counts the requests that the shop refused, or nil if nothing counts them. If the
// function fails, a report is made nevertheless, and says that the number is unknown.
func (f *makeFlags) refused(cmd *cobra.Command) func(context.Context, string, time.Time, time.Time) (report.Refusals,
	error) {
	given := cmd.Flags().Changed
	count := f.refusedByRun
	switch {
	case given("stack"):
		count = func(ctx context.Context, _ string, from, until time.Time) (report.Refusals, error) {
			s, err := openStack(ctx, &f.target, waitingOn(cmd.ErrOrStderr()))
			if err != nil {
				return report.Refusals{}, err
			}
			r, err := cloudmetrics.Refused(ctx, s.cfg, time.Now(), s.stack, from, until)
			return report.Refusals{Source: report.RefusedMetrics, From: r.From, Until: r.Until,
				Requests: r.Requests}, err
		}
	case f.dump != "" || given("dynamodb"):
		return nil
	}
	return func(ctx context.Context, item string, from, until time.Time) (report.Refusals, error) {
		r, err := count(ctx, item, from, until)
		if err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "seckill: the report lacks the refused requests: %v\n", err)
			return report.Refusals{}, nil
		}
		return r, nil
	}
}

// refusedByRun asks a `seckill run`, which counts all refusals since it was started.
func (f *makeFlags) refusedByRun(ctx context.Context, item string, _, _ time.Time) (report.Refusals, error) {
	r, err := f.running()
	if err != nil {
		return report.Refusals{}, err
	}
	s := r.shop()
	seen, err := operator.Give[livescreen.Seen](ctx, &s.Client, &operator.ReadLive{Item: item})
	m := seen.Metrics
	return report.Refusals{Source: report.RefusedRun, From: m.Value.Since, Until: m.At, Requests: m.Value.Refusals},
		s.explain(err, "item "+item)
}

// signer reads the private key.
func (f *makeFlags) signer(cmd *cobra.Command) (*report.Key, error) {
	given := cmd.Flags().Changed
	if f.key != "" {
		return keyFile("--key", f.key)
	}
	if f.dump != "" || given("stack") || given("dynamodb") {
		return nil, errors.New("--key is missing: want the file that `seckill report key` made")
	}
	return demoKey()
}
