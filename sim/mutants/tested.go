package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/your-org/seckill/sim/mutants/on"
)

// tested lists the mutants that no seed reveals, each with the test that must catch it: the package, and the test in
// it.
var tested = map[string][2]string{
	// It needs two deliveries of one message that both collide, one of which must place and confirm between the
	// other's collision and its redraw. 60,000 seeds have not shown it since the stock keeps no record of an order
	// that holds nothing (ADR 17).
	"confirmed-redrawn": {"./shared/adapter/memory", "TestStock"},
	// Each needs a stock that was restored, more than once for the first.
	"unlisted-waits":                {"./sim", "TestRegressions"},
	"displaced-forgotten":           {"./sim", "TestRegressions"},
	"unlisted-uncounts":             {"./shared/adapter/memory", "TestStock"},
	"claim-leaves-proof":            {"./shared/adapter/memory", "TestStock"},
	"return-leaves-proof":           {"./shared/adapter/memory", "TestStock"},
	"return.lua:negate-condition:2": {"./shared/adapter/memory", "TestStock"},
	"uncounted-kept":                {"./shared/adapter/memory", "TestStock"},
	// Only the meter tells a connection that is gone from one that fails.
	"push/push.go:sendTo:negate-condition:2": {"./shared/flow/push", "TestChanges"},
	// The next run, a minute later, does what is left; only the number of requests reveals it.
	"repair/repair.go:returns:negate-condition:3": {"./shared/flow/repair", "TestUnreadableReturnsAreCountedOnce"},
	// The run of the next minute publishes; only the list after an operator's command reveals it.
	"stage/publish.go:publish:negate-condition:4": {"./shared/flow/stage", "TestAStopStandsThoughItCannotBePublished"},
	// In the simulator all rows are readable when a bill is compared.
	"reconcile/reconcile.go:missing:negate-condition:2": {"./shared/flow/reconcile", "TestARowThatCannotBeRead"},
	"reconcile/reconcile.go:unreadable:junction:1":      {"./shared/flow/reconcile", "TestARowThatCannotBeRead"},
	// No simulated item has more orders than one page.
	"retention-marks-unread": {"./shared/flow/erase", "TestLongItem"},
	// A day after a simulated sale no order is open.
	"network-spares-the-open": {"./shared/flow/erase", "TestNetworkRetention"},
	// Either of buy and consume drops what the other keeps.
	"network-kept-unasked":    {"./shared/flow/buy", "TestNetworksUnasked"},
	"network-kept-on-the-way": {"./shared/flow/consume", "TestNetworksUnderWay"},
	// Every row of an order that the simulator streams can be read.
	"unreadable-shifts-the-rest": {"./shared/adapter/stream", "TestFailedFrom"},
	"recount-of-one-page":        {"./shared/flow/count", "TestRecount"},
	// No simulated index is late by days.
	"expire/sent.go:moveOn:junction:2": {"./shared/flow/expire", "TestMovesOnByTheRow"},
	// The next suspicious act of the user marks again.
	"acts/keep.go:mark:swallow-error:1": {"./shared/flow/acts", "TestMarksOfOneWhoHammers"},
	// The simulator checks who may move money, not what the first person is told.
	"refund/decide.go:decide:negate-condition:7": {"./shared/flow/refund",
		"TestOneMoreRefundADayWaitsForASecondPerson"},
	// In the simulator nobody keeps heads of the audit log.
	"audit/check.go:NewCheck:junction:1": {"./shared/flow/audit", "TestTampered"},
	// The shopper is refused either way: what differs is the reason.
	"signin/signin.go:SignIn:swallow-error:2": {"./shared/flow/signin", "TestRefusals"},
	// Each write adds one entry, and nobody misses in the simulator what is told once more.
	"only-the-last-entry-told":               {"./shared/flow/tell", "TestAgain"},
	"tell/tell.go:Replay:negate-condition:1": {"./shared/flow/tell", "TestAgain"},
	// A simulated item has the checks from the beginning.
	"checks-remembered-early": {"./shared/flow/buy", "TestChecksThatMayChangeAreNotRemembered"},
	"checks-read-each-time":   {"./shared/flow/buy", "TestChecksAreRemembered"},
	// No simulated shopper disconnects while a list is read.
	"shop/list.go:current:junction:5": {"./shared/flow/shop", "TestASlowFailureIsRememberedFromItsEnd"},
}

// test runs a mutant's test with the mutant and without it: only the first may fail. The outcome counts one seed.
func test(ctx context.Context, root, overlay string, m *Mutant) outcome {
	var o outcome
	o.Seeds, o.Seed = 1, 1
	pkg, name := tested[m.Name][0], tested[m.Name][1]
	if out, err := goTest(ctx, root, overlay, pkg, name, 0); err != nil {
		o.err = fmt.Errorf("%s %s fails without a mutant: %w\n%s", pkg, name, err, out)
		return o
	}
	out, err := goTest(ctx, root, overlay, pkg, name, m.Number)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && bytes.Contains(out, []byte("--- FAIL: "+name)):
		o.Check, o.Detail = name, failing(out)
	case err != nil:
		o.err = fmt.Errorf("%s %s: %w\n%s", pkg, name, err, out)
	}
	return o
}

func goTest(ctx context.Context, root, overlay, pkg, name string, mutant int) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-overlay", overlay, "-run", "^"+name+"$", pkg)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", on.Env, mutant))
	return cmd.CombinedOutput()
}

// failing returns the name of the innermost test that failed first.
func failing(out []byte) string {
	name := ""
	for line := range strings.Lines(string(out)) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "--- FAIL: ")
		if !ok && name != "" {
			break
		}
		if ok {
			name = rest
		}
	}
	return name
}
