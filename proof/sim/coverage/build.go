package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// How package redisstock differs in the built binary: each new stock passes its runner to package tap.
const (
	stockFolder = "shared/driver/redisstock"
	stockFile   = "redisstock.go"
	plainStock  = "return &Stock{run: run}"
	tappedStock = "return &Stock{run: tapped(run)}"
	tapFile     = "tapped.go" // a name that the folder does not have
	tapSource   = `package redisstock

import "github.com/your-org/seckill/proof/sim/branches/tap"

func tapped(r Runner) Runner { return tap.Wrap(r).(Runner) }
`
)

// moduleRoot returns the folder with go.mod.
func moduleRoot() (string, error) {
	out, err := command("", nil, "go", "env", "GOMOD")
	if err != nil {
		return "", err
	}
	file := strings.TrimSpace(string(out))
	if filepath.Base(file) != "go.mod" {
		return "", errors.New("not inside the module")
	}
	return filepath.Dir(file), nil
}

// build builds the counting binary in a new folder and plays the seeds with it. It returns its output and its
// coverage profile.
func build(root string, seeds uint64) (p played, profile []byte, err error) {
	dir, err := os.MkdirTemp("", "coverage")
	if err != nil {
		return p, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	overlay, err := tapped(root, dir)
	if err != nil {
		return p, nil, err
	}
	binary, counts, text := filepath.Join(dir, "player"), filepath.Join(dir, "counts"), filepath.Join(dir, "profile")
	if err := os.Mkdir(counts, 0o700); err != nil {
		return p, nil, err
	}
	// The counts are written only if the main package is covered, too.
	if _, err := command(root, nil, "go", "build", "-overlay", overlay, "-cover", "-covermode=atomic",
		"-coverpkg="+module+flows+"...,./proof/sim/coverage", "-o", binary, "./proof/sim/coverage"); err != nil {
		return p, nil, err
	}
	out, err := command(root, []string{"GOCOVERDIR=" + counts}, binary, "-play", "-seeds", fmt.Sprint(seeds))
	if err != nil {
		return p, nil, err
	}
	if err := json.Unmarshal(out, &p); err != nil {
		return p, nil, err
	}
	if _, err := command(root, nil, "go", "tool", "covdata", "textfmt", "-i="+counts, "-o="+text); err != nil {
		return p, nil, err
	}
	profile, err = os.ReadFile(text)
	return p, profile, err
}

// tapped writes the changed files into dir, and the overlay that maps the module's files to them, as go build
// -overlay reads it.
func tapped(root, dir string) (overlay string, err error) {
	folder := filepath.Join(root, stockFolder)
	source, err := os.ReadFile(filepath.Join(folder, stockFile))
	if err != nil {
		return "", err
	}
	if n := bytes.Count(source, []byte(plainStock)); n != 1 {
		return "", fmt.Errorf("%s/%s has %q %d times: want it once", stockFolder, stockFile, plainStock, n)
	}
	replace := map[string]string{}
	for name, text := range map[string]string{stockFile: strings.Replace(string(source), plainStock, tappedStock, 1),
		tapFile: tapSource} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(folder, name)] = file
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, list, 0o600)
}

// command runs a program in a folder and returns its output; an error includes what the program printed.
func command(dir string, env []string, name string, args ...string) ([]byte, error) {
	c := exec.Command(name, args...) //nolint:noctx // runs until the tool ends; the user can interrupt it
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	var out, trouble bytes.Buffer
	c.Stdout, c.Stderr = &out, &trouble
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(append([]string{name}, args...), " "), err, trouble.Bytes())
	}
	return out.Bytes(), nil
}
