package altcha_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/altcha"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

var (
	begin = time.Date(2026, 11, 11, 1, 30, 0, 0, time.UTC)
	cheap = seckill.Work{Cost: 10, Tries: 20}
)

func proofs(t testing.TB, c *clock, secrets ...string) *altcha.Proofs {
	t.Helper()
	var keys [][]byte
	for _, s := range secrets {
		keys = append(keys, []byte(s))
	}
	p, err := altcha.New(keys, c)
	must.OK(t, err)
	return p
}

func solve(t testing.TB, p *altcha.Proofs, user string, w seckill.Work, expires time.Time) ([]byte, int) {
	t.Helper()
	c, err := p.Make(user, "1001", w, expires)
	must.OK(t, err)
	s, keys, err := altcha.Solve(c)
	must.OK(t, err)
	return s, keys
}

// TestProofs: a solution says whom and what it is for until it expires, under any secret of the set.
func TestProofs(t *testing.T) {
	t.Parallel()
	c := &clock{begin}
	p := proofs(t, c, "new", "old")
	for range 20 {
		s, keys := solve(t, p, "42", cheap, begin.Add(time.Minute))
		if _, ok := p.Check(s, "42", "1001"); !ok {
			t.Fatal("a solution is not a proof")
		}
		if keys <= cheap.Tries/2 || keys > cheap.Tries {
			t.Errorf("%d keys tried, want %d to %d", keys, cheap.Tries/2+1, cheap.Tries)
		}
	}
	old, _ := solve(t, proofs(t, c, "old"), "42", cheap, begin.Add(time.Minute))
	if _, ok := p.Check(old, "42", "1001"); !ok {
		t.Error("made under the older secret, it is not a proof")
	}
	if _, ok := p.Check(old, "43", "1001"); ok {
		t.Error("a proof is another user's")
	}
	if _, ok := p.Check(old, "42", "1002"); ok {
		t.Error("a proof is for another item")
	}
	c.now = begin.Add(time.Minute)
	if _, ok := p.Check(old, "42", "1001"); ok {
		t.Error("an expired proof is one")
	}
}

// TestTook: the time that a solver reports is believed if it is less than the time that has passed.
func TestTook(t *testing.T) {
	t.Parallel()
	c := &clock{begin}
	p := proofs(t, c, "secret")
	s, _ := solve(t, p, "42", cheap, begin.Add(time.Minute))
	head, _, _ := strings.Cut(string(s), `"time":`)
	c.now = begin.Add(3 * time.Second)
	for said, want := range map[string]time.Duration{"2000": 2 * time.Second, "0.5": 500 * time.Microsecond,
		"3000": 3 * time.Second, "1e300": 3 * time.Second, "0": 3 * time.Second, "-5": 3 * time.Second} {
		if took, ok := p.Check([]byte(head+`"time":`+said+"}}"), "42", "1001"); took != want || !ok {
			t.Errorf("said %s ms: %v, %v; want %v", said, took, ok, want)
		}
	}
	c.now = begin.Add(-time.Second)
	if took, ok := p.Check(s, "42", "1001"); took != 0 || !ok {
		t.Errorf("before it was made: %v, %v", took, ok)
	}
}

// TestForgedProofs: a solution in which anything is changed is refused.
func TestForgedProofs(t *testing.T) {
	t.Parallel()
	c := &clock{begin}
	p := proofs(t, c, "secret")
	good, _ := solve(t, p, "42", cheap, begin.Add(time.Minute))
	other, _ := solve(t, p, "43", cheap, begin.Add(time.Minute))
	foreign, _ := solve(t, proofs(t, c, "another"), "42", cheap, begin.Add(time.Minute))
	var g, o map[string]any
	must.OK(t, errors.Join(json.Unmarshal(good, &g), json.Unmarshal(other, &o)))
	mixed, err := json.Marshal(map[string]any{"challenge": g["challenge"], "solution": o["solution"]})
	must.OK(t, err)
	change := func(from, to string) string { return strings.Replace(string(good), from, to, 1) }
	for what, s := range map[string]string{
		"empty": "", "null": "null", "a list": "[]", "foreign": string(foreign), "another's solution": string(mixed),
		"another user": change(`"user":"42"`, `"user":"43"`), "another item": change(`"item":"1001"`, `"item":"1002"`),
		"cheaper": change(`"cost":10`, `"cost":1`), "made earlier": change(`"made":1`, `"made":0`), "later": change(`"expiresAt":17`, `"expiresAt":18`),
		"one more field": change(`"parameters":{`, `"parameters":{"more":1,`), "two documents": string(good) + string(good),
		"no key":        change(`"derivedKey":"`, `"derivedKey":"","x":"`),
		"a longer key":  change(`"derivedKey":"`, `"derivedKey":"00`),
		"over its size": string(good) + strings.Repeat(" ", altcha.MaxSolution),
		"a user twice":  change(`"user":"42"`, `"user":"42","user":"43"`),
	} {
		for _, user := range []string{"42", "43"} {
			if _, ok := p.Check([]byte(s), user, "1001"); ok {
				t.Errorf("%s: a proof of %s's", what, user)
			}
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
		if _, err := p.Make("42", "1001", seckill.Work{Cost: 1000, Tries: 4000}, begin.Add(time.Minute)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	p := proofs(b, &clock{begin}, "secret")
	s, _ := solve(b, p, "42", cheap, begin.Add(time.Minute))
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := p.Check(s, "42", "1001"); !ok {
			b.Fatal("no proof")
		}
	}
}
