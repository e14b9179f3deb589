package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"regexp"
	"strings"
	"testing"
)

// paidOrder buys and pays one unit of a run, and returns the run's address and the order.
func paidOrder(t *testing.T, printed string) (base, order string) {
	t.Helper()
	base, s := firstShopper(t, printed)
	order, page := s.buy()
	s.pay(page)
	return base, order
}

// TestRefundsThatWaitForASecondPerson: above the limit nothing goes back until another person wants it, too.
func TestRefundsThatWaitForASecondPerson(t *testing.T) {
	t.Parallel()
	startedLog(t, noEnv, func(printed string) {
		base, order := paidOrder(t, printed)
		const (
			see  = " See: seckill payments ORDER --url URL\n"
			wait = "Order ORDER: a refund of 199.00 yuan waits for a second person; ann wanted it at TIME. " +
				"Nothing goes back until another one gives: seckill refund ORDER --why TEXT --restock --url URL\n"
		)
		for _, s := range []step{
			{"refund " + order + " --why broken --who ann --restock", exitOK, wait, ""},
			{"refund " + order + " --why again --who Ann", exitOK, wait, ""},
			{"payments", exitOK, "Waiting for a second person: 1 refund. To approve one: seckill refund ORDER " +
				"--why TEXT --url URL\n  ORDER  YUAN  SINCE  WANTED BY  RESTOCK  WHY\n" +
				"  ORDER  199.00  TIME  ann  true  broken\n" +
				"No money is due back, refused or unknown.\n", ""},
			{"refund " + order + " --why checked --who bob", exitUsage, "",
				"seckill: order ORDER: The value of restock must be true, as ann proposed, or that is " +
					"withdrawn first. (see: seckill refund --help)\n"},
			{"refund " + order + " --withdraw --why kept --who bob", exitOK,
				"Order ORDER: its refund is withdrawn, and its money stays." + see, ""},
			{"refund " + order + " --withdraw --why kept --who bob", exitOK,
				"Nothing to do: no refund of order ORDER waits." + see, ""},
			{"refund " + order + " --why broken --who ann --restock", exitOK, wait, ""},
			{"refund " + order + " --why checked --who bob --restock", exitOK,
				"Order ORDER: 199.00 yuan go back within two minutes, and its units are sold again." + see, ""},
			{"refund " + order + " --restock --withdraw --why x", exitUsage, "",
				"seckill: --withdraw goes with neither --again nor --restock (see: seckill refund --help)\n"},
		} {
			s.line += " --url " + base
			try(t, s)
		}
	}, "--refund-alone-yuan", "100")
}

// TestASecondPersonInABrowser: links of two people sign in the two that a refund above the limit needs.
func TestASecondPersonInABrowser(t *testing.T) {
	t.Parallel()
	startedLog(t, noEnv, func(printed string) {
		base, order := paidOrder(t, printed)
		links := map[string]string{}
		for _, who := range []string{"ann", "ben"} {
			code, out, fault := command(t, "staff", "link", "--who", who, "--url", base)
			if code != exitOK || fault != "" {
				t.Fatalf("link of %s: exit %d, %s", who, code, fault)
			}
			links[who] = strings.TrimSpace(out)
		}
		wants := func(who string) string { // the page's own call
			jar, err := cookiejar.New(nil)
			if err != nil {
				t.Fatal(err)
			}
			client := &http.Client{Jar: jar}
			defer client.CloseIdleConnections()
			if a, err := client.Get(links[who]); err != nil || a.Body.Close() != nil || a.StatusCode != http.StatusOK {
				t.Fatalf("sign-in of %s: %v, %v", who, a, err)
			}
			body := `{"operator":{"command":"refund","order":"` + order + `","why":"broken"}}`
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/admin/commands",
				strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-Seckill-Staff", "1")
			a, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Body.Close()
			text, err := io.ReadAll(a.Body)
			if err != nil || a.StatusCode != http.StatusOK {
				t.Fatalf("refund by %s: %d %s, %v", who, a.StatusCode, text, err)
			}
			return string(text)
		}
		if text := wants("ann"); !strings.Contains(text, `"waits":{`) {
			t.Errorf("the first wants it: %s", text)
		}
		if text := wants("ben"); !strings.Contains(text, `"changed":true`) {
			t.Errorf("the second wants it: %s", text)
		}
		_, out, fault := command(t, "orders", "show", order, "--url", base)
		if !regexp.MustCompile(`(?m)^  state +refund_due$`).MatchString(out) { // older systems know no such state
			t.Errorf("the order: %s%s", out, fault)
		}
		refuses(t, step{"staff link --who " + strings.Repeat("x", 65) + " --url " + base, exitUsage, "",
			"The value of who must be 1 to 64 characters"})
	}, "--refund-alone-yuan", "100")
}
