package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/adapter/httpapi"
	"github.com/your-org/seckill/shared/adapter/operator"
	"github.com/your-org/seckill/shared/seckill"
)

// shop executes an operator's commands: a running `seckill run`, or a function of a deployed stack. Both accept the
// same events (package operator). Every command may be repeated.
type shop struct {
	operator.Client
	name     string // for messages: a URL, or "stack NAME"
	answers  string // for messages: what answers the calls
	deployed bool
	now      func(context.Context) (time.Time, error) // the shop's time
}

// explain puts an error into words. subject is what the command was about, such as "item 7"; "" for none. The result is
// a faultError if the command failed or its outcome is unknown, and any other error if the shop refused it.
func (s *shop) explain(err error, subject string) error {
	var refused *operator.Refusal
	switch {
	case errors.Is(err, operator.ErrAnswer):
		return faultError{fmt.Errorf("%s: %w: does %s have the version of this tool?", s.answers, err, s.name)}
	case !errors.As(err, &refused):
		return err
	case refused.Code == seckill.CodeItemUnknown:
		return fmt.Errorf("%s: %s has no such item", subject, s.name)
	case refused.Code == seckill.CodeOrderUnknown:
		return fmt.Errorf("%s: %s has no such order", subject, s.name)
	case httpapi.Status(refused.Code) >= http.StatusInternalServerError:
		return faultError{refused}
	case refused.Code == seckill.CodeInvalid && subject != "":
		return fmt.Errorf("%s: %w", subject, refused)
	}
	return err
}

// target holds the flags that name a shop.
type target struct{ url, stack, region, profile string }

// on adds the flags to a command and to its subcommands.
func (t *target) on(cmd *cobra.Command) {
	f := cmd.PersistentFlags()
	f.StringVar(&t.url, "url", defaultURL, "address of a running shop")
	f.StringVar(&t.stack, "stack", "", "name of a deployed stack, instead of --url")
	t.onAWS(f.StringVar)
}

// onAWS adds the flags that say where AWS is.
func (t *target) onAWS(add func(to *string, name, value, usage string)) {
	add(&t.region, "region", "", "AWS region (default AWS_REGION, or the profile's)")
	add(&t.profile, "profile", "", "profile of the AWS configuration (default AWS_PROFILE, or the default profile)")
}

// isDeployed reports whether the flags name a stack, and not an address.
func (t *target) isDeployed(cmd *cobra.Command) (bool, error) {
	given := cmd.Flags().Changed
	switch {
	case given("stack") && given("url"):
		return false, errors.New("--stack and --url contradict each other: give one of them")
	case given("stack"):
		return true, nil
	case given("region"), given("profile"):
		return false, errors.New("--region and --profile only apply to a deployed stack: name it with --stack")
	}
	return false, nil
}

// sameShop returns the flags that lead another command to the same shop, each after a space.
func (t *target) sameShop() string {
	out := ""
	for _, flag := range []struct{ name, value, not string }{{"url", t.url, defaultURL}, {"stack", t.stack, ""},
		{"region", t.region, ""}, {"profile", t.profile, ""}} {
		if flag.value != flag.not {
			out += " --" + flag.name + " " + flag.value
		}
	}
	return out
}

// shop opens the shop; of a stack, by the function that this output names.
func (t *target) shop(cmd *cobra.Command, output string) (*shop, error) {
	deployed, err := t.isDeployed(cmd)
	if err != nil {
		return nil, err
	}
	if !deployed {
		s, err := newRunningShop(t.url)
		if err != nil {
			return nil, err
		}
		return s.shop(), nil
	}
	s, err := openStack(cmd.Context(), t, output, waitingOn(cmd.ErrOrStderr()))
	if err != nil {
		return nil, err
	}
	return s.shop(), nil
}

// loginName returns the caller's login name, "" if this machine does not know it.
func loginName() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}
