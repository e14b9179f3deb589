//go:build real

// Package altcha_test holds shared/api/altcha to ALTCHA's own code, which install.sh in this folder installs: its
// library for servers (altcha-lib) and the worker of its widget (altcha).
package altcha_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os/exec"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/altcha"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	secret = "a secret of the shop"
	user   = "42 <&>" // whatever a JSON writer may escape
	item   = "1001"
)

var work = seckill.Work{Cost: 100, Tries: 200}

// key is how the adapter makes its keys of the shop's secret.
func key(use string) string {
	m := hmac.New(sha256.New, []byte(secret))
	m.Write([]byte(use))
	return hex.EncodeToString(m.Sum(nil))
}

func proofs(t *testing.T) *altcha.Proofs {
	t.Helper()
	p, err := altcha.New([][]byte{[]byte(secret)}, system.Clock{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func challenge(t *testing.T) json.RawMessage {
	t.Helper()
	c, err := proofs(t).Make(user, item, work, time.Now().Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// peer has ALTCHA's code do a job.
func peer(t *testing.T, job map[string]any) json.RawMessage {
	t.Helper()
	line, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "peer.mjs")
	cmd.Stdin = bytes.NewReader(append(line, '\n'))
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s (run install.sh)", err, &complaint)
	}
	return out
}

// verified has the library verify a solution; with the keys' own secret it compares signatures, else it derives the
// key anew.
func verified(t *testing.T, payload json.RawMessage, secret, keySecret string) bool {
	t.Helper()
	job := map[string]any{"do": "verify", "payload": payload, "secret": secret}
	if keySecret != "" {
		job["keySecret"] = keySecret
	}
	var said struct{ Verified, InvalidSignature, InvalidSolution bool }
	if err := json.Unmarshal(peer(t, job), &said); err != nil {
		t.Fatal(err)
	}
	return said.Verified && !said.InvalidSignature && !said.InvalidSolution
}

// TestTheirSolvers: what the library and the widget's worker solve is a proof, of its shopper only.
func TestTheirSolvers(t *testing.T) {
	t.Parallel()
	for _, job := range []string{"solve", "work"} {
		payload := peer(t, map[string]any{"do": job, "challenge": challenge(t)})
		if took, ok := proofs(t).Check(payload, user, item); !ok || took <= 0 {
			t.Errorf("%s: no proof (%v): %s", job, took, payload)
		}
		if _, ok := proofs(t).Check(payload, "43", item); ok {
			t.Errorf("%s: a proof of another", job)
		}
	}
}

// TestTheirVerifier: the library verifies what our solver solves, both ways, and nothing forged.
func TestTheirVerifier(t *testing.T) {
	t.Parallel()
	solution, _, err := altcha.Solve(challenge(t))
	if err != nil {
		t.Fatal(err)
	}
	signs, keys := key("altcha challenge"), key("altcha key")
	for name, c := range map[string]struct {
		payload         []byte
		signs, keySigns string
		want            bool
	}{
		"by signature":         {solution, signs, keys, true},
		"by deriving":          {solution, signs, "", true},
		"another secret":       {solution, keys, keys, false},
		"another key's secret": {solution, signs, signs, false},
		"another item":         {bytes.Replace(solution, []byte(item), []byte("1002"), 1), signs, keys, false},
		"another key": {bytes.Replace(solution, []byte(`"derivedKey":"`), []byte(`"derivedKey":"00`), 1), signs, "",
			false},
	} {
		if got := verified(t, c.payload, c.signs, c.keySigns); got != c.want {
			t.Errorf("%s: verified %v, want %v", name, got, c.want)
		}
	}
}

// TestTheirChallenge: our solver solves the library's challenge, and our check takes it: it is signed as ours are.
func TestTheirChallenge(t *testing.T) {
	t.Parallel()
	signs, keys := key("altcha challenge"), key("altcha key")
	made := peer(t, map[string]any{"do": "create", "counter": 57, "secret": signs, "keySecret": keys,
		"data": map[string]string{"item": item, "user": user}})
	solution, tried, err := altcha.Solve(made)
	if err != nil || tried != 58 {
		t.Fatalf("solved after %d keys, want 58: %v", tried, err)
	}
	if !verified(t, solution, signs, keys) {
		t.Errorf("their verifier refuses %s", solution)
	}
	if _, ok := proofs(t).Check(solution, user, item); !ok {
		t.Errorf("our check refuses %s", solution)
	}
}
