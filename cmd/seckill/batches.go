package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/api/operator"
)

const batchTries = 5

// batchPause is the wait before the second try of a batch; it doubles. Tests shorten it.
var batchPause = time.Second

// tried calls the shop about one part of a long task, and repeats the call while it fails for the moment. Its messages
// name the part.
func tried(cmd *cobra.Command, s *shop, where string, call func(context.Context) error) error {
	pause := batchPause
	for try := 1; ; try++ {
		err := call(cmd.Context())
		if err == nil || try == batchTries || !passing(err) {
			return s.explain(err, "")
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "seckill: %s: %v; again in %v\n", where, err, pause)
		if wait(cmd.Context(), pause) != nil {
			return err
		}
		pause *= 2
	}
}

// steps calls read with the cursor next, and then with the cursor that each call returns, until that is "".
func (s *shop) steps(next string, read func(next string) (string, error)) error {
	for {
		after, err := read(next)
		if err != nil || after == "" {
			return err
		}
		if after == next {
			return s.explain(fmt.Errorf("%w: its pages do not end", operator.ErrAnswer), "")
		}
		next = after
	}
}

// pages reads a list page by page, until it has limit entries. A page has at most most entries.
func pages[T any](s *shop, limit, most int, next string,
	read func(next string, n int) ([]T, string, error)) ([]T, string, error) {
	list := []T{}
	err := s.steps(next, func(from string) (string, error) {
		page, after, err := read(from, min(limit-len(list), most))
		if list, next = append(list, page...), after; len(list) >= limit {
			return "", err
		}
		return after, err
	})
	return list, next, err
}

func lineOf(n int) string { return "line " + strconv.Itoa(n) }

// passing reports whether a call may succeed when it is repeated.
func passing(err error) bool {
	var refused *operator.Refusal
	if errors.As(err, &refused) {
		return operator.Status(refused.Code) >= http.StatusInternalServerError
	}
	return errors.As(err, &faultError{})
}

// wait returns after a while, or with the context's error.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(max(d, 0)):
		return nil
	}
}

// progress prints how far a command is: the first time at next, then each second.
type progress struct {
	w    io.Writer
	next time.Time
}

func newProgress(w io.Writer) *progress { return &progress{w, time.Now().Add(patience)} }

func (p *progress) line(format string, args ...any) {
	if now := time.Now(); !now.Before(p.next) {
		p.next = now.Add(time.Second)
		fmt.Fprintf(p.w, "seckill: "+format+"\n", args...)
	}
}
