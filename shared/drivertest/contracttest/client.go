// Package contracttest checks the HTTP contract (docs/openapi.yaml) against a running system: in one process, behind
// an emulator of AWS, or on AWS. In: a URL, the secret of its tokens, and items that the caller has put on sale. Out:
// failed tests.
package contracttest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// maxAnswer is the largest answer that is read, in bytes.
const maxAnswer = 4 << 20

// Client calls a system's API. It is safe for concurrent use.
type Client struct {
	URL     string // without a trailing slash
	HTTP    *http.Client
	Observe func(method, path string, a Answer, took time.Duration) // called with every answer; may be nil
}

// Answer is the response to a call.
type Answer struct {
	Status int
	Header http.Header
	Raw    string
	JSON   map[string]any // nil if the body is not a JSON object; numbers are json.Number
}

func (a Answer) String() string { return fmt.Sprintf("%d %.2000s", a.Status, a.Raw) }

// Text returns a field of the answer's object, "" if it is not a string.
func (a Answer) Text(field string) string {
	s, _ := a.JSON[field].(string)
	return s
}

// Number returns a field of the answer's object as written, "" if it is not a number.
func (a Answer) Number(field string) string {
	n, _ := a.JSON[field].(json.Number)
	return n.String()
}

// Call makes one request, without a token if token is "". It sends a string body unchanged and any other body as
// JSON. headers alternates names and values.
func (c *Client) Call(ctx context.Context, token, method, path string, body any, headers ...string) (Answer, error) {
	var send io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		send = strings.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			return Answer{}, err
		}
		send = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.URL+path, send)
	if err != nil {
		return Answer{}, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	began := time.Now()
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return Answer{}, fmt.Errorf("%s %s: %w", method, path, err)
	}
	a := Answer{Status: resp.StatusCode, Header: resp.Header, Raw: string(raw)}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&a.JSON) != nil {
		a.JSON = nil
	}
	if c.Observe != nil {
		c.Observe(method, path, a, time.Since(began))
	}
	return a, nil
}
