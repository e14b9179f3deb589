// Command release lists the parts of a release: a software bill of materials (CycloneDX 1.6, JSON) of built binaries,
// each module, and each library in the page, with its version and licence. In: the names of binaries; the module cache
// and web/vendor, for the licences' texts. Out: the bill on standard output. It makes no network call, and fails on a
// part with an unknown licence. Run it in the module's root.
package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// licences lists the licences allowed in a release, by words that only their text has. The first match counts.
var licences = []struct{ id, words string }{
	{"Apache-2.0", "Apache License Version 2.0"},
	{"MIT", "Permission is hereby granted, free of charge"},
	{"BSD-3-Clause", "Neither the name of"},
	{"BSD-3-Clause", "names of its contributors may be used"},
	{"BSD-2-Clause", "Redistribution and use in source and binary forms"},
	{"ISC", "Permission to use, copy, modify, and/or distribute this software"},
	{"ISC", "Permission to use, copy, modify, and distribute this software"},
}

// vendor is the folder of the page's libraries, in the module's root.
const vendor = "web/vendor"

// maxLicence is the largest part of a licence that is read, in bytes.
const maxLicence = 64 << 10

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: release BINARY… >sbom.json")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Stdout, ".", os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}

// Parts of a CycloneDX document (ECMA-424).
type (
	licence struct {
		License struct {
			ID string `json:"id"`
		} `json:"license"`
	}
	component struct {
		Type     string     `json:"type"`
		Ref      string     `json:"bom-ref"`
		Name     string     `json:"name"`
		Version  string     `json:"version,omitempty"`
		PURL     string     `json:"purl,omitempty"`
		Licenses []licence  `json:"licenses,omitempty"`
		Says     []property `json:"properties,omitempty"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	dependency struct {
		Ref string   `json:"ref"`
		On  []string `json:"dependsOn"`
	}
	bill struct {
		Format       string       `json:"bomFormat"`
		Spec         string       `json:"specVersion"`
		Version      int          `json:"version"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
)

func run(ctx context.Context, out io.Writer, root string, binaries []string) error {
	b := bill{Format: "CycloneDX", Spec: "1.6", Version: 1}
	libraries := map[string]component{}
	page, err := vendored(filepath.Join(root, vendor))
	if err != nil {
		return err
	}
	for _, name := range binaries {
		info, err := buildinfo.ReadFile(name)
		if err != nil {
			return err
		}
		ref := info.Path + " " + name
		program := component{Type: "application", Ref: ref, Name: info.Path,
			Says: []property{{"file", name}, {"go", info.GoVersion}}}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" || s.Key == "GOARCH" {
				program.Says = append(program.Says, property{s.Key, s.Value})
			}
		}
		needs := dependency{ref, []string{}}
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			purl := "pkg:golang/" + m.Path + "@" + m.Version
			needs.On = append(needs.On, purl)
			if _, ok := libraries[purl]; ok {
				continue
			}
			id, err := licenceOf(ctx, m.Path, m.Version)
			if err != nil {
				return err
			}
			libraries[purl] = library(purl, m.Path, m.Version, id, property{"go.sum", m.Sum})
		}
		code, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, p := range page {
			if bytes.Contains(code, p.text) {
				needs.On = append(needs.On, p.PURL)
				libraries[p.PURL] = p.component
			}
		}
		b.Components = append(b.Components, program)
		b.Dependencies = append(b.Dependencies, needs)
	}
	for _, purl := range sorted(libraries) {
		b.Components = append(b.Components, libraries[purl])
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(b)
}

func library(purl, name, version, id string, says ...property) component {
	c := component{Type: "library", Ref: purl, Name: name, Version: version, PURL: purl,
		Licenses: make([]licence, 1), Says: says}
	c.Licenses[0].License.ID = id
	return c
}

// script is a library in the page. A binary that has the page has the text of its licence.
type script struct {
	component
	text []byte
}

// vendored returns the libraries in a folder, each as npm publishes it.
func vendored(folder string) (all []script, err error) {
	names, err := filepath.Glob(filepath.Join(folder, "*", "package.json"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var p struct{ Name, Version string }
		if err := json.Unmarshal(text, &p); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		id, err := licenceIn(filepath.Dir(name))
		if err != nil {
			return nil, err
		}
		s := script{component: library("pkg:npm/"+p.Name+"@"+p.Version, p.Name, p.Version, id)}
		if s.text, err = os.ReadFile(filepath.Join(filepath.Dir(name), "LICENSE.md")); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func sorted(of map[string]component) (keys []string) {
	for k := range of {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// licenceOf returns a module's licence from the module cache.
func licenceOf(ctx context.Context, path, version string) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "mod", "download", "-json", path+"@"+version).Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", path, version, err)
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(out, &m); err != nil {
		return "", err
	}
	return licenceIn(m.Dir)
}

// licenceIn returns the licence in a folder, or an error if the folder has no licence, or an unknown one.
func licenceIn(dir string) (string, error) {
	for _, pattern := range []string{"LICENSE*", "LICENCE*", "COPYING*", "License*", "license*"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return "", err
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				return "", err
			}
			plain := strings.Join(strings.Fields(string(text[:min(len(text), maxLicence)])), " ")
			for _, l := range licences {
				if strings.Contains(plain, l.words) {
					return l.id, nil
				}
			}
			return "", fmt.Errorf("%s: not a licence that a release may have", name)
		}
	}
	return "", errors.New(dir + " has no licence")
}
