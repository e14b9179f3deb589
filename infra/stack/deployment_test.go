package main

import (
	"maps"
	"testing"
	"testing/fstest"
)

// TestHash checks that it changes only with the code, a template or a parameter's value.
func TestHash(t *testing.T) {
	built := fstest.MapFS{"template.yaml": {Data: []byte("a: 1\n")},
		"Sale/BuyFunction/bootstrap": {Data: []byte("code")}}
	params := map[string]string{"Hold": "15m", "Release": "v1"}
	first := of(t, built, params)
	for name, c := range map[string]struct {
		change func(fstest.MapFS, map[string]string)
		same   bool
	}{
		"nothing":         {func(fstest.MapFS, map[string]string) {}, true},
		"the hash itself": {func(_ fstest.MapFS, p map[string]string) { p["Deployment"] = first }, true},
		"what is not part of it": {func(b fstest.MapFS, _ map[string]string) {
			b["build.toml"] = &fstest.MapFile{Data: []byte("x")}
		}, true},
		"code": {func(b fstest.MapFS, _ map[string]string) {
			b["Sale/BuyFunction/bootstrap"].Data = []byte("edoc")
		}, false},
		"a template": {func(b fstest.MapFS, _ map[string]string) {
			b["template.yaml"].Data = []byte("a: 2\n")
		}, false},
		"a parameter":        {func(_ fstest.MapFS, p map[string]string) { p["Hold"] = "20m" }, false},
		"one parameter more": {func(_ fstest.MapFS, p map[string]string) { p["Sandbox"] = "true" }, false},
		"a letter that moves": {func(_ fstest.MapFS, p map[string]string) {
			p["Hold"], p["Release"] = "15mv", "1"
		}, false},
		"a file that changes names": {func(b fstest.MapFS, _ map[string]string) {
			b["t.yaml"] = b["template.yaml"]
			delete(b, "template.yaml")
		}, false},
	} {
		b, p := fstest.MapFS{}, maps.Clone(params)
		for path, f := range built {
			b[path] = &fstest.MapFile{Data: f.Data}
		}
		c.change(b, p)
		if got := of(t, b, p); (got == first) != c.same {
			t.Errorf("%s: %s, before %s, want the same %v", name, got, first, c.same)
		}
	}
	if _, err := hash(fstest.MapFS{}, params); err == nil {
		t.Error("nothing is built, and it has a hash")
	}
}

func of(t *testing.T, built fstest.MapFS, params map[string]string) string {
	t.Helper()
	h, err := hash(built, maps.Clone(params))
	if err != nil {
		t.Fatal(err)
	}
	return h
}
