package seckill

import (
	"context"
	"errors"
	"strings"
	"time"
)

// Limits of a shopper's sessions.
const (
	SessionIdle = 30 * 24 * time.Hour // from the last renewal to the end
	MaxSessions = 10                  // of one shopper; an eleventh ends the one that was renewed longest ago
	MaxDevice   = 40                  // bytes
)

// Session is a shopper's sign-in on one device. It ends when they sign out, when they or staff end it, or unused.
type Session struct {
	User    string    `row:"user,key"`
	ID      string    `row:"session,key"` // as ValidSession; the shop's tokens have it
	Device  string    `row:"device,opt"`  // as DeviceOf; "" if it is unknown
	Began   time.Time `row:"began"`
	Renewed time.Time `row:"renewed"` // at first Began
}

// ErrNoSession: the session has ended, or never was.
var ErrNoSession = errors.New("seckill: no such session")

// SessionReader reads a session.
type SessionReader interface {
	// Session reads a user's session. ErrNoSession.
	Session(ctx context.Context, user, id string) (Session, error)
}

// SessionEnder ends sessions.
type SessionEnder interface {
	// EndSession deletes a session; one that is gone is not an error.
	EndSession(ctx context.Context, user, id string) error
	// ListSessions reads up to limit sessions of a user, in no order, also those that have ended unused.
	ListSessions(ctx context.Context, user string, limit int) ([]Session, error)
}

// Sessions keeps the sessions of shoppers. Its reads are consistent: a session that was ended is gone at once.
type Sessions interface {
	SessionReader
	SessionEnder
	// BeginSession writes a new session.
	BeginSession(ctx context.Context, s Session) error
	// RenewSession writes a session that has not ended. ErrNoSession: it has; nothing was written.
	RenewSession(ctx context.Context, s Session) error
}

// SessionsRead is how many sessions of a user are read at once: more than a shopper may have, for those that were not
// ended in time.
const SessionsRead = 5 * MaxSessions

// EndSessions ends all sessions of a user, and returns how many. It may be repeated. The error is an *Error:
// CodeUnavailable.
func EndSessions(ctx context.Context, l SessionEnder, user string) (n int, err error) {
	for {
		all, err := l.ListSessions(ctx, user, SessionsRead)
		if err != nil {
			return n, AsError(err)
		}
		if len(all) == 0 {
			return n, nil
		}
		for i := range all {
			if err := l.EndSession(ctx, user, all[i].ID); err != nil {
				return n, AsError(err)
			}
			n++
		}
	}
}

// ValidSession reports whether s has the form of a session's id: 32 hexadecimal digits.
func ValidSession(s string) bool { return len(s) == 32 && strings.Trim(s, "0123456789abcdef") == "" }

// CheckSession refuses a token of a session that has ended: CodeToken. It lets a token pass that is of no session: the
// shop did not give it, and cannot end it.
func CheckSession(ctx context.Context, l SessionReader, user, id string) error {
	if id == "" {
		return nil
	}
	_, err := l.Session(ctx, user, id)
	if errors.Is(err, ErrNoSession) {
		return &Error{Code: CodeToken, Token: TokenEnded}
	}
	if err != nil {
		return AsError(err)
	}
	return nil
}

// DeviceOf returns what a User-Agent says about a device, so that its owner recognizes it: "Chrome, Android". No more
// is kept of it. It returns "" for a program that it does not know.
func DeviceOf(agent string) string {
	first := func(names ...string) string { // pairs of what to look for and its name
		for i := 0; i < len(names); i += 2 {
			if strings.Contains(agent, names[i]) {
				return names[i+1]
			}
		}
		return ""
	}
	// Each claims to be those after it, too.
	program := first("MicroMessenger/", "WeChat", "AlipayClient/", "Alipay", "Edg", "Edge", "Firefox/", "Firefox",
		"FxiOS/", "Firefox", "Chrome/", "Chrome", "CriOS/", "Chrome", "Safari/", "Safari")
	system := first("HarmonyOS", "HarmonyOS", "Android", "Android", "iPhone", "iPhone", "iPad", "iPad",
		"Windows", "Windows", "Mac OS X", "macOS", "Linux", "Linux")
	if program == "" || system == "" {
		return program + system
	}
	return program + ", " + system
}
