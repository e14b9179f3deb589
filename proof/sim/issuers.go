package sim

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// persons is how many persons sign in; few, so that several processes sign in the same person.
const persons = 4

// userNumbers is how many user ids the world draws from; few, so that two persons draw the same id.
const userNumbers = 2 * persons

// proofLives are lifetimes of an issuer's proof: shorter than a token of the shop, as long, and longer.
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

// noToken signs nothing: the world checks what the flow returns.
type noToken struct{}

func (noToken) SignToken(c seckill.Claims) (string, error) { return c.User, nil }
