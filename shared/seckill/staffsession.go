package seckill

import (
	"context"
	"errors"
	"time"
)

// Limits of a person of staff's sessions in a browser.
const (
	StaffLife  = 10 * time.Hour   // from the sign-in to the end at the latest
	StaffIdle  = 30 * time.Minute // from the last confirmation to the end
	StaffFresh = 5 * time.Minute  // after which the next request has the session confirmed again
	StaffStale = 15 * time.Minute // after which a session that is not confirmed changes nothing
	StaffTold  = time.Hour        // from the sign-in to the end, if the issuer then confirms without naming the person
	StaffAgain = 30 * time.Second // between two questions to the issuer about one session
	StaffProof = 15 * time.Minute // from a person's sign-in at the issuer to the last command that moves money

	MaxStaffSessions = 5 // of one person; a sixth ends the oldest
)

// StaffSession is a person of staff who is signed in to the back office in a browser.
type StaffSession struct {
	// Key is SHA-256 of the cookie's value in hexadecimal digits: the table alone opens no session
	Key   string    `row:"session,key"`
	Who   string    `row:"who"`  // the verified identity
	Name  string    `row:"name"` // to show; "": Who
	Roles []Role    `row:"roles"`
	Began time.Time `row:"began"` // the sign-in
	// Proof is when the person last showed the issuer who they are, as strongly as money wants it; zero: nobody says
	Proof time.Time `row:"proof,opt"`
	// Confirmed is when the issuer last said that this is so; without an issuer, when a request last renewed it
	Confirmed time.Time `row:"confirmed"`
	Asked     time.Time `row:"asked"`   // when the issuer was last asked
	Ends      time.Time `row:"ends"`    // whatever is confirmed
	Issued    bool      `row:"issued"`  // an issuer confirms it
	Refresh   string    `row:"refresh"` // the issuer's refresh token, sealed with the cookie's value; "": none
	Version   int64     `row:"version"` // how often it was saved
}

// EndsAt is when the session ends unless it is confirmed before.
func (s *StaffSession) EndsAt() time.Time {
	if idle := s.Confirmed.Add(StaffIdle); idle.Before(s.Ends) {
		return idle
	}
	return s.Ends
}

// StaffMember is a person of staff as an issuer confirms them.
type StaffMember struct {
	Who     string // the verified identity, always the same for one person
	Name    string // to show; "" means Who
	Roles   []Role
	Refresh string    // the issuer's refresh token; "" if there is none, or the earlier token stays valid
	Proof   time.Time // as StaffSession has it
	// Silent: the issuer took the refresh token and said nothing about the person. All other fields but Refresh are
	// empty.
	Silent bool
}

// StaffIssuer is the issuer of OpenID Connect at which staff sign in.
type StaffIssuer interface {
	// Authorization returns the address where a browser signs in. It comes back to g.RedirectURI with a code for g.
	// anew: the issuer asks who it is, even if the browser is signed in there. It does so for g.Fresh, too.
	Authorization(ctx context.Context, g Grant, state string, anew bool) (address string, err error)
	// RedeemStaff spends a code or a refresh token, after it has read the issuer's keys. CodeSignIn: the issuer refuses
	// it, or what it says cannot be believed. Any other error is a fault; CodeSignInBroken, ErrIssuerAway.
	RedeemStaff(ctx context.Context, g Grant) (StaffMember, error)
}

// ErrIssuerAway: the issuer of staff did not answer, or not to the end. One that answers with an error is not away.
var ErrIssuerAway = errors.New("seckill: the issuer did not answer")

// Errors of StaffSessions.
var (
	// ErrNoStaffSession: the session has ended, or never was.
	ErrNoStaffSession = errors.New("seckill: no such session of staff")
	// ErrStaffSessionMoved: somebody saved or ended the session meanwhile; nothing was written.
	ErrStaffSessionMoved = errors.New("seckill: session of staff moved on meanwhile")
)

// StaffSessions keeps the sessions of staff. Its reads are consistent: a session that was ended is gone at once.
type StaffSessions interface {
	// StaffSession reads a session. ErrNoStaffSession.
	StaffSession(ctx context.Context, key string) (StaffSession, error)
	// SaveStaffSession writes a session; Version is the one that was read, 0 for a new one. ErrStaffSessionMoved.
	SaveStaffSession(ctx context.Context, s StaffSession) error
	// EndStaffSession deletes a session; one that is gone is not an error.
	EndStaffSession(ctx context.Context, key string) error
	// ListStaffSessions reads sessions after a key, or "", ascending, also those that have ended by time. Fewer than
	// limit means that there are no more.
	ListStaffSessions(ctx context.Context, after string, limit int) ([]StaffSession, error)
}
