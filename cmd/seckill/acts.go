package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	shownActs = 100     // by default
	maxActs   = 100_000 // acts that one command lists
	actPage   = 1000    // of one call
)

// actFlags are the flags of the commands about acts.
type actFlags struct {
	shopFlags
	operator.ListActs
	limit int
}

func actsCommand() *cobra.Command {
	var f actFlags
	cmd := &cobra.Command{
		Use:   "acts",
		Short: "List what shoppers did that looks like a script, and handle or block it",
		Long: `List the suspicious acts of a day, record that you handled one, or block its user. An act is a
challenge, a ticket or a purchase that a shopper asked for. It is suspicious if it breaks a rule:

  prelude  a ticket for something that is not a page
  fast     a proof of work that took less time than any page needs
  network  more than 1000 users of one network address within 10 minutes
  agent    more than 300 users of one network address with the same client within 10 minutes
  answer   more than 10 users with the same wrong answer within 10 minutes
  early    more than 5 presses for an item before its start within a minute

Nothing is refused for it: only you can block. Rules are signs and no proof: people behind a carrier
share its network address.

Acts are kept for 90 days, and reach the list some seconds late.`,
		Example: `  seckill acts list --item 2002
  seckill acts handle 1794362400123-00000001 --why "our own test"
  seckill acts block 1794362400123-00000001 --why "buys by script"`,
	}
	return f.group(cmd, listActsCommand(&f), handleActCommand(&f), blockActCommand(&f))
}

func listActsCommand(f *actFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the suspicious acts of a day, by time",
		Long: `List the suspicious acts of a day (UTC+8) that nobody has handled, by time. Times are in UTC+8. Users and
network addresses also have keyed hashes, which are those of the log lines of that day (UTC).`,
		Example: `  seckill acts list
  seckill acts list --day 2026-11-11 --item 2002 --all
  seckill acts list --stack seckill-prod --json`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.limit < 1 || f.limit > maxActs {
				return fmt.Errorf("--limit %d: want 1 to %d", f.limit, maxActs)
			}
			s, err := f.signed(cmd, false)
			if err != nil {
				return err
			}
			var list operator.ActPage
			list.Acts, list.Next, err = pages(s, f.limit, actPage, "",
				func(next string, n int) ([]operator.Act, string, error) {
					f.Cursor, f.Limit = next, n
					p, err := give[operator.ActPage](cmd, s, "", &f.ListActs)
					return p.Acts, p.Next, err
				})
			return f.print(cmd, err, &list, func(p *page) { p.acts(&list) })
		},
	}
	flagsOf(cmd, &f.ListActs, "cursor", "limit")
	cmd.Flags().IntVar(&f.limit, "limit", shownActs, fmt.Sprintf("acts to list, 1 to %d", maxActs))
	return cmd
}

func handleActCommand(f *actFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "handle ACT --why REASON",
		Short:   "Record that a suspicious act is handled",
		Long:    `Record that you handled a suspicious act, and why. The list leaves it out from then on.`,
		Example: `  seckill acts handle 1794362400123-00000001 --why "our own test"`,
		Args:    actArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.handling(cmd)
			if err != nil {
				return err
			}
			_, err = give[bool](cmd, s, "act "+args[0], &operator.HandleAct{Act: args[0], Why: f.why})
			return f.print(cmd, err, map[string]string{"handled": args[0]}, func(p *page) {
				p.line("Handled: act %s.", args[0])
			})
		},
	}
	f.words(cmd)
	return cmd
}

func blockActCommand(f *actFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "block ACT --why REASON",
		Short: "Block the user of a suspicious act, and record that it is handled",
		Long: `Block the user of a suspicious act for every item and for good, and record that the act is handled.
"seckill blocks" has blocks that end, or are about one item or a network; "seckill blocks remove"
takes one back. Orders that were placed before stay. An act that only breaks the rules network and
agent blocks nobody: many people may share a network and a kind of phone.`,
		Example: `  seckill acts block 1794362400123-00000001 --why "buys by script"
  seckill acts block 1794362400123-00000001 --why "buys by script" --stack seckill-prod`,
		Args: actArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.handling(cmd)
			if err != nil {
				return err
			}
			a, err := give[operator.Act](cmd, s, "act "+args[0], &operator.ReadAct{Act: args[0]})
			switch {
			case err != nil:
				return err
			case a.User == "":
				return fmt.Errorf("act %s: it names no user", args[0])
			case seckill.ParseRules(a.Rules).Shared():
				return fmt.Errorf("act %s only breaks %s, which many people may share. If you know more, use "+
					"\"seckill blocks add\"", args[0], a.Rules)
			}
			block := &operator.PutBlocks{Blocks: operator.Blocks{{Subject: a.User, Reason: f.why}}}
			if _, err = give[json.RawMessage](cmd, s, "user "+a.User, block); err != nil {
				return err
			}
			_, err = give[bool](cmd, s, "act "+a.ID, &operator.HandleAct{Act: a.ID, Why: f.why})
			if err != nil {
				err = fmt.Errorf("user %s is blocked; the act is not handled: %w", a.User, err)
			}
			return f.print(cmd, err, map[string]string{"blocked": a.User, "handled": a.ID}, func(p *page) {
				p.line("Blocked: user %s, for good. Handled: act %s.", a.User, a.ID)
			})
		},
	}
	f.words(cmd)
	return cmd
}

func (f *actFlags) words(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.why, "why", "", "your reason, up to 200 characters")
	f.named(cmd)
}

// handling opens the shop for a command that records who gave it, and why.
func (f *actFlags) handling(cmd *cobra.Command) (*shop, error) {
	if f.why = seckill.Tidy(f.why); seckill.CheckLine("why", f.why, seckill.MaxActNote) != nil {
		return nil, errors.New("--why is missing, too long or not readable: give your reason in a line of up to 200 " +
			"characters")
	}
	return f.signed(cmd, true)
}

// actArg accepts one act's id.
func actArg(cmd *cobra.Command, args []string) error {
	if err := exactly("ACT")(cmd, args); err != nil {
		return err
	}
	if _, ok := seckill.ActTime(args[0]); !ok {
		return fmt.Errorf("ACT %+.60q: want an act's id, such as 1794362400123-00000001", args[0])
	}
	return nil
}

// acts prints a list of acts.
func (p *page) acts(list *operator.ActPage) {
	if len(list.Acts) == 0 {
		p.line("No suspicious acts.")
		return
	}
	p.row("act", "time", "item", "action", "result", "rules", "user", "network", "took", "agent", "handled")
	for _, a := range list.Acts {
		took, handled := "", ""
		if a.TookMs > 0 {
			took = (time.Duration(a.TookMs) * time.Millisecond).String()
		}
		if !a.Handled.IsZero() {
			handled = a.By + ": " + a.Note
		}
		p.row(a.ID, at(a.At), a.Item, string(a.Action), string(a.Result), a.Rules, a.User,
			a.NetworkHash, took, a.Agent, handled)
	}
	if list.Next != "" {
		p.line("There are more: give a larger --limit.")
	}
}
