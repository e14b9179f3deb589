package operator

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/flow/office/session"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	signInLife  = 10 * time.Minute    // from the issuer's page to the way back
	leftLife    = 30 * 24 * time.Hour // how long a browser remembers that somebody signed out
	signInTime  = 20 * time.Second    // for the issuer's three calls, 3 s each, and the tables' calls
	signInBytes = 32                  // of state, nonce and verifier
	maxCode     = 2048                // bytes of an issuer's code
	signInTexts = 4                   // state, nonce, verifier, and fresh or any
	fresh       = "fresh"
)

// browserWords are what a person reads who comes back from the issuer and is not let in, in Chinese and in English.
var browserWords = map[string][2]string{
	"no_role": {"您的账号没有后台的任何角色，请联系管理员。",
		"Your account has no role in this back office. Ask whoever administers it."},
	"signin_refused": {"登录没有完成，请从后台页面重新登录。",
		"The sign-in was not completed. Start again from the back office's page."},
	"busy": {"正在为另一位同事登录，请过几秒刷新这个页面。",
		"Somebody else is being signed in. Reload this page in a few seconds."},
	"signin_broken": {"后台的登录设置有误，请管理员查看日志。",
		"The back office's sign-in is set up wrongly. Its administrator finds the cause in the log."},
	"unavailable": {"登录服务暂时无法使用，请稍后重试。", "The sign-in cannot be reached now. Try again in a minute."},
}

// start sends a browser to the issuer, and ends its session: the next sign-in is another one. What it has to bring back
// waits in a cookie of this browser, which it also sends when another site leads it here: the way back is so.
func (h *BrowserHandler) start(w http.ResponseWriter, r *http.Request) {
	if err := h.limits.ofNetwork(r); err != nil {
		h.fail(w, r, err)
		return
	}
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" { // the issuer may still know who it is: a link signs nobody in
		w.Header().Set("Location", h.page)
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	if err := h.Sessions.End(r.Context(), h.cookie(r)); err != nil {
		h.fail(w, r, err)
		return
	}
	texts := []string{"", "", "", "any"}
	for i := range 3 {
		texts[i] = base64.RawURLEncoding.EncodeToString(h.Random.Bytes(signInBytes))
	}
	if r.URL.Query().Has(fresh) {
		texts[3] = fresh
	}
	address, err := h.Sessions.Start(r.Context(), h.grant(texts), texts[0], len(r.CookiesNamed(h.leftName())) > 0)
	if err != nil {
		h.Log.WarnContext(r.Context(), "staff cannot sign in", "err", err)
		h.say(w, r, http.StatusServiceUnavailable, "unavailable")
		return
	}
	until := strconv.FormatInt(h.Clock.Now().Add(signInLife).Unix(), 10)
	c := h.made(strings.Join(append(texts, until, mark(h.Keys()[0], texts, until)), "."), int(signInLife/time.Second))
	c.Name, c.SameSite = h.signInName(), http.SameSiteLaxMode
	http.SetCookie(w, c)
	w.Header().Set("Location", address)
	w.WriteHeader(http.StatusFound)
}

// callback signs in the person who comes back from the issuer in the browser that went there. It asks the issuer only
// about a sign-in that this shop began, and a process asks once.
func (h *BrowserHandler) callback(w http.ResponseWriter, r *http.Request) {
	if err := h.limits.ofNetwork(r); err != nil {
		h.fail(w, r, err)
		return
	}
	q := r.URL.Query()
	texts := h.kept(r)
	if texts == nil || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(texts[0])) != 1 || !q.Has("code") ||
		len(q.Get("code")) > maxCode {
		h.forget(w)
		h.refused(w, r, "", "signin_refused", nil)
		return
	}
	switch wait, away := h.limits.exchange(r.Context()); { // the browser keeps its cookie: the code is not spent
	case away:
		w.Header().Set("Retry-After", strconv.Itoa(seconds(wait)))
		h.say(w, r, http.StatusServiceUnavailable, "unavailable")
		return
	case wait > 0:
		w.Header().Set("Retry-After", strconv.Itoa(seconds(wait)))
		h.say(w, r, http.StatusTooManyRequests, "busy")
		return
	}
	h.forget(w)
	if h.limits.spent.Take(texts[0], h.Clock.Now()) > 0 {
		h.limits.exchanged(false)
		h.refused(w, r, "", "signin_refused", errors.New("its code was asked for before"))
		return
	}
	g := h.grant(texts)
	g.Code = q.Get("code")
	cookie, err := h.spend(r.Context(), g)
	none := (*session.NoRoleError)(nil)
	switch {
	case errors.As(err, &none):
		h.refused(w, r, none.Who, "no_role", err)
	case err != nil && seckill.CodeOf(err) == seckill.CodeSignIn:
		h.refused(w, r, "", "signin_refused", err)
	case err != nil:
		h.Log.WarnContext(r.Context(), "staff cannot sign in", "err", err)
		w.Header().Set("Retry-After", strconv.Itoa(seconds(awayWait)))
		why := "unavailable"
		if seckill.CodeOf(err) == seckill.CodeSignInBroken {
			why = string(seckill.CodeSignInBroken)
		}
		h.say(w, r, http.StatusServiceUnavailable, why)
	default:
		h.signedIn(w, cookie)
	}
}

// spend redeems the issuer's code, as limits.exchange has allowed. It goes on if the browser hangs up meanwhile:
// otherwise it would seem that the issuer does not answer.
func (h *BrowserHandler) spend(ctx context.Context, g seckill.Grant) (cookie string, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), signInTime)
	defer cancel()
	defer func() { h.limits.exchanged(errors.Is(err, seckill.ErrIssuerAway)) }()
	return h.Sessions.SignIn(ctx, g)
}

// link signs in whoever has a one-time link, and opens the page.
func (h *BrowserHandler) link(w http.ResponseWriter, r *http.Request) {
	if err := h.limits.ofNetwork(r); err != nil {
		h.fail(w, r, err)
		return
	}
	who := h.Links.take(r.URL.Query().Get("key"))
	if who.Who == "" {
		refuse(w, &refusal{http.StatusForbidden, "link_used",
			"The link was used already, or has ended. Make another one: seckill staff link", 0, nil})
		return
	}
	err := h.Sessions.End(r.Context(), h.cookie(r)) // as start
	var cookie string
	if err == nil {
		cookie, err = h.Sessions.Begin(r.Context(), who)
	}
	if err != nil {
		h.fail(w, r, err)
		return
	}
	h.signedIn(w, cookie)
}

// signedIn gives the browser the cookie of a new session, and opens the page.
func (h *BrowserHandler) signedIn(w http.ResponseWriter, cookie string) {
	http.SetCookie(w, h.made(cookie, int(seckill.StaffLife/time.Second)))
	if h.SignIn {
		h.left(w, -1)
	}
	w.Header().Set("Location", h.page)
	w.WriteHeader(http.StatusSeeOther)
}

// grant is what the issuer's code will be for.
func (h *BrowserHandler) grant(texts []string) seckill.Grant {
	return seckill.Grant{Kind: seckill.GrantCode, Nonce: texts[1], Verifier: texts[2],
		Fresh: texts[3] == fresh, RedirectURI: h.Public + "/admin/callback"}
}

// forget has the browser forget what it kept.
func (h *BrowserHandler) forget(w http.ResponseWriter) {
	gone := h.made("", -1)
	gone.Name, gone.SameSite = h.signInName(), http.SameSiteLaxMode
	http.SetCookie(w, gone)
}

func seconds(wait time.Duration) int { return int((wait + time.Second - 1) / time.Second) }

// mark returns what only this shop can add to what a browser keeps.
func mark(key []byte, texts []string, until string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("seckill staff sign-in\n" + strings.Join(texts, ".") + "." + until))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// kept returns what the browser kept when it went to the issuer, or nil if it did not go there or went too long ago.
func (h *BrowserHandler) kept(r *http.Request) []string {
	list := r.CookiesNamed(h.signInName())
	if len(list) != 1 {
		return nil
	}
	texts := strings.Split(list[0].Value, ".")
	if len(texts) != signInTexts+2 {
		return nil
	}
	until, made := texts[signInTexts], texts[signInTexts+1]
	texts = texts[:signInTexts]
	ours := slices.ContainsFunc(h.Keys(), func(key []byte) bool {
		return hmac.Equal([]byte(made), []byte(mark(key, texts, until)))
	})
	at, err := strconv.ParseInt(until, 10, 64)
	if err != nil || !ours || h.Clock.Now().Unix() > at {
		return nil
	}
	return texts
}

// refused records a sign-in that led to no session, unless the audit log gets too many failures, and says why.
func (h *BrowserHandler) refused(w http.ResponseWriter, r *http.Request, who, result string, cause error) {
	if h.limits.recorded() {
		if err := h.Sessions.Refused(r.Context(), who, result); err != nil {
			h.Log.ErrorContext(r.Context(), "a refused sign-in is not in the audit log", "result", result, "err", err)
		}
	}
	h.Log.WarnContext(r.Context(), "a sign-in of staff was refused", "result", result, "cause", cause)
	h.say(w, r, http.StatusForbidden, result)
}

// say answers a person in plain words, in their language.
func (h *BrowserHandler) say(w http.ResponseWriter, r *http.Request, status int, code string) {
	text, language := browserWords[code][0], "zh-CN"
	if httpapi.English(r.Header["Accept-Language"]) {
		text, language = browserWords[code][1], "en"
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Language", language)
	w.Header().Set("Vary", "Accept-Language")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n")) // an error means that the browser has disconnected
}

// left marks a browser in which somebody has signed out, as they stay signed in at the issuer: the next sign-in asks
// who it is.
func (h *BrowserHandler) left(w http.ResponseWriter, seconds int) {
	c := h.made("1", seconds)
	c.Name = h.leftName()
	http.SetCookie(w, c)
}

func (h *BrowserHandler) signInName() string { return h.name() + "-signin" }
func (h *BrowserHandler) leftName() string   { return h.name() + "-left" }
