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
	"github.com/your-org/seckill/shared/drivertest/must"
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
		must.OK(t, err)
		a, err := api.Call(t.Context(), token, http.MethodPost, "/seckill/buy",
			map[string]any{"seckill_id": local.DemoLive, "count": 1, "address": "x"})
		if err != nil || a.Status != http.StatusOK {
			t.Fatalf("buy: %v, %v", a, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	must.OK(t, sys.WaitIdle(ctx))
	return sys
}

func TestAuditOfARunningShop(t *testing.T) {
	sys := sold(t)
	at := []string{"audit", "--url", sys.URL(), "--item", local.DemoLive, "--again", "1ms"}
	code, out, fault := command(t, at...)
	if code != exitOK || fault != "" || !strings.Contains(out, "I1   NoOversell        holds    4 unit rows") ||
		!strings.Contains(out, "I4   OneOutcome        unknown  needs a journal") {
		t.Errorf("exit %d, %s%s", code, out, fault)
	}
	code, out, fault = command(t, append(at, "--json")...)
	var r audit.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != exitOK || r.Item != local.DemoLive ||
		len(r.Results) != 17 || r.Of("I3").Verdict != audit.Holds || r.Statement.Units.Held != 4 {
		t.Errorf("exit %d, %v, %s%s", code, err, out, fault)
	}

	gone := sys.Rows.Dump(ledger.TableUnits)[0]
	k := ledger.Key{Table: ledger.TableUnits, PK: gone["bucket"].(string), SK: gone["unit"].(string)}
	must.OK(t, sys.Rows.Transact(t.Context(), []ledger.Write{{Key: k, Op: ledger.OpDelete}}))
	code, out, fault = command(t, at...)
	if code != exitFault || !strings.Contains(fault, "seckill: item 2002: I2, I3") || strings.Count(fault, "\n") != 1 ||
		!strings.Contains(out, "I3   Conservation      broken   1 finding") {
		t.Errorf("a unit row gone: exit %d, %s%s", code, out, fault)
	}
}

func TestAuditWithABrokenJournal(t *testing.T) {
	sys := sold(t)
	var log bytes.Buffer
	w := record.CreateJournal(&log, record.Start{Item: local.DemoLive})
	w.Answer(record.Entry{Request: w.Request(record.Entry{User: "1", Act: record.ActBuy, Item: local.DemoLive,
		Count: 1}), Status: 422, Code: "invalid_request"})
	must.OK(t, w.Close(record.End{}))
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
		must.OK(t, os.WriteFile(path, tt.data, 0o600))
		shows(t, step{"audit --url " + sys.URL() + " --item 2002 --again 0s --journal " + path, tt.code, tt.want, ""})
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
	code, out, fault := command(t, "audit", "--stack", "sale", "--item", local.DemoLive, "--json")
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
	_, out, _ = command(t, "audit", "--stack", "sale", "--item", local.DemoLive)
	if !strings.Contains(out, "needs an empty orders queue") ||
		!strings.Contains(out, "2 messages of orders are parked") {
		t.Errorf("queues that are not empty:\n%s", out)
	}
}

func TestAuditRefusesInOneLine(t *testing.T) {
	sys := sold(t)
	refuses(t, exitUsage, "audit *", [][2]string{
		{"", `--item ""`},
		{"--item x", `--item "x"`},
		{"--url " + sys.URL() + " --item 9", "item 9: there is no such item"},
		{"--item 1 --url " + sys.URL() + " --dynamodb http://localhost:1", "contradict each other"},
		{"--item 1 --region x", "name it with --stack"},
		{"--item 1 --redis localhost:1", "go with --dynamodb or --stack"},
		{"--item 1 --dynamodb localhost:1", "want a URL"},
		{"--item 1 --dynamodb http://localhost:1 --redis localhost", "want host:port"},
		{"--item 1 --dynamodb http://localhost:1 --redis-cluster", "want --redis"},
		{"--item 1 --dynamodb http://localhost:1 --redis a:1,b:1", "without --redis-cluster"},
		{"--item 1 --journal " + filepath.Join(t.TempDir(), "none"), "no such file"},
		{"--item 1 --again -1s", "--again -1s"},
	})
	refuses(t, exitFault, "audit *", [][2]string{
		{"--item 1 --url http://127.0.0.1:1", "nothing answers at"},
		{"--item 1 --dynamodb http://127.0.0.1:1", "connection refused"},
	})
}
