package seckill

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestParseSubject: what an operator may write, and what is refused.
func TestParseSubject(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Subject{
		"42": "user:42", "9223372036854775807": "user:9223372036854775807",
		"203.0.113.7": "net:203.0.113.7/32", "203.0.113.0/24": "net:203.0.113.0/24",
		"::ffff:203.0.113.7": "net:203.0.113.7/32",
		"2001:db8::1":        "net:2001:db8::/64", "2001:db8::/32": "net:2001:db8::/32",
		"2001:DB8:0:0::/64": "net:2001:db8::/64",
	} {
		if got, err := ParseSubject(text); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "042", "-1", "9223372036854775808", "4 2", "四", "203.0.113.7/24",
		"10.0.0.0/8", "203.0.113.0/25", "0.0.0.0/0", "2001:db8::/48x", "2001:db8::1/128",
		"fe80::1%eth0", "::ffff:1.2.3.0/120", "user:42"} {
		if got, err := ParseSubject(text); CodeOf(err) != CodeInvalid {
			t.Errorf("%q: %q, %v; want it refused", text, got, err)
		}
	}
}

// TestParseSubjectNamesWhatIsWrong: a width that no block may have comes before how the range is written.
func TestParseSubjectNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"10.0.0.0/4": "/16..", "2001:db8::1/20": "/32..",
		"203.0.113.7/24": "203.0.113.0/24"} {
		var refused *Error
		if _, err := ParseSubject(text); !errors.As(err, &refused) || refused.Hint != want {
			t.Errorf("%s: %+v, want %q", text, refused, want)
		}
	}
}

// TestNetworkSubjects: whatever range can be blocked is found from each address in it.
func TestNetworkSubjects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, in, out string }{
		{"203.0.113.7", "203.0.113.7", "203.0.113.8"}, {"203.0.113.0/28", "203.0.113.15", "203.0.113.16"},
		{"203.0.112.0/20", "203.0.127.255", "203.0.128.0"}, {"203.0.0.0/16", "::ffff:203.0.1.1", "203.1.0.0"},
		{"2001:db8::/32", "2001:db8:ffff::1", "2001:db9::"}, {"2001:db8::7", "2001:db8::ffff", "2001:db8:0:1::"},
	} {
		s, err := ParseSubject(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(NetworkSubjects(netip.MustParseAddr(c.in)), s) {
			t.Errorf("%s is not found from %s", s, c.in)
		}
		if slices.Contains(NetworkSubjects(netip.MustParseAddr(c.out)), s) {
			t.Errorf("%s is found from %s", s, c.out)
		}
	}
	if got := NetworkSubjects(netip.Addr{}); got != nil {
		t.Errorf("no address is in %v", got)
	}
}

// TestBlockValidates: each wrong field is named.
func TestBlockValidates(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 11, 0, 0, 0, 0, time.UTC)
	good := Block{Subject: "user:42", Item: Everywhere, Reason: "script", By: "ada", Made: at}
	for field, change := range map[string]func(*Block){
		"":        func(b *Block) { b.Until = at.Add(1) },
		"subject": func(b *Block) { b.Subject = "net:42" },
		"item":    func(b *Block) { b.Item = "" },
		"reason":  func(b *Block) { b.Reason = "two\nlines" },
		"by":      func(b *Block) { b.By = strings.Repeat("长", MaxBlockAuthor+1) },
		"until":   func(b *Block) { b.Until = at },
	} {
		b := good
		change(&b)
		err := b.Check()
		if field == "" && err != nil || field != "" && (err == nil || AsError(err).Field != field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}
