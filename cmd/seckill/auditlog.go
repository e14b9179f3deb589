package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/seckill"
)

const shownEntries = 100 // by default

func auditListCommand() *cobra.Command {
	var f shopFlags
	var day string
	var limit int
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what staff did on a day",
		Long: `List what staff did on a day (UTC+8), oldest first. An act that changes something has two entries,
"begun" and "ended", with one id; one that began and has not ended may or may not have been done. In
a "seckill run" the names are what callers gave. Times are in UTC+8.`,
		Example: `  seckill audit list
  seckill audit list --day 2026-11-11 --json`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if day != "" && !seckill.ValidDay(day) {
				return fmt.Errorf("--day %+.60q: want a day such as 2026-11-11", day)
			}
			if limit < 1 {
				return fmt.Errorf("--limit %d: want at least 1", limit)
			}
			s, err := f.shop(cmd)
			if err != nil {
				return err
			}
			list, next, err := pages(s, limit, seckill.MaxAuditPage, "",
				func(next string, n int) ([]seckill.AuditEntry, string, error) {
					p, err := give[operator.AuditPage](cmd, s, "",
						&operator.ListAudit{Day: day, Cursor: next, Limit: n})
					return p.Entries, p.Next, err
				})
			return f.print(cmd, err, list, func(p *page) { p.auditEntries(list, next != "") })
		},
	}
	cmd.Flags().StringVar(&day, "day", "", "the day, such as 2026-11-11 (default today)")
	cmd.Flags().IntVar(&limit, "limit", shownEntries, "entries to list")
	f.add(cmd)
	return cmd
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
		p.row(at(e.At), who, e.Act, e.Subject, e.Before, e.After, result, e.Why, e.ID)
	}
	if more {
		p.line("There are more: give a larger --limit.")
	}
}
