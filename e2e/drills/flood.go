//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/your-org/seckill/infra/edge"
	"github.com/your-org/seckill/local/demoissuer"
	"github.com/your-org/seckill/shared/driver/system"
)

const (
	client   = "drill"
	visitors = 5               // shoppers who come through the CDN, each from an address of their own
	wait     = 4 * time.Second // until an address has used up its allowance, and the throttles have filled again
	comes    = 2 * time.Second // between two visitors: a hundredth of SigninRate is one a second
	again    = time.Second     // after which a page repeats a call that was refused
	attempts = 3
	stranger = 66 // last number of the address that floods; visitors have 101 and more
)

// issuer starts an issuer at which the visitors sign in, and tells the functions.
func issuer(w *rig, environ map[string]string) error {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	w.issuerURL = "http://" + l.Addr().String()
	o := demoissuer.Options{Issuer: w.issuerURL, ClientID: client, Clock: system.Clock{}}
	for n := range visitors {
		o.People = append(o.People, demoissuer.Person{Name: "visitor", User: fmt.Sprint("v", n)})
	}
	i, err := demoissuer.New(o)
	if err != nil {
		return err
	}
	w.issuer = &http.Server{Handler: i, ReadHeaderTimeout: startLimit}
	go func() { _ = w.issuer.Serve(l) }() // runs until close
	environ["SIGNIN_ISSUERS"] = w.issuerURL + "|" + client
	return nil
}

// flood has one address call three methods through the stand-in for the CDN, each more often than its throttle allows.
// Visitors sign in, buy, pay and look at their orders beside it, from other addresses; so does the crowd, past the CDN.
func flood(ctx context.Context, w *rig) (string, error) {
	base, err := w.cdn(ctx)
	if err != nil {
		return "", err
	}
	var flooding, visiting sync.WaitGroup
	var through, refused, repeated atomic.Int64
	busy, over := context.WithCancel(ctx)
	for _, call := range [][2]string{{"POST", "/signin"}, {"POST", "/order/" + w.name + "/payment"},
		{"GET", "/order/list"}} {
		flooding.Go(func() {
			s := &visitor{base: base, http: from(stranger)}
			for pause(busy, look) {
				switch status, _, err := s.send(busy, call[0], call[1], nil); {
				case err != nil:
				case status == http.StatusTooManyRequests:
					refused.Add(1)
				default:
					through.Add(1)
				}
			}
		})
	}
	pause(ctx, wait)
	w.strangers = true
	wrong := make([]error, visitors)
	for n := range visitors {
		visiting.Go(func() {
			s := &visitor{base: base, http: from(101 + n), repeated: &repeated}
			if err := s.visit(ctx, w, fmt.Sprint("v", n)); err != nil {
				wrong[n] = fmt.Errorf("visitor %d: %w", n, err)
			}
		})
		pause(ctx, comes)
	}
	visiting.Wait()
	over()
	flooding.Wait()
	if refused.Load() < 9*through.Load() {
		wrong = append(wrong, errors.New("the CDN refused less than nine tenths of the flood"))
	}
	return fmt.Sprintf("of the flood %d refused, %d let through; %d visitors signed in, bought and paid, "+
		"%d calls repeated", refused.Load(), through.Load(), visitors, repeated.Load()), errors.Join(wrong...)
}

// cdn starts the stand-in with a hundredth of the limits of an address, and returns the shop's address there.
func (w *rig) cdn(ctx context.Context) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_ = l.Close()
	s := edge.StandIn{Listen: l.Addr().String(), Origin: w.host.URL, Dir: filepath.Join(w.dir, "cdn")}
	stack := parameters(asDeployed)
	s.Limits, err = edge.Limits(func(name string) string { return stack[name] }, edge.DefaultShare, scale)
	if err != nil {
		return "", err
	}
	_, err = s.Start(ctx)
	return "http://" + s.Listen, err
}

// from returns a client whose address is 127.0.0.last.
func from(last int) *http.Client {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(last))}}
	return &http.Client{Transport: &http.Transport{DialContext: d.DialContext, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// visitor is somebody at one address.
type visitor struct {
	base, token string
	http        *http.Client
	repeated    *atomic.Int64
}

// send sends a call and decodes the answer's JSON.
func (s *visitor) send(ctx context.Context, method, path string, body any) (int, map[string]any, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, s.base+path, bytes.NewReader(b))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	resp, err := s.http.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	got := map[string]any{}
	if b, err = io.ReadAll(resp.Body); err == nil {
		_ = json.Unmarshal(b, &got) // a refusal of the CDN may have no JSON
	}
	return resp.StatusCode, got, err
}

// call sends a call that must succeed, and repeats it as a page does.
func (s *visitor) call(ctx context.Context, method, path string, body any) (map[string]any, error) {
	for n := 1; ; n++ {
		status, got, err := s.send(ctx, method, path, body)
		switch {
		case err != nil:
			return nil, err
		case status == http.StatusOK:
			return got, nil
		case n == attempts || status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable:
			return nil, fmt.Errorf("%s %s is answered %d %v", method, path, status, got["code"])
		}
		s.repeated.Add(1)
		pause(ctx, again)
	}
}

// visit signs a person in, buys, asks for a way to pay, and looks at the orders.
func (s *visitor) visit(ctx context.Context, w *rig, person string) error {
	const verifier, nonce = "a-verifier-that-is-at-least-43-characters-long", "a-nonce"
	back := w.host.URL + "/"
	challenge := sha256.Sum256([]byte(verifier))
	query := url.Values{"response_type": {"code"}, "client_id": {client}, "redirect_uri": {back}, "scope": {"openid"},
		"state": {"s"}, "nonce": {nonce}, "code_challenge_method": {"S256"}, "person": {person},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(challenge[:])}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.issuerURL+"/authorize?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	resp, err := s.http.Do(r)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	at, err := resp.Location()
	if err != nil {
		return fmt.Errorf("the issuer answers %d: %w", resp.StatusCode, err)
	}
	in, err := s.call(ctx, "POST", "/signin", map[string]any{"grant": "code", "issuer": w.issuerURL,
		"code": at.Query().Get("code"), "code_verifier": verifier, "nonce": nonce, "redirect_uri": back})
	if err != nil {
		return err
	}
	s.token, _ = in["token"].(string)
	if _, err := s.call(ctx, "POST", "/seckill/buy", map[string]any{"seckill_id": item, "count": 1,
		"address": "杭州市西湖区文三路 1 号"}); err != nil {
		return err
	}
	id := ""
	for id == "" {
		if !pause(ctx, again) {
			return errors.New("the order was not placed while the crowd was there")
		}
		_, order, err := s.send(ctx, "GET", "/seckill/order/"+item, nil) // a poll that is refused is repeated anyway
		if err != nil {
			return err
		}
		id, _ = order["order_id"].(string)
	}
	if _, err := s.call(ctx, "POST", "/order/"+id+"/payment", map[string]any{"kind": "page"}); err != nil {
		return err
	}
	_, err = s.call(ctx, "GET", "/order/list", nil)
	return err
}
