package operator

import (
	"fmt"
	"net/http"
	"net/url"
)

// NewBrowserHandler returns the handler. The error is about Public.
func NewBrowserHandler(o BrowserOptions) (*BrowserHandler, error) {
	public, err := url.Parse(o.Public)
	if err != nil {
		return nil, fmt.Errorf("operator: public address: %w", err)
	}
	h := &BrowserHandler{BrowserOptions: o, page: public.Path + "/admin", limits: newLimits(o.Clock)}
	if h.Keys == nil {
		own := [][]byte{h.Random.Bytes(signInBytes)}
		h.Keys = func() [][]byte { return own }
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /admin/session", h.session)
	mux.HandleFunc("POST /admin/signout", h.signOut)
	mux.HandleFunc("POST /admin/commands", h.command)
	if o.Links != nil {
		mux.HandleFunc("GET /admin/link", h.link)
	}
	if o.SignIn {
		mux.HandleFunc("GET /admin/signin", h.start)
		mux.HandleFunc("GET /admin/callback", h.callback)
	}
	mux.HandleFunc("GET /admin/{$}", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, h.page, http.StatusSeeOther)
	})
	mux.HandleFunc("/admin/", h.unknown)
	protection := http.NewCrossOriginProtection()
	if public.Host != "" { // an API behind a CDN gets another Host
		if err := protection.AddTrustedOrigin(public.Scheme + "://" + public.Host); err != nil {
			return nil, fmt.Errorf("operator: public address: %w", err)
		}
	}
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, &refusal{http.StatusForbidden, "cross_site", "Only pages of this shop may do this.", 0, nil})
	}))
	h.mux = protection.Handler(mux)
	return h, nil
}

// ServeHTTP implements http.Handler.
func (h *BrowserHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Header.Get(StaffHeader) != "1" {
		refuse(w, &refusal{http.StatusForbidden, "header_missing", "The request lacks the header " + StaffHeader +
			": 1.", 0, nil})
		return
	}
	h.mux.ServeHTTP(w, r)
}
