package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestSuggestionsNameTheSameShop: the flags of a suggested command lead to the shop of this one, also when SECKILL_URL
// names another.
func TestSuggestionsNameTheSameShop(t *testing.T) {
	const other = "http://shop.test:8100"
	for _, tt := range []struct{ env, args, want string }{
		{"", "", ""},
		{"", "--url " + other, " --url " + other},
		{"", "--url " + defaultURL, ""},
		{"", "--stack prod --region eu-central-1", " --stack prod --region eu-central-1"},
		{other, "", ""},
		{other, "--url " + other, ""},
		{other, "--url " + defaultURL, " --url " + defaultURL},
		{other, "--stack prod", " --stack prod"},
	} {
		var to target
		group, cmd := &cobra.Command{Use: "group"}, &cobra.Command{Use: "command"}
		to.on(group)
		group.AddCommand(cmd)
		if tt.env != "" {
			eachCommand(group, func(c *cobra.Command) { defaultTo(c, tt.env) })
		}
		if err := cmd.ParseFlags(strings.Fields(tt.args)); err != nil {
			t.Fatal(err)
		}
		if _, err := to.isDeployed(cmd); err != nil || to.sameShop() != tt.want {
			t.Errorf("SECKILL_URL=%s, %s: %q, %v, want %q", tt.env, tt.args, to.sameShop(), err, tt.want)
		}
	}
}

// TestAWrongAddressIsNamed: the error says where the address stands.
func TestAWrongAddressIsNamed(t *testing.T) {
	for _, tt := range []struct{ env, args, want string }{
		{"shop:8100", "items export", `SECKILL_URL "shop:8100": want an address`},
		{"shop:8100", "items export --url x", `--url "x": want an address`},
		{"shop:8100", "audit --item 1", `SECKILL_URL "shop:8100": want an address`},
		{"", "items export --url x", `--url "x": want an address`},
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), strings.Fields(tt.args), &out, &errs, func(name string) string {
			return map[string]string{urlVariable: tt.env}[name]
		})
		if code != exitUsage || !strings.Contains(errs.String(), tt.want) {
			t.Errorf("SECKILL_URL=%s, %s: exit %d, %s, want %s", tt.env, tt.args, code, errs.String(), tt.want)
		}
	}
}

// TestAContactThatNobodyCanRead: it is refused before the shop starts.
func TestAContactThatNobodyCanRead(t *testing.T) {
	for _, contact := range []string{"a\nb", "a\u202eb", strings.Repeat("x", 201)} {
		refused(t, exitUsage, "--contact: want up to 200 characters on one line", "run", "--port", "0", "--contact",
			contact)
	}
}
