package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/user"
	"time"

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

// explain puts an error into words. subject is what the command was about, such as "item 7", or "". The result is
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
