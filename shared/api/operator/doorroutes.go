package operator

import (
	"fmt"
	"net/http"
	"net/url"
)

// NewDoor returns a door. The error is about Public.
func NewDoor(o DoorOptions) (*Door, error) {
	public, err := url.Parse(o.Public)
	if err != nil {
		return nil, fmt.Errorf("operator: public address: %w", err)
	}
	d := &Door{DoorOptions: o, page: public.Path + "/admin", limits: newLimits(o.Clock)}
	if d.Keys == nil {
		own := [][]byte{d.Random.Bytes(signInBytes)}
		d.Keys = func() [][]byte { return own }
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /admin/session", d.session)
	mux.HandleFunc("POST /admin/signout", d.signOut)
	mux.HandleFunc("POST /admin/commands", d.command)
	if o.Links != nil {
		mux.HandleFunc("GET /admin/link", d.link)
	}
	if o.SignIn {
		mux.HandleFunc("GET /admin/signin", d.start)
		mux.HandleFunc("GET /admin/callback", d.callback)
	}
	mux.HandleFunc("GET /admin/{$}", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, d.page, http.StatusSeeOther)
	})
	mux.HandleFunc("/admin/", d.unknown)
	protection := http.NewCrossOriginProtection()
	if public.Host != "" { // an API behind a CDN hears another Host
		if err := protection.AddTrustedOrigin(public.Scheme + "://" + public.Host); err != nil {
			return nil, fmt.Errorf("operator: public address: %w", err)
		}
	}
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, &refusal{http.StatusForbidden, "cross_site", "Only pages of this shop may do this.", 0, nil})
	}))
	d.mux = protection.Handler(mux)
	return d, nil
}

// ServeHTTP implements http.Handler.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Header.Get(StaffHeader) != "1" {
		refuse(w, &refusal{http.StatusForbidden, "header_missing", "The request lacks the header " + StaffHeader +
			": 1.", 0, nil})
		return
	}
	d.mux.ServeHTTP(w, r)
}
