//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const proxyCall = 20 * time.Second

// proxies is a toxiproxy server between functions and their servers, in drills that delay and cut connections.
type proxies struct {
	url string
	cmd *exec.Cmd
	log string
}

// startProxies runs .tools/toxiproxy-server.
func startProxies(ctx context.Context, root, dir string) (*proxies, error) {
	addr, err := freeAddr(ctx)
	if err != nil {
		return nil, err
	}
	host, port, _ := net.SplitHostPort(addr)
	p := &proxies{url: "http://" + addr, log: filepath.Join(dir, "toxiproxy.log")}
	log, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p.cmd = exec.CommandContext(context.WithoutCancel(ctx), filepath.Join(root, ".tools", "toxiproxy-server"), "-host",
		host, "-port", port)
	p.cmd.Env = append(os.Environ(), "LOG_LEVEL=info")
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	for p.call(ctx, http.MethodGet, "/version", nil) != nil {
		select {
		case <-ctx.Done():
			p.stop()
			return nil, ctx.Err()
		case <-time.After(goneLook):
		}
	}
	return p, nil
}

func (p *proxies) stop() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// open makes a proxy in front of each server, and returns the settings that use them.
func (p *proxies) open(ctx context.Context, r string, servers map[string]string) (map[string]string, error) {
	out := map[string]string{}
	for setting, server := range servers {
		addr, err := freeAddr(ctx)
		if err != nil {
			return nil, err
		}
		scheme := ""
		if at := strings.Index(server, "://"); at > 0 {
			scheme = server[:at+len("://")]
		}
		if err := p.call(ctx, http.MethodPost, "/proxies", map[string]any{"name": proxyName(r, setting),
			"listen": addr, "upstream": strings.TrimPrefix(server, scheme), "enabled": true}); err != nil {
			return nil, err
		}
		out[setting] = scheme + addr
	}
	return out, nil
}

// proxied lists the settings whose servers are behind proxies.
var proxied = []string{"REDIS_ADDRS", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_SQS"}

func proxyName(r, setting string) string { return r + "-" + setting }

// latency delays the answers of a proxy's servers.
func (p *proxies) latency(ctx context.Context, r, setting string, mean, jitter time.Duration) error {
	return p.toxic(ctx, r, setting, "latency", 1, map[string]int64{"latency": mean.Milliseconds(),
		"jitter": jitter.Milliseconds()})
}

// reset cuts this share of the connections with a TCP reset as soon as data comes through.
func (p *proxies) reset(ctx context.Context, r, setting string, share float64) error {
	return p.toxic(ctx, r, setting, "reset_peer", share, map[string]int64{"timeout": 0})
}

func (p *proxies) toxic(ctx context.Context, r, setting, kind string, share float64,
	attributes map[string]int64) error {
	return p.call(ctx, http.MethodPost, "/proxies/"+proxyName(r, setting)+"/toxics",
		map[string]any{"name": kind, "type": kind, "stream": "downstream", "toxicity": share, "attributes": attributes})
}

// cure removes a toxic.
func (p *proxies) cure(ctx context.Context, r, setting, kind string) error {
	return p.call(ctx, http.MethodDelete, "/proxies/"+proxyName(r, setting)+"/toxics/"+kind, nil)
}

// connections returns how many were opened through a rig's proxies so far.
func (p *proxies) connections(r string) (n int) {
	b, _ := os.ReadFile(p.log) // none was opened
	for line := range bytes.Lines(b) {
		if bytes.Contains(line, []byte("Accepted client")) && bytes.Contains(line, []byte(proxyName(r, ""))) {
			n++
		}
	}
	return n
}

func (p *proxies) call(ctx context.Context, method, path string, in any) error {
	ctx, cancel := context.WithTimeout(ctx, proxyCall)
	defer cancel()
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, method, p.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	said, _ := io.ReadAll(answer.Body)
	if answer.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("toxiproxy: %s %s: %s %s", method, path, answer.Status, said)
	}
	return nil
}

func freeAddr(ctx context.Context) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
