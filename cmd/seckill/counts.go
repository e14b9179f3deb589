package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/seckill"
)

func countsCommand() *cobra.Command {
	var f shopFlags
	cmd := &cobra.Command{
		Use:   "counts ITEM",
		Short: "Print how many units of an item were placed, paid and given back, by minute",
		Long: `Print how many units of an item were placed, paid and given back, in all and minute by minute.
The counts are made from the changes of orders, some seconds after them; "recount" makes them anew.
Times are in UTC+8. A row of counts tells 2,000 minutes apart; later ones are in the totals only.`,
		Example: `  seckill counts 2002
  seckill counts 2002 --json --stack seckill-prod
  seckill counts recount 2002`,
		Args: itemArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.shop(cmd)
			if err != nil {
				return err
			}
			return answer(&f, cmd, s, "item "+args[0], &operator.ReadCounts{Item: args[0]}, (*page).counts)
		},
	}
	f.on(cmd)
	cmd.PersistentFlags().BoolVar(&f.json, "json", false, "print the result as JSON")
	cmd.AddCommand(recountCommand(&f))
	return cmd
}

func recountCommand(f *shopFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "recount ITEM",
		Short: "Make the counts of an item anew from the ledger",
		Long: `Make the counts of an item anew from the ledger. They begin at zero, and lack orders until the
command is done, a minute or more later: the list of orders may lag, so it reads all of them twice.
Orders change meanwhile as always, and each change counts once.

It may be repeated, also after it broke off.`,
		Example: `  seckill counts recount 2002
  seckill counts recount 2002 --stack seckill-prod`,
		Args: itemArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.shop(cmd)
			if err != nil {
				return err
			}
			if err := recount(cmd, s, args[0]); err != nil {
				return err
			}
			return answer(f, cmd, s, "item "+args[0], &operator.ReadCounts{Item: args[0]}, (*page).counts)
		},
	}
}

// itemArg accepts one item id.
func itemArg(cmd *cobra.Command, args []string) error {
	if err := exactly("ITEM")(cmd, args); err != nil {
		return err
	}
	return checkItem(args[0])
}

// recount recounts an item step by step, waits as the shop says, and prints its progress.
func recount(cmd *cobra.Command, s *shop, item string) error {
	orders := 0
	for next := ""; ; { // not by steps: the second walk may begin with the cursor of the first
		step, err := give[operator.Recounted](cmd, s, "item "+item, &operator.Recount{Item: item, Cursor: next})
		if err != nil || step.Next == "" {
			return err
		}
		if orders += step.Orders; step.Wait > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "seckill: %s counted, once more in %d seconds\n",
				counted(orders, "order", "orders"), step.Wait)
			orders = 0
			if err := wait(cmd.Context(), time.Duration(step.Wait)*time.Second); err != nil {
				return err
			}
		}
		next = step.Next
	}
}

// counts prints an item's counts.
func (p *page) counts(c *operator.Counts) {
	if c.Since == nil {
		p.line("Nothing of item %s was counted yet.", c.Item)
		return
	}
	p.line("Item %s, counted since %s:", c.Item, at(*c.Since))
	if c.Recounting {
		p.line("A recount is under way: orders are missing.")
	}
	p.row("minute", "placed", "paid", "given back")
	row := func(what string, n seckill.Count) {
		p.row(what, strconv.Itoa(n.Placed), strconv.Itoa(n.Paid), strconv.Itoa(n.GivenBack))
	}
	for _, m := range c.Minutes {
		row(m.Minute.In(seckill.Zone).Format("2006-01-02 15:04"), m.Count)
	}
	row("total", c.Total)
}
