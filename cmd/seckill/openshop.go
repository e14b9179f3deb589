package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/api/operator"
)

// shop opens the shop.
func (t *target) shop(cmd *cobra.Command) (*shop, error) {
	deployed, err := t.isDeployed(cmd)
	if err != nil {
		return nil, err
	}
	if !deployed {
		s, err := t.running()
		if err != nil {
			return nil, err
		}
		return s.shop(), nil
	}
	s, err := openStack(cmd.Context(), t, waitingOn(cmd.ErrOrStderr()))
	if err != nil {
		return nil, err
	}
	return s.shop(), nil
}

// shopFlags are the flags of the commands that a shop executes.
type shopFlags struct {
	target
	printer
	why, who string
}

// add adds the flags to a command.
func (f *shopFlags) add(cmd *cobra.Command) {
	f.on(cmd)
	cmd.Flags().BoolVar(&f.json, "json", false, "print the result as JSON")
}

// addWords adds the flags of a command that an order's history records.
func (f *shopFlags) addWords(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.why, "why", "", "your reason, up to 200 characters, for the order's history")
	f.named(cmd)
}

// named adds the flag of a command that records who gave it.
func (f *shopFlags) named(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.who, "who", "", "your name (default your login name); with --stack, AWS knows it")
}

// signed opens the shop, with words for a command that records who gave it.
func (f *shopFlags) signed(cmd *cobra.Command, words bool) (*shop, error) {
	deployed, err := f.isDeployed(cmd)
	named := cmd.Flags().Changed("who")
	switch {
	case err != nil:
		return nil, err
	case words && deployed && named:
		return nil, errors.New("--who does not go with --stack: its back office records the AWS identity that you use")
	case words && named && strings.TrimSpace(f.who) == "":
		return nil, errors.New("--who is empty: give your name, 1 to 64 characters")
	case words && !deployed && !named && loginName() == "":
		return nil, errors.New("--who is missing, and this machine does not know your login name: give your name")
	}
	s, err := f.shop(cmd)
	if err == nil && named {
		s.Who = f.who
	}
	return s, err
}

// group makes a command that only has subcommands, which share the flags that name a shop.
func (f *shopFlags) group(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.Args = group
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	f.on(cmd)
	cmd.PersistentFlags().BoolVar(&f.json, "json", false, "print the result as JSON")
	cmd.AddCommand(commands...)
	return cmd
}

// answer gives the shop a command about something, such as "item 7", and prints its answer.
func answer[A any](f *shopFlags, cmd *cobra.Command, s *shop, about string, c operator.Command,
	text func(*page, *A)) error {
	a, err := give[A](cmd, s, about, c)
	return f.print(cmd, err, &a, func(p *page) { text(p, &a) })
}

// give gives the shop a command about something, such as "item 7", and returns its answer. Errors as explain.
func give[A any](cmd *cobra.Command, s *shop, about string, c operator.Command) (A, error) {
	answer, err := operator.Give[A](cmd.Context(), &s.Client, c)
	return answer, s.explain(err, about)
}
