//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	gone     = 10 * time.Second // for a killed process to exit
	goneLook = 5 * time.Millisecond
)

// server is one of the servers in e2e/servers, which a drill kills, suspends and restarts.
type server struct {
	script  string // e2e/servers/<script>.sh
	dir     string // folder of its pid, log and data
	environ []string
	addr    string // as the script printed it; a restart uses the same port
}

// start runs the server and waits until it answers.
func (s *server) start(ctx context.Context, root string) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(root, "e2e", "servers", s.script+".sh"), "start", s.dir)
	cmd.Env = append(os.Environ(), s.environ...)
	if s.addr != "" {
		cmd.Env = append(cmd.Env, "PORT="+s.addr[strings.LastIndex(s.addr, ":")+1:])
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C goes to the drills, which stop the server
	log, err := os.Create(filepath.Join(s.dir, "start.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stderr = log
	out, err := cmd.Output()
	if err != nil {
		said, _ := os.ReadFile(log.Name())
		return fmt.Errorf("%s: %w\n%s", s.script, err, said)
	}
	s.addr = strings.TrimSpace(string(out))
	return nil
}

// pid returns the server's pid, which its script recorded.
func (s *server) pid() (int, error) {
	b, err := os.ReadFile(filepath.Join(s.dir, s.script+".pid"))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(b)))
}

func (s *server) signal(sig syscall.Signal) error {
	pid, err := s.pid()
	if err != nil {
		return err
	}
	return syscall.Kill(pid, sig)
}

// kill ends the server by SIGKILL and waits until it has exited.
func (s *server) kill() error {
	pid, err := s.pid()
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return err
	}
	for end := time.Now().Add(gone); time.Now().Before(end); time.Sleep(goneLook) {
		if ended(pid) {
			return nil
		}
	}
	return fmt.Errorf("%s: process %d survives SIGKILL", s.script, pid)
}

// ended reports whether a process has exited or is a zombie.
func ended(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")
}

// stop ends the server if it was started.
func (s *server) stop() {
	pid, err := s.pid()
	if err != nil {
		return
	}
	// setsid made its pid the group's; if it has exited, nothing needs to be done
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	_ = os.Remove(filepath.Join(s.dir, s.script+".pid"))
}
