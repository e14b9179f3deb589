package crowd_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/local/localtest"
	"github.com/your-org/seckill/proof/crowd"
	"github.com/your-org/seckill/shared/seckill"
)

// scripted sends accounts, half of them scripts', to a sale that opens within the second, at a hundredth of the time.
func scripted(t *testing.T, accounts, stock int, checks seckill.Checks) (*crowd.Report, *local.System) {
	t.Helper()
	items := local.DemoItems(time.Now(), stock, 1)[1:2]
	local.SetChecks(items, checks)
	b := &crowd.Bots{Share: 0.5, Work: seckill.UsualWork, KeyCPU: 200 * time.Microsecond, Faster: 100,
		Answers: map[string]string{}}
	for _, q := range items[0].Questions {
		b.Answers[q.Text] = q.Answers[0]
	}
	items[0].Start = time.Now().Add(seckill.TicketLead - time.Second)
	sys := localtest.Start(t, local.Options{Items: items, Work: crowd.Easy(b.Work)})
	o := options(sys.URL())
	o.Shoppers, o.Lead, o.Secret, o.Item, o.NoPush, o.Bots, o.Key = accounts, 300*time.Millisecond, local.DefaultSecret,
		items[0].ID, true, b, 0
	return visit(t, o), sys
}

// TestScriptsBesidePeople: with enough units all who come get one, so an account of a script gets what one of a person
// who comes does; each order is counted once.
func TestScriptsBesidePeople(t *testing.T) {
	t.Parallel()
	rep, sys := scripted(t, 200, 200, seckill.ChecksOff)
	f := rep.Fairness
	all := append([]crowd.Kind{f.People}, f.Kinds...)
	accounts, units := 0, 0
	for _, k := range all {
		if k.Accounts == 0 || k.Units != k.Came || k.Tickets != 0 {
			t.Errorf("%+v: want a unit for each that came, and no ticket", k)
		}
		accounts += k.Accounts
		units += k.Units
	}
	if stored := len(localtest.Units(sys)); accounts != 200 || units != stored || len(f.Kinds) != 4 ||
		f.Scripts.Units != units-f.People.Units || f.Scripts.Came != f.Scripts.Accounts {
		t.Errorf("%d accounts, %d units and %d rows: %+v", accounts, units, stored, f)
	}
	if p := f.People; p.Came <= p.Accounts/2 || p.Came >= p.Accounts || f.Scripts.ToPeople == nil ||
		*f.Scripts.ToPeople != float64(p.Accounts)/float64(p.Came) {
		t.Errorf("%+v, %+v: want the inverse of the share of people who came", p, f.Scripts)
	}
	second := 0
	for _, n := range rep.Requests.Repeats {
		second += n
	}
	if many := f.Kinds[1]; many.Came == 0 || second != 3*many.Came || f.Buys < f.People.Came+f.Scripts.Came+second {
		t.Errorf("%d accounts on four connections press %d times besides, of %d purchases: %v", many.Came, second,
			f.Buys, rep.Requests.Repeats)
	}
	if f.Reserves < int64(units) ||
		f.Reserves > int64(f.Buys) || f.Challenges+f.Tickets > 0 || f.TicketCPU != 0 {
		t.Errorf("requests: %+v", f)
	}
	if early := f.Kinds[0]; rep.Requests.Acts[0].Refused < early.Came {
		t.Errorf("%+v of %d early accounts: none was told that the sale has not begun",
			rep.Requests.Acts[0], early.Came)
	}
}

// TestChecksNeedBots: a crowd that passes no checks does not come to an item that has some: all would be refused.
func TestChecksNeedBots(t *testing.T) {
	t.Parallel()
	items := local.DemoItems(time.Now(), 10, 1)[1:2]
	local.SetChecks(items, seckill.ChecksStandard)
	sys := localtest.Start(t, local.Options{Items: items})
	o := options(sys.URL())
	o.Item = items[0].ID
	_, err := crowd.Run(t.Context(), o)
	if usage := (crowd.UsageError{}); !errors.As(err, &usage) || !strings.Contains(err.Error(), "--bots") ||
		strings.Contains(err.Error(), "\n") || len(localtest.Units(sys)) > 0 {
		t.Errorf("a crowd without tickets: %v", err)
	}
}

// TestScriptsAtChecks: people and answer farms pass strict checks; scripts that know no answer get no ticket, nor do
// accounts that were registered lately.
func TestScriptsAtChecks(t *testing.T) {
	t.Parallel()
	const stock = 10
	rep, sys := scripted(t, 150, stock, seckill.ChecksStrict)
	f := rep.Fairness
	without := 0
	for i, k := range append([]crowd.Kind{f.People}, f.Kinds...) {
		passes := i == 0 || k.Name == "answer farm"
		if passes != (k.Tickets > 0) || passes && k.Tickets != k.Came || !passes && k.Units > 0 {
			t.Errorf("%+v", k)
		}
		if !passes {
			without += k.Came
		}
	}
	ends := ending(rep)
	if f.People.Units+f.Scripts.Units != stock || len(localtest.Units(sys)) != stock ||
		int(rep.Count("refused")) != without || !strings.Contains(ends, "refused: account_new") ||
		!strings.Contains(ends, "refused: check_failed") {
		t.Errorf("%s; %d without a ticket; %+v", ends, without, f)
	}
	if f.Extra.Count != int64(f.People.Tickets) || f.Extra.P50 < 40 || f.TicketCPU != 0.6 || f.Buys > 4*f.Scripts.Came {
		t.Errorf("people took %+v; %+v", f.Extra, f)
	}
	if k := f.Scripts; k.Units == 0 { // on a busy machine people may be faster
		if k.UnitCPU != nil || k.UnitAccounts != nil {
			t.Errorf("no unit has a cost: %+v", k)
		}
	} else if *k.UnitCPU != 0.6*float64(k.Came)/float64(k.Units) || *k.UnitAccounts != 1/k.PerAccount {
		t.Errorf("a unit's cost: %+v", k)
	}
	var text bytes.Buffer
	if err := f.Text(&text); err != nil || !strings.Contains(text.String(), "checks strict") ||
		!strings.Contains(text.String(), "purchases reached Redis") {
		t.Errorf("%v\n%s", err, &text)
	}
	if _, err := json.Marshal(f); err != nil {
		t.Error(err)
	}
}
