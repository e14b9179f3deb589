package httpapi

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/your-org/seckill/shared/seckill"
)

// Limits of requests in addition to those of package seckill.
const (
	maxPage     = 10_000 // pages of a list; further pages cost more than they are worth
	maxSize     = 100    // entries in a page
	defaultSize = 10
	maxTrace    = 128 // bytes of a request id
)

// Auth reads a bearer token. Any failure is an *seckill.Error with CodeToken.
type Auth interface {
	// Claims returns what the token says: at least the user id.
	Claims(token string) (seckill.Claims, error)
	// Past is Claims for a token that may have expired.
	Past(token string) (seckill.Claims, error)
}

// bearerToken returns the caller's token (RFC 6750 section 2.1; the scheme is case-insensitive).
func bearerToken(r *http.Request) (string, error) {
	values := r.Header["Authorization"]
	if len(values) == 0 {
		return "", errNoToken
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if !ok || len(values) > 1 || !strings.EqualFold(scheme, "Bearer") {
		return "", errNoBearer
	}
	return token, nil
}

var (
	errNoToken  = &seckill.Error{Code: seckill.CodeToken, Token: seckill.TokenMissing}
	errNoBearer = &seckill.Error{Code: seckill.CodeToken, Token: seckill.TokenMalformed}
)

// readBody reads a whole body into buf, whose length is the limit plus one byte. CodeTooLarge.
func readBody(r *http.Request, buf []byte) ([]byte, error) {
	if r.ContentLength >= int64(len(buf)) {
		return nil, errTooLarge
	}
	if r.Body == nil {
		return nil, nil
	}
	n, err := io.ReadFull(r.Body, buf)
	switch err {
	case nil:
		return nil, errTooLarge
	case io.EOF, io.ErrUnexpectedEOF:
		return buf[:n], nil
	default: // the client has disconnected
		return nil, &seckill.Error{Code: seckill.CodeInvalid, Field: "body", Err: err}
	}
}

var errTooLarge = seckill.Refuse(seckill.CodeTooLarge)

// pageOf reads ?page=1&size=10.
func pageOf(r *http.Request) (page, size int, err error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return 0, 0, seckill.Invalid("query", "")
	}
	if page, err = number(query, "page", 1, maxPage); err != nil {
		return 0, 0, err
	}
	size, err = number(query, "size", defaultSize, maxSize)
	return page, size, err
}

// number reads a query parameter in 1..most: digits without sign or leading zero, at most once.
func number(query url.Values, name string, absent, most int) (int, error) {
	values, given := query[name]
	if !given {
		return absent, nil
	}
	n, err := strconv.Atoi(values[0])
	if err != nil || len(values) > 1 || n < 1 || n > most || values[0] != strconv.Itoa(n) {
		return 0, seckill.Invalid(name, "1.."+strconv.Itoa(most))
	}
	return n, nil
}

// trace returns the request's id for logs, which the server in front put into the context, or "" if it is not safe to
// log. No header counts: clients must not choose the ids in our logs.
func trace(r *http.Request) string {
	if id := seckill.Trace(r.Context()); saneTrace(id) {
		return id
	}
	return ""
}

func saneTrace(s string) bool {
	if s == "" || len(s) > maxTrace {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case strings.IndexByte("-_.:;=/+@", c) >= 0:
		default:
			return false
		}
	}
	return true
}
