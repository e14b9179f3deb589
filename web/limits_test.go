package web

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/flow/front/shop"
	"github.com/your-org/seckill/shared/seckill"
)

// TestPageKnowsTheLimits checks the numbers of after.js against the shop's numbers.
func TestPageKnowsTheLimits(t *testing.T) {
	script, err := os.ReadFile("src/after.js")
	if err != nil {
		t.Fatal(err)
	}
	const day = 24 * time.Hour
	for name, want := range map[string]int{"RECEIVED_DAYS": int(seckill.ReceivedAfter / day),
		"COMPLETED_DAYS": int(seckill.CompletedAfter / day), "MAX_REASON": shop.MaxReason} {
		m := regexp.MustCompile(`(?m)^const ` + name + ` = (\d+);`).FindSubmatch(script)
		if m == nil {
			t.Errorf("after.js has no %s", name)
			continue
		}
		if got, err := strconv.Atoi(string(m[1])); err != nil || got != want {
			t.Errorf("after.js has %s %d, the shop %d", name, got, want)
		}
	}
}

// TestPageKnowsTheStates checks the table of admin/states.js against that of the shop.
func TestPageKnowsTheStates(t *testing.T) {
	script, err := os.ReadFile("src/admin/states.js")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, s := range seckill.States {
		older := strconv.Itoa(s.Older)
		if s.Older == seckill.NoOlder {
			older = "''"
		}
		fmt.Fprintf(&want, "  %s: [%d, %s],\n", s.State, s.Status, older)
	}
	want.WriteString("};\n\n" + fmt.Sprintf("const OLDER_HIDDEN = %d;", seckill.OlderHidden))
	if !strings.Contains(string(script), "export const STATES = {\n"+want.String()) {
		t.Errorf("admin/states.js lacks\n%s", want.String())
	}
	for name, holds := range map[string]func(seckill.State) bool{"goodsLeft": seckill.State.Left,
		"over":       seckill.State.Over,
		"refundable": func(s seckill.State) bool { return s.Info().Holds && s.CanBecome(seckill.RefundOwed) }} {
		var states []string
		for _, s := range seckill.States {
			if holds(s.State) {
				states = append(states, "'"+string(s.State)+"'")
			}
		}
		line := name + " = (state) => [" + strings.Join(states, ", ") + "].includes(state);"
		if !strings.Contains(string(script), line) {
			t.Errorf("admin/states.js lacks %s", line)
		}
	}
}
