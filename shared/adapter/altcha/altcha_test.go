package altcha_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/adapter/altcha"
)

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

var (
	begin = time.Date(2026, 11, 11, 1, 30, 0, 0, time.UTC)
	cheap = altcha.Work{Cost: 10, Tries: 20}
	alice = altcha.For{Item: "1001", User: "42"}
)

func proofs(t testing.TB, c *clock, secrets ...string) *altcha.Proofs {
	t.Helper()
	var keys [][]byte
	for _, s := range secrets {
		keys = append(keys, []byte(s))
	}
	p, err := altcha.New(keys, c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func solve(t testing.TB, p *altcha.Proofs, f altcha.For, w altcha.Work, expires time.Time) ([]byte, int) {
	t.Helper()
	c, err := p.Make(f, w, expires)
	if err != nil {
		t.Fatal(err)
	}
	s, keys, err := altcha.Solve(c)
	if err != nil {
		t.Fatal(err)
	}
	return s, keys
}

// TestProofs: a solution says whom and what it is for until it expires, under any secret of the set.
func TestProofs(t *testing.T) {
	t.Parallel()
	c := &clock{begin}
	p := proofs(t, c, "new", "old")
	for range 20 {
		s, keys := solve(t, p, alice, cheap, begin.Add(time.Minute))
		if f, _, err := p.Check(s); err != nil || f != alice {
			t.Fatalf("%+v, %v", f, err)
		}
		if keys <= cheap.Tries/2 || keys > cheap.Tries {
			t.Errorf("%d keys tried, want %d to %d", keys, cheap.Tries/2+1, cheap.Tries)
		}
	}
	old, _ := solve(t, proofs(t, c, "old"), alice, cheap, begin.Add(time.Minute))
	if _, _, err := p.Check(old); err != nil {
		t.Errorf("made under the older secret: %v", err)
	}
	c.now = begin.Add(time.Minute)
	if _, _, err := p.Check(old); !errors.Is(err, altcha.ErrProof) {
		t.Errorf("expired: %v", err)
	}
}

// TestForgedProofs: whatever is changed in a solution, it is none.
func TestForgedProofs(t *testing.T) {
	t.Parallel()
	c := &clock{begin}
	p := proofs(t, c, "secret")
	good, _ := solve(t, p, alice, cheap, begin.Add(time.Minute))
	other, _ := solve(t, p, altcha.For{Item: "1001", User: "43"}, cheap, begin.Add(time.Minute))
	foreign, _ := solve(t, proofs(t, c, "another"), alice, cheap, begin.Add(time.Minute))
	var g, o map[string]any
	if err := errors.Join(json.Unmarshal(good, &g), json.Unmarshal(other, &o)); err != nil {
		t.Fatal(err)
	}
	mixed, err := json.Marshal(map[string]any{"challenge": g["challenge"], "solution": o["solution"]})
	if err != nil {
		t.Fatal(err)
	}
	change := func(from, to string) string { return strings.Replace(string(good), from, to, 1) }
	for what, s := range map[string]string{
		"empty": "", "null": "null", "a list": "[]", "foreign": string(foreign), "another's solution": string(mixed),
		"another user": change(`"user":"42"`, `"user":"43"`), "another item": change(`"item":"1001"`, `"item":"1002"`),
		"cheaper": change(`"cost":10`, `"cost":1`), "later": change(`"expiresAt":17`, `"expiresAt":18`),
		"one more field": change(`"parameters":{`, `"parameters":{"more":1,`), "two documents": string(good) + string(good),
		"no key":        change(`"derivedKey":"`, `"derivedKey":"","x":"`),
		"a longer key":  change(`"derivedKey":"`, `"derivedKey":"00`),
		"over its size": string(good) + strings.Repeat(" ", altcha.MaxSolution),
		"a user twice":  change(`"user":"42"`, `"user":"42","user":"43"`),
	} {
		if f, _, err := p.Check([]byte(s)); !errors.Is(err, altcha.ErrProof) {
			t.Errorf("%s: %+v, %v", what, f, err)
		}
	}
	if _, err := altcha.New(nil, c); err == nil {
		t.Error("no secret is enough")
	}
	if _, err := altcha.New([][]byte{{}}, c); err == nil {
		t.Error("an empty secret is enough")
	}
}

func BenchmarkMake(b *testing.B) {
	p := proofs(b, &clock{begin}, "secret")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Make(alice, altcha.Work{Cost: 1000, Tries: 4000}, begin.Add(time.Minute)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	p := proofs(b, &clock{begin}, "secret")
	s, _ := solve(b, p, alice, cheap, begin.Add(time.Minute))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := p.Check(s); err != nil {
			b.Fatal(err)
		}
	}
}
