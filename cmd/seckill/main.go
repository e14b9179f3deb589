// Command seckill is the tool of operators and testers. `seckill run` serves a whole flash sale on this machine.
// `seckill items` manages items, `seckill payments`, `refund`, `unknown` and `reconcile` manage money, both of a
// running or a deployed shop. `seckill load` sends a crowd to it. `seckill keys` creates the secrets of a deployed
// shop, and `seckill doctor` checks it before a sale.
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
	// After the first signal, a second one ends the process at once.
	context.AfterFunc(ctx, stop)
	self = os.Args[0]
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}

// rootCommand is the tool with its commands.
func rootCommand(getenv func(string) string) *cobra.Command {
	root := &cobra.Command{
		Use:   self,
		Short: "A flash-sale (秒杀) system: sells scarce goods to a crowd, and never sells a unit twice",
		Example: `  seckill run                       serve a whole sale on http://localhost:8100
  seckill items import items.csv    create or change items
  seckill load                      send a crowd of shoppers to the sale
  seckill audit --item 2002         check the sale afterwards
  seckill payments                  list money that is due back, refused or unknown`,
		SilenceUsage: true, SilenceErrors: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.AddCommand(runCommand(getenv), itemsCommand(), activitiesCommand(), ordersCommand(), paymentsCommand(),
		refundCommand(), unknownCommand(), reconcileCommand(), eraseCommand(), blocksCommand(), actsCommand(),
		eventsCommand(), countsCommand(), liveCommand(), keysCommand(), tokenCommand(),
		doctorCommand(), simCommand(), loadCommand(getenv), planCommand(), auditCommand(getenv),
		reportCommand(getenv), staffCommand(), versionCommand())
	addDeclared(root, sayings)
	url := getenv(urlVariable)
	eachCommand(root, func(c *cobra.Command) {
		if url != "" {
			defaultTo(c, url)
		}
		if c.Name() == "list" {
			c.Aliases = []string{"ls"}
		}
		c.Long, c.Example = wrapped(asCalled(c.Long)), asCalled(c.Example)
	})
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "Flags.FlagUsages ", "Flags.FlagUsagesWrapped 100 "))
	root.SetFlagErrorFunc(flagError)
	return root
}

// run executes a command line and returns the exit code. It writes an error as one line to stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, getenv func(string) string) int {
	out, errs := &terminal{to: stdout}, &terminal{to: stderr}
	defer func() { _, _ = out.flush(), errs.flush() }() // a text that ends within a character
	stdout, stderr = out, errs
	root := rootCommand(getenv)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	line := asCalled(strings.Join(strings.Fields(err.Error()), " "))
	if what, near, ok := strings.Cut(line, " Did you mean this? "); ok {
		line = what + ", did you mean " + strings.ReplaceAll(near, " ", " or ") + "?"
	}
	if fault := (faultError{}); errors.As(err, &fault) {
		fmt.Fprintln(stderr, "seckill:", line)
		return exitFault
	}
	fmt.Fprintf(stderr, "seckill: %s (see: %s --help)\n", line, cmd.CommandPath())
	return exitUsage
}
