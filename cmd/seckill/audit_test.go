package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/local/localtest"
	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/contracttest"
	"github.com/your-org/seckill/shared/seckill"
)

// sold returns a running shop with some units of the live demo item sold.
func sold(t *testing.T) *local.System {
	t.Helper()
	sys := localtest.Start(t, local.Options{})
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	api := contracttest.Client{URL: sys.URL(), HTTP: &http.Client{Transport: transport, Timeout: time.Minute}}
	for i := range 4 {
		token, err := sys.Token(strconv.Itoa(9000+i), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		a, err := api.Call(t.Context(), token, http.MethodPost, "/seckill/buy",
			map[string]any{"seckill_id": local.DemoLive, "count": 1, "address": "x"})
		if err != nil || a.Status != http.StatusOK {
			t.Fatalf("buy: %v, %v", a, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := sys.WaitIdle(ctx); err != nil {
		t.Fatal(err)
	}
	return sys
}

// audited runs the command.
func audited(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, fault bytes.Buffer
	code = run(t.Context(), append([]string{"audit"}, args...), &out, &fault, noEnv)
	http.DefaultClient.CloseIdleConnections()
	return code, out.String(), fault.String()
}

func TestAuditOfARunningShop(t *testing.T) {
	sys := sold(t)
	at := []string{"--url", sys.URL(), "--item", local.DemoLive, "--again", "1ms"}
	code, out, fault := audited(t, at...)
	if code != exitOK || fault != "" || !strings.Contains(out, "I1   NoOversell        holds    4 unit rows") ||
		!strings.Contains(out, "I4   OneOutcome        unknown  needs a journal") {
		t.Errorf("exit %d, %s%s", code, out, fault)
	}
	code, out, fault = audited(t, append(at, "--json")...)
	var r audit.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != exitOK || r.Item != local.DemoLive ||
		len(r.Results) != 17 || r.Of("I3").Verdict != audit.Holds || r.Statement.Units.Held != 4 {
		t.Errorf("exit %d, %v, %s%s", code, err, out, fault)
	}

	gone := sys.Rows.Dump(ledger.TableUnits)[0]
	k := ledger.Key{Table: ledger.TableUnits, PK: gone["bucket"].(string), SK: gone["unit"].(string)}
	if err := sys.Rows.Transact(t.Context(), []ledger.Write{{Key: k, Op: ledger.OpDelete}}); err != nil {
		t.Fatal(err)
	}
	code, out, fault = audited(t, at...)
	if code != exitFault || !strings.Contains(fault, "seckill: item 2002: I2, I3") || strings.Count(fault, "\n") != 1 ||
		!strings.Contains(out, "I3   Conservation      broken   1 finding") {
		t.Errorf("a unit row gone: exit %d, %s%s", code, out, fault)
	}
}

// TestAuditOfAStop checks that an order placed after a stop violates I10, and that a sale which was stopped, resumed
// and stopped again does not.
func TestAuditOfAStop(t *testing.T) {
	sys := sold(t)
	audited := func(when string, want audit.Verdict) *audit.GuaranteeResult {
		t.Helper()
		_, out, _ := audited(t, "--url", sys.URL(), "--item", local.DemoLive, "--again", "1ms", "--json")
		var r audit.Report
		if err := json.Unmarshal([]byte(out), &r); err != nil || r.Of("I10").Verdict != want {
			t.Fatalf("%s: I10 %+v, %v; want %s", when, r.Of("I10"), err, want)
		}
		return r.Of("I10")
	}
	operate := func(what string) {
		t.Helper()
		if code, out, fault := command(t, "items", what, local.DemoLive, "--url", sys.URL()); code != exitOK {
			t.Fatalf("%s: %s%s", what, out, fault)
		}
		sys.Clock.Advance(20 * time.Second)
	}
	audited("never stopped", audit.Holds)
	for _, what := range []string{"stop", "resume", "stop"} {
		operate(what)
		audited(what, audit.Holds)
	}
	it, err := sys.Items.Get(t.Context(), local.DemoLive)
	if err != nil {
		t.Fatal(err)
	}
	now := sys.Clock.Now()
	late := seckill.Order{ID: "late0000000000000000000001", Item: it.ID, User: "77", Count: 1, Units: []int{it.Stock},
		Price:  it.Price,
		Amount: it.Price, Given: seckill.Given{Address: "x"}, State: seckill.PendingPayment, Created: now, Placed: now,
		PayBy: now.Add(time.Minute), Title: "x",
		Buckets: it.Buckets, History: []seckill.Change{{State: seckill.PendingPayment, At: now, Cause: "placed"}}}
	if err := sys.Ledger.Place(t.Context(), late, it.Limit); err != nil { // as a consume that ignores the stop would
		t.Fatal(err)
	}
	if j := audited("placed after a stop", audit.Broken); j.Count != 1 || j.Findings[0].Row != "orders "+late.ID {
		t.Errorf("%+v, want order %s", j, late.ID)
	}
}

func TestAuditWithABrokenJournal(t *testing.T) {
	sys := sold(t)
	var log bytes.Buffer
	w := record.CreateJournal(&log, record.Start{Item: local.DemoLive})
	w.Answer(record.Entry{Request: w.Request(record.Entry{User: "1", Act: record.ActBuy, Item: local.DemoLive,
		Count: 1}), Status: 422, Code: "invalid_request"})
	if err := w.Close(record.End{}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "journal")
	for _, tt := range []struct {
		data []byte
		code int
		want string
	}{
		{log.Bytes(), exitOK, "Journal: 4 lines, 1 requests, 1 answers"},
		{bytes.Replace(log.Bytes(), []byte(`"n":3,`), []byte(`"n":4,`), 1), exitFault,
			"The journal is not valid: line 3"},
	} {
		if err := os.WriteFile(path, tt.data, 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, fault := audited(t, "--url", sys.URL(), "--item", local.DemoLive, "--journal", path, "--again", "0s")
		if code != tt.code || !strings.Contains(out, tt.want) {
			t.Errorf("exit %d, want %d and %q: %s%s", code, tt.code, tt.want, out, fault)
		}
	}
}

// soldStack is an AWS account whose stack "sale" has sold the same as a local system.
type soldStack struct {
	*clinic
	sys *local.System
}

func (s *soldStack) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, call, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if call != "Scan" && call != "GetItem" {
		s.clinic.ServeHTTP(w, r)
		return
	}
	var in struct {
		TableName      string
		Segment        int
		ConsistentRead bool
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || !in.ConsistentRead {
		http.Error(w, "not a consistent read", http.StatusBadRequest)
		return
	}
	items := []m{}
	it, err := s.sys.Items.Get(r.Context(), local.DemoLive)
	if err == nil {
		err = s.sys.Dump(r.Context(), &it, func(l *record.Line) error {
			if l.Table != "" && "sale-"+l.Table == in.TableName && in.Segment == 0 {
				items = append(items, attributes(l.Row))
			}
			return nil
		})
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	out := m{"Items": items, "Count": len(items)}
	if call == "GetItem" {
		out = m{"Item": items[0]}
	}
	_ = json.NewEncoder(w).Encode(out)
}

// attributes encodes a row as DynamoDB does.
func attributes(row ledger.Row) m {
	out := m{}
	for attr, v := range row {
		switch v := v.(type) {
		case string:
			out[attr] = m{"S": v}
		case int64:
			out[attr] = m{"N": strconv.FormatInt(v, 10)}
		case ledger.Set:
			out[attr] = m{"SS": v}
		case []string:
			list := []m{}
			for _, s := range v {
				list = append(list, m{"S": s})
			}
			out[attr] = m{"L": list}
		}
	}
	return out
}

func TestAuditOfAStack(t *testing.T) {
	stack := &soldStack{newClinic(t), sold(t)}
	account(t, served(t, stack).URL)
	code, out, fault := audited(t, "--stack", "sale", "--item", local.DemoLive, "--json")
	var r audit.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != exitOK || fault != "" {
		t.Fatalf("exit %d, %v, %s%s", code, err, out, fault)
	}
	for id, want := range map[string]audit.Verdict{"I1": audit.Holds, "I2": audit.Holds, "I3": audit.Holds,
		"I5": audit.Holds, "I10": audit.Holds, "L2": audit.Unknown, "L3": audit.Unknown} {
		if j := r.Of(id); j.Verdict != want {
			t.Errorf("%+v, want %s", j, want)
		}
	}
	if needs := strings.Join(r.Of("L3").Needs, " "); !strings.Contains(needs, "--redis") ||
		r.Statement.Units.Held != 4 {
		t.Errorf("L3 needs %q, units %+v", needs, r.Statement.Units)
	}
	stack.depths["Orders"], stack.depths["OrdersDeadLetter"] = "3", "2"
	_, out, _ = audited(t, "--stack", "sale", "--item", local.DemoLive)
	if !strings.Contains(out, "needs an empty orders queue") ||
		!strings.Contains(out, "2 messages of orders are parked") {
		t.Errorf("queues that are not empty:\n%s", out)
	}
}

func TestAuditRefusesInOneLine(t *testing.T) {
	sys := sold(t)
	refuses(t,
		step{"audit", exitUsage, "", `--item ""`},
		step{"audit --item x", exitUsage, "", `--item "x"`},
		step{"audit --url " + sys.URL() + " --item 9", exitUsage, "", "item 9: there is no such item"},
		step{"audit --item 1 --url " + sys.URL() + " --dynamodb http://localhost:1", exitUsage, "",
			"contradict each other"},
		step{"audit --item 1 --region x", exitUsage, "", "name it with --stack"},
		step{"audit --item 1 --redis localhost:1", exitUsage, "", "go with --dynamodb or --stack"},
		step{"audit --item 1 --dynamodb localhost:1", exitUsage, "", "want a URL"},
		step{"audit --item 1 --dynamodb http://localhost:1 --redis localhost", exitUsage, "", "want host:port"},
		step{"audit --item 1 --dynamodb http://localhost:1 --redis-cluster", exitUsage, "", "want --redis"},
		step{"audit --item 1 --dynamodb http://localhost:1 --redis a:1,b:1", exitUsage, "", "without --redis-cluster"},
		step{"audit --item 1 --journal " + filepath.Join(t.TempDir(), "none"), exitUsage, "", "no such file"},
		step{"audit --item 1 --again -1s", exitUsage, "", "--again -1s"},
		step{"audit --item 1 --url http://127.0.0.1:1", exitFault, "", "nothing answers at"},
		step{"audit --item 1 --dynamodb http://127.0.0.1:1", exitFault, "", "connection refused"},
	)
}
