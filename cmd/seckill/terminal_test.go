package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// hostile is a text that clears a screen, colours it, rings, goes back, and turns the order of letters.
const hostile = "a\x1b[2J\u009b31m\a\b\x7f\r\u202eb\u2066\u200ec\u2028d"

func controlsIn(text string) string {
	for _, r := range text {
		if r != '\n' && r != '\t' && controls(r) {
			return fmt.Sprintf("%U in %.300q", r, text)
		}
	}
	return ""
}

// TestTerminal: wherever a text is cut, what controls a terminal is shown, and JSON means the same.
func TestTerminal(t *testing.T) {
	t.Parallel()
	text, _ := json.Marshal(map[string]string{"k": "国\x7f\u009b\u202e😀\u200d"})
	for _, whole := range []string{hostile, string(text), "国\r\n\t\"x\"\r", "\xff\u009b\xe5\x9b"} {
		want := harmlessly(strings.ToValidUTF8(whole, "\ufffd"), true)
		if why := controlsIn(strings.ReplaceAll(want, "\r\n", "")); why != "" {
			t.Error(why)
		}
		for cut := range whole {
			var out bytes.Buffer
			w := &terminal{to: &out}
			for _, part := range []string{whole[:cut], whole[cut:]} {
				if n, err := io.WriteString(w, part); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			must.OK(t, w.flush())
			if out.String() != want || !utf8.Valid(out.Bytes()) {
				t.Errorf("%q cut at %d: %q, want %q", whole, cut, out.String(), want)
			}
		}
	}
	var back map[string]string
	if err := json.Unmarshal([]byte(harmlessly(string(text), true)), &back); err != nil ||
		back["k"] != "国\x7f\u009b\u202e😀\u200d" {
		t.Errorf("%q, %v", back, err)
	}
}

// hostileAnswer is a result whose texts are hostile, in the form that a command's answer has.
func hostileAnswer(name string) any {
	h := hostile
	order := operator.Order{ID: someOrder, Item: "2002", Title: h, User: h, Name: h, Cover: h, Options: h,
		State: seckill.State(h), Reason: seckill.Code(h), Carrier: h, Number: h, Refund: h,
		History: []seckill.Change{{State: seckill.Paid, Cause: h}}}
	pay := operator.Payment{Order: h, TradeNo: h, State: seckill.PaymentState(h), Cause: h, Refund: h, Refused: h}
	switch name {
	case "orders":
		return operator.OrderList{Orders: []operator.Order{order}}
	case "order":
		return order
	case "delivery":
		return operator.Delivery{Order: h, State: seckill.Paid, Item: h, Title: h, User: h, Name: h,
			Address: h + "\n" + h}
	case "acts":
		return operator.ActPage{Acts: []operator.Act{{ID: h, Item: h, User: h, Agent: h, Referrer: h, By: h, Note: h}}}
	case "blocks":
		return operator.BlockPage{Blocks: []operator.Block{{Subject: h, Item: h, Reason: h, By: h}},
			Unreadable: []string{h}}
	case "audit":
		return operator.AuditPage{Entries: []seckill.AuditEntry{{Who: h, Act: h, Subject: h, Why: h, Result: h}}}
	case "open":
		l := operator.PaymentList{Count: 1, Payments: []operator.Payment{pay}}
		return operator.OpenMoney{Due: l, Refused: l, Unreadable: []string{h}, Waiting: operator.WaitingList{Count: 1,
			Refunds: []operator.Waiting{{Order: h, Who: h, Why: h}}}}
	case "case":
		return operator.MoneyCase{Order: h, Title: h, User: h, Payments: []operator.Payment{pay},
			Notifications: []operator.Notification{{ID: h, TradeNo: h, Outcome: h, Raw: h}},
			History:       []seckill.Change{{State: seckill.Paid, Cause: h}}}
	}
	return map[string]any{"order": order, "order_id": h, "id": h, "title": h, "item": h, "state": h, "changed": true,
		"made_by": h, "unreadable": []string{h}, "waits": map[string]any{"order_id": h, "who": h, "why": h}}
}

// noShop are commands that ask no shop, or run for as long as they are not stopped.
const noShop = " run sim load live audit report completion bash zsh fish powershell help "

// TestNothingPrintedControlsATerminal gives every command of the tool to a shop of which each answer is hostile, with
// hostile arguments, too: neither output has a character that a terminal would obey.
func TestNothingPrintedControlsATerminal(t *testing.T) {
	t.Parallel()
	answered := map[string]bool{}
	shop := func(answer func(name string) (int, any)) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var ask struct {
				Operator struct{ Command string }
			}
			_ = json.NewDecoder(r.Body).Decode(&ask)
			answered[ask.Operator.Command] = true
			status, body := answer(ask.Operator.Command)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(body)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	urls := []string{
		shop(func(name string) (int, any) { return 200, map[string]any{"result": hostileAnswer(name)} }),
		shop(func(string) (int, any) {
			return 200, map[string]any{"problem": map[string]any{"code": "invalid_request", "detail": hostile,
				"field": hostile, "status": 422}}
		}),
		shop(func(string) (int, any) { return 502, hostile }),
	}
	eachCommand(rootCommand(noEnv), func(c *cobra.Command) {
		path := strings.Fields(c.CommandPath())[1:]
		if !c.Runnable() || len(path) == 0 || strings.Contains(noShop, " "+c.Name()+" ") {
			return
		}
		for _, url := range urls {
			for _, args := range argsOf(c) {
				line := append(append([]string{}, path...), args...)
				if c.Flag("url") != nil {
					line = append(line, "--url", url)
				}
				_, stdout, stderr := command(t, line...)
				for what, text := range map[string]string{"output": stdout, "errors": stderr} {
					if why := controlsIn(text); why != "" {
						t.Errorf("%q: its %s have %s", line, what, why)
					}
				}
			}
		}
	})
	for _, name := range []string{"orders", "order", "delivery", "acts", "blocks", "open", "case", "ship", "refund"} {
		if !answered[name] {
			t.Errorf("no command asked the shop for %s", name)
		}
	}
}

// argsOf returns arguments for a command: none, hostile ones and, if it asks a shop, those of its examples, also with
// hostile reasons.
func argsOf(c *cobra.Command) (all [][]string) {
	all = append(all, nil, []string{hostile}, []string{hostile, hostile, "--" + hostile})
	if c.Flag("url") == nil {
		return all
	}
	for line := range strings.Lines(c.Example) {
		_, rest, is := strings.Cut(strings.TrimSpace(line), c.CommandPath()[len(self):])
		if !is || strings.ContainsAny(line, "|>") {
			continue
		}
		words := strings.Fields(strings.Split(strings.Split(rest, "--stack")[0], "--csv")[0])
		all = append(all, words, append(append([]string{}, words...), "--who", hostile))
		for i, w := range words {
			if w == "--why" || w == "--carrier" || w == "--number" {
				words = append(append(append([]string{}, words[:i+1]...), hostile), "--why", hostile)
				all = append(all, words)
				break
			}
		}
	}
	return all
}
