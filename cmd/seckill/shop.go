package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/seckill"
)

// shop executes an operator's commands: a running `seckill run`, or a deployed stack's back office. Both accept the
// same events (package operator). Every command may be repeated.
type shop struct {
	operator.Client
	name     string // for messages: a URL, or "stack NAME"
	answers  string // for messages: what answers the calls
	deployed bool
	now      func(context.Context) (time.Time, error) // the shop's time
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
	cmd.Args = cobra.NoArgs
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

// explain puts an error into words. subject is what the command was about, such as "item 7"; "" for none. The result is
// a faultError if the command failed or its outcome is unknown, and any other error if the shop refused it.
func (s *shop) explain(err error, subject string) error {
	var refused *operator.Refusal
	switch {
	case errors.As(err, new(faultError)): // is in words already
		return err
	case errors.Is(err, operator.ErrAnswer):
		return faultError{fmt.Errorf("%s: %w: does %s have the version of this tool?", s.answers, err, s.name)}
	case !errors.As(err, &refused):
		return err
	case refused.Code == seckill.CodeItemUnknown:
		return fmt.Errorf("%s: %s has no such item", subject, s.name)
	case refused.Code == seckill.CodeOrderUnknown:
		return fmt.Errorf("%s: %s has no such order", subject, s.name)
	case refused.Code == operator.CodeActivityUnknown:
		return fmt.Errorf("%s: %s has no such activity", subject, s.name)
	case operator.Status(refused.Code) >= http.StatusInternalServerError:
		return faultError{refused}
	case refused.Code == seckill.CodeInvalid && subject != "":
		return fmt.Errorf("%s: %w", subject, refused)
	}
	return err
}

// refusedAs reports whether the shop refused a command with a code.
func refusedAs(err error, code seckill.Code) bool {
	var refused *operator.Refusal
	return errors.As(err, &refused) && refused.Code == code
}

// loginName returns the caller's login name, "" if this machine does not know it.
func loginName() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}
