package main

import (
	"net/http"
	"testing"

	"github.com/your-org/seckill/shared/adapter/contracttest"
)

// TestRefundsThatWaitForASecondPerson: above the limit nothing goes back until another person wants it, too.
func TestRefundsThatWaitForASecondPerson(t *testing.T) {
	t.Parallel()
	startedLog(t, noEnv, func(printed string) {
		base := find(t, printed, `(?m)^  S=(\S+)$`)
		s := &shopper{t, contracttest.Client{URL: base, HTTP: http.DefaultClient}, find(t, printed, `(?m)^  A=(\S+)$`)}
		order, page := s.buy()
		s.pay(page)
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
