package salts_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/api/salts"
)

const verifier = "shop.example+1a2b3c4d+AbCd"

// The salts of reports that exist must stay what they are: this one was computed with openssl.
func TestSaltsStay(t *testing.T) {
	t.Parallel()
	s := salts.Derive("PRIVATE+KEY+shop.example+1a2b3c4d+seed\n", verifier)
	const want = "c8e476452e654068ab21e14b06ff4aa8"
	again, err := salts.Parse(s.Text())
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []salts.Secret{s, again} {
		if got, by := secret.Of("oabc"); got != want || by != verifier {
			t.Errorf("%s by %s, want %s", got, by, want)
		}
	}
	if got, _ := s.Of("oabd"); got == want {
		t.Error("two orders have one salt")
	}
	if got, by := (salts.Secret{}).Of("oabc"); got != "" || by != "" {
		t.Errorf("without a secret: %s, %s", got, by)
	}
}

func TestBadSecretsAreRefusedAndNotShown(t *testing.T) {
	t.Parallel()
	good := salts.Derive("x", verifier)
	digits := strings.TrimPrefix(good.Text(), verifier+" ")
	for _, text := range []string{"", digits, verifier, verifier + " " + digits[1:], verifier + " " + digits + "0",
		"shop " + digits, verifier + " " + strings.Repeat("x", 64)} {
		if _, err := salts.Parse(text); err == nil || text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
	as, _ := json.Marshal(good)
	for _, shown := range []string{fmt.Sprint(good), fmt.Sprintf("%v %+v %#v %s", good, &good, good, good),
		string(as)} {
		if strings.Contains(shown, digits[:8]) {
			t.Errorf("shows the secret: %s", shown)
		}
	}
}
