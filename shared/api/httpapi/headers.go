package httpapi

import "net/http"

// Policy is the Content-Security-Policy of answers that are not pages: they run, load, frame and send nothing.
const Policy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Shared by all answers; never modified.
var (
	policy     = []string{Policy}
	referrer   = []string{"no-referrer"}
	nosniff    = []string{"nosniff"}
	sameOrigin = []string{"same-origin"}
	// one year; no includeSubDomains, because other hosts beside this one are not ours
	secure = []string{"max-age=31536000"}
)

// Headers adds the headers to every answer of a handler. It sends Strict-Transport-Security and
// Cross-Origin-Opener-Policy only if the request came by https: browsers ignore them otherwise (RFC 6797 section 8.1),
// and a local run has no https.
func Headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["Content-Security-Policy"] = policy
		h["X-Content-Type-Options"] = nosniff
		h["Referrer-Policy"] = referrer
		h["Cross-Origin-Resource-Policy"] = sameOrigin // restricts embedding; what CORS allows stays allowed
		if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
			h["Strict-Transport-Security"] = secure
			h["Cross-Origin-Opener-Policy"] = sameOrigin // pages of other origins that open it cannot reach it
		}
		next.ServeHTTP(w, r)
	})
}
