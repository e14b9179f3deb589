//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/your-org/seckill/proof/audit"
)

const (
	crowdLimit = 5 * time.Minute  // for a crowd; shoppers still present are then sent home
	toolLimit  = 30 * time.Second // for the tool after that
	// how long a shopper retries while the sale does not answer or an order is not placed
	tries = 3 * time.Minute
)

// result is the outcome of a drill.
type result struct {
	name      string
	landed    string
	began     time.Time
	crowdTook time.Duration
	took      time.Duration
	load      loadReport
	audit     audit.Report

	mu       sync.Mutex
	problems []string
}

// load runs `seckill load` until its last shopper has left.
func (s *shared) load(ctx context.Context, d *drill, w *rig, r *result) error {
	ctx, cancel := context.WithTimeout(ctx, crowdLimit+toolLimit)
	defer cancel()
	report := filepath.Join(w.dir, "load.json")
	s.nice = d.account != nil // then nothing else runs
	args := []string{"load", "--url", w.host.URL, "--item", item,
		"--shoppers", strconv.Itoa(s.shoppers), "--ramp", s.ramp.String(), "--lead", "0s", "--seed",
		strconv.FormatInt(s.seed, 10),
		"--patience", tries.String(), "--for", crowdLimit.String(), "--journal", w.journal(), "--json", report}
	if d.account != nil {
		args = append(args, strings.Fields(d.account.crowd)...)
		args = append(args, "--secret", drillSecret)
	}
	if err := s.tool(ctx, filepath.Join(w.dir, "load.txt"), filepath.Join(w.dir, "load.log"), args...); err != nil {
		return fmt.Errorf("seckill load: %w", err)
	}
	return read(report, &r.load)
}

// tool runs bin/seckill; its output goes to the file out, its log to log.
func (s *shared) tool(ctx context.Context, out, log string, args ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(s.root, "bin", "seckill"), args...)
	if s.nice { // shoppers' devices are not on the system's machine, so the system has priority
		cmd = exec.CommandContext(ctx, "nice", append([]string{"-n", "10"}, cmd.Args...)...)
	}
	for path, to := range map[string]*io.Writer{out: &cmd.Stdout, log: &cmd.Stderr} {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		defer f.Close()
		*to = f
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	return cmd.Run()
}

// read decodes a report that a tool has written.
func read(path string, to any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, to)
}

// fail records a reason why the drill failed; it ignores nil.
func (r *result) fail(err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.problems = append(r.problems, err.Error())
	}
}

// loadReport is the part of a crowd's report that a drill reads.
type loadReport struct {
	Arrived  int `json:"arrived"`
	Outcomes []struct {
		Name  string `json:"name"`
		Count int    `json:"count"`
	} `json:"outcomes"`
	Requests struct {
		Sent int `json:"sent"`
	} `json:"requests"`
}
