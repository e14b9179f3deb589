package plan

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Values of template.yaml's parameter Size.
const (
	Small   = "small"
	Large   = "large"   // a million shoppers behind the CDN and 5,000 units, in an account with default quotas
	Planned = "planned" // what its parameter Plan says
)

// The numbers of a size.
const (
	BuyRate            = "BuyRate"
	BuyBurst           = "BuyBurst"
	PollRate           = "PollRate"
	PollBurst          = "PollBurst"
	ThrottleRate       = "ThrottleRate"
	ThrottleBurst      = "ThrottleBurst"
	NotifyRate         = "NotifyRate"
	NotifyBurst        = "NotifyBurst"
	NotifyConcurrency  = "NotifyConcurrency"
	SigninRate         = "SigninRate"
	SigninConcurrency  = "SigninConcurrency"
	BuyProvisioned     = "BuyProvisioned"
	ConsumeConcurrency = "ConsumeConcurrency"
	ConcurrencyAlarm   = "ConcurrencyAlarm"
	CacheGigabytes     = "CacheGigabytes"
	CacheEcpu          = "CacheEcpu"
)

// alarming is the share of the account's concurrent executions at which ConcurrencyAlarm warns.
const alarming = 0.8

// Patterns of numbers, of which template.yaml has its pattern of Plan.
const (
	some  = "[1-9][0-9]{0,5}"
	maybe = "(0|" + some + ")"
)

// numbers has the numbers in Plan's order: their patterns, the numbers of small and large, and a plan's numbers.
var numbers = []struct {
	name, pattern string
	small, large  float64
	of            func(l *Limits, r *Redis) float64
}{
	{BuyRate, some, Today.BuyRate, Today.BuyRate, func(l *Limits, _ *Redis) float64 { return l.BuyRate }},
	{BuyBurst, some, Today.BuyBurst, Today.BuyBurst, func(l *Limits, _ *Redis) float64 { return l.BuyBurst }},
	{PollRate, some, Today.Poll, 2500, func(l *Limits, _ *Redis) float64 { return l.Poll }},
	{PollBurst, some, Today.PollBurst, 700, func(l *Limits, _ *Redis) float64 { return l.PollBurst }},
	{ThrottleRate, some, Today.Rate, Today.Rate, func(l *Limits, _ *Redis) float64 { return l.Rate }},
	{ThrottleBurst, some, Today.Burst, Today.Burst, func(l *Limits, _ *Redis) float64 { return l.Burst }},
	{NotifyRate, some, Today.Notify, Today.Notify, func(l *Limits, _ *Redis) float64 { return l.Notify }},
	{NotifyBurst, some, Today.NotifyBurst, Today.NotifyBurst,
		func(l *Limits, _ *Redis) float64 { return l.NotifyBurst }},
	{NotifyConcurrency, some, Today.NotifyKept, Today.NotifyKept,
		func(l *Limits, _ *Redis) float64 { return l.NotifyKept }},
	{SigninRate, some, Today.Signin, Today.Signin, func(l *Limits, _ *Redis) float64 { return l.Signin }},
	{SigninConcurrency, some, Today.SigninKept, Today.SigninKept,
		func(l *Limits, _ *Redis) float64 { return l.SigninKept }},
	{BuyProvisioned, maybe, 0, 0, func(l *Limits, _ *Redis) float64 { return l.Provisioned }},
	{ConsumeConcurrency, "(20|50|100|200|400|700|1000)", Today.Consume, Today.Consume,
		func(l *Limits, _ *Redis) float64 { return l.Consume }},
	{ConcurrencyAlarm, some, alarming * accountConcurrency, alarming * accountConcurrency,
		func(l *Limits, _ *Redis) float64 {
			return math.Floor(alarming * max(l.Concurrency, accountConcurrency))
		}},
	{CacheGigabytes, "([1-9][0-9]{0,2}|[1-4][0-9]{3}|5000)", 5, 5,
		func(_ *Limits, r *Redis) float64 { return max(math.Ceil(1.5*float64(r.Bytes)/1e9), 5) }},
	// The cache would grow by itself, but slower than a sale goes.
	{CacheEcpu, "(0|[1-9][0-9]{3,6}|1[0-4][0-9]{6}|15000000)", 0, 0, func(_ *Limits, r *Redis) float64 {
		if r.Ready == 0 {
			return 0
		}
		return min(up(r.wanted(), 1000), maxECPU)
	}},
}

// sized chooses the smallest size that has the plan's numbers.
func (p *Plan) sized() {
	p.Size = Small
	for _, n := range numbers {
		v := n.of(&p.Planned.Limits, &p.Redis)
		if v != n.small {
			p.Overrides = append(p.Overrides, Override{n.name, int(v)})
		}
		switch {
		case v > n.large:
			p.Size = Planned
		case v > n.small && p.Size == Small:
			p.Size = Large
		}
	}
}

// warmer reports whether a table has to take more than a new table takes.
func (p *Plan) warmer() bool {
	return slices.ContainsFunc(p.Tables, func(t Table) bool { return t.Warm > NewTableWrites })
}

// number returns a number of the plan, or 0 when the size small has the same number.
func (p *Plan) number(name string) float64 {
	for _, o := range p.Overrides {
		if o.Name == name {
			return float64(o.Value)
		}
	}
	return 0
}

// listed returns all numbers as Plan has them, each with the value that of gives for the i-th.
func listed(of func(i int) string) string {
	parts := make([]string, len(numbers))
	for i, n := range numbers {
		parts[i] = n.name + "=" + of(i)
	}
	return strings.Join(parts, ",")
}

// whole writes a number without decimals.
func whole(v float64) string { return strconv.Itoa(int(v)) }

// SizeText returns the numbers of small or large as a value of Plan.
func SizeText(size string) string {
	return listed(func(i int) string {
		if size == Large {
			return whole(numbers[i].large)
		}
		return whole(numbers[i].small)
	})
}

// Pattern returns what template.yaml accepts as Plan.
func Pattern() string { return "^(|" + listed(func(i int) string { return numbers[i].pattern }) + ")$" }

// Changed returns the parameters to deploy a stack with, some of whose numbers are changed. Deployed are its numbers.
func Changed(deployed, changes map[string]string) (string, error) {
	all := maps.Clone(deployed)
	maps.Copy(all, changes)
	text := listed(func(i int) string { return all[numbers[i].name] })
	for name := range changes {
		if _, known := List(text)[name]; !known {
			return "", fmt.Errorf("no number is called %s: they are in %s", name, text)
		}
	}
	for _, n := range numbers {
		if !regexp.MustCompile("^" + n.pattern + "$").MatchString(all[n.name]) {
			return "", fmt.Errorf("%s=%s: want %s", n.name, all[n.name], n.pattern)
		}
	}
	return "Size=" + Planned + " Plan=" + text, nil
}

// Deploy returns the parameters to deploy the plan with. Warm is left out where new tables suffice: the tables cannot
// shrink.
func (p *Plan) Deploy() string {
	text := "Size=" + p.Size
	if p.Size == Planned {
		text += " Plan=" + listed(func(i int) string { return whole(numbers[i].of(&p.Planned.Limits, &p.Redis)) })
	}
	return text + p.warmText()
}

// warmText returns the parameter Warm after a space, "" where new tables suffice.
func (p *Plan) warmText() string {
	if !p.warmer() {
		return ""
	}
	parts := make([]string, len(p.Tables))
	for i, t := range p.Tables {
		parts[i] = t.Name + "=" + strconv.Itoa(t.Warm)
	}
	return " Warm=" + strings.Join(parts, ",")
}

// Numbers returns the numbers that a stack is deployed with, by name. Parameter returns its parameters, "" for one that
// it lacks: a stack of an older release has no Size, but each number as a parameter.
func Numbers(parameter func(name string) string) map[string]string {
	switch size := parameter("Size"); size {
	case Planned:
		return List(parameter("Plan"))
	case Small, Large:
		return List(SizeText(size))
	}
	out := map[string]string{}
	for _, n := range numbers {
		if v := parameter(n.name); v != "" {
			out[n.name] = v
		}
	}
	return out
}

// List reads a parameter that is a list: name=value,name=value.
func List(text string) map[string]string {
	out := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		if name, value, ok := strings.Cut(part, "="); ok {
			out[name] = value
		}
	}
	return out
}
