//go:build e2e

package suite

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/your-org/seckill/shared/seckill"
)

// maxHold is the longest hold that a run waits for.
const maxHold = 2 * time.Minute

// An unpaid order expires by its delayed message: the sweep of each minute is disabled.
func testExpiryByMessage(t *testing.T, s *stack) {
	report.timed(t, nil)
	still := s.pauseSchedule(t, "ExpireFunction")
	s.expires(t)
	if !still() {
		t.Error("somebody switched the schedule on meanwhile: this showed nothing of the message")
	}
}

// An order whose message is lost expires by the sweep: no function receives the queue's messages.
func testExpiryBySchedule(t *testing.T, s *stack) {
	report.timed(t, nil)
	s.pauseQueue(t, "ExpireFunction")
	s.expires(t)
	if _, inFlight := s.depth(t, "ClosingsQueueUrl"); inFlight != "0" {
		t.Errorf("%s messages of the closings queue are in flight: this showed nothing of the schedule", inFlight)
	}
}

// expires holds the only unit until an unpaid order gives it back and another shopper buys it and pays.
func (s *stack) expires(t *testing.T) {
	t.Helper()
	hold, err := time.ParseDuration(s.Outputs["Hold"])
	if err != nil {
		t.Fatal(err)
	}
	s.needs(t, hold <= maxHold, "orders are held for "+hold.String())
	sale := s.sell(t, 1, 1)
	ids := newShoppers(2)
	idle, quick := sale.shopper(t, ids), sale.shopper(t, ids+1)
	var order, pay string
	// if its placement is killed, the order is placed a minute later
	s.undisturbed(func() { order, pay = idle.bought(t, 1, "cart") })
	if a, err := quick.buy(t.Context(), 1, "too early"); err != nil || a.Text("code") != "sold_out" {
		t.Errorf("the only unit is held: %v, %v", a, err)
	}
	idle.await(t, seckill.Expired)
	var history []string
	for _, h := range idle.order(t, order).JSON["history"].([]any) {
		change := h.(map[string]any)
		history = append(history, fmt.Sprint(change["state"], " ", change["at"]))
	}
	t.Logf("expired: %v", history)
	if a, err := s.Call(t.Context(), "", "GET", "/cashier?"+pay, nil); err != nil || a.Status != 410 {
		t.Errorf("the cashier after the hold: %v, %v", a, err)
	}
	eventually(t, "unit back on sale", func() string {
		if left := sale.left(t); left != "1" {
			return left + " units left"
		}
		return ""
	})
	_, pay = quick.bought(t, 1, "cart")
	if a, err := s.pay(t.Context(), pay); err != nil || a.Status != 200 {
		t.Errorf("paying: %v, %v", a, err)
	}
	quick.await(t, seckill.Paid)
	sale.soldOut(t)
	sale.converged(t)
}

// pauseSchedule disables a function's schedule until the case ends. still reports whether it is disabled.
func (s *stack) pauseSchedule(t *testing.T, function string) (still func() bool) {
	t.Helper()
	f, err := s.functions.GetFunctionConfiguration(t.Context(),
		&lambda.GetFunctionConfigurationInput{FunctionName: aws.String(s.Outputs[function])})
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.rules.ListRuleNamesByTarget(t.Context(),
		&eventbridge.ListRuleNamesByTargetInput{TargetArn: aws.String(aws.ToString(f.FunctionArn) + ":live")})
	if err != nil || len(out.RuleNames) != 1 {
		t.Fatalf("%s has the schedules %v, %v, want one", function, out, err)
	}
	rule := out.RuleNames[0]
	t.Cleanup(func() {
		if _, err := s.rules.EnableRule(background(t), &eventbridge.EnableRuleInput{Name: &rule}); err != nil {
			t.Errorf("schedule %s stays off: %v", rule, err)
		}
	})
	if _, err := s.rules.DisableRule(t.Context(), &eventbridge.DisableRuleInput{Name: &rule}); err != nil {
		t.Fatal(err)
	}
	return func() bool {
		got, err := s.rules.DescribeRule(t.Context(), &eventbridge.DescribeRuleInput{Name: &rule})
		if err != nil {
			t.Fatal(err)
		}
		return got.State == "DISABLED"
	}
}
