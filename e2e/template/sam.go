package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// translator is sam.py, which has SAM's own code evaluate and translate the templates.
type translator struct {
	in     io.Writer
	out    *bufio.Reader
	faults bytes.Buffer
	known  map[string][]byte // answers, by request
}

// python returns the Python that has SAM: the one that SAM_PYTHON names, or the project's, which it installs.
func python(ctx context.Context, root string) (string, error) {
	if name := os.Getenv("SAM_PYTHON"); name != "" {
		return name, nil
	}
	cmd := exec.CommandContext(ctx, filepath.Join(root, "e2e", "servers", "sam.sh"), "--python")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// startSAM starts sam.py for the project in the folder root. It ends with the context.
func startSAM(ctx context.Context, root string) (*translator, error) {
	name, err := python(ctx, root)
	if err != nil {
		return nil, fmt.Errorf("sam.sh: %w", err)
	}
	s := &translator{known: map[string][]byte{}}
	cmd := exec.CommandContext(ctx, name, filepath.Join(root, "e2e", "template", "sam.py"), root)
	cmd.Env, cmd.Stderr = append(os.Environ(), "AWS_DEFAULT_REGION=eu-west-1"), &s.faults
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReader(out)
	if s.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	return s, cmd.Start()
}

// ask returns the answer to a request, as sam.py describes both. Each caller gets its own.
func (s *translator) ask(request map[string]any) (map[string]any, error) {
	line, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	answer, ok := s.known[string(line)]
	if !ok {
		if _, err = s.in.Write(append(line, '\n')); err == nil {
			answer, err = s.out.ReadBytes('\n')
		}
		if err != nil {
			return nil, fmt.Errorf("sam.py: %w: %s", err, s.faults.String())
		}
		s.known[string(line)] = answer
	}
	return parse(answer)
}

// deploy returns the stack's resources as CloudFormation makes them with these parameters.
func (s *translator) deploy(params map[string]string) (*template, error) {
	tree, err := s.ask(map[string]any{"stack": params})
	return &template{tree}, err
}

// everything has parameters with which a stack has all functions.
var everything = map[string]string{"Sandbox": "true", "CreateCache": "true", "RedisPassword": "true",
	"CreatePush": "true", "JwtKids": "2026", "WebhookUrl": "https://erp.example.com/hook", "AlarmEmail": "a@example.com",
	"StaffIssuer": "https://id.example.com|office", "StaffSecret": "true"}
