package jwtauth

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MaxTicketKeys is how many keys of tickets a stack has at most: one key that makes tickets, and earlier keys that
// check them.
const MaxTicketKeys = 3

// minTicketSecret is the shortest secret of a ticket key, in characters.
const minTicketSecret = 16

// TicketKey is one of the keys that tickets and proofs of work are made with. Nothing is made with it before From,
// unless it is the oldest key: an instance may read a new key some minutes after another instance, and would refuse
// what the other has made with it.
type TicketKey struct {
	From   time.Time // in whole seconds; different for each key
	Secret string
}

// Kid is the key's id in tickets. Ids sort as the keys' times.
func (k *TicketKey) Kid() string { return fmt.Sprintf("%010d", k.From.Unix()) }

// TicketKeys are a stack's keys, the oldest first.
type TicketKeys []TicketKey

// ParseTicketKeys reads what TicketKeys.String wrote. Its error does not contain the text.
func ParseTicketKeys(text string) (TicketKeys, error) {
	var keys TicketKeys
	for _, field := range strings.Fields(text) {
		kid, secret, _ := strings.Cut(field, ":")
		from, err := strconv.ParseInt(kid, 10, 64)
		k := TicketKey{time.Unix(from, 0), secret}
		if err != nil || from < 0 || k.Kid() != kid || len(secret) < minTicketSecret {
			return nil, fmt.Errorf("jwtauth: ticket key %d is not SECONDS:SECRET", len(keys)+1)
		}
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b TicketKey) int { return cmp.Compare(a.Kid(), b.Kid()) })
	switch {
	case len(keys) == 0 || len(keys) > MaxTicketKeys:
		return nil, fmt.Errorf("jwtauth: %d ticket keys, want 1 to %d", len(keys), MaxTicketKeys)
	case len(keys.Secrets(len(keys))) < len(keys):
		return nil, errors.New("jwtauth: two ticket keys begin at the same second")
	}
	return keys, nil
}

// String returns the keys as texts SECONDS:SECRET, separated by spaces. It shows the secrets.
func (keys TicketKeys) String() string {
	fields := make([]string, len(keys))
	for i, k := range keys {
		fields[i] = k.Kid() + ":" + k.Secret
	}
	return strings.Join(fields, " ")
}

// Add returns the keys with another key, which makes tickets from this time on, or right after the newest begins. Of
// more than MaxTicketKeys the oldest go.
func (keys TicketKeys) Add(secret string, from time.Time) TicketKeys {
	from = from.Truncate(time.Second)
	if n := len(keys); n > 0 && !from.After(keys[n-1].From) {
		from = keys[n-1].From.Add(time.Second)
	}
	all := append(slices.Clone(keys), TicketKey{from, secret})
	return all[max(0, len(all)-MaxTicketKeys):]
}

// Maker returns the index of the key that makes tickets at this time: the newest key that has begun, else the oldest.
func (keys TicketKeys) Maker(now time.Time) int {
	for i := len(keys) - 1; i > 0; i-- {
		if !now.Before(keys[i].From) {
			return i
		}
	}
	return 0
}

// Secrets returns the first n keys' secrets by kid, as NewTickets takes them: the last of them makes tickets.
func (keys TicketKeys) Secrets(n int) map[string]string {
	out := map[string]string{}
	for _, k := range keys[:n] {
		out[k.Kid()] = k.Secret
	}
	return out
}
