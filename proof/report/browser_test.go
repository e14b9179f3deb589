package report_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/your-org/seckill/proof/report"
)

var update = flag.Bool("update", false, "write web/browsertest/inclusion.json")

// fixedKey is the same key in each run. It signs nothing but tests.
func fixedKey(t *testing.T) *report.Key {
	t.Helper()
	seed := make([]byte, ed25519.SeedSize)
	public, _ := ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
	verifier, err := note.NewEd25519VerifierKey("test.example", public)
	if err != nil {
		t.Fatal(err)
	}
	id := strings.Split(verifier, "+")[1]
	key, err := report.ParseKey("PRIVATE+KEY+test.example+" + id + "+" +
		base64.StdEncoding.EncodeToString(append([]byte{1}, seed...)) + "\n" + verifier)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestBrowserProofs: web/browsertest/inclusion.json, by which the browser's check is tested, has proofs of this code in
// trees of several sizes, and golang.org/x/mod/sumdb/tlog accepts them.
func TestBrowserProofs(t *testing.T) {
	t.Parallel()
	const name = "../../web/browsertest/inclusion.json"
	type mine struct {
		Order string `json:"order"`
		User  string `json:"user"`
		Salt  string `json:"salt"`
	}
	type entry struct {
		Mine  mine          `json:"mine"`
		Proof *report.Proof `json:"proof"`
	}
	key := fixedKey(t)
	out := struct {
		Verifier string  `json:"verifier"`
		Proofs   []entry `json:"proofs"`
	}{Verifier: key.Verifier}
	for _, n := range []int{1, 6, 7} {
		text := made(t, key, n)
		for i := range n {
			p, c, err := report.Prove(strings.NewReader(text), key.Verifier, orderID(i))
			if err != nil || p == nil {
				t.Fatal(err, c)
			}
			var root tlog.Hash
			raw, err := base64.StdEncoding.DecodeString(strings.Split(p.Note, "\n")[2])
			if copy(root[:], raw); err != nil {
				t.Fatal(err)
			}
			if err := tlog.CheckRecord(p.Path, p.Size, root, p.N, tlog.RecordHash([]byte(p.Line))); err != nil {
				t.Error(err)
			}
			out.Proofs = append(out.Proofs, entry{mine{orderID(i), userID(i), key.Salt(orderID(i))}, p})
		}
	}
	want, err := json.MarshalIndent(&out, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(name, append(want, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != string(want)+"\n" {
		t.Errorf("%s is not what `go test ./proof/report -run Browser -update` writes: %v", name, err)
	}
}
