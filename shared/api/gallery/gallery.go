// Package gallery serves pictures of items. In: a store of pictures that package cover made. Out: their bytes, below
// seckill.PicturePath, to be kept by browsers for ever: a name is made of the content.
package gallery

import (
	"errors"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/seckill"
)

var validName = regexp.MustCompile(`^[0-9a-f]{32}\.(jpg|png)$`)

// Serve serves a store's pictures below seckill.PicturePath; other requests go to next.
func Serve(s seckill.Pictures, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		dir, name := filepath.Split(r.URL.Path)
		if dir != seckill.PicturePath || !validName.MatchString(name) ||
			(r.Method != http.MethodGet && r.Method != http.MethodHead) {
			next.ServeHTTP(w, r)
			return
		}
		data, err := s.Get(r.Context(), name)
		if errors.Is(err, seckill.ErrNoPicture) {
			next.ServeHTTP(w, r)
			return
		}
		if err != nil {
			httpapi.Problem(w, r, &seckill.Error{Code: seckill.CodeUnavailable, Err: err})
			return
		}
		h := w.Header()
		h.Set("Content-Type", seckill.PictureType(name))
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'none'")
		h.Set("Cache-Control", seckill.PictureControl)
		h.Set("Vary", "Accept") // API Gateway may send base64: whoever asks otherwise must not keep that (ADR 48)
		etag := `"` + name[:32] + `"`
		h.Set("ETag", etag)
		switch { // no Content-Length: API Gateway counts what it sends
		case strings.Contains(r.Header.Get("If-None-Match"), etag):
			w.WriteHeader(http.StatusNotModified)
		case r.Method == http.MethodGet:
			_, _ = w.Write(data) // a client that went away needs no answer
		}
	})
}
