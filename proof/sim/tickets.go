package sim

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/flow/sale/buy"
	"github.com/your-org/seckill/shared/seckill"
)

// keyDelay is how long after its rotation a key of tickets begins to make them, as `seckill keys` has it; every
// instance that handles events has read it by then.
const keyDelay = 15 * time.Minute

// readEvery is how often an instance that handles events reads the keys (config.RefreshEvery).
const readEvery = 5 * time.Minute

// rotate adds a key, as an operator does: the first one makes tickets at once.
func (d *door) rotate(now time.Time) {
	var keys jwtauth.TicketKeys
	from := now
	if n := len(d.rotations); n > 0 {
		keys, from = d.rotations[n-1].keys, now.Add(keyDelay)
	}
	keys = keys.Add(fmt.Sprintf("the-secret-number-%03d", len(d.rotations)+1), from)
	d.numbers[keys[len(keys)-1].Kid()] = len(d.rotations)
	d.rotations = append(d.rotations, rotation{now, keys})
}

// keys are those that an operator sees.
func (d *door) keys() jwtauth.TicketKeys { return d.rotations[len(d.rotations)-1].keys }

// begun reports whether the newest key makes tickets by every clock.
func (d *door) begun(now time.Time) bool {
	return len(d.rotations) == 1 || d.rotations[len(d.rotations)-1].begun(now)
}

// begun reports whether its key makes tickets by every clock. Of several rotations in one second each key begins a
// second after the one before.
func (r *rotation) begun(now time.Time) bool {
	from := r.at.Add(keyDelay)
	if newest := r.keys[len(r.keys)-1]; newest.From.After(from) {
		from = newest.From
	}
	return !now.Before(from.Add(2 * seckill.SkewBound))
}

// checks reports whether a key checks by what an operator is told: the newest, and the two before it.
func (d *door) checks(kid string) bool {
	n, made := d.numbers[kid]
	return made && len(d.rotations)-n <= jwtauth.MaxTicketKeys
}

// droppedSince returns until when an instance may still know a key that checks no more.
func (d *door) droppedSince(kid string) time.Time {
	n, made := d.numbers[kid]
	if n += jwtauth.MaxTicketKeys; !made || n >= len(d.rotations) {
		return time.Time{}
	}
	return d.rotations[n].at
}

// keyring is an instance's memory of the keys: as functions' settings do, it learns of a change some time later, and
// between two events.
type keyring struct {
	w       *World
	clock   seckill.Clock
	known   int                                      // rotations
	learns  func(rotation int) (after time.Duration) // nil means at once
	built   int                                      // rotations that made and checks know
	made    *jwtauth.Makers
	checked *jwtauth.Tickets
}

func (w *World) keyring(clock seckill.Clock) *keyring {
	k := &keyring{w: w, clock: clock}
	k.refresh() // a process reads the secrets before its first event: it learns everything
	return k
}

// refresh is called before each event. It learns the keys that this instance would have read by now; since no instance
// that handles events reads less often, it knows a key before its time comes by any other instance's clock.
func (k *keyring) refresh() {
	n := k.known
	for all := k.w.door.rotations; n < len(all); n++ {
		if k.learns != nil && k.w.Clock.Now().Before(all[n].at.Add(k.learns(n))) {
			break
		}
	}
	k.known = n
}

// build returns what makes and checks with the keys that this instance knows. Most instances never do.
func (k *keyring) build() (*jwtauth.Makers, *jwtauth.Tickets) {
	if k.built == k.known {
		return k.made, k.checked
	}
	// as an instance reads them: through their text
	keys, err := jwtauth.ParseTicketKeys(k.w.door.rotations[k.known-1].keys.String())
	if err != nil && k.built > 0 {
		k.w.truth.fail("A1 an instance cannot read the keys of tickets: %v", err)
		k.built = k.known
		return k.made, k.checked
	}
	if err != nil {
		panic(err)
	}
	if k.made, err = jwtauth.NewMakers(keys, k.clock); err != nil {
		panic(err)
	}
	if k.checked, err = jwtauth.NewTickets(keys.Secrets(len(keys)), k.clock); err != nil {
		panic(err)
	}
	k.built = k.known
	return k.made, k.checked
}

func (k *keyring) makers() *jwtauth.Makers {
	made, _ := k.build()
	return made
}

// oldest returns the number of the oldest key that this instance knows: it picks questions.
func (k *keyring) oldest() int { return max(0, k.known-jwtauth.MaxTicketKeys) }

// newest returns the number of the newest key that this instance knows and whose time has come by any clock.
func (k *keyring) newest() (n int) {
	for i := range k.known {
		if i > 0 && k.w.door.rotations[i].begun(k.w.Clock.Now()) {
			n = i
		}
	}
	return n
}

// Make implements seckill.TicketMaker, and checks that no key makes tickets when a newer one should.
func (k *keyring) Make(user, item string, expires time.Time) (string, error) {
	text, err := k.makers().Make(user, item, expires)
	if n, made := k.w.door.numbers[kidOf(text)]; !made || n < k.newest() {
		k.w.truth.fail("A1 key %d makes a ticket, though key %d is known and its time has come", n, k.newest())
	}
	return text, err
}

// ticketChecker is how an instance of the step buy checks tickets; its keys are not those of the instance of admit.
type ticketChecker struct {
	*keyring
	jwtauth.TicketChecker
	woke    time.Time // the last event
	renewed int       // times
	fails   func(n int) bool
}

func (w *World) ticketChecker(clock seckill.Clock) *ticketChecker {
	c := &ticketChecker{keyring: w.keyring(clock), woke: w.Clock.Now(), fails: func(int) bool { return false }}
	c.Renew = c.renew
	return c
}

// wake is called before each event. An instance that got none for a while has read nothing meanwhile: it begins to read
// now, and knows the keys at the next event.
func (c *ticketChecker) wake() (slept bool) {
	now := c.w.Clock.Now()
	slept = c.learns != nil && now.Sub(c.woke) >= readEvery
	if c.woke = now; !slept {
		c.refresh()
	}
	return slept
}

// Check implements seckill.TicketChecker.
func (c *ticketChecker) Check(ticket, user, item string) error {
	_, checks := c.build()
	c.Store(checks)
	return c.TicketChecker.Check(ticket, user, item)
}

// renew reads the keys while a shopper waits.
func (c *ticketChecker) renew() error {
	if c.renewed++; c.fails(c.renewed) {
		c.w.door.heard["key: unread"]++
		return errors.New("the keys cannot be read")
	}
	c.w.door.heard["key: renewed"]++
	c.known = len(c.w.door.rotations)
	_, checks := c.build()
	c.Store(checks)
	return nil
}

// Pick implements seckill.Picker.
func (k *keyring) Pick(user, item string, slot int64, n int) int {
	return k.makers().Pick(user, item, slot, n)
}

// ringProofs are the proofs of an instance.
type ringProofs struct{ *keyring }

// Make implements seckill.Proofs.
func (p ringProofs) Make(user, item string, w seckill.Work, expires time.Time) ([]byte, error) {
	return p.makers().Proofs().Make(user, item, w, expires)
}

// Check implements seckill.Proofs.
func (p ringProofs) Check(solution []byte, user, item string) (time.Duration, bool) {
	return p.makers().Proofs().Check(solution, user, item)
}

// kidOf returns the key's id in a ticket's header, "" if there is none.
func kidOf(ticket string) string {
	header, _, _ := strings.Cut(ticket, ".")
	text, err := base64.RawURLEncoding.DecodeString(header)
	var h struct{ Kid string }
	if err != nil || json.Unmarshal(text, &h) != nil {
		return ""
	}
	return h.Kid
}

// learning draws when an instance learns of each rotation: within two reads, or as late as it may, or at once.
func learning(seed uint64, instance int) func(int) time.Duration {
	most := keyDelay - seckill.SkewBound // a maker's clock may be ahead
	return func(n int) time.Duration {
		r := seeded(seed, 23+uint64(instance)+uint64(n)<<8)
		return []time.Duration{0, time.Duration(r.Int64N(int64(keyDelay) * 2 / 3)), most}[r.IntN(3)]
	}
}

// unreadable draws which reads of keys fail while a shopper waits.
func unreadable(seed uint64, instance int) func(int) bool {
	return func(n int) bool { return seeded(seed, 29+uint64(instance)+uint64(n)<<8).IntN(2) == 0 }
}

// hearKeys counts the cases that plans should reach: an instance that has not read the newest key, and tickets by a
// rotated key or by the first one.
func (d *door) hearKeys(k *keyring, ticket string) {
	if k.known < len(d.rotations) {
		d.heard["key: behind"]++
	}
	switch n := d.numbers[kidOf(ticket)]; {
	case n > 0:
		d.heard["key: rotated"]++
	case k.known > 1 && ticket != "":
		d.heard["key: of before"]++
	}
}

// hurried reports whether an operator has rotated keys whose time had not come, which ends tickets at once: an instance
// may make tickets with a key that another one does not know.
func (d *door) hurried(now time.Time) bool {
	return slices.ContainsFunc(d.hurries, func(at time.Time) bool {
		return now.Before(at.Add(keyDelay + 2*seckill.SkewBound))
	})
}

// passes reports of a purchase that is sent now whether it may reserve something, and whether its ticket must not be
// refused. An instance that slept takes tickets of a dropped key until it has read the keys.
func (w *World) passes(p buy.Purchase, slept bool) (may, must bool) {
	if w.item(p.Item).Checks == seckill.ChecksOff {
		return true, true
	}
	g, ok := w.door.given[p.Ticket]
	if !ok || g.holder != (holder{p.User, p.Item}) {
		return false, false
	}
	kid, now := kidOf(p.Ticket), w.Clock.Now()
	if dropped := w.door.droppedSince(kid); !slept && !dropped.IsZero() && !now.Before(dropped.Add(keyDelay)) {
		return false, false
	}
	return now.Before(g.expires.Add(seckill.SkewBound)),
		now.Before(g.expires.Add(-seckill.SkewBound)) && w.door.checks(kid) && !w.door.hurried(now)
}
