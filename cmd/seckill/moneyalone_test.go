package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/local/localtest"
	"github.com/your-org/seckill/shared/seckill"
)

// TestRefundsThatWaitForASecondPerson: above the limit nothing goes back until another person wants it, too.
func TestRefundsThatWaitForASecondPerson(t *testing.T) {
	t.Parallel()
	s := newMoneyShop(t, seckill.AloneLimit{Amount: 100_00})
	base, order := running(t, nil, s.handler), s.order("1001", []int{1}, true)
	const (
		see  = " See: seckill payments ORDER --url URL\n"
		wait = "Order ORDER: a refund of 199.00 yuan waits for a second person; ann wanted it at TIME. " +
			"Nothing goes back until another one gives: seckill refund ORDER --why TEXT --restock --url URL\n"
	)
	for _, s := range []step{
		{"refund " + order + " --why broken --who ann --restock", exitOK, wait, ""},
		{"refund " + order + " --why again --who Ann", exitOK, wait, ""},
		{"payments", exitOK, "Waiting for a second person: 1 refund. To approve one: seckill refund ORDER " +
			"--why TEXT --url URL\n  ORDER  YUAN  SINCE  WANTED BY  RESTOCK  GONE  WHY\n" +
			"  ORDER  199.00  TIME  ann  true  false  broken\n" +
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
			"seckill: --withdraw goes with neither --again nor --restock nor --gone (see: seckill refund --help)\n"},
	} {
		s.line += " --url " + base
		try(t, s)
	}
}

// TestLinkOfStaff: the link signs in, once; TestLinksOfTwoPeople of package local shows whom.
func TestLinkOfStaff(t *testing.T) {
	t.Parallel()
	sys := localtest.Start(t, local.Options{})
	code, link, stderr := command(t, "staff", "link", "--who", "ann", "--url", sys.URL())
	for _, want := range []int{http.StatusOK, http.StatusForbidden} {
		if got, body := get(t, strings.TrimSpace(link), ""); code != exitOK || stderr != "" || got != want {
			t.Errorf("exit %d, %s%s: %d %s, want %d", code, link, stderr, got, body, want)
		}
	}
	refused(t, exitUsage, "The value of who must be 1 to 64 characters",
		words("staff link --who "+strings.Repeat("x", 65)+" --url "+sys.URL())...)
	http.DefaultClient.CloseIdleConnections()
}
