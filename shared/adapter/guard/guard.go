// Package guard gives every HTTP answer the headers that keep browsers from misusing it: another site's page that
// frames, sniffs, embeds or links to it, and a network that takes https away. In: a handler. Out: the same answers,
// with headers that the handler may replace by its own. It looks at how the request came and at nothing else.
package guard

import "net/http"

// Policy is the Content-Security-Policy of what is no page: nothing is run, loaded, framed or sent anywhere.
const Policy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Made once, and never changed: each answer has them.
var (
	policy   = []string{Policy}
	nosniff  = []string{"nosniff"}
	referrer = []string{"no-referrer"}
	resource = []string{"same-origin"}
	// a year. What lies beside this host is not ours to speak for: no includeSubDomains
	secure = []string{"max-age=31536000"}
)

// Headers puts the headers on every answer of a handler. Strict-Transport-Security goes only where the request came by
// https: a browser has to ignore it elsewhere (RFC 6797 section 8.1), and on this machine there is no https to keep to.
func Headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["Content-Security-Policy"] = policy
		h["X-Content-Type-Options"] = nosniff
		h["Referrer-Policy"] = referrer
		h["Cross-Origin-Resource-Policy"] = resource // embedding; what CORS allows stays allowed
		if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
			h["Strict-Transport-Security"] = secure
		}
		next.ServeHTTP(w, r)
	})
}
