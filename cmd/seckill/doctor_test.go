package main

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/cmd/seckill/doctor"
	"github.com/your-org/seckill/shared/drivertest/alipaytest"
	"github.com/your-org/seckill/shared/seckill"
)

// examine runs the tool on a clinic, and returns its JSON output.
func examine(t *testing.T, c *clinic, args ...string) (code int, out examined) {
	t.Helper()
	account(t, c.url)
	code, stdout, stderr := command(t, append([]string{"doctor", "--stack", "sale", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(stdout), &out); err != nil {
		t.Fatalf("exit %d: %v\n%s%s", code, err, stdout, stderr)
	}
	return code, out
}

func sentences(f []doctor.Finding, state doctor.State) (out []string) {
	for _, f := range f {
		if f.State == state {
			out = append(out, f.Check+": "+f.Says)
		}
	}
	return out
}

func TestDoctorFindsNothing(t *testing.T) {
	c := newClinic(t)
	account(t, c.url)
	code, stdout, stderr := command(t, "doctor", "--stack", "sale", "--crowd", "10000", "--within", "60s")
	if code != exitOK || stderr != "" || !strings.HasSuffix(stdout, "0 faults, 57 ok, 0 unknown\n") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	for line := range strings.Lines(strings.TrimSuffix(stdout,
		"stack sale: 0 faults, 57 ok, 0 unknown\n")) {
		if !strings.HasPrefix(line, "ok     ") {
			t.Errorf("a line that is not ok: %s", line)
		}
	}
	for _, s := range c.secrets {
		if strings.Contains(stdout, s) && len(s) > 1 {
			t.Errorf("a secret is shown:\n%s", stdout)
		}
	}
	for _, check := range []string{"door", "stack", "api", "functions",
		"office", "redis", "clocks", "secrets", "schedules",
		"triggers", "alarms", "queues", "tables", "quotas"} {
		if !strings.Contains(stdout, "ok     "+check+" ") {
			t.Errorf("nothing of %s:\n%s", check, stdout)
		}
	}
}

// TestDoctorOnAShop covers a stack without a fake gateway, with other secrets, and whose alarms must have a
// recipient.
func TestDoctorOnAShop(t *testing.T) {
	c := newClinic(t)
	c.outputs["Sandbox"] = "false"
	delete(c.outputs, "GatewayFunction")
	delete(c.tables, "sale-gateway_trades")
	delete(c.nested, "GatewayFunctionMinute")
	if code, out := examine(t, c); code != exitOK || !out.Healthy || out.Faults+out.Unasked > 0 {
		t.Errorf("exit %d: %+v", code, out)
	}
	c.subscribed = nil
	c.secrets["alipay-public-key"] = c.secrets["alipay-shop-public-key"]
	code, out := examine(t, c)
	got := strings.Join(sentences(out.Findings, doctor.Fault), "\n")
	if code != exitFault || out.Faults != 2 ||
		!strings.Contains(got, "alipay-public-key is the shop's own public key") ||
		!strings.Contains(got, "no one receives alarms: deploy with AlarmEmail") {
		t.Errorf("exit %d: %s", code, got)
	}
}

// TestDoctorOnCertificates covers a shop in certificate mode, whose three certificates are valid and belong together.
func TestDoctorOnCertificates(t *testing.T) {
	shop, theirs, now := pairs()[0], pairs()[1], time.Now()
	healthy := func() *clinic {
		c := newClinic(t)
		c.outputs["Sandbox"], c.parameters["AlipayCertificates"] = "false", "true"
		delete(c.outputs, "GatewayFunction")
		delete(c.tables, "sale-gateway_trades")
		delete(c.nested, "GatewayFunctionMinute")
		delete(c.secrets, "alipay-public-key") // no function reads it
		return c
	}
	certify := func(c *clinic, days int) {
		files := alipaytest.Make(t, shop, theirs, now.AddDate(-1, 0, 0), now.AddDate(0, 0, days))
		c.secrets["alipay-app-cert"] = files.App
		c.secrets["alipay-cert"] = files.Alipay
		c.secrets["alipay-root-cert"] = files.Root
	}
	for name, tt := range map[string]struct {
		spoil func(c *clinic)
		want  []string // a part of each fault's sentence
	}{
		"well": {func(*clinic) {}, nil},
		"no root": {func(c *clinic) {
			delete(c.secrets, "alipay-root-cert")
		},
			[]string{
				"alipay-root-cert is missing in /seckill/sale/keys: seckill keys --path /seckill/sale " +
					"--alipay-certificates FOLDER"}},
		"another key": {func(c *clinic) {
			c.secrets["alipay-private-key"] = pairs()[2].Private
		}, []string{"alipay: app certificate: it is not the private key's"}},
		"no key": {func(c *clinic) {
			delete(c.secrets, "alipay-private-key")
		}, []string{"alipay-private-key is missing in /seckill/sale/keys"}},
		"nonsense": {func(c *clinic) {
			c.secrets["alipay-cert"] = "x"
		}, []string{"the certificates below /seckill/sale are invalid: alipay: Alipay's certificate: not whole"}},
		"ended": {func(c *clinic) { certify(c, -1) }, []string{"alipay: app certificate: it ended on"}},
		"ends soon": {func(c *clinic) {
			certify(c, 29)
		}, []string{"alipay-app-cert is only valid until " + now.AddDate(0, 0, 29).UTC().Format(time.DateOnly) +
			": get new ones in Alipay's console, then seckill keys",
			"alipay-cert is only valid until"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := healthy()
			certify(c, 40)
			tt.spoil(c)
			_, out := examine(t, c)
			got := sentences(out.Findings, doctor.Fault)
			if len(got) != len(tt.want) || out.Unasked > 0 {
				t.Fatalf("faults\n%s\nwant %q", strings.Join(got, "\n"), tt.want)
			}
			for i, want := range tt.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("fault %q, want %q", got[i], want)
				}
			}
			if ok := strings.Join(sentences(out.Findings, doctor.OK), "\n"); tt.want == nil &&
				!strings.Contains(ok, "alipay-cert is valid until "+now.AddDate(0, 0, 40).UTC().Format(time.DateOnly)) {
				t.Errorf("well:\n%s", ok)
			}
		})
	}
}

// TestDoctorFinds checks that each fault has its sentence and no other finding changes.
func TestDoctorFinds(t *testing.T) {
	other := pairs()[2]
	for _, tt := range []struct {
		spoil func(c *clinic)
		want  string
	}{
		{func(c *clinic) { c.status = "UPDATE_ROLLBACK_COMPLETE" }, "stack: the last update was rolled back"},
		{func(c *clinic) { c.status = "UPDATE_ROLLBACK_FAILED" },
			"stack: the stack is UPDATE_ROLLBACK_FAILED: deploy it again"},
		{func(c *clinic) { c.status = "UPDATE_IN_PROGRESS" }, "stack: the stack is UPDATE_IN_PROGRESS: wait"},
		{func(c *clinic) { c.outputs["Url"] = "http://127.0.0.1:1" },
			"api: the API cannot be reached from this machine"},
		{func(c *clinic) { c.healthCode = 503 }, "/live/healthz answers 503: the function shop fails or is throttled"},
		{func(c *clinic) { c.healthCode = 403 }, "answers 403: this is not the stack's API"},
		{func(c *clinic) { c.health = "<html>" }, "does not answer like this system"},
		{func(c *clinic) { c.health = `{"status":"ok","version":"r0"}` }, "runs release r0, the stack has r1"},
		{func(c *clinic) { delete(c.configs, "sale-buy") },
			"functions: sale-buy, or its alias live, does not exist: it was deleted"},
		{func(c *clinic) { c.configs["sale-buy"] = m{"State": "Failed", "StateReason": "no image"} },
			"sale-buy cannot run: no image"},
		{func(c *clinic) {
			c.configs["sale-buy"] = m{"State": "Active", "LastUpdateStatus": "Failed", "LastUpdateStatusReason": "no"}
		}, "the last update of sale-buy failed: no"},
		{func(c *clinic) { c.configs["sale-buy"] = m{"State": "Pending"} }, "sale-buy is being updated"},
		{func(c *clinic) {
			c.configs["sale-buy"] = m{"State": "Active", "Version": "6", "Description": "0ddba11"}
		}, "sale-buy serves version 6, which the last deployment did not publish"},
		{func(c *clinic) {
			c.routing = map[string]m{"sale-buy": {"AdditionalVersionWeights": m{"8": 0.1}}}
		}, "sale-buy is shifting traffic to a new version"},
		{func(c *clinic) {
			c.configs["sale-buy"] = m{"State": "Inactive", "Description": "feedbeef"}
		}, "sale-buy was inactive and is starting"},
		{func(c *clinic) { c.failures["sale-consume"] = "settings: HOLD is missing" },
			"sale-consume fails: settings: HOLD is missing: correct the stack's parameters"},
		{func(c *clinic) {
			c.failures["sale-shop"] = "settings: cannot read the secret\n/seckill/x"
		}, "sale-shop fails: settings: cannot read the secret /seckill/x: create the secrets with"},
		{func(c *clinic) {
			c.failures["sale-shop"] =
				"settings: ALIPAY_PUBLIC_KEY_NAME names the secret \"x\", which cannot be used: not an RSA key"
		}, `names the secret "x", which cannot be used: not an RSA key: create the secrets with`},
		{func(c *clinic) { c.failures["sale-repair"] = "Task timed out" },
			"sale-repair fails: Task timed out (see its log)"},
		{func(c *clinic) { delete(c.outputs, "ShopFunction") }, "the stack has no output ShopFunction"},
		{func(c *clinic) { c.nodes = []seckill.CacheNode{{Fault: "dial tcp: i/o timeout"}} },
			"redis: the functions cannot reach Redis at 10.0.0.1:6379: dial tcp: i/o timeout"},
		{func(c *clinic) { c.nodes = nil }, "redis: the functions have no Redis server"},
		{func(c *clinic) { c.nodes[0].Role = "slave" }, "is a replica, which takes no writes"},
		{func(c *clinic) { c.nodes[0].Policy = "allkeys-lru" },
			"evicts keys of sales when it is full (maxmemory-policy allkeys-lru)"},
		{func(c *clinic) { c.nodes[0].Limit, c.nodes[0].Used = 1<<30, 1<<30-1 }, "uses 1024.0 MiB of 1.0 GiB"},
		{func(c *clinic) { c.nodes[0].Time = time.Now().Add(-time.Hour) },
			"clocks: the clock of Redis 10.0.0.1:6379 differs from the functions' by 1h0m"},
		{func(c *clinic) { c.ahead = time.Hour }, "clocks: the functions' clock is "},
		{func(c *clinic) { c.apiSkew = -time.Hour }, "clocks: the API's clock is "},
		{func(c *clinic) { delete(c.secrets, "jwt-secret") },
			"secrets: jwt-secret is missing in /seckill/sale/keys: seckill keys --path /seckill/sale --sandbox"},
		{func(c *clinic) { delete(c.secrets, "jwt-2027") },
			"jwt-2027 is missing in /seckill/sale/keys: seckill keys --path /seckill/sale --sandbox --token-key 2027"},
		{func(c *clinic) { delete(c.secrets, "redis-password") },
			"redis-password is missing in /seckill/sale/keys: seckill keys --path /seckill/sale --sandbox " +
				"--redis-password FILE"},
		{func(c *clinic) { delete(c.secrets, "webhook-secret") },
			"webhook-secret is missing in /seckill/sale/keys: seckill keys --path /seckill/sale --sandbox --webhook"},
		{func(c *clinic) { delete(c.secrets, "ticket-secret") },
			"ticket-secret is missing in /seckill/sale/keys: seckill keys --path /seckill/sale --sandbox"},
		{func(c *clinic) { c.secrets["ticket-secret"] = "17640000000" },
			"ticket-secret is invalid: jwtauth: ticket key 1 is not SECONDS:SECRET; to replace it: seckill keys " +
				"--path /seckill/sale --sandbox --rotate=ticket-secret"},
		{func(c *clinic) { c.secrets["report-salts"] = "x" },
			"report-salts is invalid, so that no order shows its salt: salts: want the verifier of reports, a " +
				"space, and 64 hexadecimal digits; to replace it: seckill keys --path /seckill/sale --sandbox " +
				"--report-key FILE --rotate=report-salts"},
		{func(c *clinic) { c.secrets["jwt-audience-from"] = "soon" },
			"jwt-audience-from is invalid: want a date such as 2027-01-31, or a time such as 2027-01-31T08:00:00Z; " +
				"to replace it: seckill keys --path /seckill/sale --sandbox --audience-from DATE " +
				"--rotate=jwt-audience-from"},
		{func(c *clinic) { c.others["shop"] = map[string]string{"jwt-secret": "old"} },
			"/seckill/sale/shop has other values than /seckill/sale/keys, perhaps after an interrupted run: seckill " +
				"keys --path /seckill/sale --sandbox"},
		{func(c *clinic) { c.secrets["jwt-secret"] = "short" }, "jwt-secret has 5 bytes"},
		{func(c *clinic) { c.secrets["gateway-private-key"] = "x" }, "gateway-private-key is invalid"},
		{func(c *clinic) { c.secrets["alipay-public-key"] = "x" }, "alipay-public-key is invalid"},
		{func(c *clinic) { c.secrets["alipay-shop-public-key"] = other.Public },
			"alipay-shop-public-key is not the public key of alipay-private-key"},
		{func(c *clinic) { c.rules["rule-Stage"] = [2]string{"DISABLED", "x"} },
			"the schedule of sale-stage is disabled: aws events enable-rule --name rule-Stage"},
		{func(c *clinic) { delete(c.rules, "rule-Stage") },
			"the schedule of sale-stage does not exist (rule rule-Stage)"},
		{func(c *clinic) { delete(c.nested, "RepairFunctionMinute") }, "sale-repair has no schedule"},
		{func(c *clinic) { delete(c.nested, "ReconcileFunctionHour") }, "sale-reconcile has no schedule"},
		{func(c *clinic) {
			c.rules["rule-Stage"] = [2]string{"ENABLED",
				"arn:aws:lambda:eu-central-1:123456789012:function:sale-stage2"}
		}, "the schedule of sale-stage has another target"},
		{func(c *clinic) { c.mappings["uuid-ConsumeFunctionOrders"] = "Disabled" },
			"ConsumeFunctionOrders is Disabled, so messages wait: aws lambda update-event-source-mapping --uuid uuid-"},
		{func(c *clinic) { delete(c.nested, "ExpireFunctionClosings") }, "the stack has no ExpireFunctionClosings"},
		{func(c *clinic) { c.mappings["uuid-DeliverFunctionChanges"] = "Disabled" },
			"DeliverFunctionChanges is Disabled, so changes of orders wait, for a day at most: aws lambda"},
		{func(c *clinic) {
			delete(c.outputs, "DeliverFunction")
			delete(c.nested, "DeliverFunctionMinute")
			delete(c.nested, "DeliverFunctionChanges")
			delete(c.outputs, "TellFunction") // the only one that is missed
			delete(c.parameters, "WebhookUrl")
		}, "the stack has no output TellFunction"},
		{func(c *clinic) {
			delete(c.outputs, "ConnectFunction")
			delete(c.tables, "sale-connections")
			delete(c.outputs, "TellFunction") // the only one that is missed
			delete(c.parameters, "CreatePush")
		}, "the stack has no output TellFunction"},
		{func(c *clinic) {
			c.parameters["RefundAlone"], c.parameters["StaffIssuer"] = "yuan=0,daily=5", anIssuer(t, nil)+"|office"
			c.parameters["StaffClaims"] = "groups|shop-|sub|openid"
		}, "office: refunds take two people, and StaffClaims names staff in a browser by sub"},
		{func(c *clinic) { delete(c.tables, "sale-connections") }, "tables: table sale-connections is missing"},
		{func(c *clinic) { delete(c.alarms, "sale-drift") }, "the alarm sale-drift does not exist"},
		{func(c *clinic) { c.alarms["sale-drift"]["ActionsEnabled"] = false },
			"the actions of the alarm sale-drift are disabled: aws cloudwatch enable-alarm-actions"},
		{func(c *clinic) { c.alarms["sale-drift"]["AlarmActions"] = []string{"arn:else"} },
			"the alarm sale-drift does not notify the stack's topic"},
		{func(c *clinic) { c.alarms["sale-drift"]["StateValue"] = "ALARM" },
			"the alarm sale-drift is in state ALARM: Severity 3: Runbook drift"},
		{func(c *clinic) { c.alarms["sale-sale-at-risk"]["StateValue"] = "ALARM" },
			"the alarm sale-sale-at-risk is in state ALARM: The sale is at risk"},
		{func(c *clinic) {
			delete(c.nested, "driftAlarm")
			delete(c.nested, "faultsAlarm")
			delete(c.nested, "SaleAtRisk")
		}, "the stack has no alarms"},
		{func(c *clinic) { c.subscribed = []string{"PendingConfirmation"} }, "no one receives alarms yet"},
		{func(c *clinic) { c.depths["OrdersDeadLetter"] = "3" },
			"queues: messages in the dead-letter queue of orders: 3"},
		{func(c *clinic) { c.depths["Closings"] = "7" }, "messages waiting in closings: 7;"},
		{func(c *clinic) { delete(c.depths, "Orders") }, "the queue of orders does not exist"},
		{func(c *clinic) { delete(c.outputs, "ClosingsQueueUrl") },
			"outputs ClosingsQueueUrl and ClosingsDeadLetterQueueUrl"},
		{func(c *clinic) { delete(c.tables, "sale-units") }, "tables: table sale-units is missing"},
		{func(c *clinic) {
			tb := c.tables["sale-units"]
			tb.PK = "item"
			c.tables["sale-units"] = tb
		}, "table sale-units: key is (item S, unit S)"},
		{func(c *clinic) { c.limited = nil },
			"door: 16 of 16 methods have no limit of their own and share one with the crowd: admin/GET, "},
		{func(c *clinic) { c.limited = []string{"signin/POST"} }, "15 of 16 methods"},
		{func(c *clinic) { c.accounts["lambda"] = 100 },
			"quotas: 10000 shoppers within 10s make 2000 calls/s, which need about 260 Lambda instances; the " +
				"account has 100"},
		{func(c *clinic) { c.accounts["stage"] = 500 },
			"and a method of the API (ThrottleRate of Plan) allows 500 of 1000"},
		{func(c *clinic) { c.accounts["account"] = 1000 },
			"allows 1000 of 2000: the others get 429 and retry, so serving all takes at least 20 s"},
	} {
		t.Run(tt.want, func(t *testing.T) {
			c := newClinic(t)
			tt.spoil(c)
			code, out := examine(t, c, "--crowd", "10000")
			got := sentences(out.Findings, doctor.Fault)
			if code != exitFault || out.Healthy || len(got) != 1 || out.Faults != 1 ||
				!strings.Contains(got[0], tt.want) {
				t.Errorf("exit %d, faults\n%s\nwant one with %q", code, strings.Join(got, "\n"), tt.want)
			}
			if u := sentences(out.Findings, doctor.Unasked); u != nil {
				t.Errorf("not asked: %s", strings.Join(u, "\n"))
			}
		})
	}
}

// TestDoctorOnACDN checks the way through the CDN, and that there is none past it.
func TestDoctorOnACDN(t *testing.T) {
	for name, tt := range map[string]struct {
		spoil func(c *clinic)
		want  string // the fault's sentence, or that of a question without an answer; "" for neither
	}{
		"well":          {func(*clinic) {}, ""},
		"the API fails": {func(c *clinic) { c.cdnCode, c.stamp = 503, "" }, "answers 503: the function shop fails"},
		"no CDN's stack": {func(c *clinic) { c.cdn = nil },
			"the stack has Edge=only, but there is no stack sale-edge in us-east-1: make deploy EDGE=true"},
		"a domain that leads nowhere": {func(c *clinic) { c.cdn["Url"] = "http://127.0.0.1:1" },
			"the CDN cannot be reached at http://127.0.0.1:1 (its domain has to lead to d1.cloudfront.net)"},
		"a domain that leads elsewhere": {func(c *clinic) { c.stamp = "" },
			"/cdn does not lead through the CDN: its domain has to lead to d1.cloudfront.net"},
		"a key that the API does not know": {func(c *clinic) { c.cdnCode = 403 },
			"/cdn/healthz answers 403: the API does not accept the CDN's key"},
		"another address": {func(c *clinic) { c.outputs["Url"] = c.url + "/live" },
			"/cdn: make deploy EDGE=true, which sets PublicUrl"},
		"a way past it": {func(c *clinic) { c.pastCode = 200 },
			"/own/healthz answers 200 past the CDN, because Edge is only: make deploy EDGE=true"},
		"a way past it, half-way": {func(c *clinic) { c.outputs["Edge"], c.pastCode = "key", 200 },
			"answers 200 past the CDN, because Edge is key: make deploy EDGE=true"},
		"no answer past it": {func(c *clinic) { c.pastCode = 429 },
			"could not ask whether the API answers past the CDN: "},
		"an API that the stack does not name": {func(c *clinic) { delete(c.resources, "Api") },
			"could not ask whether the API answers past the CDN: the stack's resources name no Api"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClinic(t)
			c.outputs["Edge"], c.outputs["Url"] = "only", c.url+"/cdn"
			c.cdn = map[string]string{"Url": c.url + "/cdn", "DistributionDomain": "d1.cloudfront.net"}
			c.cdnCode, c.stamp, c.pastCode = 200, "1795687200000", 403
			c.resources["Api"] = [2]string{"AWS::CloudFormation::Stack", "sale-Api-1"}
			tt.spoil(c)
			_, out := examine(t, c)
			got := append(sentences(out.Findings, doctor.Fault), sentences(out.Findings, doctor.Unasked)...)
			if tt.want == "" && len(got) > 0 || tt.want != "" && !strings.Contains(strings.Join(got, "\n"), tt.want) {
				t.Errorf("faults\n%s\nwant %q", strings.Join(got, "\n"), tt.want)
			}
			if ok := strings.Join(sentences(out.Findings, doctor.OK), "\n"); tt.want == "" &&
				(!strings.Contains(ok, "cdn: "+c.url+"/cdn leads through the CDN") ||
					!strings.Contains(ok, "cdn: the stack's address is the CDN's") ||
					!strings.Contains(ok, "cdn: past the CDN "+c.url+"/own/healthz answers 403")) {
				t.Errorf("well:\n%s", ok)
			}
		})
	}
	if _, out := examine(t, newClinic(t)); slices.ContainsFunc(out.Findings,
		func(f doctor.Finding) bool { return f.Check == "cdn" }) {
		t.Errorf("a stack without a CDN: %+v", out.Findings)
	}
}

// TestDoctorOnReservedConcurrency checks that outside a sandbox stop, payments and placements need instances that a
// crowd cannot take.
func TestDoctorOnReservedConcurrency(t *testing.T) {
	for name, tt := range map[string]struct {
		sandbox, reserves string
		quota             int
		want              string
	}{
		"a sandbox": {"true", "false", 10, ""},
		"kept":      {"false", "true", 350, ""},
		"kept, and does not fit": {"false", "true", 349,
			"ReserveConcurrency=true reserves 250 instances, which AWS refuses in this account: request an increase " +
				"of the account's quota of 349 concurrent executions to 350 or more"},
		"not kept, though it fits": {"false", "false", 350,
			"so a crowd can starve them: deploy with ReserveConcurrency=true"},
		"not kept, and cannot be": {"false", "false", 10,
			"the account is too small to reserve any: request an increase of the account's quota of 10 concurrent " +
				"executions to 350 or more (Service Quotas, L-B99A9384), then deploy with ReserveConcurrency=true"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClinic(t)
			c.outputs["Sandbox"], c.parameters["ReserveConcurrency"], c.accounts["lambda"] = tt.sandbox, tt.reserves,
				tt.quota
			_, out := examine(t, c)
			var got []string
			for _, f := range out.Findings {
				if f.Check == "quotas" && f.State == doctor.Fault {
					got = append(got, f.Says)
				}
			}
			if tt.want == "" && len(got) > 0 || tt.want != "" && (len(got) != 1 || !strings.Contains(got[0], tt.want)) {
				t.Errorf("faults %q, want %q", got, tt.want)
			}
		})
	}
}

// TestDoctorCannotAsk checks that a question without an answer is reported, as neither well nor a fault, and that on
// AWS itself the result is then not green.
func TestDoctorCannotAsk(t *testing.T) {
	for call, want := range map[string]string{
		"ListStackResources": "stack: could not ask for the stack's resources: not allowed: no right to " +
			"ListStackResources",
		"GetFunctionConfiguration":  "functions: could not ask for function sale-buy: not allowed: no right",
		"DescribeRule":              "could not ask for the schedule of sale-stage",
		"ListTargetsByRule":         "could not ask what the schedule of sale-stage starts",
		"GetEventSourceMapping":     "could not ask for ConsumeFunctionOrders",
		"DescribeAlarms":            "could not ask for the alarms",
		"ListSubscriptionsByTopic":  "could not ask who receives alarms",
		"GetQueueAttributes":        "could not ask for the queue closings",
		"GetSecretValue":            "could not ask for the secrets below /seckill/sale",
		"DescribeTable":             "could not ask for the table sale-units",
		"DescribeContinuousBackups": "could not ask for backups of sale-units",
		"GetAccountSettings":        "could not ask for Lambda's quota",
		"GetStage":                  "could not ask for the API's limit",
		"GetAccount":                "could not ask for the limit of the account's APIs",
	} {
		t.Run(call, func(t *testing.T) {
			c := newClinic(t)
			c.refused[call] = true
			code, out := examine(t, c, "--crowd", "100")
			got := strings.Join(sentences(out.Findings, doctor.Unasked), "\n")
			if code != exitOK || out.Faults > 0 || out.Unasked == 0 || !strings.Contains(got, want) {
				t.Errorf("exit %d, %d faults, not asked\n%s\nwant %q", code, out.Faults, got, want)
			}
		})
	}
}

// TestDoctorsRights checks that the command's help lists a permission for each call, and no other.
func TestDoctorsRights(t *testing.T) {
	c := newClinic(t)
	examine(t, c, "--crowd", "100")
	_, part, _ := strings.Cut(doctorCommand().Long, "\nRights: ")
	var called []string
	for call := range c.calls {
		if call = strings.Replace(call, "Invoke", "InvokeFunction", 1); call == "operate" {
			call = "Invoke" // of execute-api
		}
		called = append(called, call)
	}
	listed := regexp.MustCompile(`[a-z]+:([A-Z][A-Za-z]+)|(GetStage|GetAccount)\b`)
	var want []string
	for _, m := range listed.FindAllStringSubmatch(part, -1) {
		if m[0] != "apigateway:GET" { // covers two calls
			want = append(want, m[1]+m[2])
		}
	}
	slices.Sort(called)
	slices.Sort(want)
	if !slices.Equal(called, want) {
		t.Errorf("called %v\nlisted %v", called, want)
	}
}

func TestDoctorWithoutAnswersOnAWS(t *testing.T) {
	c := newClinic(t)
	c.refused["DescribeAlarms"] = true
	noAWS(t)
	// One URL per service instead of one for all: the tool cannot recognise a stand-in.
	t.Setenv("AWS_REGION", "eu-central-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	for _, service := range []string{"STS", "CLOUDFORMATION", "LAMBDA", "SECRETS_MANAGER", "EVENTBRIDGE", "CLOUDWATCH",
		"SNS", "SQS", "DYNAMODB", "API_GATEWAY", "EXECUTE_API"} {
		t.Setenv("AWS_ENDPOINT_URL_"+service, c.url)
	}
	shows(t, step{"doctor --stack sale", exitFault, "?      alarms     could not ask for the alarms: not allowed",
		"seckill: stack sale: 0 faults, 52 ok, 1 unknown\n"})
	c.backups["sale-orders"] = "DISABLED" // allowed only for a stand-in
	shows(t, step{"doctor --stack sale", exitFault,
		"FAULT  tables     tables without point-in-time recovery (sale-orders): aws dynamodb update-", ""})
}

// TestDoctorOnACacheOfTheStack: ElastiCache Serverless does not report its policy.
func TestDoctorOnACacheOfTheStack(t *testing.T) {
	c := newClinic(t)
	c.nodes[0] = seckill.CacheNode{Address: "cache:6379", Refused: "ERR unknown command 'INFO'"}
	_, out := examine(t, c)
	if got := sentences(out.Findings, doctor.Unasked); len(got) != 1 ||
		!strings.Contains(got[0],
			"could not ask for the eviction policy of Redis cache:6379: ERR unknown command 'INFO'; make sure") {
		t.Errorf("%q", got)
	}
	c.parameters["CreateCache"] = "true"
	c.resources["Cache"] = [2]string{"AWS::CloudFormation::Stack", "cache-stack"}
	_, out = examine(t, c)
	if got := strings.Join(sentences(out.Findings, doctor.OK), "\n"); out.Faults+out.Unasked > 0 ||
		!strings.Contains(got, "it holds at most 5 GB") {
		t.Errorf("%+v", out)
	}
}

func TestDoctorOfWhatIsMissing(t *testing.T) {
	c := newClinic(t)
	c.warm = nil
	c.backups["sale-orders"] = "DISABLED" // a stand-in may have none
	code, out := examine(t, c, "--crowd", "100")
	got := strings.Join(sentences(out.Findings, doctor.Unasked), "\n")
	if code != exitOK || out.Unasked != 2 ||
		!strings.Contains(got, "how many writes sale-orders takes: DynamoDB does not report it") ||
		!strings.Contains(got, "the stand-in for AWS has none") {
		t.Errorf("exit %d: %s", code, got)
	}
	account(t, served(t, &cloud{}).URL)
	refuses(t, exitUsage, "doctor --stack sale *", [][2]string{
		{"--crowd -1", "--crowd -1: want 0 to"},
		{"--within 1ms", "--within 1ms: want 1s to"},
		{"--stack nowhere", "there is no stack"},
	})
}
