package demoissuer

import (
	"bytes"
	"crypto/rand"
	_ "embed"
	"html/template"
	"net/http"
	"net/url"

	"github.com/your-org/seckill/shared/api/httpapi"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// words are the texts of the page in one language.
type words struct{ Lang, Title, Label, Pick, As, Unfit, Out, Back string }

var chinese = words{"zh-CN", "登录", "演示登录，没有密码", "请选择以谁的身份登录", "用户编号",
	"这个登录请求不正确。请从商店页面重新登录。", "已退出登录。", "返回商店"}

var english = words{"en", "Sign in", "Demo sign-in, no password", "Choose who you are", "User",
	"This request to sign in is not right. Please start again from the shop.", "You are signed out.",
	"Back to the shop"}

type view struct {
	words
	Nonce  string
	People []choice
	Wrong  bool
}

type choice struct {
	Person
	Link string
}

// authorize answers a request to sign in (RFC 6749 section 4.1.1, with PKCE): with a page of links, one per person, and
// for such a link by going back to the shop with a code.
func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil || len(r.URL.RawQuery) > maxQuery || q.Get("client_id") != i.opt.ClientID ||
		!here(q.Get("redirect_uri")) {
		render(w, r, http.StatusBadRequest, view{Wrong: true})
		return
	}
	back := func(parameters url.Values) {
		parameters.Set("state", q.Get("state"))
		parameters.Set("iss", i.opt.Issuer)
		http.Redirect(w, r, with(q.Get("redirect_uri"), parameters), http.StatusSeeOther)
	}
	switch {
	case q.Get("response_type") != "code":
		back(url.Values{"error": {"unsupported_response_type"}})
	case q.Get("code_challenge") == "" || q.Get("code_challenge_method") != "S256":
		back(url.Values{"error": {"invalid_request"}})
	case q.Get("prompt") == "none":
		back(url.Values{"error": {"login_required"}})
	default:
		if p, ok := i.person(q.Get("person")); ok {
			now := i.opt.Clock.Now()
			back(url.Values{"code": {i.keep(kept{person: p, signedIn: now, ends: now.Add(codeLife), code: true,
				nonce: q.Get("nonce"), challenge: q.Get("code_challenge"), redirect: q.Get("redirect_uri")})}})
			return
		}
		v := view{People: make([]choice, len(i.opt.People))}
		for n, p := range i.opt.People {
			q.Set("person", p.User)
			v.People[n] = choice{p, i.opt.Issuer + "/authorize?" + q.Encode()}
		}
		render(w, r, http.StatusOK, v)
	}
}

// logout goes back to the shop; there is no session to end ("OpenID Connect RP-Initiated Logout 1.0").
func (i *Issuer) logout(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if to := q.Get("post_logout_redirect_uri"); here(to) {
		http.Redirect(w, r, with(to, url.Values{"state": {q.Get("state")}}), http.StatusSeeOther)
		return
	}
	render(w, r, http.StatusOK, view{})
}

func render(w http.ResponseWriter, r *http.Request, status int, v view) {
	v.words, v.Nonce = chinese, rand.Text()
	if httpapi.English(r.Header["Accept-Language"]) {
		v.words = english
	}
	var b bytes.Buffer
	if err := page.Execute(&b, v); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", v.Lang)
	h.Set("Vary", "Accept-Language")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'nonce-"+v.Nonce+
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // an error means that the browser has disconnected
}
