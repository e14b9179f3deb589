package bus

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/your-org/seckill/shared/seckill"
)

// Limits.
const (
	MaxSecrets  = 2 // the current secret and, during a rotation, the previous secret
	MinSecret   = 24
	MaxSecret   = 64      // bytes of a secret, as Standard Webhooks has it
	maxURL      = 2048    // bytes
	maxAnswer   = 4 << 10 // bytes of an answer that are read, so that its connection can be used again
	maxHeader   = 16 << 10
	maxConns    = 64
	secretStart = "whsec_"
)

// ContentType is that of a single CloudEvent in JSON.
const ContentType = "application/cloudevents+json"

// WebhookConfig has the settings of Webhooks.
type WebhookConfig struct {
	URL     string   // https; http only on the loopback interface
	Secrets []string // whsec_ and base64; each signs
	Shop    string   // name of the shop in the events' source
	Clock   seckill.Clock
}

// Webhooks is a seckill.Endpoint. It is safe for concurrent use.
type Webhooks struct {
	url, shop string
	keys      [][]byte
	clock     seckill.Clock
	http      *http.Client
}

var _ seckill.Endpoint = (*Webhooks)(nil)

// NewWebhooks checks the settings. Its errors never contain a secret.
func NewWebhooks(c WebhookConfig) (*Webhooks, error) {
	if err := CheckURL(c.URL); err != nil {
		return nil, err
	}
	if len(c.Secrets) < 1 || len(c.Secrets) > MaxSecrets {
		return nil, fmt.Errorf("webhook: %d secrets, want 1 to %d", len(c.Secrets), MaxSecrets)
	}
	client := &Webhooks{url: c.URL, shop: c.Shop, clock: c.Clock}
	for i, secret := range c.Secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretStart))
		if err != nil || !strings.HasPrefix(secret, secretStart) || len(key) < MinSecret || len(key) > MaxSecret {
			return nil, fmt.Errorf("webhook: secret %d: want %s and base64 of %d to %d bytes", i+1, secretStart,
				MinSecret, MaxSecret)
		}
		client.keys = append(client.keys, key)
	}
	dial := &net.Dialer{Timeout: seckill.PostTimeout}
	client.http = &http.Client{
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: dial.DialContext,
			ForceAttemptHTTP2: true, MaxIdleConnsPerHost: maxConns, MaxConnsPerHost: maxConns,
			MaxResponseHeaderBytes: maxHeader},
		Timeout: seckill.PostTimeout,
		// The event and its signature go to the named URL only.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return client, nil
}

// CheckURL returns an error for a URL that must not get events: whoever listens on the way would read them.
//
// Private addresses are allowed: the operator names the URL when deploying, and the shop's own systems are often
// there. No shopper and no answer of the endpoint can change it, and redirects are not followed.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || len(text) > maxURL || u.Hostname() == "" || u.User != nil || u.Fragment != "" ||
		u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
		return fmt.Errorf("webhook: the URL has to be https (or http on this machine), at most %d bytes, without user "+
			"and fragment", maxURL)
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Post implements seckill.Endpoint.
func (c *Webhooks) Post(ctx context.Context, e *seckill.OrderEvent) error {
	body := Encode(c.shop, e)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("webhook: %w", withoutURL(err))
	}
	timestamp := strconv.FormatInt(c.clock.Now().Unix(), 10)
	r.Header.Set("Content-Type", ContentType)
	r.Header.Set("User-Agent", "seckill")
	r.Header.Set("Webhook-Id", e.ID())
	r.Header.Set("Webhook-Timestamp", timestamp)
	r.Header.Set("Webhook-Signature", sign(c.keys, e.ID(), timestamp, body))
	answer, err := c.http.Do(r)
	if err != nil {
		return fmt.Errorf("webhook: %w", withoutURL(err))
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer) // what it says does not matter
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("webhook: the endpoint answered %d", answer.StatusCode)
	}
	return nil
}

// sign returns the header's value: a signature by each key, so that a receiver that knows one of them can verify it.
func sign(keys [][]byte, id, timestamp string, body []byte) string {
	var all []string
	for _, key := range keys {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + timestamp + "."))
		mac.Write(body)
		all = append(all, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(all, " ")
}

// withoutURL removes the URL from an error of package http: its query may be a secret.
func withoutURL(err error) error {
	var named *url.Error
	if errors.As(err, &named) {
		return named.Err
	}
	return err
}
