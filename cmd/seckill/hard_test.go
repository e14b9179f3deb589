package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/local/localtest"
)

// throttle is a method's settings as API Gateway's GetStage returns them.
type throttle struct {
	Rate  float64 `json:"throttlingRateLimit"`
	Burst int     `json:"throttlingBurstLimit"`
}

// gate is an API Gateway with one stage, beside a cloud. The stage itself obeys the default throttle.
type gate struct {
	*cloud
	mu       sync.Mutex
	settings map[string]throttle // by path and method, as GetStage names them
	patches  []string
	refuse   string // error of UpdateStage
	open     bool   // answer 200 whatever the throttle
	drops    int    // number of calls that it cuts off without an answer
}

// patchable maps GetStage's names to the paths of UpdateStage that the stage knows.
var patchable = map[string]string{
	"*/*":                            "*/*",
	"~1seckill~1alipay~1notify/POST": "seckill/alipay/notify/POST",
	"~1seckill~1buy/POST":            "seckill/buy/POST",
	"~1operator~1{role}/POST":        "operator/{role}/POST",
	"~1seckill~1ing/GET":             "seckill/ing/GET",
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case r.URL.Path == "/live/healthz" && g.drops > 0:
		g.drops--
		panic(http.ErrAbortHandler)
	case r.URL.Path == "/live/healthz":
		if g.settings["*/*"].Rate == 0 && !g.open {
			w.WriteHeader(http.StatusTooManyRequests)
		}
		return
	case strings.HasPrefix(r.URL.Path, "/restapis/gone/"):
		w.Header().Set("X-Amzn-Errortype", "NotFoundException")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"message":"Invalid stage identifier specified"}`)
		return
	case r.URL.Path != "/restapis/api1/stages/live":
		g.cloud.ServeHTTP(w, r)
		return
	}
	call := map[string]string{http.MethodGet: "GetStage", http.MethodPatch: "UpdateStage"}[r.Method]
	g.cloud.mu.Lock()
	g.calls = append(g.calls, call)
	g.cloud.mu.Unlock()
	if call == "UpdateStage" {
		if g.refuse != "" {
			w.Header().Set("X-Amzn-Errortype", g.refuse)
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"message":"User: u is not authorized to perform: apigateway:PATCH"}`)
			return
		}
		var in struct {
			PatchOperations []struct{ Op, Path, Value string }
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		for _, p := range in.PatchOperations {
			g.patches = append(g.patches, p.Op+" "+p.Path+" "+p.Value)
			key, field, _ := strings.Cut(strings.TrimPrefix(p.Path, "/"), "/throttling/")
			if name := patchable[key]; p.Op == "remove" && name != "" && field == "" {
				delete(g.settings, name)
				continue
			}
			n, err := strconv.Atoi(p.Value)
			if patchable[key] == "" || err != nil || p.Op != "replace" {
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(w, `{"message":"Invalid method setting path: %s"}`, p.Path)
				return
			}
			s := g.settings[patchable[key]]
			if field == "rateLimit" {
				s.Rate = float64(n)
			} else {
				s.Burst = n
			}
			g.settings[patchable[key]] = s
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"stageName": "live", "methodSettings": g.settings})
}

func deployedThrottle() map[string]throttle {
	return map[string]throttle{"*/*": {5000, 2500}, "seckill/alipay/notify/POST": {300, 600}}
}

func newGate(t *testing.T, settings map[string]throttle) *gate {
	t.Helper()
	g := &gate{settings: settings, cloud: &cloud{}}
	g.function, _ = itemFunction(t, upcoming("33", 5))
	url := served(t, g).URL
	g.outputs = map[string]string{
		"StageFunction": "seckill-stage",
		"ApiId":         "api1",
		"ApiStage":      "live",
		"Url":           url + "/live",
	}
	g.parameters = map[string]string{"ThrottleRate": "5000", "ThrottleBurst": "2500", "BuyRate": "900",
		"BuyBurst":   "80",
		"NotifyRate": "300", "NotifyBurst": "600"}
	account(t, url)
	return g
}

// TestHardStop checks that the throttle of the stage blocks every method except notify, and that reopening restores
// the deployed values. No function is needed.
func TestHardStop(t *testing.T) {
	deployed := map[string]throttle{"*/*": {5000, 2500}, "seckill/buy/POST": {900, 80},
		"seckill/alipay/notify/POST": {300, 600}}
	g := newGate(t, maps.Clone(deployed))
	g.refusals = map[string]refusal{"Invoke": {500, "ServiceException", "oh"}} // no function answers
	for _, step := range []struct {
		args   []string
		stdout string
		calls  string
		want   map[string]throttle
	}{
		{[]string{"stop", "--hard", "--yes"}, "Stack sale is stopped hard: its API lets nothing through but " +
			"Alipay's notifications.\nThe API answers 429 now.\n" +
			"Orders that are queued are still placed and can be paid. To open it again: seckill items resume --hard " +
			"--stack sale\n",
			"GetCallerIdentity DescribeStacks GetStage UpdateStage", map[string]throttle{"*/*": {0, 0},
				"seckill/buy/POST": {0, 0}, "seckill/alipay/notify/POST": {300, 600}}},
		{[]string{"stop", "--hard", "--yes"}, "Nothing to do: stack sale was stopped hard already.\nThe API answers " +
			"429 now.\n" +
			"Orders that are queued are still placed and can be paid. To open it again: seckill items resume --hard " +
			"--stack sale\n",
			"GetCallerIdentity DescribeStacks GetStage", map[string]throttle{"*/*": {0, 0},
				"seckill/buy/POST": {0, 0}, "seckill/alipay/notify/POST": {300, 600}}},
		{[]string{"resume", "--hard"},
			"Stack sale is open again: each method lets 5000 calls a second through, 2500 at " +
				"once, as it is deployed.\n",
			"GetCallerIdentity DescribeStacks GetStage UpdateStage", deployed},
		{[]string{"resume", "--hard"}, "Nothing to do: stack sale was not stopped hard.\n",
			"GetCallerIdentity DescribeStacks GetStage", deployed},
	} {
		code, stdout, stderr := command(t, append(append([]string{"items"}, step.args...), "--stack", "sale")...)
		if code != exitOK || stdout != step.stdout || stderr != "" {
			t.Errorf("%v: exit %d\n%s%swant\n%s", step.args, code, stdout, stderr, step.stdout)
		}
		if calls := g.called(); calls != step.calls {
			t.Errorf("%v: called %s, want %s", step.args, calls, step.calls)
		}
		if !maps.Equal(g.settings, step.want) {
			t.Errorf("%v: the stage has %v, want %v", step.args, g.settings, step.want)
		}
	}
	want := "replace /*/*/throttling/rateLimit 0, replace /*/*/throttling/burstLimit 0"
	if strings.Join(g.patches[:2], ", ") != want {
		t.Errorf("patches %v, want first %s", g.patches, want)
	}
}

// TestHardStopLeavesNotifyItsThrottle covers a stack of an older release with one throttle for everything. Methods
// with their own are blocked, too. Reopening removes what notify got for the time of the stop.
func TestHardStopLeavesNotifyItsThrottle(t *testing.T) {
	g := newGate(t, map[string]throttle{"*/*": {700, 70}, "seckill/buy/POST": {9, 8}, "seckill/ing/GET": {7, 6}})
	delete(g.parameters, "BuyRate")
	delete(g.parameters, "NotifyRate")
	if code, _, stderr := command(t, "items", "stop", "--hard", "--yes", "--stack", "sale"); code != exitOK ||
		stderr != "" {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	want := map[string]throttle{"*/*": {0, 0}, "seckill/buy/POST": {0, 0}, "seckill/ing/GET": {0, 0},
		"seckill/alipay/notify/POST": {700, 70}}
	if !maps.Equal(g.settings, want) {
		t.Errorf("stopped: %v, want %v", g.settings, want)
	}
	shows(t, step{"items resume --hard --stack sale", exitOK, "seckill/ing/GET had a throttle of its own, which is " +
		"not known any more: it has the stack's now; deploy again to give it its own.\n", ""})
	want = map[string]throttle{"*/*": {5000, 2500}, "seckill/buy/POST": {5000, 2500}, "seckill/ing/GET": {5000, 2500}}
	if !maps.Equal(g.settings, want) {
		t.Errorf("resumed: %v, want %v", g.settings, want)
	}
}

// TestHardStopOfAnItemToo checks that with an item's id the ordinary stop follows, and that the shop is blocked even
// if that fails.
func TestHardStopOfAnItemToo(t *testing.T) {
	g := newGate(t, deployedThrottle())
	shows(t, step{"items stop 33 --hard --yes --stack sale", exitOK, "Stack sale is stopped hard", ""})
	if g.settings["*/*"] != (throttle{}) {
		t.Errorf("stopped: %v", g.settings)
	}
	shows(t, step{"items resume 33 --hard --stack sale", exitOK, "Item 33 is resumed (waiting, not loaded yet).\n", ""})
	if !maps.Equal(g.settings, deployedThrottle()) {
		t.Errorf("resumed: %v, want %v", g.settings, deployedThrottle())
	}
	shows(t,
		step{"items stop 33 --hard --yes --stack sale", exitOK, "Item 33 is stopped (stopped, not loaded yet).\n", ""},
		step{"items resume --hard --stack sale", exitOK, "Stack sale is open again", ""})
	g.refusals = map[string]refusal{"Invoke": {500, "ServiceException", "oh"}}
	shows(t, step{"items stop 33 --hard --yes --stack sale", exitFault, "Stack sale is stopped hard", "seckill: the " +
		"shop is stopped hard, but item 33 itself is not stopped: stack sale: its back office answers 500"})
}

// TestHardStopLeavesStaffIn checks that staff's commands still reach the back office of a shop that is stopped hard.
func TestHardStopLeavesStaffIn(t *testing.T) {
	open := map[string]throttle{"*/*": {5000, 2500}, "seckill/alipay/notify/POST": {300, 600},
		"operator/{role}/POST": {20, 20}, "admin/{proxy+}/GET": {10, 3}, "admin/{proxy+}/POST": {20, 5}}
	g := newGate(t, maps.Clone(open))
	code, stdout, stderr := command(t, "items", "stop", "--hard", "--yes", "--stack", "sale")
	if code != exitOK || !strings.HasPrefix(stdout, "Stack sale is stopped hard: its API lets nothing through but "+
		"Alipay's notifications and staff's commands.\n") || g.settings["*/*"] != (throttle{}) ||
		g.settings["operator/{role}/POST"] != (throttle{20, 20}) ||
		g.settings["admin/{proxy+}/GET"] != (throttle{10, 3}) ||
		g.settings["admin/{proxy+}/POST"] != (throttle{20, 5}) {
		t.Errorf("exit %d, %s%s%v", code, stdout, stderr, g.settings)
	}
	if code, _, stderr = command(t, "items", "resume", "--hard", "--stack", "sale"); code != exitOK ||
		!maps.Equal(g.settings, open) {
		t.Errorf("exit %d, %s%v", code, stderr, g.settings)
	}
}

// TestHardStopAsksFirst checks that the operator must type the shop's name or give --yes.
func TestHardStopAsksFirst(t *testing.T) {
	for typed, want := range map[string]int{"sale\n": exitOK, " sale \n": exitOK, "": exitUsage, "\n": exitUsage,
		"sales\n": exitUsage, "y\n": exitUsage} {
		g := newGate(t, deployedThrottle())
		code, stdout, stderr := commandTyped(t, typed, "items", "stop", "--hard", "--stack", "sale")
		if code != want || !strings.Contains(stderr, "This stops the whole shop of stack sale, not one item: shoppers "+
			"cannot look, buy, cancel or see an order until it is resumed.\nType its name (sale) to go on: ") {
			t.Errorf("%q: exit %d, want %d\n%s%s", typed, code, want, stdout, stderr)
		}
		if want != exitOK && (!maps.Equal(g.settings, deployedThrottle()) || !strings.Contains(stderr, "not stopped")) {
			t.Errorf("%q: the stage has %v\n%s", typed, g.settings, stderr)
		}
	}
}

func TestHardStopRefused(t *testing.T) {
	refuses(t, exitUsage, "items * --stack sale", [][2]string{
		{"stop", "ID is missing"},
		{"stop x --hard --yes", `ID "x": want 1 to 19 digits`},
		{"stop 1 2 --hard --yes", `"2": unexpected argument`},
		{"stop 1 --yes", "--yes goes with --hard only, which asks for confirmation"},
	})
	for name, tt := range map[string]struct {
		spoil func(g *gate)
		args  []string
		code  int
		want  string
	}{
		"no right": {func(g *gate) { g.refuse = "AccessDeniedException" }, []string{"stop", "--hard", "--yes"},
			exitUsage, "not allowed: User: u is not authorized to perform: apigateway:PATCH"},
		"no API": {func(g *gate) { delete(g.outputs, "ApiId") }, []string{"stop", "--hard", "--yes"},
			exitUsage, "stack sale (CREATE_COMPLETE) has no output ApiId"},
		"no such stage": {func(g *gate) { g.outputs["ApiId"] = "gone" }, []string{"stop", "--hard", "--yes"},
			exitUsage, "stack sale names the API gone with stage live, and region eu-central-1 has no such stage"},
		"values not known": {func(g *gate) { g.parameters = nil; g.settings["*/*"] = throttle{} }, []string{"resume",
			"--hard"}, exitUsage, "stack sale has no ThrottleRate and ThrottleBurst"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGate(t, deployedThrottle())
			tt.spoil(g)
			before := maps.Clone(g.settings)
			code, stdout, stderr := command(t, append(append([]string{"items"}, tt.args...), "--stack", "sale")...)
			if code != tt.code || stdout != "" || strings.Count(stderr, "\n") != 1 ||
				!strings.Contains(stderr, tt.want) {
				t.Errorf("exit %d\n%s%s\nwant exit %d and one line with %q", code, stdout, stderr, tt.code, tt.want)
			}
			if !maps.Equal(g.settings, before) {
				t.Errorf("the stage has %v, had %v", g.settings, before)
			}
		})
	}
}

// TestHardStopThatIsNotSeen checks what the command reports while API Gateway has not distributed the change to all
// its machines.
func TestHardStopThatIsNotSeen(t *testing.T) {
	g := newGate(t, deployedThrottle())
	g.open = true
	wait := seenWithin
	seenWithin = 0
	defer func() { seenWithin = wait }()
	shows(t, step{"items stop --hard --yes --stack sale", exitOK, "There is no effect yet: " + g.outputs["Url"] +
		"/healthz answers 200. API Gateway takes some seconds. To check again: curl -si " + g.outputs["Url"] +
		"/healthz\n", ""})
}

// TestHardStopIsSeenAfterLooksWithoutAnAnswer: the first calls may meet functions that hang, before the change is
// distributed.
func TestHardStopIsSeenAfterLooksWithoutAnAnswer(t *testing.T) {
	g := newGate(t, deployedThrottle())
	g.drops = 2
	shows(t, step{"items stop --hard --yes --stack sale", exitOK, "The API answers 429 now.\n", ""})
}

// TestDoctorOnAHardStop checks that it is the first finding, and a loud one.
func TestDoctorOnAHardStop(t *testing.T) {
	c := newClinic(t)
	c.accounts["stage"] = 0
	c.healthCode, c.health = http.StatusTooManyRequests, "{}"
	_, out := examine(t, c)
	if len(out.Findings) == 0 || out.Findings[0].State != "fault" ||
		!strings.Contains(out.Findings[0].Says, "THE WHOLE SHOP IS STOPPED HARD: its API only lets Alipay's "+
			"notifications through. To reopen it: seckill items resume --hard --stack sale") {
		t.Errorf("first finding %+v", out.Findings[:1])
	}
	for _, f := range out.Findings {
		if strings.Contains(f.Says, "PublicUrl") {
			t.Errorf("it also says: %s", f.Says)
		}
	}
}

// TestHardStopOfARunningShop uses the same command on this machine.
func TestHardStopOfARunningShop(t *testing.T) {
	sys := localtest.Start(t, local.Options{})
	url := sys.URL()
	queued := "Orders that are queued are still placed and can be paid. To open it again: seckill items resume " +
		"--hard --url " + url + "\n"
	for _, s := range []struct {
		line, want string
		looks      int
	}{
		{"stop --hard --yes", url + " is stopped hard: its API lets nothing through but payment notifications.\n" +
			queued, http.StatusTooManyRequests},
		{"stop --hard --yes", "Nothing to do: " + url + " was stopped hard already.\n" + queued,
			http.StatusTooManyRequests},
		{"resume --hard", url + " is open again.\n", http.StatusOK},
		{"resume --hard", "Nothing to do: " + url + " was not stopped hard.\n", http.StatusOK},
	} {
		try(t, step{"items " + s.line + " --url " + url, exitOK, s.want, ""})
		for path, want := range map[string]int{"/seckill/ing": s.looks, "/_local/clock": http.StatusOK,
			"/seckill/alipay/notify": http.StatusMethodNotAllowed} {
			if got, _ := get(t, url+path, ""); got != want {
				t.Errorf("%s: %s is answered %d, want %d", s.line, path, got, want)
			}
		}
	}
	http.DefaultClient.CloseIdleConnections()
}
