// Package session keeps staff signed in to the back office in a browser: it begins, confirms, lists and ends their
// sessions.
//
// In: a person whom an issuer, or the machine's owner, has let in, and later the value of their browser's cookie. Out:
// who it is and what roles they have now. It touches the table of sessions, the issuer and the audit log.
package session

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/your-org/seckill/shared/flow/office/auditlog"
	"github.com/your-org/seckill/shared/seckill"
)

// What the audit log calls signing in and out, and their results.
const (
	actSignIn  = "sign-in"
	actSignOut = "sign-out"
	changed    = "changed"
)

const (
	cookieBytes = 32
	page        = 100 // sessions in a read
)

// ErrEnded: the session has ended, or never was. The person has to sign in again.
var ErrEnded = errors.New("session: ended")

// NoRoleError: the issuer has confirmed a person who has no role here.
type NoRoleError struct{ Who string }

func (e *NoRoleError) Error() string { return "session: " + e.Who + " has no role" }

// Deps are the step's dependencies.
type Deps struct {
	Sessions seckill.StaffSessions
	Issuer   seckill.StaffIssuer // nil if there is none
	Random   Random
	Clock    seckill.Clock
	Meter    seckill.Meter
	Audit    *auditlog.Flow
}

// Random makes random bytes that nobody can guess.
type Random interface{ Bytes(n int) []byte }

// Flow is an instance of the step. It is safe for concurrent use.
type Flow struct{ Deps }

// New returns an instance.
func New(d Deps) *Flow { return &Flow{d} }

// Begin signs a person in whom nobody has to confirm, and returns the cookie's value.
func (f *Flow) Begin(ctx context.Context, p seckill.StaffMember) (cookie string, err error) {
	return f.begin(ctx, &p, false)
}

// Start returns the address of the issuer where a browser signs in, for a code grant without a code yet. With
// anew, or for a fresh grant, the issuer asks who it is, even if the browser is signed in there.
func (f *Flow) Start(ctx context.Context, g seckill.Grant, state string, anew bool) (address string, err error) {
	if f.Issuer == nil {
		return "", seckill.Refuse(seckill.CodeNotFound)
	}
	if address, err = f.Issuer.Authorization(ctx, g, state, anew); err != nil {
		f.Meter.Count(seckill.EventIssuerFault, 1)
		return "", seckill.AsError(err)
	}
	return address, nil
}

// SignIn signs a person in with a code of the issuer, and returns the cookie's value. CodeSignIn; *NoRoleError for a
// person whom the issuer gives no role.
func (f *Flow) SignIn(ctx context.Context, g seckill.Grant) (cookie string, err error) {
	if f.Issuer == nil {
		return "", seckill.Refuse(seckill.CodeNotFound)
	}
	g.Kind = seckill.GrantCode
	p, err := f.Issuer.RedeemStaff(ctx, g)
	switch {
	case err != nil && seckill.CodeOf(err) != seckill.CodeSignIn:
		f.Meter.Count(seckill.EventIssuerFault, 1)
		return "", seckill.AsError(err)
	case err != nil:
		return "", err
	case len(p.Roles) == 0:
		return "", &NoRoleError{p.Who}
	}
	return f.begin(ctx, &p, true)
}

// Refused records a sign-in that led to no session. who is "" if the person is unknown.
func (f *Flow) Refused(ctx context.Context, who, result string) error {
	return f.Audit.Write(ctx, seckill.AuditEntry{Who: cmp.Or(who, "unknown"), Act: actSignIn, Result: result})
}

// begin records the sign-in, keeps the session, and ends the person's oldest ones that are too many.
func (f *Flow) begin(ctx context.Context, p *seckill.StaffMember, issued bool) (cookie string, err error) {
	now := f.Clock.Now()
	cookie = base64.RawURLEncoding.EncodeToString(f.Random.Bytes(cookieBytes))
	s := seckill.StaffSession{Key: keyOf(cookie), Who: p.Who, Name: cmp.Or(p.Name, p.Who), Roles: p.Roles, Began: now,
		Proof: p.Proof, Confirmed: now, Asked: now, Ends: now.Add(seckill.StaffLife), Issued: issued}
	if issued && p.Refresh == "" { // nobody can confirm it
		s.Ends = now.Add(seckill.StaffStale)
	}
	if s.Refresh, err = seckill.Seal(cookie, p.Refresh, f.Random.Bytes); err != nil {
		return "", &seckill.Error{Code: seckill.CodeInternal, Err: err}
	}
	if err := f.record(ctx, actSignIn, &s, changed); err != nil {
		return "", err
	}
	if err := f.Sessions.SaveStaffSession(ctx, s); err != nil {
		return "", seckill.AsError(err)
	}
	all, err := f.of(ctx, p.Who)
	if err != nil {
		return "", err
	}
	slices.SortFunc(all, func(a, b seckill.StaffSession) int {
		return cmp.Or(a.Began.Compare(b.Began), cmp.Compare(a.Key, b.Key))
	})
	for len(all) > seckill.MaxStaffSessions {
		if err := f.Sessions.EndStaffSession(ctx, all[0].Key); err != nil {
			return "", seckill.AsError(err)
		}
		all = all[1:]
	}
	return cookie, nil
}

// Resume returns a cookie's session as it is now: confirmed again if that is due. ErrEnded; any other error is a fault.
func (f *Flow) Resume(ctx context.Context, cookie string) (seckill.StaffSession, error) {
	s, err := f.Look(ctx, cookie)
	if err != nil {
		return s, err
	}
	return f.Confirm(ctx, cookie, s)
}

// Confirm returns a session that Look has read, confirmed again if that is due. Errors as Resume.
func (f *Flow) Confirm(ctx context.Context, cookie string, s seckill.StaffSession) (seckill.StaffSession, error) {
	if f.Clock.Now().Sub(s.Confirmed) < seckill.StaffFresh {
		return s, nil
	}
	return f.renew(ctx, cookie, s)
}

// Stale reports whether a session was not confirmed for so long that it must change nothing.
func (f *Flow) Stale(s *seckill.StaffSession) bool {
	return f.Clock.Now().Sub(s.Confirmed) >= seckill.StaffStale
}

// Old reports whether the person of a session signed in at the issuer too long ago for commands that move money.
func (f *Flow) Old(s *seckill.StaffSession) bool {
	return s.Issued && f.Clock.Now().Sub(s.Proof) >= seckill.StaffProof
}

// Look returns a cookie's session if it has not ended, and does not renew it: a screen that asks by itself leaves a
// session idle. ErrEnded.
func (f *Flow) Look(ctx context.Context, cookie string) (seckill.StaffSession, error) {
	if len(cookie) != base64.RawURLEncoding.EncodedLen(cookieBytes) {
		return seckill.StaffSession{}, ErrEnded
	}
	s, err := f.Sessions.StaffSession(ctx, keyOf(cookie))
	switch {
	case errors.Is(err, seckill.ErrNoStaffSession):
		return s, ErrEnded
	case err != nil:
		return s, seckill.AsError(err)
	case !f.Clock.Now().Before(s.EndsAt()):
		return s, ErrEnded
	}
	return s, nil
}

// renew has a session confirmed. While the issuer does not answer, or another request asks the issuer, the session
// stays as it is.
func (f *Flow) renew(ctx context.Context, cookie string, s seckill.StaffSession) (seckill.StaffSession, error) {
	now := f.Clock.Now()
	if s.Issued && (s.Refresh == "" || f.Issuer == nil || now.Sub(s.Asked) < seckill.StaffAgain) {
		return s, nil
	}
	s.Asked = now
	if !s.Issued {
		s.Confirmed = now
	}
	err := f.Sessions.SaveStaffSession(ctx, s)
	if errors.Is(err, seckill.ErrStaffSessionMoved) { // another request asks, or it was ended
		return f.Look(ctx, cookie)
	}
	if err != nil {
		return s, seckill.AsError(err)
	}
	s.Version++
	if !s.Issued {
		return s, nil
	}
	return f.ask(ctx, cookie, s)
}

// ask asks the issuer whether the person is still who they were, and for their roles of now.
func (f *Flow) ask(ctx context.Context, cookie string, s seckill.StaffSession) (seckill.StaffSession, error) {
	token, err := seckill.Unseal(cookie, s.Refresh)
	if err != nil {
		return s, &seckill.Error{Code: seckill.CodeInternal, Err: err}
	}
	p, err := f.Issuer.RedeemStaff(ctx, seckill.Grant{Kind: seckill.GrantRefresh, RefreshToken: token})
	switch {
	case err != nil && seckill.CodeOf(err) != seckill.CodeSignIn:
		f.Meter.Count(seckill.EventIssuerFault, 1)
		return s, nil // until it is stale
	case err == nil && p.Silent && f.Clock.Now().Sub(s.Began) < seckill.StaffTold:
		p.Who, p.Name, p.Roles = s.Who, s.Name, s.Roles
	}
	if err != nil || p.Who != s.Who || len(p.Roles) == 0 { // also if the issuer has been silent for too long
		if err := f.Sessions.EndStaffSession(ctx, s.Key); err != nil {
			return s, seckill.AsError(err)
		}
		return s, ErrEnded
	}
	s.Name, s.Roles, s.Confirmed = cmp.Or(p.Name, p.Who), p.Roles, f.Clock.Now()
	if p.Refresh != "" {
		if s.Refresh, err = seckill.Seal(cookie, p.Refresh, f.Random.Bytes); err != nil {
			return s, &seckill.Error{Code: seckill.CodeInternal, Err: err}
		}
	}
	switch err := f.Sessions.SaveStaffSession(ctx, s); {
	case errors.Is(err, seckill.ErrStaffSessionMoved): // it was ended
		return f.Look(ctx, cookie)
	case err != nil:
		return s, seckill.AsError(err)
	}
	s.Version++
	return s, nil
}

// End ends a cookie's session at once. It is no error if the session has ended already.
func (f *Flow) End(ctx context.Context, cookie string) error {
	s, err := f.Look(ctx, cookie)
	if errors.Is(err, ErrEnded) {
		return nil
	}
	if err == nil {
		err = f.record(ctx, actSignOut, &s, changed)
	}
	if err == nil {
		err = f.Sessions.EndStaffSession(ctx, s.Key)
	}
	if err != nil {
		return seckill.AsError(err)
	}
	return nil
}

// EndAll ends all sessions of a person at once, and returns how many.
func (f *Flow) EndAll(ctx context.Context, who string) (ended int, err error) {
	all, err := f.of(ctx, who)
	if err != nil {
		return 0, err
	}
	for _, s := range all {
		if err := f.Sessions.EndStaffSession(ctx, s.Key); err != nil {
			return ended, seckill.AsError(err)
		}
		ended++
	}
	return ended, nil
}

// List returns the sessions that have not ended, by person and sign-in.
func (f *Flow) List(ctx context.Context) ([]seckill.StaffSession, error) {
	all, err := f.of(ctx, "")
	slices.SortFunc(all, func(a, b seckill.StaffSession) int {
		return cmp.Or(cmp.Compare(a.Who, b.Who), a.Began.Compare(b.Began), cmp.Compare(a.Key, b.Key))
	})
	return all, err
}

// of reads the sessions of a person that have not ended; who "" is everybody.
func (f *Flow) of(ctx context.Context, who string) (all []seckill.StaffSession, err error) {
	now := f.Clock.Now()
	for after := ""; ; {
		list, err := f.Sessions.ListStaffSessions(ctx, after, page)
		if err != nil {
			return nil, seckill.AsError(err)
		}
		for _, s := range list {
			if (who == "" || s.Who == who) && now.Before(s.EndsAt()) {
				all = append(all, s)
			}
		}
		if len(list) < page {
			return all, nil
		}
		after = list[page-1].Key
	}
}

// record writes an entry about a session to the audit log.
func (f *Flow) record(ctx context.Context, act string, s *seckill.StaffSession, result string) error {
	return f.Audit.Write(ctx, seckill.AuditEntry{Who: s.Who, Roles: RoleNames(s.Roles), Act: act,
		Subject: "session=" + s.Key[:8], Result: result})
}

// RoleNames writes roles as the audit log has them.
func RoleNames(roles []seckill.Role) string {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = string(r)
	}
	return strings.Join(names, ",")
}

func keyOf(cookie string) string {
	sum := sha256.Sum256([]byte(cookie))
	return hex.EncodeToString(sum[:])
}
