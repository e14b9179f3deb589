package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/driver/config"
)

// TestClientSecrets checks how people may write them, and that no error shows one.
func TestClientSecrets(t *testing.T) {
	a := config.Issuer{URL: "https://a.example.com", ClientID: "shop", Metadata: "https://b.example.com"}
	long := strings.Repeat("s", 1025)
	for name, c := range map[string]struct {
		text, secret, wrong string
		count               int
	}{
		"none":                     {},
		"one":                      {text: "https://a.example.com|shop|s3cret", secret: "s3cret", count: 1},
		"with bars and blanks":     {text: "https://a.example.com|shop|s|3 c=", secret: "s|3 c=", count: 1},
		"of a spreadsheet's hands": {text: "\ufeff\r\n https://a.example.com|shop|s3cret \r\n\r\n", secret: "s3cret", count: 1},
		"of another client":        {text: "https://a.example.com|page|s3cret\nhttps://c|shop|s", count: 2},
		"two parts":                {text: "\nshop|s3cret", wrong: "line 2: want issuer|client_id|secret"},
		"no secret":                {text: "https://a.example.com|s3cret|", wrong: "line 1: want"},
		"no client":                {text: "https://a.example.com||s3cret", wrong: "line 1: want"},
		"a long one":               {text: "https://a.example.com|shop|" + long, wrong: "line 1: want"},
		"letters of no secret":     {text: "https://a.example.com|shop|s3crét", wrong: "line 1: want"},
		"a client twice":           {text: "https://a.example.com|shop|s3cret\nhttps://a.example.com|shop|s3cret", wrong: "line 2: this"},
		"very much":                {text: strings.Repeat("\n", 8<<10+1), wrong: "more than 8 KiB"},
	} {
		got, err := config.ParseClientSecrets(c.text)
		if (err != nil) != (c.wrong != "") || err != nil && (!strings.HasPrefix(err.Error(), c.wrong) ||
			strings.Contains(err.Error(), "s3cr")) {
			t.Errorf("%s: %v, want %q", name, err, c.wrong)
		}
		if got.Of(a) != c.secret || len(got) != c.count || strings.Contains(fmt.Sprintf("%v %+v", got, got), "s3c") {
			t.Errorf("%s: %d secrets, %q of the client", name, len(got), got.Of(a))
		}
	}
}
