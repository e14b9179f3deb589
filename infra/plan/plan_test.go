package plan

import (
	"bytes"
	"flag"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata, and the plan in docs/DEPLOY.md, anew")

// TestText compares the plan of a million shoppers with testdata, and its summary with docs/DEPLOY.md.
func TestText(t *testing.T) {
	for name, s := range map[string]Sale{"million-edge": sale(1_000_000, 1000, true), "million": sale(1_000_000, 1000,
		false)} {
		var b bytes.Buffer
		if err := Make(s).WriteText(&b); err != nil {
			t.Fatal(err)
		}
		file := "testdata/" + name + ".txt"
		if *update {
			if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), b.String()); diff != "" {
			t.Errorf("%s (go test ./infra/plan -run TestText -update):\n%s", file, diff)
		}
	}
	shown, err := os.ReadFile("testdata/million-edge.txt")
	if err != nil {
		t.Fatal(err)
	}
	const file, open, end = "../../docs/DEPLOY.md", "<!-- generated: plan, by make generate -->\n", "<!-- end: plan -->"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, opened := strings.Cut(string(page), open)
	got, after, ended := strings.Cut(rest, end)
	if !opened || !ended {
		t.Fatalf("%s has no markers of a generated plan", file)
	}
	want := inShort(t, string(shown))
	if *update {
		if err := os.WriteFile(file, []byte(before+open+want+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s and testdata/million-edge.txt differ (make generate):\n%s", file, diff)
	}
}

// inShort returns the summary in docs/DEPLOY.md: outcomes, quotas, the bill's sum, and what to deploy.
func inShort(t *testing.T, plan string) string {
	t.Helper()
	_, outcomes, found := strings.Cut(plan, "with defaults     as planned\n")
	outcomes, todo, also := strings.Cut(outcomes, "\n\ndo this\n")
	if !found || !also {
		t.Fatalf("no outcomes in\n%s", plan)
	}
	out, deploy := "| | with defaults | as planned |\n|---|---|---|\n", ""
	columns := regexp.MustCompile(` {2,}`)
	row := func(cells ...string) { out += "| " + strings.Join(cells, " | ") + " |\n" }
	for line := range strings.Lines(outcomes) {
		row(columns.Split(strings.TrimSpace(line), -1)...)
	}
	for line := range strings.Lines(todo) {
		switch cells := columns.Split(strings.TrimSpace(line), -1); cells[0] {
		case "raise":
			have, want, _ := strings.Cut(cells[2], " → ")
			want, _, _ = strings.Cut(want, " ")
			row(cells[1], have, "raise to "+want)
		case "together":
			row("together (the bill, USD)", "", cells[1])
		case "deploy":
			deploy = cells[1]
		}
	}
	if n := strings.Count(out, "\n"); n != 16 || deploy == "" {
		t.Errorf("%d lines, want 16, and %q to deploy", n, deploy)
	}
	return out + "\nDeploy `" + deploy + "`.\n"
}

// TestAMillionBehindTheCDN: with default quotas of all but CloudFront, every shopper is answered within seconds, for
// less than 70 USD; and so with up to 5,000 units.
func TestAMillionBehindTheCDN(t *testing.T) {
	t.Parallel()
	for _, units := range []int{1000, 2000, 5000} {
		q := Make(sale(1_000_000, units, true)).Quotas
		if len(q) != 1 || !strings.HasPrefix(q[0].Name, "CloudFront") || q[0].Want < 2*EdgeRate {
			t.Errorf("%d units: quotas %+v", units, q)
		}
	}
	p := Make(sale(1_000_000, 1000, true))
	o := p.Planned.Outcome
	if o.calls() > 4_400_000 || p.Total > 70 || o.LongestWait > 10 || o.GaveUp > 0 || o.Sold < 1000 {
		t.Errorf("quotas %v, %.0f calls, %.2f USD, longest wait %.1f s, %.0f gave up, %.0f sold", p.Quotas, o.calls(),
			p.Total, o.LongestWait, o.GaveUp, o.Sold)
	}
}

// TestPlanKeepsItsWord: under the planned settings no shopper waits longer than allowed, unless a note says so. Planned
// throttles leave room for notifications, and start no more instances than Lambda does.
func TestPlanKeepsItsWord(t *testing.T) {
	for _, s := range []Sale{sale(5_000, 100, false), sale(100_000, 1000, false), sale(1_000_000, 1000, true),
		sale(1_000_000, 1000, false), sale(200_000, 100_000, true), sale(3_000_000, 20_000, true),
		sale(100, 1000, false)} {
		p := Make(s)
		o := p.Planned.Outcome
		late := o.LongestWait > s.Wait.Seconds() || o.GaveUp >= half
		told := strings.Contains(strings.Join(p.Notes, "\n"), "Whatever is deployed")
		if late != told {
			t.Errorf("%d shoppers, %d units: longest wait %f, %f gave up, notes %q", s.Shoppers, s.Units, o.LongestWait,
				o.GaveUp, p.Notes)
		}
		if o.LongestWait > p.Today.Outcome.LongestWait+1e-9 || o.GaveUp > p.Today.Outcome.GaveUp+1e-9 {
			t.Errorf("%d shoppers, %d units: the plan is worse than the defaults: %+v, %+v", s.Shoppers, s.Units,
				p.Planned.Limits, p.Today.Limits)
		}
		if l := p.Planned.Limits; l.Fits() != nil {
			t.Errorf("%d shoppers, %d units, edge %v: %q\n%+v", s.Shoppers, s.Units, s.Edge, l.Fits(), l)
		}
		if !placedInTime(&s, o) {
			t.Errorf("%d shoppers, %d units: the last unit is reserved after %f s, the last order placed after %f",
				s.Shoppers, s.Units, o.LastSold, o.LastPlaced)
		}
		sum := 0.0
		for _, l := range p.Bill {
			if l.USD < 0 || math.IsNaN(l.USD) {
				t.Errorf("%d shoppers: %+v", s.Shoppers, l)
			}
			sum += l.USD
		}
		if math.Abs(sum-p.Total) > 1e-9 || sum <= 0 {
			t.Errorf("%d shoppers: the lines add up to %f, the total is %f", s.Shoppers, sum, p.Total)
		}
	}
}

// TestCrowdSignsIn: with the defaults a crowd takes as long as 20 instances take, a quarter of a second each. --signin
// asks for as many as it then needs, within the account's limits, and a sign-in is paid for in either case.
func TestCrowdSignsIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		within     time.Duration
		rate, kept float64
		says       string
	}{
		{0, 80, 20, "signin: 20 instances, 0.25 s for each sign-in: 80 per second, 21 min for 100,000 shoppers."},
		{10 * time.Minute, 170, 43, "signin: 43 instances, 0.25 s for each sign-in: 170 per second, 10 min for"},
		{time.Minute, 1670, 418, "signin: 418 instances, 0.25 s for each sign-in: 1,670 per second, 60 s for 100,000"},
	} {
		s := sale(100_000, 1000, true)
		s.Signin = c.within
		p := Make(s)
		var b bytes.Buffer
		if err := p.WriteText(&b); err != nil {
			t.Fatal(err)
		}
		l := p.Planned.Limits
		if l.Signin != c.rate || l.SigninKept != c.kept || l.Fits() != nil || !strings.Contains(b.String(), c.says) ||
			c.within > 0 && p.number(SigninConcurrency) != c.kept {
			t.Errorf("within %v: %.0f/s, %.0f instances, %q, to deploy %v\n%s", c.within, l.Signin, l.SigninKept,
				l.Fits(), p.Overrides, b.String())
		}
		for _, line := range p.Bill {
			if line.What == "sign-ins" && (line.USD < 1.7 || line.USD > 1.9) {
				t.Errorf("within %v: %+v", c.within, line)
			}
		}
	}
}

// TestAWebhookIsPaidFor: two changes of each paid order are posted.
func TestAWebhookIsPaidFor(t *testing.T) {
	t.Parallel()
	s := sale(5_000, 100, false)
	without := Make(s).Total
	s.Webhook = true
	p := Make(s)
	i := slices.IndexFunc(p.Bill, func(l Line) bool { return l.What == "webhook" })
	if i < 0 || math.Abs(p.Bill[i].USD-200*postPrice) > 1e-9 || math.Abs(p.Total-without-200*postPrice) > 1e-9 {
		t.Errorf("%+v, want 200 posts more than %f", p.Bill, without)
	}
}

// TestEnough: a small sale needs neither quotas nor parameters.
func TestEnough(t *testing.T) {
	p := Make(sale(5_000, 100, false))
	if p.Quotas != nil || p.Overrides != nil || p.Notes != nil || p.Deploy() != "Size=small" {
		t.Errorf("%+v %+v %q", p.Quotas, p.Overrides, p.Notes)
	}
}

// TestDefaultsFit: an account with default quotas serves what template.yaml's throttles admit.
func TestDefaultsFit(t *testing.T) {
	t.Parallel()
	if why := Today.Fits(); why != nil {
		t.Errorf("%q", why)
	}
	for name, tt := range map[string]struct {
		spoil func(*Limits)
		want  string
	}{
		"the defaults until November 2026": {func(l *Limits) {
			l.BuyRate, l.BuyBurst, l.Rate, l.Burst, l.Poll, l.PollBurst = 5000, 2500, 5000, 2500, 5000, 2500
		},
			"all methods together admit 100,400 calls per second and 50,240 at once, but the account serves 10,000 " +
				"and 5,000"},
		"too many cold starts": {func(l *Limits) { l.BuyRate, l.BuyBurst = 2000, 300 },
			"1,100 instances of buy have to start at once, but Lambda starts 1,000"},
		"more notifications than reserved executions": {
			func(l *Limits) { l.Notify, l.NotifyBurst, l.NotifyKept = 500, 500, 90 },
			"700 executions of notify may run at once, but 90 are reserved: Alipay gets 503"},
		"more sign-ins than reserved executions": {func(l *Limits) { l.Signin = 100 },
			"25 executions of signin run at once, but 20 are reserved: the other sign-ins get 503"},
		"too small an account": {func(l *Limits) { l.Concurrency = 800 },
			"the opening needs 940 instances, but the account has 800"},
	} {
		l := Today
		tt.spoil(&l)
		if why := l.Fits(); !strings.Contains(strings.Join(why, "\n"), tt.want) {
			t.Errorf("%s: %q, want %q", name, why, tt.want)
		}
	}
}

// TestSizes: an account with default quotas serves what large admits. A plan that large covers deploys large.
func TestSizes(t *testing.T) {
	large := Today
	large.Poll, large.PollBurst = 2500, 700
	if why := large.Fits(); why != nil {
		t.Errorf("%q", why)
	}
	for units, want := range map[int]string{1000: "Size=large", 5000: "Size=large",
		10_000: "Size=planned Plan=BuyRate="} {
		p := Make(sale(1_000_000, units, true))
		got := p.Deploy()
		if p.Size == Planned && !strings.HasPrefix(got, want) || p.Size == Large && got != want {
			t.Errorf("%d units: %s", units, got)
		}
		at := func(name string) string {
			return map[string]string{"Size": p.Size, "Plan": strings.TrimPrefix(got, "Size=planned Plan=")}[name]
		}
		deployed := Numbers(at)
		for _, o := range p.Overrides {
			if n, err := strconv.Atoi(deployed[o.Name]); err != nil || n < o.Value {
				t.Errorf("%d units: %s=%s, want %d or more", units, o.Name, deployed[o.Name], o.Value)
			}
		}
	}
	older := map[string]string{BuyRate: "900"}
	if got := Numbers(func(name string) string { return older[name] }); !maps.Equal(got, older) {
		t.Errorf("a stack of an older release has %v", got)
	}
}

func TestWhatIsNoSale(t *testing.T) {
	for want, spoil := range map[string]func(*Sale){
		"--shoppers 0: want 1 to 100000000":  func(s *Sale) { s.Shoppers = 0 },
		"--units 1000001: want 1 to 1000000": func(s *Sale) { s.Units = 1_000_001 },
		"--count 51: want 1 to 50":           func(s *Sale) { s.Count = 51 },
		"--count 5: the sale has 4 units":    func(s *Sale) { s.Count, s.Units = 5, 4 },
		"--first -0.1: want 0 to 1":          func(s *Sale) { s.First = -0.1 },
		"--within -1s: want 0s to 1h0m0s":    func(s *Sale) { s.Within = -time.Second },
		"--rest 0s: want 1s to 10m0s":        func(s *Sale) { s.Rest = 0 },
		"--before 25h0m0s: want 0s to 24h":   func(s *Sale) { s.Before = 25 * time.Hour },
		"--looks 11: want 0 to 10":           func(s *Sale) { s.Looks = 11 },
		"--paying 0s: want 1s to 1h":         func(s *Sale) { s.Paying = 0 },
		"--signin -1s: want 0s to 24h0m0s":   func(s *Sale) { s.Signin = -time.Second },
		"--wait 1s: want 2s to 2m0s":         func(s *Sale) { s.Wait = time.Second },
	} {
		s := sale(1000, 100, false)
		spoil(&s)
		if err := s.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if s := sale(1000, 100, false); s.Validate() != nil {
		t.Error(s.Validate())
	}
}

// TestColdStartsAreCounted: each instance reads one secret. The sale of docs/DEPLOY.md starts more per second than
// Systems Manager answers (40, standard throughput) and fewer than Secrets Manager does.
func TestColdStartsAreCounted(t *testing.T) {
	t.Parallel()
	s := sale(1_000_000, 1000, true)
	for name, l := range map[string]Limits{"defaults": Today, "planned": {BuyRate: 13_000, BuyBurst: 2_000, Poll: 1_700,
		PollBurst: 500, Rate: 1_700, Burst: 500,
		Account: 30_000, AccountSize: 8_000, Concurrency: 3_700, Provisioned: 1_000, Ramp: rampInstances, Consume: 20,
		Writes: NewTableWrites, Scripts: Today.Scripts}} {
		o := simulate(&s, l)
		t.Logf("%s: %.0f", name, o.PeakStarts)
		if o.PeakStarts <= 40 || o.PeakStarts > secretReads || o.PeakStarts > 2*rampInstances*1.1 {
			t.Errorf("%s: %.0f instances start in the busiest second", name, o.PeakStarts)
		}
	}
}

// TestVerdict: the first two lines say whether the sale fits, and what to do first.
func TestVerdict(t *testing.T) {
	hurried := sale(1_000_000, 1000, false)
	hurried.Wait = 2 * time.Second
	for _, c := range []struct {
		sale           Sale
		verdict, first string
	}{
		{sale(1_000_000, 1000, true), "As planned it fits: all units are reserved after 1.0 s",
			"Days ahead, have AWS raise"},
		{sale(2000, 50, false), "As planned it fits: all units", "Nothing: the defaults are enough."},
		{sale(10, 50, false), "As planned it fits: no shopper waits", "Nothing"},
		{hurried, "Even as planned it does not fit: a shopper waits up to", "Put the CDN in front (--edge)"},
	} {
		var b bytes.Buffer
		if err := Make(c.sale).WriteText(&b); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); !strings.HasPrefix(got, "verdict   "+c.verdict) ||
			!strings.Contains(got, "\nfirst     "+c.first) {
			t.Errorf("%+v: %.300s", c.sale, got)
		}
	}
}
