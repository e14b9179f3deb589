package cover

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
)

// Path is where Serve's pictures are on a server.
const Path = "/covers/"

var validName = regexp.MustCompile(`^[0-9a-f]{32}\.(jpg|png)$`)

// Keep writes a picture into a folder, unless it is there already, and returns its path on a server that serves the
// folder.
func Keep(folder string, p *Picture) (path string, err error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	name := filepath.Join(folder, p.Name)
	if _, err := os.Stat(name); err == nil {
		return Path + p.Name, nil // a name is made of the content
	}
	f, err := os.CreateTemp(folder, ".new-*")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(f.Name()) }() // it is gone when it was renamed
	_, err = f.Write(p.Data)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Chmod(f.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	return Path + p.Name, err
}

// Serve serves a folder's pictures below Path, for a route with {name}, and no other file of it.
func Serve(folder string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("name")
		if !validName.MatchString(name) {
			http.NotFound(w, r)
			return
		}
		f, err := os.Open(filepath.Join(folder, name))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil || !info.Mode().IsRegular() {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", map[string]string{".jpg": "image/jpeg", ".png": "image/png"}[filepath.Ext(name)])
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		http.ServeContent(w, r, name, info.ModTime(), f)
	})
}
