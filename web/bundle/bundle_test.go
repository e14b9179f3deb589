package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDistIsUpToDate checks that web/dist is what the sources give, beside files of the last release.
func TestDistIsUpToDate(t *testing.T) {
	const root = "../.."
	want, err := build(root)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := lastRelease(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range want {
		if got, err := os.ReadFile(filepath.Join(root, dist, name)); err != nil || !bytes.Equal(got, body) {
			t.Errorf("%s/%s is out of date: run `make generate` (%v)", dist, name, err)
		}
	}
	present, err := listed(filepath.Join(root, dist))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range present {
		if want[name] == nil && !slices.Contains(kept, name) {
			t.Errorf("%s/%s belongs to nothing: run `make generate`", dist, name)
		}
	}
	for _, name := range kept {
		if !slices.Contains(present, name) {
			t.Errorf("%s names %s, which is not in %s", released, name, dist)
		}
	}
}

// TestReleasesOverlap checks that write keeps the last release's hashed files through later changes, and only those.
func TestReleasesOverlap(t *testing.T) {
	root := t.TempDir()
	for _, folder := range []string{"src", "vendor"} {
		if err := os.CopyFS(filepath.Join(root, "web", folder), os.DirFS("../"+folder)); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("../../" + openapi)
	if err != nil {
		t.Fatal(err)
	}
	put := func(name string, body []byte) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), body, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(openapi, text)
	put(released, nil)
	scripts := func(release bool, change string) []string {
		t.Helper()
		put(source+"/clock.js", append([]byte(change), must(t, filepath.Join("..", "src", "clock.js"))...))
		if err := write(root, release); err != nil {
			t.Fatal(err)
		}
		names, err := listed(filepath.Join(root, dist, "assets"))
		if err != nil {
			t.Fatal(err)
		}
		return slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, "app-") })
	}
	change := func(n string) string { return "globalThis.release = " + n + ";\n" }
	first := scripts(true, change("1"))
	second := scripts(false, change("2"))
	third := scripts(false, change("3"))
	if len(first) != 1 || len(second) != 2 || len(third) != 2 || !slices.Contains(third, first[0]) ||
		slices.Equal(second, third) {
		t.Errorf("after a release %v, after a change %v, after another %v: want the release's beside the newest",
			first, second, third)
	}
}

// TestLibrariesAreAsPublished checks each vendored file against its sum, and that its licence is in files of its own,
// which no first look loads.
func TestLibrariesAreAsPublished(t *testing.T) {
	for code, want := range map[string]string{
		// build/index.js of the npm package oauth4webapi 3.8.8
		"oauth4webapi/index.js": "72a5f6d84416e92b659c6b8fd837c5fa38d44b7f2e18f91daa1fe57da677c7ad",
		// dist/uPlot.esm.js and dist/uPlot.min.css of the npm package uplot 1.6.32
		"uplot/index.js":  "5dd9b3281aa64b461b42d9945f6adb2649d346502b12281a9ae0d46599a80eba",
		"uplot/uPlot.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
	} {
		sum := sha256.Sum256(must(t, "../vendor/"+code))
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s has the sum %s, want %s: take the file as published", code, got, want)
		}
	}
	files, err := build("../..")
	if err != nil {
		t.Fatal(err)
	}
	hash := regexp.MustCompile(`-[A-Z0-9]{8}\.`)
	for library, want := range map[string][]string{"oauth4webapi": {"signin.js"},
		"uplot": {"curves.css", "curves.js"}} {
		licence := bytes.TrimSpace(must(t, "../vendor/"+library+"/LICENSE.md"))
		var holders []string
		for name, body := range files {
			if bytes.Contains(body, licence) {
				holders = append(holders, hash.ReplaceAllString(strings.TrimPrefix(name, hashed), "."))
			}
		}
		if slices.Sort(holders); !slices.Equal(holders, want) {
			t.Errorf("%v have the licence of %s, want %v", holders, library, want)
		}
	}
}

func must(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTranslateNeedsEveryText(t *testing.T) {
	const page = `<html lang="zh-CN"><b data-text="a"></b><nav data-label="b"></nav>`
	table := map[string][2]string{"a": {"甲", "A & B"}, "b": {"乙", "B"}}
	got, err := translate(page, table, 1)
	want := `<html lang="en"><b data-text="a">A &amp; B</b><nav data-label="b" aria-label="B"></nav>`
	if err != nil || got != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
	delete(table, "b")
	if _, err := translate(page, table, 0); err == nil {
		t.Error("a text that i18n.js lacks was taken")
	}
}
