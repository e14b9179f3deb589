// Command seckill is the operator's and tester's tool. `seckill run` serves a whole flash sale on this machine;
// `seckill items` works on the items of one that runs, `seckill payments`, `refund`, `unknown` and `reconcile` on its
// money, and `seckill load` has a crowd come to it; `seckill keys` makes the secrets that a deployed one needs, and
// `seckill doctor` looks at it before a sale.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the next one has its ordinary effect: it ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}

// run is the whole command. It returns the exit code; an error is one line on stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, getenv func(string) string) int {
	root := &cobra.Command{
		Use:   "seckill",
		Short: "A flash-sale (秒杀) system: sells scarce goods to a crowd, never a unit twice",
		Example: `  seckill run              the whole sale on http://localhost:8100
  seckill run --help       its flags
  seckill items --help     import, export, stop, resume, add stock
  seckill payments --help  money that is due back, refused or unknown; an order's case
  seckill refund --help    refund a paid order, or have refused refunds asked for again
  seckill unknown --help   orders of which the payment provider does not say whether they are paid
  seckill reconcile --help match a day's bill of the payment provider against the ledger
  seckill erase --help     forget where a user's orders were sent
  seckill load --help      have a crowd come at once, and see what it does
  seckill plan --help      what a sale on AWS needs and costs
  seckill keys --help      make the secrets of a stack on AWS
  seckill doctor --help    look at a stack before a sale
  seckill audit --help     judge a sale afterwards
  seckill sim --help       try what production will, and see that no unit is lost or sold twice`,
		SilenceUsage: true, SilenceErrors: true, DisableSuggestions: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.AddCommand(runCommand(getenv), itemsCommand(), paymentsCommand(), refundCommand(), unknownCommand(),
		reconcileCommand(), eraseCommand(), keysCommand(), tokenCommand(), doctorCommand(), simCommand(),
		loadCommand(getenv), planCommand(), auditCommand(getenv), versionCommand())
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	line := strings.Join(strings.Fields(err.Error()), " ")
	if fault := (faultError{}); errors.As(err, &fault) {
		fmt.Fprintln(stderr, "seckill:", line)
		return exitFault
	}
	fmt.Fprintf(stderr, "seckill: %s (see: %s --help)\n", line, cmd.CommandPath())
	return exitUsage
}
