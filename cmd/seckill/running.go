package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/seckill"
)

// Limits of calls to a running shop.
const (
	callTimeout = 30 * time.Second // the shop's own limit for a request
	maxAnswer   = 128 << 20        // bytes
)

// urlVariable is the environment variable with the default of --url.
const urlVariable = "SECKILL_URL"

// defaultTo makes url the default of a command's --url.
func defaultTo(c *cobra.Command, url string) {
	for _, set := range []*pflag.FlagSet{c.Flags(), c.PersistentFlags()} {
		if f := set.Lookup("url"); f != nil {
			f.DefValue = url
			_ = f.Value.Set(url) // a text, which takes anything; the flag does not count as given
		}
	}
}

func eachCommand(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range c.Commands() {
		eachCommand(sub, do)
	}
}

var defaultURL = "http://localhost:" + strconv.Itoa(local.DefaultPort)

// runningShop calls the /_local routes of a `seckill run`.
type runningShop struct {
	base string // without a slash at the end
	http *http.Client
}

// newRunningShop returns the shop at an address. name is the flag or variable that has the address, for the error.
func newRunningShop(name, address string) (*runningShop, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" ||
		u.RawQuery != "" {
		return nil, fmt.Errorf("%s %q: want an address such as %s", name, address, defaultURL)
	}
	return &runningShop{base: u.Scheme + "://" + u.Host, http: &http.Client{Timeout: callTimeout}}, nil
}

// shop returns the shop's client. Its clock may be ahead of this machine's.
func (s *runningShop) shop() *shop {
	c := operator.Client{Who: cmp.Or(loginName(), "seckill"), Call: s.operate}
	return &shop{Client: c, name: s.base, answers: s.base, now: func(ctx context.Context) (time.Time, error) {
		h, err := operator.Give[operator.Health](ctx, &c, &operator.ReadHealth{})
		return h.Now, err
	}}
}

func (s *runningShop) operate(ctx context.Context, event []byte) ([]byte, error) {
	return s.call(ctx, "/_local/operator", event)
}

// call posts a JSON body to a route and returns the answer. Errors as send.
func (s *runningShop) call(ctx context.Context, path string, body []byte) ([]byte, error) {
	resp, err := s.send(ctx, s.http, http.MethodPost, path, body)
	if err != nil {
		return nil, err
	}
	return s.body(resp)
}

// body reads an answer to its end.
func (s *runningShop) body(resp *http.Response) ([]byte, error) {
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, faultError{fmt.Errorf("%s: %w", s.base, err)}
	}
	return answer, nil
}

// send makes a request and returns an answer with status 200, whose body the caller closes. An *operator.Refusal if the
// shop refuses; a faultError if it does not answer, or fails.
func (s *runningShop) send(ctx context.Context, client *http.Client, method, path string,
	body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept-Language", "en")
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil, faultError{fmt.Errorf(
			"nothing answers at %s: start the shop with \"%s run\", or name another with --url or %s", s.base, self,
			urlVariable)}
	}
	if err != nil {
		return nil, faultError{err}
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	answer, err := s.body(resp)
	if err != nil {
		return nil, err
	}
	var r operator.Refusal
	if json.Unmarshal(answer, &r) != nil || r.Code == "" || r.Code == seckill.CodeNotFound {
		return nil, faultError{fmt.Errorf("%s answers %s: is it a \"seckill run\" of this tool's version?", s.base,
			resp.Status)}
	}
	if resp.StatusCode >= http.StatusInternalServerError {
		return nil, faultError{&r}
	}
	return nil, &r
}
