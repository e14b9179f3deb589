package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/api/operator"
)

func redriveCommand() *cobra.Command {
	var f moneyFlags
	queues := strings.Join(operator.Queues, " or ")
	cmd := &cobra.Command{
		Use:   "redrive QUEUE",
		Short: "Move the dead letters of a queue back to it",
		Long: `Move the messages of a queue's dead-letter queue back to the queue, ` + queues + `, whose function
handles them again. What cannot be handled comes back: find the cause first
(docs/runbooks/dead-letters.md). Handling a message twice is harmless, and an order older than an hour
is rejected. SQS goes on moving after this command; a move that runs already goes on.`,
		Example: `  seckill redrive orders
  seckill redrive closings --stack seckill-prod`,
		Args: exactly("QUEUE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(operator.Queues, args[0]) {
				return fmt.Errorf("queue %q: want %s", args[0], queues)
			}
			s, err := f.shop(cmd)
			if err != nil {
				return err
			}
			out, err := s.Redrive(cmd.Context(), args[0])
			return f.print(cmd, s.explain(err, "the dead letters of "+args[0]), &out, func(p *page) {
				if out.Messages == 0 {
					p.line("Nothing to do: %s has no dead letters.", out.Queue)
					return
				}
				p.line("About %s moved back to %s.", counted(out.Messages, "message is", "messages are"), out.Queue)
			})
		},
	}
	f.add(cmd)
	return cmd
}
