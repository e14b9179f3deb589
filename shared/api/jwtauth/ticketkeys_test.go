package jwtauth_test

import (
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/jwtauth"
)

const keyText = "1764000000:a-secret-of-tickets 1764000900:another-one-of-tickets"

func TestTicketKeys(t *testing.T) {
	t.Parallel()
	keys, err := jwtauth.ParseTicketKeys(" " + strings.ReplaceAll(keyText, " ", "\n "))
	if err != nil || keys.String() != keyText || keys[0].Kid() != "1764000000" ||
		keys[1].Secret != "another-one-of-tickets" {
		t.Fatalf("%v, %v", keys, err)
	}
	second := keys[1].From
	for at, want := range map[time.Time]int{second.Add(-time.Second): 0, second: 1, second.Add(time.Hour): 1,
		keys[0].From.Add(-time.Hour): 0} {
		if got := keys.Maker(at); got != want {
			t.Errorf("at %v key %d makes tickets, want %d", at, got, want)
		}
	}
	if s := keys.Secrets(1); len(s) != 1 || s["1764000000"] != "a-secret-of-tickets" {
		t.Errorf("the first key is %v", s)
	}

	// Another key keeps the two before it; the next key drops the oldest. No two keys begin together.
	third := keys.Add("x-third-of-tickets", second)
	if len(third) != 3 || !third[2].From.Equal(second.Add(time.Second)) || third[0] != keys[0] || len(keys) != 2 {
		t.Errorf("after another one: %v", third)
	}
	fourth := third.Add("a-fourth-of-tickets", second.Add(time.Minute+time.Millisecond))
	if len(fourth) != jwtauth.MaxTicketKeys || fourth[0] != keys[1] || !fourth[2].From.Equal(second.Add(time.Minute)) {
		t.Errorf("after two more: %v", fourth)
	}
	if again, err := jwtauth.ParseTicketKeys(fourth.String()); err != nil || again.String() != fourth.String() {
		t.Errorf("%v, %v", again, err)
	}
	if first := jwtauth.TicketKeys(nil).Add("the-first-of-tickets", second); first.Maker(second) != 0 {
		t.Errorf("a first key: %v", first)
	}
}

func TestTicketKeysRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "  ", "a-secret-of-tickets", "soon:a-secret-of-tickets",
		"1764000000:short", "1764000000:", "-764000000:a-secret-of-tickets", "01764000000:a-secret-of-tickets",
		keyText + " 1764000000:again-a-secret-of-tickets",
		keyText + " 1764000901:x-third-of-tickets 1764000902:a-fourth-of-tickets"} {
		keys, err := jwtauth.ParseTicketKeys(text)
		if err == nil || strings.Contains(err.Error(), "tickets ") || strings.Contains(err.Error(), "-of-") {
			t.Errorf("%q: %v, %v", text, keys, err)
		}
	}
}
