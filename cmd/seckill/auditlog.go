package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/seckill"
)

const shownEntries = 100 // by default

// auditLogFlags are the flags of audit list.
type auditLogFlags struct {
	target
	printer
	day   string
	limit int
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
			if f.day != "" && !seckill.ValidDay(f.day) {
				return fmt.Errorf("--day %+.60q: want a day such as 2026-11-11", f.day)
			}
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
	f.on(cmd)
	cmd.Flags().BoolVar(&f.json, "json", false, "print the result as JSON")
	return cmd
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

// auditEntries prints entries of the audit log.
func (p *page) auditEntries(list []seckill.AuditEntry, more bool) {
	if len(list) == 0 {
		p.line("Nothing was done.")
		return
	}
	p.row("time", "who", "act", "about", "before", "after", "result", "why", "id")
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
		p.row(e.At.UTC().Format(time.RFC3339), who, e.Act, e.Subject, e.Before, e.After, result,
			e.Why, e.ID)
	}
	if more {
		p.line("There are more: give a larger --limit.")
	}
}
