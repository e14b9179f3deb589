package functions_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/your-org/seckill/functions/lambdatest"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// staffARN is the identity that gives commands in these tests.
const staffARN = "arn:aws:sts::123456789012:assumed-role/Operators/liu"

var commandKeys = operator.Keys(nil).Add([32]byte{1}, time.Unix(1764000000, 0))

// staff returns a client whose commands an office signs for a function, as the function admin does.
func staff(f *lambdatest.Function) operator.Client { return staffOf(commandKeys, f.Invoke) }

// staffOf returns a client whose commands an office with these keys signs for whatever takes the events.
func staffOf(keys operator.Keys, take func(event []byte) ([]byte, error)) operator.Client {
	door := operator.Office{Stack: "seckill", Clock: system.Clock{},
		Key:    func() ed25519.PrivateKey { return keys.Signs(time.Now()) },
		Invoke: func(_ context.Context, _ string, event []byte) ([]byte, error) { return take(event) }}
	return client(door.Handle)
}

// client returns a client whose commands reach an office as API Gateway passes them on.
func client(door func(context.Context, []byte) ([]byte, error)) operator.Client {
	return operator.Client{Who: staffARN, Call: func(ctx context.Context, event []byte) ([]byte, error) {
		role, body, err := request(event)
		if err != nil {
			return nil, err
		}
		out, err := door(ctx, posted(role, body))
		var a events.APIGatewayProxyResponse
		if err = errors.Join(err, json.Unmarshal(out, &a)); err != nil {
			return nil, err
		}
		if a.StatusCode != http.StatusOK {
			a.Body = `{"problem":` + a.Body + `}`
		}
		return []byte(a.Body), nil
	}}
}

// request returns the body that gives a client's command, and the role that it takes. It does not say who gives it.
func request(event []byte) (role seckill.Role, body string, err error) {
	var e struct {
		Operator map[string]any `json:"operator"`
	}
	if err := json.Unmarshal(event, &e); err != nil {
		return "", "", err
	}
	name, _ := e.Operator["command"].(string)
	role, _ = operator.LeastRole(name)
	delete(e.Operator, "who")
	b, err := json.Marshal(e)
	return role, string(b), err
}

// posted returns API Gateway's event of a request whose signature it has checked.
func posted(role seckill.Role, body string) []byte {
	b, _ := json.Marshal(events.APIGatewayProxyRequest{HTTPMethod: http.MethodPost,
		Resource: "/operator/{role}", Path: "/operator/" + string(role), Body: body,
		RequestContext: events.APIGatewayProxyRequestContext{Identity: events.APIGatewayRequestIdentity{
			UserArn: staffARN, AccountID: "123456789012"}}}) // texts always marshal
	return b
}

// TestAdminFunction checks that a command of a verified caller is recorded, signed, and executed by its function, and
// that what the caller's role may not do reaches none.
func TestAdminFunction(t *testing.T) {
	w := newDeployment(t)
	w.loaded(t, live("2002", 10))
	stage, admin := w.start(t, "stage", "LOG_LEVEL", "error"), w.start(t, "admin", "LOG_LEVEL", "error")
	calls := 0
	w.aws.SetFunction("seckill-stage", func(event []byte) ([]byte, string, error) {
		if calls++; calls == 1 {
			return nil, "TooManyRequestsException", nil // its schedule runs
		}
		answer, err := stage.Invoke(event)
		return answer, "", err
	})
	operators := client(func(_ context.Context, event []byte) ([]byte, error) { return admin.Invoke(event) })
	if _, err := operator.Give[operator.Health](t.Context(), &operators,
		&operator.ReadHealth{}); err != nil || calls != 2 {
		t.Errorf("health: %v, %d calls", err, calls)
	}
	if done, err := operator.Give[operator.ItemChange](t.Context(), &operators,
		&operator.Stop{Item: "2002"}); err != nil || !done.Changed {
		t.Errorf("stop: %+v, %v", done, err)
	}
	if !stage.Says(`"who":"` + staffARN + `","command":"stop","item":"2002"`) {
		t.Errorf("logs: %s\n%s", stage.Output(), admin.Output())
	}
	log, err := ledger.New(w.rows).AuditOn(t.Context(), seckill.Day(time.Now()), "", 10)
	// The fake table does not sort.
	slices.SortFunc(log, func(a, b seckill.AuditEntry) int { return strings.Compare(a.Seq, b.Seq) })
	if err != nil || len(log) != 2 || log[0].Kind != seckill.AuditBegun || log[1].Kind != seckill.AuditEnded ||
		log[1].Who != staffARN || log[1].Roles != "operator" || log[1].Act != "stop" || log[1].Result != "changed" {
		t.Errorf("audit log: %+v, %v", log, err)
	}
	page := must.Get(operator.Give[operator.AuditPage](t.Context(), &operators, &operator.ListAudit{Limit: 10}))
	must.Equal(t, 2, len(page.Entries), "audit")
	before := calls
	_, body, err := request([]byte(`{"operator":{"command":"resume","item":"2002"}}`))
	if r := ask(t, admin, posted(seckill.RoleFinance, body)); err != nil || r.Status != http.StatusForbidden ||
		r.text("code") != "role_forbidden" || calls != before {
		t.Errorf("finance resumes a sale: %+v", r)
	}
	var refused *operator.Refusal
	if _, err := operator.Give[operator.Redelivered](t.Context(), &operators,
		&operator.Redeliver{}); !errors.As(err, &refused) || refused.Code != seckill.CodeNotFound {
		t.Errorf("a stack without a webhook: %v", err)
	}
	w.aws.SetFunction("seckill-deliver", func([]byte) ([]byte, string, error) {
		return nil, "", errors.New("out of memory")
	})
	if _, err := operator.Give[operator.Redelivered](t.Context(), &operators,
		&operator.Redeliver{}); !errors.As(err, &refused) ||
		refused.Code != seckill.CodeUnavailable ||
		!strings.Contains(refused.Detail, "deliver: it failed: out of memory") {
		t.Errorf("a function that fails: %v", err)
	}
	if _, err := admin.Invoke([]byte(`{"operator":{"command":"health","who":"a"}}`)); err == nil {
		t.Error("an event that is not a request is accepted")
	}
}

// TestOnlySignedCommands checks that each function executes a command that the back office has signed for it, and logs
// who gave it, independent of LOG_LEVEL; that it executes no other command, whoever invokes it, and no other event.
func TestOnlySignedCommands(t *testing.T) {
	w := newDeployment(t)
	var another []byte // what the back office signed for the function before; at first for none of these
	teller := staffOf(commandKeys, func(event []byte) ([]byte, error) {
		another = event
		return nil, errors.New("not sent")
	})
	_, _ = operator.Give[operator.Delivery](t.Context(), &teller,
		&operator.ReadDelivery{Order: seckill.KeyedOrderID("2002", "1001", "k")})
	for _, c := range []struct {
		step, unsigned string
		signed         operator.Command
	}{
		{"stage", `"health"`, &operator.ReadHealth{}},
		{"refund", `"open"`, &operator.ListMoney{}},
		{"reconcile", `"reconciled","day":"2026-11-11"`, &operator.ListReconciled{Day: "2026-11-11"}},
		{"repair", `"erase","user":"1001"`, &operator.Erase{User: "1001"}},
		{"tell", `"replay","item":"2002","day":"2026-11-11"`, &operator.Replay{Item: "2002", Day: "2026-11-11"}},
		{"deliver", `"redeliver"`, &operator.Redeliver{}},
		{"acts", `"acts","limit":1`, &operator.ListActs{Limit: 1}},
	} {
		f := w.start(t, c.step, "LOG_LEVEL", "error")
		var own []byte
		client := staffOf(commandKeys, func(event []byte) ([]byte, error) {
			own = event
			return f.Invoke(event)
		})
		_, err := operator.Give[json.RawMessage](t.Context(), &client, c.signed)
		if err != nil || !f.Says(`"level":"INFO","msg":"operator","who":"`+staffARN+`","command":`) {
			t.Errorf("%s: %v, log: %s", c.step, err, f.Output())
		}
		for what, event := range map[string][]byte{"another function's": another,
			"an unsigned one": []byte(`{"operator":{"command":` + c.unsigned + `,"who":"a"}}`)} {
			if out, err := f.Invoke(event); err == nil || !strings.Contains(err.Error(), "not signed") {
				t.Errorf("%s: %s: %s, %v", c.step, what, out, err)
			}
		}
		if out, err := f.Invoke([]byte(`{"operate":{"command":"x","who":"a"}}`)); err == nil {
			t.Errorf("%s: an event of another kind: %s", c.step, out)
		}
		if !f.Says(`"msg":"event refused"`) {
			t.Errorf("%s: log: %s", c.step, f.Output())
		}
		another = own
	}
}

// TestCommandsWithANewKey checks that an instance that has slept through a rotation accepts the new key at once, and
// no key that it never was told.
func TestCommandsWithANewKey(t *testing.T) {
	w := newDeployment(t)
	f := w.start(t, "acts")
	f.Ready()
	next := commandKeys.Add([32]byte{2}, time.Now().Add(-time.Minute))
	w.aws.SetSecret("command-public-key", next.Public().String())
	for keys, want := range map[string]bool{next.String(): true, commandKeys.String(): true,
		commandKeys.Add([32]byte{3}, time.Now().Add(-time.Minute)).String(): false} {
		keys := must.Get(operator.ParseKeys(keys))
		operators := staffOf(keys, f.Invoke)
		if _, err := operator.Give[operator.ActPage](t.Context(), &operators,
			&operator.ListActs{Limit: 1}); (err == nil) != want {
			t.Errorf("%v, want accepted %v", err, want)
		}
	}
}
