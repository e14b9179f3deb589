package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/adapter/operator"
	"github.com/your-org/seckill/shared/flow/stage"
	"github.com/your-org/seckill/shared/seckill"
)

// Limits of calls to a running shop.
const (
	callTimeout = 30 * time.Second // what the shop itself allows a request
	maxAnswer   = 128 << 20        // bytes; MaxItems items of the longest details
)

// itemsPath is where a running shop's items are.
const itemsPath = "/_local/items"

var defaultURL = "http://localhost:" + strconv.Itoa(local.DefaultPort)

// runningShop is a `seckill run`, reached by its routes under /_local.
type runningShop struct {
	base string // without a slash at the end
	http *http.Client
}

func newRunningShop(address string) (*runningShop, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" ||
		u.RawQuery != "" {
		return nil, fmt.Errorf("--url %q: want an address such as %s", address, defaultURL)
	}
	return &runningShop{base: u.Scheme + "://" + u.Host, http: &http.Client{Timeout: callTimeout}}, nil
}

func (s *runningShop) Export(ctx context.Context) ([]byte, error) {
	resp, err := s.send(ctx, s.http, http.MethodGet, itemsPath, "", nil)
	if err != nil {
		return nil, err
	}
	data, err := s.body(resp)
	if err != nil || len(resp.Header[local.HeaderUnreadable]) == 0 {
		return data, err
	}
	out := &operator.LeftOut{}
	for _, quoted := range resp.Header[local.HeaderUnreadable] {
		row, err := strconv.Unquote(quoted)
		if err != nil {
			row = quoted
		}
		out.Rows = append(out.Rows, row)
	}
	return data, out
}

func (s *runningShop) Import(ctx context.Context, f itemsFile) (done stage.Imported, err error) {
	kind := "application/json"
	if strings.EqualFold(filepath.Ext(f.name), ".csv") {
		kind = "text/csv"
	}
	answer, err := s.call(ctx, http.MethodPost, itemsPath, kind, f.data)
	if err == nil {
		err = s.read(answer, &done)
	}
	return done, err
}

func (s *runningShop) SetStopped(ctx context.Context, id string, stopped bool) (operator.ItemChange, error) {
	if stopped {
		return s.change(ctx, id, "stop", nil)
	}
	return s.change(ctx, id, "resume", nil)
}

func (s *runningShop) AddStock(ctx context.Context, id string, n int) (operator.ItemChange, error) {
	return s.change(ctx, id, "stock", []byte(`{"stock":`+strconv.Itoa(n)+`}`))
}

func (s *runningShop) change(ctx context.Context, id, what string, body []byte) (it operator.ItemChange, err error) {
	return it, said(s.get(ctx, http.MethodPost, itemsPath+"/"+id+"/"+what, body, &it), id, s.base)
}

// get makes a call with a JSON body or none, and reads its JSON answer. Errors as call.
func (s *runningShop) get(ctx context.Context, method, path string, body []byte, into any) error {
	answer, err := s.call(ctx, method, path, "application/json", body)
	if err != nil {
		return err
	}
	return s.read(answer, into)
}

// call makes one call under /_local. An *operator.Refusal when the shop refuses; a faultError when it does not answer,
// or fails.
func (s *runningShop) call(ctx context.Context, method, path, kind string, body []byte) ([]byte, error) {
	resp, err := s.send(ctx, s.http, method, path, kind, body)
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

// send makes a request and gives the answer 200, whose body is the caller's to close. Errors as call.
func (s *runningShop) send(ctx context.Context, client *http.Client, method, path, kind string,
	body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept-Language", "en")
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	resp, err := client.Do(req)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil, faultError{fmt.Errorf(
			"nothing answers at %s: start the shop with \"seckill run\", or name another with --url", s.base)}
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
		return nil, faultError{fmt.Errorf("%s answers %s: is it a \"seckill run\" of this version?", s.base,
			resp.Status)}
	}
	if resp.StatusCode >= http.StatusInternalServerError {
		return nil, faultError{&r}
	}
	return nil, &r
}

func (s *runningShop) read(answer []byte, into any) error {
	if err := json.Unmarshal(answer, into); err != nil {
		return faultError{fmt.Errorf("%s answers what cannot be read: is it a \"seckill run\" of this version?",
			s.base)}
	}
	return nil
}
