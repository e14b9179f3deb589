package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/api/operator"
	flow "github.com/your-org/seckill/shared/flow/office/audit"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	auditDays    = 90  // that verify reads by default
	maxAuditDays = 400 // that it reads at most
	shownEntries = 100 // by default
)

// auditLogFlags are the flags of the commands about the audit log.
type auditLogFlags struct {
	target
	printer
	day, from, to string
	limit         int
	heads         []string
}

func (f *auditLogFlags) on(cmd *cobra.Command) *cobra.Command {
	f.target.on(cmd)
	cmd.Flags().BoolVar(&f.json, "json", false, "print the result as JSON")
	return cmd
}

// shop opens the shop after the days were checked.
func (f *auditLogFlags) shop(cmd *cobra.Command) (*shop, error) {
	for _, d := range []struct{ flag, day string }{{"day", f.day}, {"from", f.from}, {"to", f.to}} {
		if d.day != "" && !seckill.ValidDay(d.day) {
			return nil, fmt.Errorf("--%s %+.60q: want a day such as 2026-11-11", d.flag, d.day)
		}
	}
	return f.target.shop(cmd)
}

func auditListCommand() *cobra.Command {
	var f auditLogFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what staff did on a day",
		Long: `List what staff did on a day (UTC+8), oldest first. An act that changes something has two entries,
"begun" and "ended", with one id; one that began and has not ended may or may not have been done. In
a "seckill run" the names are what callers gave. Times are UTC.`,
		Example: `  seckill audit list
  seckill audit list --day 2026-11-11 --json`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.limit < 1 {
				return fmt.Errorf("--limit %d: want at least 1", f.limit)
			}
			s, err := f.shop(cmd)
			if err != nil {
				return err
			}
			list, more, err := auditOn(cmd.Context(), s, f.day, f.limit)
			return f.print(cmd, s.explain(err, ""), list, func(p *page) { p.auditEntries(list, more) })
		},
	}
	cmd.Flags().StringVar(&f.day, "day", "", "the day, such as 2026-11-11 (default today)")
	cmd.Flags().IntVar(&f.limit, "limit", shownEntries, "entries to list")
	return f.on(cmd)
}

// auditOn reads a day's entries, page by page.
func auditOn(ctx context.Context, s *shop, day string, limit int) (list []seckill.AuditEntry, more bool, err error) {
	list = []seckill.AuditEntry{}
	for cursor := ""; ; {
		p, err := s.Audit(ctx, day, cursor, min(limit-len(list), seckill.MaxAuditPage))
		if err != nil {
			return list, false, err
		}
		if p.Next != "" && (len(p.Entries) == 0 || p.Next == cursor) {
			return list, false, fmt.Errorf("%w: its pages do not end", operator.ErrAnswer)
		}
		list, cursor = append(list, p.Entries...), p.Next
		if cursor == "" || len(list) >= limit {
			return list, cursor != "", nil
		}
	}
}

func auditHeadCommand() *cobra.Command {
	var f auditLogFlags
	return f.on(&cobra.Command{
		Use:   "head",
		Short: "Print the audit log's last entry and its hash, to keep elsewhere",
		Long: `Print day, number and hash of the audit log's last entry. Keep the line where nobody who may write
the log can change it: "seckill audit verify --head LINE" then proves that no entry up to it was
changed, dropped, inserted or reordered since.`,
		Example: `  seckill audit head >>heads.txt`,
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := f.shop(cmd)
			if err != nil {
				return err
			}
			h, err := s.AuditHead(cmd.Context())
			return f.print(cmd, s.explain(err, ""), h, func(p *page) {
				if h.Seq == 0 {
					p.line("The audit log is empty.")
					return
				}
				p.line("%s/%d/%s", h.Day, h.Seq, h.Hash)
			})
		},
	})
}

func auditVerifyCommand() *cobra.Command {
	var f auditLogFlags
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that nobody changed the audit log",
		Long: `Read the audit log and check its chain of hashes: each row that was changed, dropped, inserted or
reordered is named, and so are acts that began and never ended. Compare it with heads that you kept
("seckill audit head", or the lines "audit head" of the back office's log group): without one, whoever
may write the log can also write it anew from some row to its end. The exit code is 1 if a row is not
as it was written.`,
		Example: `  seckill audit verify
  seckill audit verify --from 2026-11-01 --head 2026-11-11/17/3f6a…`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			heads, err := keptHeads(f.heads)
			if err != nil {
				return err
			}
			s, err := f.shop(cmd)
			if err != nil {
				return err
			}
			r, err := verifyAudit(cmd.Context(), s, &f, heads)
			if err = f.print(cmd, s.explain(err, ""), r, func(p *page) { p.auditReport(&r) }); err != nil {
				return err
			}
			if n := len(r.Findings); n > 0 {
				return faultError{fmt.Errorf("the audit log is not as it was written: %s",
					counted(n, "finding", "findings"))}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&f.from, "from", "", fmt.Sprintf("first day (default %d days before the last)", auditDays))
	cmd.Flags().StringVar(&f.to, "to", "", "last day (default that of the last entry)")
	cmd.Flags().StringSliceVar(&f.heads, "head", nil, "a head that was kept, DAY/NUMBER/HASH; may be repeated")
	return f.on(cmd)
}

// keptHeads reads heads as auditHeadCommand prints them.
func keptHeads(lines []string) ([]seckill.AuditHead, error) {
	heads := make([]seckill.AuditHead, len(lines))
	for i, line := range lines {
		parts := strings.Split(strings.TrimSpace(line), "/")
		if len(parts) == 3 {
			n, err := strconv.Atoi(parts[1])
			heads[i] = seckill.AuditHead{Day: parts[0], Seq: n, Hash: parts[2]}
			if err == nil && n > 0 && seckill.ValidDay(parts[0]) && len(parts[2]) == 64 {
				continue
			}
		}
		return nil, fmt.Errorf("--head %+.100q: want DAY/NUMBER/HASH, as \"%s audit head\" prints it", line, self)
	}
	return heads, nil
}

// verifyAudit reads the days and checks them.
func verifyAudit(ctx context.Context, s *shop, f *auditLogFlags, heads []seckill.AuditHead) (flow.Report, error) {
	head, err := s.AuditHead(ctx)
	if err != nil {
		return flow.Report{}, err
	}
	if head.Seq > 0 {
		heads = append(heads, head) // its entry must be there
	}
	last := ""
	for _, h := range heads {
		last = max(last, h.Day)
	}
	if last == "" {
		return flow.NewCheck(nil).End(head), nil
	}
	from, to, err := f.days(last)
	if err != nil {
		return flow.Report{}, err
	}
	c := flow.NewCheck(slices.DeleteFunc(heads, func(h seckill.AuditHead) bool {
		return h.Day < from.Format(time.DateOnly) || h.Day > to.Format(time.DateOnly)
	}))
	for day := from; !day.After(to); day = day.AddDate(0, 0, 1) {
		list, _, err := auditOn(ctx, s, day.Format(time.DateOnly), seckill.MaxAuditSeq)
		if err != nil {
			return flow.Report{}, err
		}
		for i := range list {
			c.Add(list[i])
		}
	}
	if head, err = s.AuditHead(ctx); err != nil { // others may have appended meanwhile
		return flow.Report{}, err
	}
	return c.End(head), nil
}

// days returns the first and the last day to read; last is that of the last entry.
func (f *auditLogFlags) days(last string) (from, to time.Time, err error) {
	if f.to != "" {
		last = f.to
	}
	if to, err = time.Parse(time.DateOnly, last); err != nil {
		return from, to, err
	}
	from = to.AddDate(0, 0, -auditDays)
	if f.from != "" {
		if from, err = time.Parse(time.DateOnly, f.from); err != nil {
			return from, to, err
		}
	}
	if from.After(to) || from.Before(to.AddDate(0, 0, -maxAuditDays)) {
		return from, to, errors.New("--from, --to: want at most " + strconv.Itoa(maxAuditDays) +
			" days, the first one first")
	}
	return from, to, nil
}

// auditEntries prints entries of the audit log.
func (p *page) auditEntries(list []seckill.AuditEntry, more bool) {
	if len(list) == 0 {
		p.line("Nothing was done.")
		return
	}
	p.row("no.", "time", "who", "act", "about", "before", "after", "result", "why", "id")
	for i := range list {
		e := &list[i]
		result := e.Result
		if e.Kind == seckill.AuditBegun {
			result = string(e.Kind)
		}
		who := e.Who
		if e.Roles != "" {
			who += " (" + e.Roles + ")"
		}
		p.row(strconv.Itoa(e.Seq), e.At.UTC().Format(time.RFC3339), who, e.Act, e.Subject, e.Before, e.After, result,
			e.Why, e.ID)
	}
	if more {
		p.line("There are more: give a larger --limit.")
	}
}

// auditReport prints what verify found.
func (p *page) auditReport(r *flow.Report) {
	if r.Entries == 0 {
		p.line("No entries.")
	} else {
		p.line("%s from %s/%d to %s/%d; %s compared.", counted(r.Entries, "entry", "entries"), r.First.Day, r.First.Seq,
			r.Last.Day, r.Last.Seq, counted(r.Heads, "head", "heads"))
	}
	if r.Since != "" {
		p.line("Entries before these were not read.")
	}
	for _, f := range r.Findings {
		p.line("  %s/%d: %s", f.Day, f.Seq, printable(f.What))
	}
	if len(r.Open) > 0 {
		p.line("Began and has not ended:")
		p.auditEntries(r.Open, false)
	}
}
