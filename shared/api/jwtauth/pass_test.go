package jwtauth_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/seckill"
)

type passClock struct{ now time.Time }

func (c *passClock) Now() time.Time { return c.now }

// TestPasses: a pass is good until it ends, under any key of the set; a changed, foreign or ended one is refused.
func TestPasses(t *testing.T) {
	t.Parallel()
	clock := &passClock{time.Date(2026, 11, 11, 2, 0, 0, 5e8, time.UTC)}
	keys := jwtauth.Keys{Current: "one", ByKid: map[string]string{"2026": "two", "2027": "three"}}
	p := jwtauth.NewPasses(keys, clock)
	text, expires := p.Make("42", "nonce")
	want := seckill.Pass{User: "42", Expires: time.Date(2026, 11, 11, 2, 2, 0, 0, time.UTC), Nonce: "nonce"}
	if got, err := p.Check(text); err != nil || got != want || !expires.Equal(want.Expires) {
		t.Errorf("%+v, %v, expires %v; want %+v", got, err, expires, want)
	}
	for what, one := range map[string]jwtauth.Keys{"current key": {Current: "one"}, "newest key": {ByKid: keys.ByKid},
		"older key": {ByKid: map[string]string{"2026": "two"}}} {
		text, _ := jwtauth.NewPasses(one, clock).Make("42", "nonce")
		if _, err := p.Check(text); err != nil {
			t.Errorf("a pass under the %s: %v", what, err)
		}
	}
	mac := text[strings.LastIndexByte(text, '.'):]
	foreign, _ := jwtauth.NewPasses(jwtauth.Keys{Current: "other"}, clock).Make("42", "nonce")
	swapped := []byte(text)
	swapped[len(swapped)-5] ^= 1
	for what, text := range map[string]string{"empty": "", "no mac": "42.1.nonce", "another user": "43" + text[2:],
		"a later end": strings.Replace(text, ".17", ".18", 1), "foreign": foreign, "mac only": mac,
		"changed": string(swapped), "long": text + strings.Repeat("a", 200), "padded": text + "=",
		"a line break in it": text + "\n"} {
		if got, err := p.Check(text); !errors.Is(err, seckill.ErrPass) {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
	clock.now = want.Expires
	if _, err := p.Check(text); !errors.Is(err, seckill.ErrPass) {
		t.Errorf("at its end: %v", err)
	}
}
