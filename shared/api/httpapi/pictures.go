package httpapi

import (
	"errors"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/your-org/seckill/shared/seckill"
)

// pictureName reports whether a picture may have this name: 32 hexadecimal digits and its type.
func pictureName(name string) bool {
	hash, kind, _ := strings.Cut(name, ".")
	return len(hash) == 32 && strings.Trim(hash, "0123456789abcdef") == "" && (kind == "jpg" || kind == "png")
}

// ServePictures serves the pictures that package cover made, below seckill.PicturePath. Browsers keep them for ever: a
// name is made of the content. Other requests go to next.
func ServePictures(s seckill.Pictures, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		dir, name := filepath.Split(r.URL.Path)
		if dir != seckill.PicturePath || !pictureName(name) ||
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
			Problem(w, r, &seckill.Error{Code: seckill.CodeUnavailable, Err: err})
			return
		}
		h := w.Header()
		h.Set("Content-Type", seckill.PictureType(name))
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", Policy)
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
