package crowd

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/seckill"
)

// Fairness is who got the units of a crowd with scripts.
type Fairness struct {
	Checks  seckill.Checks `json:"checks"` // "" means off
	Share   float64        `json:"bots"`
	People  Kind           `json:"people"`
	Scripts Kind           `json:"scripts"` // all of them
	Kinds   []Kind         `json:"kinds"`   // of scripts

	Reserves   int64   `json:"reserve_calls"` // purchases that reached Redis; known for a `seckill run`
	Buys       int     `json:"buy_requests"`
	Challenges int     `json:"challenge_requests"`
	Tickets    int     `json:"ticket_requests"`
	Extra      Latency `json:"people_extra"`       // how long people took to pass the checks
	TicketCPU  float64 `json:"ticket_cpu_seconds"` // of one proof of work, on average, on a core of this machine
}

func fairness(r *run, before, after *record.Usage) *Fairness {
	t, b := r.tally, r.opt.Bots
	t.mu.Lock()
	defer t.mu.Unlock()
	f := &Fairness{Checks: r.item.Checks, Share: b.Share, Extra: t.checking.latency()}
	for to, act := range map[*int]string{&f.Buys: "buy", &f.Challenges: actChallenge, &f.Tickets: actTicket} {
		if a := t.acts[act]; a != nil {
			*to = a.Sent
		}
	}
	if before != nil && after != nil {
		f.Reserves = after.Reserves - before.Reserves
	}
	if f.Checks != seckill.ChecksOff {
		f.TicketCPU = 0.75 * float64(b.Work.Tries) * b.KeyCPU.Seconds()
	}
	for k := range t.kinds {
		x := &t.kinds[k]
		x.Name, x.Units = kindNames[k], x.Orders*r.opt.Count
		if kind(k) == person {
			continue
		}
		f.Scripts.Accounts += x.Accounts
		f.Scripts.Came += x.Came
		f.Scripts.Tickets += x.Tickets
		f.Scripts.Orders += x.Orders
		f.Scripts.Units += x.Units
	}
	f.People, f.Scripts.Name = t.kinds[person], "scripts"
	f.rate(&f.People)
	f.rate(&f.Scripts)
	for _, x := range t.kinds[early:] {
		f.rate(&x)
		f.Kinds = append(f.Kinds, x)
	}
	return f
}

// rate fills in the figures that follow from the counts. It comes to People first.
func (f *Fairness) rate(k *Kind) {
	if k.Accounts == 0 {
		return
	}
	k.PerAccount = float64(k.Units) / float64(k.Accounts)
	if f.People.PerAccount > 0 {
		ratio := k.PerAccount / f.People.PerAccount
		k.ToPeople = &ratio
	}
	if k.Units > 0 && k != &f.People {
		accounts := 1 / k.PerAccount
		cpu := f.TicketCPU * float64(k.Came) / float64(k.Units)
		k.UnitAccounts, k.UnitCPU = &accounts, &cpu
	}
}

// Text writes who got the units, for a terminal.
func (f *Fairness) Text(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
	p := func(format string, args ...any) { fmt.Fprintf(w, format+"\t\n", args...) }
	p("checks %s\taccounts\tcame\ttickets\tunits\tper account\tto people\taccounts a unit\tCPU s a unit",
		ChecksName(f.Checks))
	for _, k := range append([]Kind{f.People, f.Scripts}, f.Kinds...) {
		p("%s\t%d\t%d\t%d\t%d\t%.4f\t%s\t%s\t%s", k.Name, k.Accounts, k.Came, k.Tickets, k.Units,
			k.PerAccount, k.ratio(), orDash(k.UnitAccounts, "%.1f"), orDash(k.UnitCPU, "%.2f"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "requests: %d buy, %d challenge, %d ticket; %d purchases reached Redis\n"+
		"a person's extra time: median %s, p99 %s; a ticket's proof of work: %.2f CPU s\n", f.Buys, f.Challenges,
		f.Tickets, f.Reserves, seconds(f.Extra.P50), seconds(f.Extra.P99), f.TicketCPU)
	return err
}

// ChecksName returns a preset's name in flags.
func ChecksName(c seckill.Checks) string {
	if c == seckill.ChecksOff {
		return "off"
	}
	return string(c)
}

// ratio is ToPeople in words.
func (k *Kind) ratio() string {
	if k.ToPeople == nil && k.Units > 0 {
		return "∞"
	}
	return orDash(k.ToPeople, "%.2f")
}

func orDash(v *float64, format string) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf(format, *v)
}

func seconds(milli float64) string {
	return (time.Duration(milli) * time.Millisecond).Round(10 * time.Millisecond).String()
}
