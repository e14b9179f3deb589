package main

import (
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/cmd/seckill/secrets"
	"github.com/your-org/seckill/shared/api/jwtauth"
)

func TestTokenIsTaken(t *testing.T) {
	m := newManager(t)
	m.keys(t, "--sandbox")
	verifier := func(at time.Time) *jwtauth.Verifier {
		v, err := jwtauth.New(jwtauth.Keys{Current: m.stored()[secrets.JWTSecret]}, stopped(at))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for valid, args := range map[time.Duration][]string{time.Hour: nil, time.Minute: {"--valid", "1m"}} {
		before := time.Now()
		code, stdout, stderr := command(t, append([]string{"token", "--path", testPath, "--user", "9007199254740993"},
			args...)...)
		if code != exitOK || stderr != "" || strings.Count(stdout, "\n") != 1 {
			t.Fatalf("exit %d, %s%s", code, stdout, stderr)
		}
		token := strings.TrimSpace(stdout)
		if user, err := verifier(before).User(token); err != nil || user != "9007199254740993" {
			t.Errorf("valid %v: user %q, %v", valid, user, err)
		}
		if _, err := verifier(before.Add(valid - time.Second)).User(token); err != nil {
			t.Errorf("valid %v: a second before its end: %v", valid, err)
		}
		if _, err := verifier(time.Now().Add(valid + time.Second)).User(token); err == nil {
			t.Errorf("valid %v: a second after its end it is taken", valid)
		}
	}
	m.written()
	for _, user := range []string{"0", "x", "01", "-1"} {
		m.refused(t, exitUsage, "want a user id", "token", "--path", testPath, "--user="+user)
	}
}

// stopped is a clock that stands still.
type stopped time.Time

// Now implements seckill.Clock.
func (s stopped) Now() time.Time { return time.Time(s) }
