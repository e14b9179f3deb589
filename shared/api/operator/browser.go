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

// BrowserOptions are the settings of NewBrowserHandler.
type BrowserOptions struct {
	Sessions *session.Flow
	// Do executes a command, as Office.Do.
	Do func(ctx context.Context, c Caller, body []byte) (status int, answer []byte)
	// Plain: browsers reach it by http, as on this machine only; browsers take a __Host- cookie by https only
	Plain bool
	Links *Links // one-time links that sign in whoever has them; nil if there are none
	// Public is the shop's address as browsers know it, without a slash at its end: the issuer sends browsers back
	// there.
	Public string
	SignIn bool // staff sign in at an issuer
	// Tool is what the command line tool needs to find this shop, such as "--stack seckill-prod"
	Tool string
	// Keys authenticate what a browser keeps while it is at the issuer. The first key signs; signatures of the others
	// are accepted, too. There is one key at least, and all processes of the shop have the same keys. If Keys is nil,
	// this process makes a key for itself.
	Keys   func() [][]byte
	Clock  seckill.Clock
	Random session.Random
	Log    *slog.Logger // for faults
}

// BrowserHandler serves the routes. It is safe for concurrent use.
type BrowserHandler struct {
	BrowserOptions
	mux    http.Handler
	page   string // the path of the page
	limits *limits
}

// session says who is signed in, and what they may do.
func (h *BrowserHandler) session(w http.ResponseWriter, r *http.Request) {
	s, err := h.Sessions.Resume(r.Context(), h.cookie(r))
	if err != nil {
		h.fail(w, r, err)
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
		"may": may, "ends_at": s.EndsAt().UTC().Format(time.RFC3339), "sign_in": h.SignIn, "tool": h.Tool})
}

// command has a command executed for the person whom the cookie names; without such a person it reads no body. A
// command that a screen gives by itself does not keep the session from ending as idle.
func (h *BrowserHandler) command(w http.ResponseWriter, r *http.Request) {
	s, err := h.Sessions.Look(r.Context(), h.cookie(r))
	if err != nil {
		h.fail(w, r, err)
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
	if s, err = h.Sessions.Look(r.Context(), h.cookie(r)); err != nil { // it may have ended while the body came
		h.fail(w, r, err)
		return
	}
	if !Watches(body) {
		if s, err = h.Sessions.Confirm(r.Context(), h.cookie(r), s); err != nil {
			h.fail(w, r, err)
			return
		}
	}
	// A browser that hangs up does not stop a command halfway.
	status, answer := h.Do(context.WithoutCancel(r.Context()), Caller{Who: s.Who, Roles: s.Roles,
		Stale: h.Sessions.Stale(&s), Old: h.Sessions.Old(&s)}, body)
	var got struct {
		Result, Problem json.RawMessage
		Status          int
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		h.fail(w, r, err)
		return
	}
	if got.Problem != nil { // a function's problem document comes as a result does
		answer = got.Problem
		if err := json.Unmarshal(answer, &got); err != nil {
			h.fail(w, r, err)
			return
		}
		status = got.Status
	}
	if status != http.StatusOK {
		h.problem(w, r, status, answer)
		return
	}
	reply(w, http.StatusOK, "application/json", map[string]any{"result": got.Result})
}

// problem passes a problem document on.
func (h *BrowserHandler) problem(w http.ResponseWriter, r *http.Request, status int, body json.RawMessage) {
	var p struct {
		Wait int64 `json:"retry_after_ms"`
	}
	if json.Unmarshal(body, &p) == nil && p.Wait > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt((p.Wait+999)/1000, 10))
	}
	if status >= http.StatusInternalServerError {
		h.Log.WarnContext(r.Context(), "a command of the back office failed", "problem", string(body))
	}
	reply(w, status, "application/problem+json", body)
}

// signOut ends the session at once, and has the browser forget the cookie and what the page has stored.
func (h *BrowserHandler) signOut(w http.ResponseWriter, r *http.Request) {
	if err := h.Sessions.End(r.Context(), h.cookie(r)); err != nil {
		h.fail(w, r, err)
		return
	}
	http.SetCookie(w, h.made("", -1))
	if h.SignIn {
		h.left(w, int(leftLife/time.Second))
	}
	w.Header().Set("Clear-Site-Data", `"storage"`)
	w.WriteHeader(http.StatusNoContent)
}

func (h *BrowserHandler) unknown(w http.ResponseWriter, r *http.Request) {
	httpapi.Problem(w, r, seckill.Refuse(seckill.CodeNotFound))
}

// name returns the cookie's name. A browser takes a __Host- cookie only from this very host by https, for all its
// paths, so that no other host of the domain can set it.
func (h *BrowserHandler) name() string {
	if h.Plain {
		return "staff"
	}
	return "__Host-staff"
}

func (h *BrowserHandler) made(value string, seconds int) *http.Cookie {
	return &http.Cookie{Name: h.name(), Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, Secure: !h.Plain,
		SameSite: http.SameSiteStrictMode}
}

// cookie returns the cookie's value, or "" if there is no such cookie, or several.
func (h *BrowserHandler) cookie(r *http.Request) string {
	if list := r.CookiesNamed(h.name()); len(list) == 1 {
		return list[0].Value
	}
	return ""
}

// fail answers with an error of package session.
func (h *BrowserHandler) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, session.ErrEnded) {
		refuse(w, &refusal{http.StatusUnauthorized, "session_ended",
			"Sign in first: the session has ended, or there is none.", 0,
			map[string]any{"sign_in": h.SignIn}})
		return
	}
	if code := seckill.CodeOf(err); httpapi.Status(code) >= http.StatusInternalServerError {
		h.Log.ErrorContext(r.Context(), "back office", "code", code, "path", r.URL.Path, "err", err)
	}
	httpapi.Problem(w, r, err)
}

// refusal is a problem document that the handler itself makes.
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
