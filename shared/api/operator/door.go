package operator

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/flow/office/session"
	"github.com/your-org/seckill/shared/seckill"
)

// StaffHeader is the header that every request which changes something must have: no page of another site can send it.
const StaffHeader = "X-Seckill-Staff"

// DoorOptions are the settings of NewDoor.
type DoorOptions struct {
	Sessions *session.Flow
	// Do executes a command, as Office.Do.
	Do func(ctx context.Context, c Caller, body []byte) (status int, answer []byte)
	// Plain: the door is reached by http, as on this machine only; browsers take a __Host- cookie by https only
	Plain bool
	Links *Links // one-time links that sign in whoever has them; nil: none
	// Public is the shop's address as browsers know it, without a slash at its end: the issuer sends them back there.
	Public string
	SignIn bool // staff sign in at an issuer
	// Tool is what the command line tool needs to find this shop, such as "--stack seckill-prod"
	Tool string
	// Keys mark what a browser keeps while it is at the issuer: the first marks, the marks of the others count, too.
	// There is one at least; all processes of the shop have the same. If it is nil, a key of this process marks.
	Keys   func() [][]byte
	Clock  seckill.Clock
	Random session.Random
	Log    *slog.Logger // for faults
}

// Door serves the routes. It is safe for concurrent use.
type Door struct {
	DoorOptions
	mux    http.Handler
	page   string // the path of the page
	limits *limits
}

// session says who is signed in, and what they may do.
func (d *Door) session(w http.ResponseWriter, r *http.Request) {
	s, err := d.Sessions.Resume(r.Context(), d.cookie(r))
	if err != nil {
		d.fail(w, r, err)
		return
	}
	may := []string{}
	for _, act := range Names() {
		for _, role := range s.Roles {
			if May(role, act) {
				may = append(may, act)
				break
			}
		}
	}
	reply(w, http.StatusOK, "application/json", map[string]any{"who": s.Who, "name": s.Name, "roles": s.Roles,
		"may": may, "ends_at": s.EndsAt().UTC().Format(time.RFC3339), "sign_in": d.SignIn, "tool": d.Tool})
}

// command has a command executed for whoever the cookie names; for nobody, no body is read. A command that a screen
// gives by itself leaves the session idle.
func (d *Door) command(w http.ResponseWriter, r *http.Request) {
	s, err := d.Sessions.Look(r.Context(), d.cookie(r))
	if err != nil {
		d.fail(w, r, err)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(MostOf(s.Roles))))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		httpapi.Problem(w, r, seckill.Refuse(seckill.CodeTooLarge))
		return
	case err != nil:
		httpapi.Problem(w, r, seckill.Invalid("body", ""))
		return
	}
	if !Watches(body) {
		if s, err = d.Sessions.Confirm(r.Context(), d.cookie(r), s); err != nil {
			d.fail(w, r, err)
			return
		}
	}
	// A browser that hangs up does not stop a command halfway.
	status, answer := d.Do(context.WithoutCancel(r.Context()), Caller{Who: s.Who, Roles: s.Roles,
		Stale: d.Sessions.Stale(&s)}, body)
	var got struct {
		Result, Problem json.RawMessage
		Status          int
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		d.fail(w, r, err)
		return
	}
	if got.Problem != nil { // of a function, which answers with it as with a result
		answer = got.Problem
		if err := json.Unmarshal(answer, &got); err != nil {
			d.fail(w, r, err)
			return
		}
		status = got.Status
	}
	if status != http.StatusOK {
		d.problem(w, r, status, answer)
		return
	}
	reply(w, http.StatusOK, "application/json", map[string]any{"result": got.Result})
}

// problem passes a problem document on.
func (d *Door) problem(w http.ResponseWriter, r *http.Request, status int, body json.RawMessage) {
	var p struct {
		Wait int64 `json:"retry_after_ms"`
	}
	if json.Unmarshal(body, &p) == nil && p.Wait > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt((p.Wait+999)/1000, 10))
	}
	if status >= http.StatusInternalServerError {
		d.Log.WarnContext(r.Context(), "a command of the back office failed", "problem", string(body))
	}
	reply(w, status, "application/problem+json", body)
}

// signOut ends the session at once, and has the browser forget the cookie.
func (d *Door) signOut(w http.ResponseWriter, r *http.Request) {
	if err := d.Sessions.End(r.Context(), d.cookie(r)); err != nil {
		d.fail(w, r, err)
		return
	}
	http.SetCookie(w, d.made("", -1))
	if d.SignIn {
		d.left(w, int(leftLife/time.Second))
	}
	w.WriteHeader(http.StatusNoContent)
}

func (d *Door) unknown(w http.ResponseWriter, r *http.Request) {
	httpapi.Problem(w, r, seckill.Refuse(seckill.CodeNotFound))
}

// name is the cookie's. A browser takes a __Host- cookie only from this very host by https, for all its paths, so that
// no other host of the domain can set one.
func (d *Door) name() string {
	if d.Plain {
		return "staff"
	}
	return "__Host-staff"
}

func (d *Door) made(value string, seconds int) *http.Cookie {
	return &http.Cookie{Name: d.name(), Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, Secure: !d.Plain,
		SameSite: http.SameSiteStrictMode}
}

// cookie returns the cookie's value, or "" if there is none, or several.
func (d *Door) cookie(r *http.Request) string {
	if list := r.CookiesNamed(d.name()); len(list) == 1 {
		return list[0].Value
	}
	return ""
}

// fail answers with an error of package session.
func (d *Door) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, session.ErrEnded) {
		refuse(w, &refusal{http.StatusUnauthorized, "session_ended",
			"Sign in first: the session has ended, or there is none.", 0,
			map[string]any{"sign_in": d.SignIn}})
		return
	}
	if code := seckill.CodeOf(err); httpapi.Status(code) >= http.StatusInternalServerError {
		d.Log.ErrorContext(r.Context(), "back office", "code", code, "path", r.URL.Path, "err", err)
	}
	httpapi.Problem(w, r, err)
}

// refusal is a problem document of the door's own.
type refusal struct {
	status       int
	code, detail string
	retry        time.Duration
	more         map[string]any
}

func refuse(w http.ResponseWriter, p *refusal) {
	body := map[string]any{"type": "urn:problem-type:seckill:" + p.code, "title": http.StatusText(p.status),
		"status": p.status, "code": p.code, "detail": p.detail}
	for name, v := range p.more {
		body[name] = v
	}
	if p.retry > 0 {
		body["retry_after_ms"] = p.retry.Milliseconds()
		w.Header().Set("Retry-After", strconv.Itoa(int(p.retry/time.Second)))
	}
	reply(w, p.status, "application/problem+json", body)
}

func reply(w http.ResponseWriter, status int, kind string, v any) {
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // an error means that the client has disconnected
}
