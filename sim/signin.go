package sim

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/your-org/seckill/shared/adapter/ledger"
	"github.com/your-org/seckill/shared/flow/signin"
	"github.com/your-org/seckill/shared/seckill"
)

// persons is how many persons sign in; few, so that several processes sign in the same one.
const persons = 4

// userNumbers is how many user ids the world draws from; few, so that two persons draw the same one.
const userNumbers = 2 * persons

// proofLives are the lives of what issuers confirm: shorter, as long, and longer than a token of ours.
var proofLives = []time.Duration{90 * time.Second, seckill.MaxSession, 24 * time.Hour}

// issuers confirm every person who signs in with a token "person life".
type issuers struct {
	w    *World
	hook Hook
	now  func() time.Time // the instance's clock, by which a token is judged
}

func (i issuers) List(context.Context) ([]seckill.Issuer, error) { return nil, nil }

func (i issuers) Redeem(_ context.Context, g seckill.Grant) (seckill.Proof, error) {
	return get(i.hook, "issuers.Redeem", func() (seckill.Proof, error) {
		var person, life int
		if _, err := fmt.Sscanf(g.Token, "person-%d-%d", &person, &life); err != nil {
			return seckill.Proof{}, err
		}
		p := seckill.Proof{Identity: identity(person), Checked: i.now(), Expires: i.w.Clock.Now().Add(proofLives[life])}
		i.w.proofs[g.Token] = p
		return p, nil
	})
}

// identity returns what an issuer calls a person.
func identity(person int) seckill.Identity {
	return seckill.Identity{Issuer: "https://id.example", Subject: strconv.Itoa(person)}
}

// fewNumbers draws user ids of a small range.
type fewNumbers struct{ entropy *counter }

func (f fewNumbers) UserID() string {
	var b [8]byte
	_, _ = f.entropy.Read(b[:])
	return strconv.Itoa(101 + int(b[3])%userNumbers)
}

// noToken signs nothing: the world judges what the flow returns.
type noToken struct{}

func (noToken) SignToken(user string, _, _ time.Time) (string, error) { return user, nil }

// startSignIn returns the step of an instance.
func (w *World) startSignIn(hook Hook, clock seckill.Clock, lg seckill.Ledger) *signin.Flow {
	return signin.New(signin.Deps{Issuers: issuers{w, hook, clock.Now}, Identities: lg, IDs: fewNumbers{w.userIDs},
		Signer: noToken{}, Clock: clock, Meter: w.Events})
}

// signIn makes a person sign in.
func (s *Sim) signIn(t Act) {
	person, life := pick(t.A, 8, persons), pick(t.A, 16, len(proofLives))
	s.spawn(t.ID, t.Kind, fmt.Sprintf("person %d signs in", person), t.A, func(i *Instance) {
		if err := i.signInAs(person, life); err != nil {
			s.trace.step(s.Clock.Now(), s.current, "is refused: ", err.Error())
		}
	})
}

// signInAs signs a person in, and checks I13 for what they get.
func (i *Instance) signInAs(person, life int) error {
	w := i.world
	w.signIns++
	grant := seckill.Grant{Kind: seckill.GrantToken, Token: fmt.Sprintf("person-%d-%d-%d", person, life, w.signIns)}
	got, err := i.SignIn.SignIn(context.Background(), grant)
	if err != nil {
		return err
	}
	if was := w.numberOf[person]; was != "" && was != got.User {
		w.truth.fail("I13 person %d was user %s, and is signed in as %s", person, was, got.User)
	}
	for other, user := range w.numberOf {
		if other != person && user == got.User {
			w.truth.fail("I13 persons %d and %d are both user %s", person, other, user)
		}
	}
	w.numberOf[person] = got.User
	p := w.proofs[grant.Token]
	if got.Expires.After(p.Expires) || got.Expires.After(p.Checked.Add(seckill.MaxSession)) {
		w.truth.fail("I13 a token ends at %s, the issuer's at %s, which was checked at %s", got.Expires, p.Expires,
			p.Checked)
	}
	return nil
}

// wroteIdentity checks I13 for a row of the identities: it is written once.
func (t *truth) wroteIdentity(was, is ledger.Row) {
	if was != nil {
		t.fail("I13 an identity's row went from %v to %v", was, is)
	}
}

// checkIdentities checks I13 once everything is quiet: everybody can sign in, as the user they were before.
func (w *World) checkIdentities() error {
	if len(w.numberOf) == 0 {
		return nil
	}
	i := w.Start(w.plain)
	for person := range persons {
		for tries := 0; ; tries++ { // a number that is taken is drawn anew, three times per sign-in
			err := i.signInAs(person, 1)
			if err == nil {
				break
			}
			if tries == 20 {
				return fmt.Errorf("I13 person %d cannot sign in: %w", person, err)
			}
		}
	}
	return w.Check()
}
