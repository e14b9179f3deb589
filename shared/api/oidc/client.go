package oidc

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Limits of what an issuer does.
const (
	MaxDocument = 256 << 10       // bytes of an answer
	MaxKeys     = 100             // keys of an issuer that are used
	Timeout     = 3 * time.Second // of one call

	// oldest is how old a token may be that an issuer has just made: Microsoft Entra sets iat and nbf five minutes
	// back, and clocks differ. A code is spent once and has a nonce; this bounds what else an issuer could hand out
	// again.
	oldest     = 10 * time.Minute
	freshFor   = time.Hour   // after which addresses and keys are read again
	againAfter = time.Minute // between two reads, whatever asks for them
	soonAfter  = time.Second // the same as long as there is nothing to go on with
)

// Client is the shop's name at an issuer.
type Client struct {
	Issuer   string // exactly as its tokens have it
	ClientID string
	Metadata string // base of the address of the discovery document; "" means Issuer
	// Secret returns the client's secret; it is called for each request. A public client has nil, or an empty secret.
	Secret func() string
}

func (c *Client) secret() string {
	if c.Secret == nil {
		return ""
	}
	return c.Secret()
}

// Google's ID tokens may name it without the scheme
// (https://developers.google.com/identity/openid-connect/reference, "iss"), and so may its document.
const google = "https://accounts.google.com"

// nameOf returns the name of an issuer that may go by two.
func nameOf(issuer string) string {
	if "https://"+issuer == google {
		return google
	}
	return issuer
}

var errAddress = errors.New("want an https address without user and fragment; http only on this machine")

// secure returns what is wrong with an address that is called, or to which shoppers go.
func secure(address string, query bool) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || u.RawQuery != "" && !query {
		return errAddress
	}
	ip := net.ParseIP(u.Hostname())
	if u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()) {
		return nil
	}
	return errAddress
}

func refuse(reason seckill.Reason, cause string) error {
	return &seckill.Error{Code: seckill.CodeSignIn, Token: reason, Err: errors.New("oidc: " + cause)}
}

// brokenWait is the wait before a retry of what an operator has to mend: longer than a page waits by itself.
const brokenWait = time.Minute

// broken is a sign-in that fails because the shop and the issuer do not fit together.
func broken(format string, a ...any) error {
	return &seckill.Error{Code: seckill.CodeSignInBroken, RetryAfter: brokenWait,
		Err: fmt.Errorf("oidc: "+format, a...)}
}
