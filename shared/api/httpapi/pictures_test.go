package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

type broken struct{ seckill.Pictures }

func (broken) Get(context.Context, string) ([]byte, error) { return nil, errors.New("i/o timeout") }

// TestServePictures: pictures of a store, for ever; everything else is the next handler's; a fault says when to ask
// again.
func TestServePictures(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(folder, "secret.txt"), []byte("secret"), 0o600))
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	name := strings.Repeat("a1", 16) + ".jpg"
	stores := map[string]seckill.Pictures{"memory": &memory.Pictures{}, "folder": memory.PictureFolder(folder)}
	for kind, store := range stores {
		p := seckill.Picture{Name: name, Data: []byte("JFIF")}
		for range 2 {
			must.OK(t, store.Put(t.Context(), &p))
		}
		for _, c := range []struct {
			method, path, etag string
			status             int
		}{
			{"GET", "/pictures/" + name, "", 200}, {"HEAD", "/pictures/" + name, "", 200},
			{"GET", "/pictures/" + name, `"` + name[:32] + `"`, 304}, {"POST", "/pictures/" + name, "", 418},
			{"GET", "/pictures/" + strings.Repeat("0", 32) + ".jpg", "", 418}, {"GET", "/pictures/secret.txt", "", 418},
			{"GET", "/pictures/logo.svg", "", 418}, {"GET", "/x/" + name, "", 418},
			{"GET", "/pictures/../" + name, "", 418},
		} {
			w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), c.method, c.path, nil)
			r.Header.Set("If-None-Match", c.etag)
			httpapi.ServePictures(store, next).ServeHTTP(w, r)
			h := w.Header()
			if ours := c.status != http.StatusTeapot; ours != (h.Get("Vary") == "Accept") {
				t.Errorf("%s: %s %s varies by %q", kind, c.method, c.path, h.Get("Vary"))
			}
			if w.Code != c.status || w.Code == 200 && (h.Get("Content-Type") != "image/jpeg" ||
				h.Get("Cache-Control") != "public, max-age=31536000, immutable" ||
				h.Get("X-Content-Type-Options") != "nosniff" ||
				h.Get("Content-Security-Policy") != httpapi.Policy || c.method == "GET" && w.Body.String() != "JFIF") {
				t.Errorf("%s: %s %s: %d %v %q", kind, c.method, c.path, w.Code, h, w.Body)
			}
		}
	}
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", "/pictures/"+name, nil)
	httpapi.ServePictures(broken{}, next).ServeHTTP(w, r)
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("a fault: %d %v", w.Code, w.Header())
	}
}
