package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/seckill"
)

func eventsCommand() *cobra.Command {
	var f shopFlags
	cmd := &cobra.Command{
		Use:   "events",
		Short: "Tell changes of orders to other systems once more, and look up where to ship",
		Long: `Tell changes of orders to other systems once more, and look up where to ship an order.

Each change of an order becomes an event by itself (docs/EVENTS.md). An event that is told again has
the same id, so that its readers can drop it.`,
		Example: `  seckill events tell ORDER
  seckill events replay --day 2026-11-11 --stack seckill-prod
  seckill events delivery ORDER --json
  seckill events redeliver --stack seckill-prod`,
	}
	return f.group(cmd, replayCommand(&f))
}

func replayCommand(f *shopFlags) *cobra.Command {
	var day, item string
	cmd := &cobra.Command{
		Use:   "replay",
		Short: "Tell the changes of a day once more",
		Long: `Tell the changes that orders had on a day once more: of one item, or of all. Days are in UTC+8.
It reads every order of these items, and may be repeated, also after it broke off.

The list of orders may lag some seconds behind.`,
		Example: `  seckill events replay --day 2026-11-11
  seckill events replay --day 2026-11-11 --item 2002 --stack seckill-prod`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if day == "" {
				return errors.New("--day is missing: want a day such as 2026-11-11")
			}
			if !seckill.ValidDay(day) {
				return fmt.Errorf("--day %q: want a day such as 2026-11-11", day)
			}
			s, err := f.shop(cmd)
			if err != nil {
				return err
			}
			items := []string{item}
			if item == "" {
				if items, err = itemIDs(cmd, s); err != nil {
					return err
				}
			}
			out, err := replay(cmd, s, items, day)
			return f.print(cmd, err, &out, func(p *page) {
				p.line("%s of %s told once more; %s read.", counted(out.Changes, "change", "changes"), day,
					counted(out.Orders, "order", "orders"))
			})
		},
	}
	cmd.Flags().StringVar(&day, "day", "", "day of the changes in UTC+8, such as 2026-11-11")
	cmd.Flags().StringVar(&item, "item", "", "only the orders of this item")
	return cmd
}

// itemIDs returns the ids of all items.
func itemIDs(cmd *cobra.Command, s *shop) ([]string, error) {
	file, err := s.Export(cmd.Context())
	leftOut := &operator.LeftOut{}
	if err != nil && !errors.As(err, &leftOut) {
		return nil, s.explain(err, "")
	}
	if len(leftOut.Rows) > 0 {
		return nil, faultError{leftOut}
	}
	var items []struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(file, &items); err != nil {
		return nil, faultError{fmt.Errorf("the export is not an items file: %w", err)}
	}
	var ids []string
	for _, it := range items {
		ids = append(ids, it.ID)
	}
	return ids, nil
}

// replay tells the changes of items step by step, and prints its progress.
func replay(cmd *cobra.Command, s *shop, items []string, day string) (operator.Told, error) {
	var out operator.Told
	for i, item := range items {
		err := s.steps("", func(next string) (string, error) {
			step, err := give[operator.Told](cmd, s, "item "+item, &operator.Replay{Item: item, Day: day, Cursor: next})
			if out.Orders, out.Changes = out.Orders+step.Orders, out.Changes+step.Changes; step.Next != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "seckill: item %d of %d, %d orders read, %d changes told\n", i+1,
					len(items), out.Orders, out.Changes)
			}
			return step.Next, err
		})
		if err != nil {
			return out, err
		}
	}
	return out, nil
}
