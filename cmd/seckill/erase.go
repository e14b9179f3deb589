package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/adapter/operator"
	"github.com/your-org/seckill/shared/seckill"
)

// How long AWS keeps what is erased (template.yaml): back-ups of tables, parked messages.
const (
	backupsKept = 35 * 24 * time.Hour // point-in-time recovery, which has no shorter setting here
	parkedKept  = 14 * 24 * time.Hour
)

// erasure is what came of the command.
type erasure struct {
	User   string `json:"user"`
	Orders int    `json:"orders"` // that are the user's
	Erased int    `json:"erased"` // whose address went now

	// What still has addresses, and until when at the latest; only of a stack.
	Backups time.Time `json:"backups_until,omitzero"`
	Parked  time.Time `json:"parked_messages_until,omitzero"`
}

func eraseCommand() *cobra.Command {
	var f moneyFlags
	cmd := &cobra.Command{
		Use:   "erase USER",
		Short: "Forget where a user's orders were sent",
		Long: `Forget where a user's orders were sent: the address goes from every order of theirs.
Orders, units, payments and amounts stay as they are, and "seckill audit" says the same as before.
There is no way back.

It is refused, and nothing is erased, while an order of theirs is open or still to be shipped; the
answer names one. It may be repeated, and one that was broken off is begun again: what is gone
already is passed over.

Back-ups keep addresses for a while, and messages that were parked: the command says which, and
until when. Logs never had any.

The shop is one that runs by "seckill run" (--url), or a stack on AWS (--stack), whose repair
function does it; its log has who asked for whom. With --stack the AWS credentials have to allow
sts:GetCallerIdentity, cloudformation:DescribeStacks and lambda:InvokeFunction.`,
		Example: `  seckill erase 1001
  seckill erase 1001 --stack seckill-prod --region eu-central-1`,
		Args: exactly("USER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !operator.ValidUser(args[0]) {
				return fmt.Errorf("USER %q: want a user's id, up to %d digits", args[0], seckill.MaxUser)
			}
			s, err := f.shop(cmd, repairOutput)
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

// eraseAll goes on until there are no more orders, and says how far it has come.
func eraseAll(cmd *cobra.Command, s *shop, user string) (erasure, error) {
	out := erasure{User: user}
	for cursor := ""; ; {
		step, err := s.Erase(cmd.Context(), user, cursor)
		if err != nil {
			err = s.explain(err, "user "+user)
			if out.Erased > 0 {
				err = fmt.Errorf("%w; before that, %s erased", err, counted(out.Erased, "address was",
					"addresses were"))
			}
			return out, err
		}
		out.Orders, out.Erased = out.Orders+step.Orders, out.Erased+step.Erased
		if step.Next == "" {
			return out, nil
		}
		if step.Next == cursor {
			return out, s.explain(fmt.Errorf("%w: its pages have no end", operator.ErrAnswer), "")
		}
		cursor = step.Next
		fmt.Fprintf(cmd.ErrOrStderr(), "seckill: %d orders looked at, %d addresses erased\n", out.Orders, out.Erased)
	}
}

// erased says what went, and what is left.
func (p *page) erased(e *erasure) {
	p.line("User %s: %s erased now, of %s. Those that are rejected never kept one.", e.User,
		counted(e.Erased, "address", "addresses"), counted(e.Orders, "order", "orders"))
	if e.Backups.IsZero() {
		p.line("What copies were made of this shop's servers still has addresses.")
		return
	}
	p.line(
		"Back-ups of the tables (point-in-time recovery) have addresses until %s; whoever restores an older state "+
			"has to erase again.", e.Backups.Format(time.DateOnly))
	p.line(
		"Messages that were parked in the dead-letter queues have them until %s; moved back, they write none into an "+
			"order that is there.", e.Parked.Format(time.DateOnly))
	p.line(
		"Back-ups and exports that somebody made by hand are kept until somebody deletes them. Logs have no address.")
}
