package operator_test

import (
	"bytes"
	"crypto/ed25519"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/operator"
)

func seed(b byte) (out [ed25519.SeedSize]byte) {
	copy(out[:], bytes.Repeat([]byte{b}, len(out)))
	return out
}

// TestKeysReplaceEachOther: functions accept the key that signs at any time, the one before for an hour more, and one
// that is to come, so that no command is refused while instances read new keys.
func TestKeysReplaceEachOther(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	keys := operator.Keys(nil).Add(seed(1), start)
	keys = keys.Add(seed(2), start.Add(15*time.Minute))
	again, err := operator.ParseKeys(keys.String())
	if err != nil || again.String() != keys.String() {
		t.Fatalf("%v", err)
	}
	public, err := operator.ParsePublicKeys(again.Public().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		after     time.Duration
		signs     byte
		old, next bool // accepted
	}{
		{-time.Hour, 1, true, true},
		{0, 1, true, true},
		{15*time.Minute - time.Second, 1, true, true},
		{15 * time.Minute, 2, true, true},
		{75*time.Minute - time.Second, 2, true, true},
		{75 * time.Minute, 2, false, true},
		{1000 * time.Hour, 2, false, true},
	} {
		now := start.Add(c.after)
		text := []byte("command")
		if made := again.Signs(now); !bytes.Equal(made.Seed(), bytes.Repeat([]byte{c.signs}, 32)) {
			t.Errorf("after %v another key signs than %d", c.after, c.signs)
		}
		var seeds []byte // the first byte of each
		for _, s := range again.Seeds(now) {
			seeds = append(seeds, s[0])
		}
		if want := []byte{c.signs, 3 - c.signs}; !bytes.Equal(seeds, want) && (c.old || !bytes.Equal(seeds, want[:1])) {
			t.Errorf("after %v the seeds of %v, want %v", c.after, seeds, want)
		}
		for b, want := range map[byte]bool{1: c.old, 2: c.next} {
			s := seed(b)
			signature, got := ed25519.Sign(ed25519.NewKeyFromSeed(s[:]), text), false
			for _, k := range public.Accepted(now) {
				got = got || ed25519.Verify(k, text, signature)
			}
			if got != want {
				t.Errorf("after %v key %d is accepted: %v, want %v", c.after, b, got, want)
			}
		}
	}
	many := keys.Add(seed(3), start).Add(seed(4), start)
	fields := strings.Fields(many.String())
	if len(fields) != 3 || strings.Contains(many.String(), strings.Fields(keys.String())[0]) {
		t.Errorf("of four keys the oldest stays: %d", len(fields))
	}
	if _, err := operator.ParseKeys(many.String()); err != nil {
		t.Errorf("keys of one time: %v", err)
	}
	if operator.Keys(nil).Signs(start) != nil || len(operator.PublicKeys(nil).Accepted(start)) > 0 {
		t.Error("no key is a key")
	}
}

// TestKeysThatCannotBeRead: no error shows a key.
func TestKeysThatCannotBeRead(t *testing.T) {
	t.Parallel()
	const good = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="
	for _, text := range []string{"", good, "x:" + good, "-1:" + good, "1:" + good[4:], "1:" + good + " 1:" + good,
		"2:" + good + " 1:" + good, "1:" + good + " 2:" + good + " 3:" + good + " 4:" + good, "1:*" + good[1:]} {
		if _, err := operator.ParseKeys(text); err == nil || strings.Contains(err.Error(), good[4:]) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := operator.ParsePublicKeys("1:" + good + "\n2:" + good); err != nil {
		t.Error(err)
	}
}
