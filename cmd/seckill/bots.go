package main

import (
	"context"
	"crypto/pbkdf2"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/proof/crowd"
	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	botsLead     = 20 * time.Second // two cores take about as long to give 20,000 accounts their tickets
	botsMachines = 8
	keysTried    = 200
)

// botsFlags are the flags that go with --bots.
var botsFlags = []string{"bots", "stock", "checks", "shoppers", "lead", "connections", "seed", "timeout", "patience",
	"for", "json", "journal"}

// botsSettings are the flags of `seckill load --bots`.
type botsSettings struct {
	share  float64
	stock  int
	checks string
	faster int // for tests
}

func (b *botsSettings) add(p *pflag.FlagSet) {
	p.Float64Var(&b.share, "bots", 0, "share of accounts that are scripts': sells on a system of the command's own")
	p.IntVar(&b.stock, "stock", 1000, "with --bots: units, one per account")
	p.StringVar(&b.checks, "checks", "all", "with --bots: off, standard, strict, or all three in turn")
}

// botsReport is the report of one preset.
type botsReport struct {
	*crowd.Fairness
	Seed    int64           `json:"seed"`
	Stock   int             `json:"stock"`
	Machine crowd.Machine   `json:"machine"`
	Ends    []crowd.Outcome `json:"outcomes"`
	Audit   *audit.Report   `json:"audit,omitempty"` // with --journal
}

// checkFlags refuses flags that do not go together.
func (b *botsSettings) checkFlags(cmd *cobra.Command) (err error) {
	set := cmd.Flags().Changed
	if !set("bots") {
		if set("stock") || set("checks") {
			return errors.New("--stock and --checks go with --bots: others are flags of \"seckill run\"")
		}
		return nil
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && !slices.Contains(botsFlags, f.Name) {
			err = fmt.Errorf("--%s does not go with --bots, which starts a sale of its own; these do: --%s", f.Name,
				strings.Join(botsFlags, ", --"))
		}
	})
	switch {
	case err != nil:
		return err
	case b.stock < 1 || b.stock > seckill.MaxStock:
		return fmt.Errorf("--stock %d: want 1 to %d", b.stock, seckill.MaxStock)
	case !slices.Contains([]string{"all", "off", "standard", "strict"}, b.checks):
		return fmt.Errorf("--checks %s: want off, standard, strict or all", b.checks)
	}
	return nil
}

func (b *botsSettings) presets() []seckill.Checks {
	switch b.checks {
	case "all":
		return []seckill.Checks{seckill.ChecksOff, seckill.ChecksStandard, seckill.ChecksStrict}
	case "off":
		return []seckill.Checks{seckill.ChecksOff}
	}
	return []seckill.Checks{seckill.Checks(b.checks)}
}

// runBots measures each preset in turn, each with a system of its own and the same crowd.
func (f *loadFlags) runBots(cmd *cobra.Command) error {
	if !cmd.Flags().Changed("lead") {
		f.Lead = botsLead
	}
	o := f.Options
	o.Ramp, o.Count, o.NoPush, o.Secret = 0, 1, true, local.DefaultSecret
	o.Pay, o.Cancel, o.Abandon, o.Repeat, o.Key = 0, 0, 1, 0, 0 // only who gets a unit counts
	o.Bots = &crowd.Bots{Share: f.bots.share, Work: seckill.UsualWork, KeyCPU: keyCPU(seckill.UsualWork.Cost),
		Machines: machines(cmd.Context(), botsMachines), Faster: f.bots.faster}
	if err := o.Validate(); err != nil {
		return err
	}
	files, err := (&loadFlags{json: f.json}).create() // each sale has its own journal
	defer files.close()
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	var all []botsReport
	for _, checks := range f.bots.presets() {
		rep, found, err := f.botsSale(cmd, o, checks)
		if err != nil {
			return err
		}
		all = append(all, botsReport{rep.Fairness, o.Seed, f.bots.stock, rep.Machine, rep.Outcomes, found})
		if f.json != "-" {
			if err := botsText(out, rep, f.bots.stock, found); err != nil {
				return err
			}
		}
		if rep.Interrupted {
			return faultError{errors.New("interrupted: the figures above are of the shoppers who had come by then")}
		}
	}
	switch {
	case files.json != nil:
		err = writeJSON(files.json, all)
	case f.json == "-":
		err = writeJSON(out, all)
	}
	for i := range all {
		if a := all[i].Audit; a != nil && a.Broken() {
			err = errors.Join(err, fmt.Errorf("checks %s: %s", crowd.ChecksName(all[i].Checks), a.Verdict()))
		}
	}
	if err != nil {
		return faultError{err}
	}
	return nil
}

// botsJournal returns the file of a preset's journal. With several presets the file's name contains the preset's name.
func (f *loadFlags) botsJournal(checks seckill.Checks) string {
	if len(f.bots.presets()) == 1 {
		return f.journal
	}
	ext := filepath.Ext(f.journal)
	return strings.TrimSuffix(f.journal, ext) + "-" + crowd.ChecksName(checks) + ext
}

// botsAudit checks a sale by its data and its journal, while its system runs: afterwards the data is gone.
func botsAudit(ctx context.Context, sys *local.System, item, journal string) (*audit.Report, error) {
	it, err := sys.Items.Get(ctx, item)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(journal)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return audit.Run(ctx, audit.SourceFunc(func(ctx context.Context, each func(*record.Line) error) error {
		return sys.Dump(ctx, &it, each)
	}), audit.Options{Item: item, Journal: file})
}

// botsSale starts a system with one item that opens after the crowd's lead, and sends the crowd. With a journal it has
// the sale audited.
func (f *loadFlags) botsSale(cmd *cobra.Command, o crowd.Options, checks seckill.Checks) (rep *crowd.Report,
	checked *audit.Report, err error) {
	if f.journal != "" {
		file, err := os.Create(f.botsJournal(checks))
		if err != nil {
			return nil, nil, fmt.Errorf("--journal: %w", err)
		}
		defer file.Close()
		o.Journal = file
	}
	progress := newLoadProgress(cmd.ErrOrStderr(), o.Shoppers)
	defer progress.end()
	progress.note(fmt.Sprintf("checks %s: %d accounts, seed %d", crowd.ChecksName(checks), o.Shoppers, o.Seed))
	// Tickets are given from now on.
	items := local.DemoItems(time.Now().Add(seckill.TicketLead-time.Second), f.bots.stock, 1)
	items = slices.DeleteFunc(items, func(l seckill.Listing) bool { return l.ID != local.DemoLive })
	items[0].Start = items[0].Start.Add(time.Hour) // the demo's live item has been on sale for an hour
	local.SetChecks(items, checks)
	b := *o.Bots
	b.Answers = map[string]string{}
	for _, q := range items[0].Questions {
		b.Answers[q.Text] = q.Answers[0]
	}
	o.Bots, o.Item, o.Watch, o.Note = &b, items[0].ID, progress.watch, progress.note
	sys, err := local.New(local.Options{Addr: ":0", Items: items, Machines: true,
		Work: crowd.Easy(b.Work), NoPush: true, Version: o.Version})
	if err != nil {
		return nil, nil, err
	}
	stop := func() error {
		ctx, cancel := context.WithTimeout(context.Background(), local.MaxClose)
		defer cancel()
		return sys.Close(ctx)
	}
	o.URL = sys.URL()
	if err = sys.Start(cmd.Context()); err == nil {
		rep, err = crowd.Run(cmd.Context(), o)
	}
	if errors.Is(err, context.Canceled) && cmd.Context().Err() != nil {
		err = errors.New("interrupted before the sale opened")
	}
	if err == nil && o.Journal != nil {
		checked, err = botsAudit(context.WithoutCancel(cmd.Context()), sys, o.Item, f.botsJournal(checks))
	}
	if err := errors.Join(err, stop()); err != nil {
		return nil, nil, faultError{err}
	}
	return rep, checked, nil
}

// botsText prints the report of a preset, and the audit's verdict if the sale was audited.
func botsText(out io.Writer, rep *crowd.Report, stock int, checked *audit.Report) error {
	if err := rep.Fairness.Text(out); err != nil {
		return err
	}
	var ends []string
	for _, e := range rep.Outcomes {
		ends = append(ends, fmt.Sprintf("%d %s", e.Count, e.Words()))
	}
	verdict := ""
	if checked != nil {
		verdict = "audit: " + checked.Verdict() + "\n"
	}
	_, err := fmt.Fprintf(out, "%d units; seed %d; outcomes: %s\n%s"+
		"machine: %d cores, load %s before, %s after\n\n", stock, rep.Options.Seed, strings.Join(ends, ", "), verdict,
		rep.Machine.Cores, rep.Machine.LoadBefore, rep.Machine.LoadAfter)
	return err
}

// machines returns source addresses that this machine can send from, at most n. Only Linux has all of 127.0.0.0/8.
func machines(ctx context.Context, n int) (out []netip.Addr) {
	for i := 1; i <= n; i++ {
		at := local.MachineAddr(i)
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", netip.AddrPortFrom(at, 0).String())
		if err != nil {
			break
		}
		l.Close()
		out = append(out, at)
	}
	return out
}

// keyCPU measures the processor time of a key of a proof of work on this machine.
func keyCPU(cost int) time.Duration {
	before := record.Used().CPUSeconds
	for i := range keysTried {
		if _, err := pbkdf2.Key(sha256.New, fmt.Sprint(i), []byte("a salt of 16 b. "), cost, sha256.Size); err != nil {
			return 0 // cannot happen: the parameters are constant; Validate refuses it
		}
	}
	used := record.Used().CPUSeconds - before
	return time.Duration(used / keysTried * float64(time.Second))
}
