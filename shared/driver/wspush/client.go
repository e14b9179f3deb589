package wspush

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/your-org/seckill/shared/seckill"
)

// Limits.
const (
	callTimeout = 2 * time.Second // limit of a call, which takes some 10 ms
	maxAnswer   = 4 << 10         // bytes of an answer that are read, so that its connection can be used again

	// AtOnce is how many calls a step makes at the same time.
	AtOnce = 16
)

// Client is a seckill.Wire through connections that Amazon API Gateway holds ("Use @connections commands in your
// backend service"). It repeats nothing. It is safe for concurrent use.
type Client struct {
	stage  string
	aws    aws.Config
	signer *v4.Signer
	clock  seckill.Clock
}

var _ seckill.Wire = (*Client)(nil)

// New returns a client of the stage with this address, such as https://ID.execute-api.REGION.amazonaws.com/live. It
// uses the configuration's region, credentials and HTTP client.
func New(c aws.Config, stage string, clock seckill.Clock) *Client {
	return &Client{stage: strings.TrimSuffix(stage, "/"), aws: c, signer: v4.NewSigner(), clock: clock}
}

// Send implements seckill.Wire.
func (c *Client) Send(ctx context.Context, connection string, e *seckill.OrderEvent) error {
	return c.call(ctx, http.MethodPost, connection, Message(e))
}

// Close implements seckill.Wire.
func (c *Client) Close(ctx context.Context, connection string) error {
	err := c.call(ctx, http.MethodDelete, connection, nil)
	if errors.Is(err, seckill.ErrConnectionGone) {
		return nil
	}
	return err
}

// call makes one signed call. Its errors name the status only: an address has a connection's id.
func (c *Client) call(ctx context.Context, method, connection string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, c.address(connection), bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("wspush: %s: %w", method, withoutAddress(err))
	}
	credentials, err := c.aws.Credentials.Retrieve(ctx)
	if err != nil {
		return fmt.Errorf("wspush: credentials: %w", err)
	}
	sum := sha256.Sum256(body)
	if err := c.signer.SignHTTP(ctx, credentials, r, hex.EncodeToString(sum[:]), "execute-api", c.aws.Region,
		c.clock.Now()); err != nil {
		return fmt.Errorf("wspush: sign: %w", err)
	}
	answer, err := c.aws.HTTPClient.Do(r)
	if err != nil {
		return fmt.Errorf("wspush: %s: %w", method, withoutAddress(err))
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer) // what it says does not matter
	switch {
	case answer.StatusCode == http.StatusGone:
		return seckill.ErrConnectionGone
	case answer.StatusCode/100 != 2:
		return fmt.Errorf("wspush: %s: answered %d", method, answer.StatusCode)
	}
	return nil
}

// address returns a connection's address. An id ends in "=", which is escaped as AWS's own clients have it: the
// signature depends on it.
func (c *Client) address(connection string) string {
	return c.stage + "/@connections/" + url.QueryEscape(connection)
}

// withoutAddress removes the address from an error of package http.
func withoutAddress(err error) error {
	var named *url.Error
	if errors.As(err, &named) {
		return named.Err
	}
	return err
}
