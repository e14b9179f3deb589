package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/cmd/seckill/linefile"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/flow/office/block"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	shownBlocks = 100       // by default
	maxBlocks   = 1_000_000 // blocks that one command lists
)

func blocksCommand() *cobra.Command {
	var f blockFlags
	cmd := &cobra.Command{
		Use:   "blocks",
		Short: "Keep shoppers from buying: add, remove, list and import blocks",
		Long: `Keep shoppers from buying. A block is about a user, or a range of network addresses, and holds
for one item or for every item, until a time or for good.

Once a command says that a user is blocked, no order of this user is placed any more, also of
purchases that wait in the queue: such an order ends as rejected, with the reason "blocked". Orders
that were placed before stay: cancel or refund them ("seckill refund"). A range is looked at where
shoppers get their tickets, so it does nothing for items without checks.

Every command may be repeated. Times are in UTC+8.`,
		Example: `  seckill blocks add --user 1001 --why "buys by script"
  seckill blocks add --network 203.0.113.0/24 --item 2002 --why "a farm of accounts" --for 24h
  seckill blocks list
  seckill blocks remove --user 1001
  seckill blocks import accounts.csv --stack seckill-prod --region eu-central-1`,
	}
	return f.group(cmd, addBlockCommand(&f), removeBlockCommand(&f), listBlocksCommand(&f), importBlocksCommand(&f))
}

func addBlockCommand(f *blockFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add --user ID | --network RANGE",
		Short: "Block a user, or a range of network addresses",
		Long: `Block a user, or a range of network addresses: of IPv4 a /32, /28, /24, /20 or /16, of IPv6 a
/64, /56, /48, /40 or /32. A second block of the same subject and item replaces the first one.

Shoppers are not told the reason, but whom to write to. The list of blocks has it, and who gave the
command.`,
		Example: `  seckill blocks add --user 1001 --why "buys by script"
  seckill blocks add --user 1001 --item 2002 --why "resells" --until 2026-12-31T16:00:00Z
  seckill blocks add --network 203.0.113.0/24 --why "a farm of accounts" --for 24h`,
		Args: noSubject,
		RunE: func(cmd *cobra.Command, _ []string) error { return addBlock(cmd, f) },
	}
	f.whom(cmd)
	f.named(cmd)
	cmd.Flags().StringVar(&f.item, "item", "", "id of the only item that it is about (default every item)")
	cmd.Flags().StringVar(&f.why, "why", "", "your reason, up to 200 characters")
	cmd.Flags().StringVar(&f.why, "reason", "", "another name of --why")
	cmd.Flags().Lookup("reason").Hidden = true
	cmd.Flags().StringVar(&f.until, "until", "", "when it ends, such as 2026-12-31T16:00:00Z (default never)")
	cmd.Flags().DurationVar(&f.lasts, "for", 0, "how long it lasts, such as 24h, instead of --until")
	return cmd
}

func addBlock(cmd *cobra.Command, f *blockFlags) error {
	given := cmd.Flags().Changed
	b, err := f.block(cmd)
	switch {
	case err != nil:
		return err
	case strings.TrimSpace(f.why) == "":
		return errors.New("--why is missing: give it in a few words, for the list of blocks")
	case given("until") && given("for"):
		return errors.New("--until and --for: give one of them")
	case given("for") && f.lasts <= 0:
		return fmt.Errorf("--for %v: want a duration such as 24h", f.lasts)
	case given("until"):
		if b.Until, err = time.Parse(time.RFC3339, f.until); err != nil {
			return fmt.Errorf("--until %+.60q: want a time such as 2026-12-31T16:00:00Z", f.until)
		}
	}
	s, err := f.signed(cmd, true)
	if err != nil {
		return err
	}
	if b.Made, err = s.now(cmd.Context()); err != nil {
		return s.explain(err, "")
	}
	if given("for") {
		b.Until = b.Made.Add(f.lasts).UTC().Truncate(time.Second)
	}
	b.Reason, b.By = seckill.Tidy(f.why), "x" // the shop records who made the block
	if err := linefile.CheckBlock(&b); err != nil {
		return errors.New("--" + strings.Replace(err.Error(), "reason", "why", 1)) // a file's column is a flag here
	}
	done, err := give[block.Done](cmd, s, linefile.BlockWords(&b),
		&operator.PutBlocks{Blocks: operator.Blocks{asWritten(&b)}})
	if err != nil {
		return err
	}
	if len(done.Unknown) > 0 {
		return fmt.Errorf("item %s: %s has no such item", b.Item, s.name)
	}
	return f.print(cmd, nil, &done, func(p *page) {
		if done.Same > 0 {
			p.line("Nothing to do: %s is blocked already, %s, for this reason.", linefile.BlockWords(&b), ends(b.Until))
			return
		}
		p.line("Blocked: %s, %s.", linefile.BlockWords(&b), ends(b.Until))
		if _, isUser := b.Subject.User(); !isUser {
			p.line("Items without checks still sell to this network: tickets are refused, not purchases.")
		}
	})
}

// asWritten is a block as the shop reads it.
func asWritten(b *seckill.Block) operator.Block {
	return operator.Block{Subject: b.Subject.Written(), Item: b.Item, Reason: b.Reason, Until: b.Until}
}

// ends says how long a block holds.
func ends(until time.Time) string {
	if until.IsZero() {
		return "for good"
	}
	return "until " + at(until)
}

func removeBlockCommand(f *blockFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "remove --user ID | --network RANGE",
		Short: "Remove a block",
		Long: `Remove a block of a user or of a range: the one for every item or, with --item, the one for that
item. Each stands by itself; "seckill blocks list --user ID" shows those of a user.`,
		Example: `  seckill blocks remove --user 1001
  seckill blocks remove --network 203.0.113.0/24 --item 2002`,
		Args: noSubject,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := f.block(cmd)
			if err != nil {
				return err
			}
			s, err := f.signed(cmd, true)
			if err != nil {
				return err
			}
			w := asWritten(&b)
			dropped, err := give[bool](cmd, s, linefile.BlockWords(&b), &operator.DropBlock{Subject: w.Subject,
				Item: strings.TrimSuffix(w.Item, seckill.Everywhere)})
			return f.print(cmd, err, map[string]bool{"removed": dropped}, func(p *page) {
				if dropped {
					p.line("Removed: the block of %s.", linefile.BlockWords(&b))
				} else {
					p.line("Nothing to do: no block of %s.", linefile.BlockWords(&b))
				}
			})
		},
	}
	f.whom(cmd)
	f.named(cmd)
	cmd.Flags().StringVar(&f.item, "item", "", "id of the item of the block (default the block for every item)")
	return cmd
}

func listBlocksCommand(f *blockFlags) *cobra.Command {
	var limit int
	var after string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the blocks, or those of one user or range",
		Long: `List the blocks, also those that are over, in no order that means anything. A page ends after
--limit blocks, and says how to get the next one. A new block may be missing for some seconds; with
--user or --network it is there at once.`,
		Example: `  seckill blocks list
  seckill blocks list --user 1001
  seckill blocks list --limit 100000 --json`,
		Args: noSubject,
		RunE: func(cmd *cobra.Command, _ []string) error {
			subject, err := f.subject(cmd)
			if err != nil {
				return err
			}
			if limit < 1 || limit > maxBlocks {
				return fmt.Errorf("--limit %d: want 1 to %d", limit, maxBlocks)
			}
			s, err := f.signed(cmd, false)
			if err != nil {
				return err
			}
			list, err := listBlocks(cmd, s, subject.Written(), after, limit)
			var now time.Time
			if err == nil {
				now, err = s.now(cmd.Context())
				err = s.explain(err, "")
			}
			return f.print(cmd, err, &list, func(p *page) { p.blocks(&list, now, f.sameShop(), subject) })
		},
	}
	f.whom(cmd)
	cmd.Flags().IntVar(&limit, "limit", shownBlocks, fmt.Sprintf("blocks in a page, 1 to %d", maxBlocks))
	cmd.Flags().StringVar(&after, "after", "", "where the page begins: what the page before said")
	return cmd
}

// listBlocks reads as many blocks as are wanted, page by page.
func listBlocks(cmd *cobra.Command, s *shop, subject, after string, limit int) (out operator.BlockPage, err error) {
	out.Blocks, out.Next, err = pages(s, limit, operator.MaxBlockPage, after,
		func(next string, n int) ([]operator.Block, string, error) {
			p, err := give[operator.BlockPage](cmd, s, "",
				&operator.ListBlocks{Subject: subject, Cursor: next, Limit: n})
			for _, row := range p.Unreadable {
				if !slices.Contains(out.Unreadable, row) {
					out.Unreadable = append(out.Unreadable, row)
				}
			}
			return p.Blocks, p.Next, err
		})
	return out, err
}

// blocks prints a list of blocks.
func (p *page) blocks(list *operator.BlockPage, now time.Time, sameShop string, of seckill.Subject) {
	if len(list.Blocks) == 0 {
		p.line("No blocks.")
	} else {
		p.row("subject", "item", "until", "by", "made", "reason")
	}
	for _, b := range list.Blocks {
		until := "for good"
		if !b.Until.IsZero() {
			until = at(b.Until)
			if !now.Before(b.Until) {
				until += " (over)"
			}
		}
		p.row(b.Subject, cmp.Or(b.Item, "every item"), until, b.By, at(b.Made), b.Reason)
	}
	for _, row := range list.Unreadable {
		p.line("Left out: %s", printable(row))
	}
	if list.Next == "" {
		return
	}
	more := ""
	if user, ok := of.User(); ok {
		more = " --user " + user
	} else if of != "" {
		more = " --network " + of.Written()
	}
	p.line("More: seckill blocks list%s%s --after '%s'", sameShop, more, list.Next)
}
