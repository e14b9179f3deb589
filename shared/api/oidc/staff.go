package oidc

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/seckill"
)

// Claims that Staff reads unless told otherwise.
const (
	DefaultGroups = "cognito:groups"
	DefaultPrefix = "seckill-" // prefix of the groups' names: seckill-finance is the role finance
	DefaultWho    = "sub"
	DefaultScope  = "openid"
)

// nameClaims are the claims that show a person's name, the best first.
var nameClaims = []string{"email", "preferred_username", "cognito:username", "name"}

// maxWhoClaim is the longest identity of a person, in characters.
const maxWhoClaim = 128

// StaffOptions are the settings of NewStaff.
type StaffOptions struct {
	Options         // with one client
	Groups   string // the claim that lists a person's groups
	Prefix   string // the prefix of groups whose names end with a role
	WhoClaim string // the claim that names a person, for good
	Scope    string // what to ask for
	ACR      string // the authentication that commands that move money want, as claim acr names it; "": any
}

// Staff implements seckill.StaffIssuer. It is safe for concurrent use.
type Staff struct {
	issuers *Issuers
	with    StaffOptions
	host    string // the issuer's host: a person's identity begins with it
}

var _ seckill.StaffIssuer = (*Staff)(nil)

// NewStaff checks the settings; it makes no call.
func NewStaff(o StaffOptions) (*Staff, error) {
	issuers, err := New(o.Options)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(o.Clients[0].Issuer)
	if err != nil {
		return nil, err
	}
	return &Staff{issuers, o, u.Host + strings.TrimSuffix(u.Path, "/")}, nil
}

// Authorization implements seckill.StaffIssuer.
func (s *Staff) Authorization(ctx context.Context, g seckill.Grant, state string, anew bool) (string, error) {
	client := s.issuers.clients[0]
	known, err := s.issuers.byName[client.Issuer].current(ctx, keyName{})
	if err != nil {
		return "", err
	}
	to, err := url.Parse(known.Authorization)
	if err != nil {
		return "", err
	}
	challenge := sha256.Sum256([]byte(g.Verifier))
	q := to.Query()
	for name, value := range map[string]string{"response_type": "code", "client_id": client.ClientID,
		"redirect_uri": g.RedirectURI, "scope": s.with.Scope, "state": state, "nonce": g.Nonce,
		"code_challenge": base64.RawURLEncoding.EncodeToString(challenge[:]), "code_challenge_method": "S256"} {
		q.Set(name, value)
	}
	if anew || g.Fresh { // OpenID Connect Core 3.1.2.1: the issuer should ask, whoever is signed in there
		q.Set("prompt", "login")
	}
	if g.Fresh && known.tellsTime() {
		q.Set("max_age", strconv.Itoa(int(seckill.StaffProof/time.Second)))
	}
	if g.Fresh && s.with.ACR != "" {
		q.Set("acr_values", s.with.ACR)
	}
	to.RawQuery = q.Encode()
	return to.String(), nil
}

// RedeemStaff implements seckill.StaffIssuer.
func (s *Staff) RedeemStaff(ctx context.Context, g seckill.Grant) (seckill.StaffMember, error) {
	g.Issuer, g.ClientID = s.issuers.clients[0].Issuer, s.issuers.clients[0].ClientID
	if err := g.Check(); err != nil || g.Kind == seckill.GrantToken {
		return seckill.StaffMember{}, refuse(seckill.TokenGrant, "a grant that no issuer gives")
	}
	p, token, err := s.issuers.redeem(ctx, &g)
	if errors.Is(err, errSilent) {
		return seckill.StaffMember{Refresh: p.Refresh, Silent: true}, nil
	}
	if err != nil {
		return seckill.StaffMember{}, err
	}
	c, err := s.claims(token)
	if err != nil {
		return seckill.StaffMember{}, err
	}
	proof, err := s.proof(ctx, c, &g)
	if err != nil {
		return seckill.StaffMember{}, err
	}
	who := c.text(s.with.WhoClaim)
	if s.with.WhoClaim == DefaultWho {
		who = p.Subject
	}
	if seckill.CheckLine("who", who, maxWhoClaim) != nil || strings.ContainsAny(who, "/ ") {
		return seckill.StaffMember{}, refuse(seckill.TokenClaims, "no person")
	}
	m := seckill.StaffMember{Who: s.host + "/" + who, Refresh: p.Refresh, Proof: proof,
		Roles: s.roles(c.list(s.with.Groups))}
	for _, name := range nameClaims {
		if m.Name = seckill.PlainName(c.text(name)); m.Name != "" {
			break
		}
	}
	return m, nil
}

// authTime is the claim that has when the person signed in at the issuer.
const authTime = "auth_time"

// tellsTime reports whether the issuer has said that it knows auth_time, which it then owes to max_age.
func (s *snapshot) tellsTime() bool { return slices.Contains(s.Claims, authTime) }

// proof returns when the person of a code last showed the issuer who they are, zero if that does not suffice. It
// refuses a code that has to be fresh and is not (OpenID Connect Core 3.1.3.7, points 12 and 13). An issuer that knows
// no auth_time was asked by prompt alone: then this moment counts (ADR 44).
func (s *Staff) proof(ctx context.Context, c given, g *seckill.Grant) (time.Time, error) {
	if g.Kind != seckill.GrantCode { // nobody was there
		return time.Time{}, nil
	}
	known, err := s.issuers.byName[g.Issuer].current(ctx, keyName{})
	if err != nil {
		return time.Time{}, err
	}
	var at *float64 // seconds since 1970
	if json.Unmarshal(c[authTime], &at) != nil {
		at = nil // anything else is no time
	}
	now := s.issuers.clock.Now()
	strong := s.with.ACR == "" || c.text("acr") == s.with.ACR
	old := at != nil && *at <= float64(now.Add(-seckill.StaffProof).UnixMilli())/1000
	switch {
	case jwtauth.Early(now, at):
		return time.Time{}, refuse(seckill.TokenEarly, "a sign-in that is still to come")
	case strong && at != nil && !old:
		return moment(*at), nil
	case !g.Fresh:
		return time.Time{}, nil
	case !strong:
		return time.Time{}, refuse(seckill.TokenClaims, "another acr than "+s.with.ACR)
	case old:
		return time.Time{}, refuse(seckill.TokenStale, "signed in too long ago")
	case known.tellsTime():
		return time.Time{}, refuse(seckill.TokenClaims, "no auth_time, though max_age was asked for")
	}
	return now, nil
}

// roles returns the roles of groups, in the order of seckill.Roles.
func (s *Staff) roles(groups []string) (out []seckill.Role) {
	for _, role := range seckill.Roles() {
		if slices.Contains(groups, s.with.Prefix+string(role)) {
			out = append(out, role)
		}
	}
	return out
}

// given are the claims of a token that was checked.
type given map[string]json.RawMessage

// claims reads a token that was checked. A claim that matters and occurs twice is refused: the issuer and this reader
// might take different ones.
func (s *Staff) claims(token string) (given, error) {
	part, _, _ := strings.Cut(token[strings.IndexByte(token, '.')+1:], ".")
	b, err := base64.RawURLEncoding.DecodeString(part)
	if err == nil {
		err = jwtauth.CheckNames(b, append([]string{s.with.Groups, s.with.WhoClaim, authTime, "acr"}, nameClaims...)...)
	}
	var c given
	if err != nil || json.Unmarshal(b, &c) != nil {
		return nil, refuse(seckill.TokenMalformed, "claims that can be read in two ways")
	}
	return c, nil
}

// text returns a claim that is a text, else "".
func (c given) text(name string) (s string) {
	_ = json.Unmarshal(c[name], &s) // anything else names nobody
	return s
}

// list returns a claim that is a list of texts, or one text.
func (c given) list(name string) (list []string) {
	if one := c.text(name); one != "" {
		return []string{one}
	}
	if json.Unmarshal(c[name], &list) != nil { // anything else is not a group
		return nil
	}
	return list
}
