package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/seckill"
)

// How long AWS keeps erased addresses (template.yaml).
const (
	backupsKept = 35 * 24 * time.Hour // by point-in-time recovery of tables
	parkedKept  = 14 * 24 * time.Hour // by dead-letter queues
)

// erasure is the result of the command.
type erasure struct {
	User   string `json:"user"`
	Orders int    `json:"orders"` // of the user
	Erased int    `json:"erased"` // whose address was erased now

	// Copies that keep addresses, and until when at the latest. A stack only.
	Backups time.Time `json:"backups_until,omitzero"`
	Parked  time.Time `json:"parked_messages_until,omitzero"`
}

func eraseCommand() *cobra.Command {
	var f shopFlags
	cmd := &cobra.Command{
		Use:   "erase USER",
		Short: "Erase the delivery addresses of a user's orders",
		Long: `Erase the delivery address from every order of a user, and sign them out. Orders, units, payments
and amounts stay as they are, and "seckill audit" reports the same as before. It cannot be undone.

The shop refuses, and erases nothing, while an order of the user is open or still to be shipped; the
answer names one. The command may be repeated, also after it broke off.

Backups and parked messages keep addresses for a while: the command prints which ones, and until
when. Logs never contain addresses.`,
		Example: `  seckill erase 1001
  seckill erase 1001 --stack seckill-prod --region eu-central-1`,
		Args: exactly("USER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !operator.ValidUser(args[0]) {
				return fmt.Errorf("USER %q: want a user id of up to %d digits", args[0], seckill.MaxUser)
			}
			s, err := f.shop(cmd)
			if err != nil {
				return err
			}
			done, err := eraseAll(cmd, s, args[0])
			if err == nil && s.deployed {
				now := time.Now().UTC()
				done.Backups, done.Parked = now.Add(backupsKept), now.Add(parkedKept)
			}
			return f.print(cmd, err, &done, func(p *page) { p.erased(&done) })
		},
	}
	f.add(cmd)
	return cmd
}

// eraseAll erases step by step until no order is left, and prints its progress.
func eraseAll(cmd *cobra.Command, s *shop, user string) (erasure, error) {
	out := erasure{User: user}
	err := s.steps("", func(next string) (string, error) {
		step, err := give[operator.Erased](cmd, s, "user "+user, &operator.Erase{User: user, Cursor: next})
		if out.Orders, out.Erased = out.Orders+step.Orders, out.Erased+step.Erased; step.Next != "" {
			fmt.Fprintf(cmd.ErrOrStderr(), "seckill: %d orders read, %d addresses erased\n", out.Orders, out.Erased)
		}
		return step.Next, err
	})
	if err != nil && out.Erased > 0 {
		err = fmt.Errorf("%w; before that, %s erased", err, counted(out.Erased, "address was", "addresses were"))
	}
	return out, err
}

// erased prints the result, and which copies keep addresses.
func (p *page) erased(e *erasure) {
	p.line("User %s: %s erased in %s. Rejected orders never have an address.", e.User,
		counted(e.Erased, "address", "addresses"), counted(e.Orders, "order", "orders"))
	if e.Backups.IsZero() {
		p.line("Copies of this shop's servers keep their addresses.")
		return
	}
	p.line("Backups of the tables (point-in-time recovery) keep addresses until %s. After restoring an older state, "+
		"erase again.", e.Backups.Format(time.DateOnly))
	p.line("Messages in the dead-letter queues keep them until %s. Moved back to a queue, they do not write addresses "+
		"into existing orders.", e.Parked.Format(time.DateOnly))
	p.line("Backups and exports made by hand keep them until you delete the files. Logs have no address.")
}
