// Package web holds the storefront and the status page: plain files, no build step. In: nothing. Out: the files, and a
// handler that serves them with the headers they were written for. It touches nothing but its own embedded files.
package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

// FS has the pages by their file names: index.html, status.html and what they load.
//
//go:embed *.html *.css *.js pictures
var FS embed.FS

// ContentSecurityPolicy is what the pages are written to live under: scripts and styles only from files, answers only
// from their own origin. Pictures of goods may lie on any HTTPS host, because items name them by address.
const ContentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: https:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// cacheControl makes browsers ask each time; the ETag makes the answer small.
const cacheControl = "no-cache"

// pages are the addresses that are not file names. Browsers ask for /favicon.ico on pages that name no icon (the
// cashier's), and take any kind of picture.
var pages = map[string]string{"/": "index.html", "/status": "status.html", "/favicon.ico": "pictures/logo.svg"}

type file struct {
	body        []byte
	contentType string
	etag        string
}

// Handler serves the files at / (the storefront), /status, and by their names. GET and HEAD only; an unknown name is
// 404 and another method 405, both with an empty body.
func Handler() http.Handler {
	files := load()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, ok := pages[r.URL.Path]
		if !ok {
			name = strings.TrimPrefix(r.URL.Path, "/")
		}
		f, ok := files[name]
		switch {
		case !ok:
			w.WriteHeader(http.StatusNotFound)
			return
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		h := w.Header()
		h.Set("Content-Type", f.contentType)
		h.Set("Content-Security-Policy", ContentSecurityPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer") // the cashier's address carries the pay string
		h.Set("Cache-Control", cacheControl)
		h.Set("ETag", f.etag)
		if r.Header.Get("If-None-Match") == f.etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		if r.Method == http.MethodHead {
			return
		}
		_, _ = w.Write(f.body) // a client that went away needs no answer
	})
}

// load reads every embedded file once. It panics when one cannot be read, which the compiler's embedding excludes.
func load() map[string]file {
	files := map[string]file{}
	err := fs.WalkDir(FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := FS.ReadFile(name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(body)
		files[name] = file{body: body, contentType: contentType(name), etag: `"` + hex.EncodeToString(sum[:8]) + `"`}
		return nil
	})
	if err != nil {
		panic(err)
	}
	return files
}

// contentType does not trust the machine's own table for scripts: some Windows registries call .js text/plain, and a
// browser refuses such a module.
func contentType(name string) string {
	if ext := path.Ext(name); ext == ".js" {
		return "text/javascript; charset=utf-8"
	} else if t := mime.TypeByExtension(ext); t != "" {
		return t
	}
	return "application/octet-stream"
}
