package local

import (
	"net/http"
	"sync/atomic"
	"time"
)

// Limits of delayed answers.
const (
	// refusalDelay keeps an answer that refuses its caller. Whoever sends as fast as they are answered then sends ten
	// requests a second over a connection, and takes as little of this machine.
	refusalDelay = 100 * time.Millisecond
	// maxDelayed answers wait at once; the rest goes out undelayed, so that waiting takes at most some 10 MiB.
	maxDelayed = 1000
)

// delayed delays the answers that refuse a caller, which people's pages hardly ever get: malformed or too large, no
// good token or ticket, too many requests. Only this process does so: people and scripts share its machine. On Lambda
// each request has an instance of its own, and waiting costs money.
func delayed(next http.Handler) http.Handler {
	var waiting atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&delayedWriter{w, r, &waiting}, r)
	})
}

// delayedWriter waits before the status goes out.
type delayedWriter struct {
	http.ResponseWriter

	r       *http.Request
	waiting *atomic.Int64
}

// Unwrap is for http.ResponseController.
func (d *delayedWriter) Unwrap() http.ResponseWriter { return d.ResponseWriter }

func (d *delayedWriter) WriteHeader(status int) {
	switch status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestEntityTooLarge,
		http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity, http.StatusTooManyRequests:
		d.wait()
	}
	d.ResponseWriter.WriteHeader(status)
}

func (d *delayedWriter) wait() {
	defer d.waiting.Add(-1)
	if d.waiting.Add(1) > maxDelayed {
		return
	}
	over := time.NewTimer(refusalDelay)
	defer over.Stop()
	select {
	case <-over.C:
	case <-d.r.Context().Done(): // the client has disconnected
	}
}
