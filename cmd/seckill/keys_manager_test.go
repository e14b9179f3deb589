package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/cmd/seckill/secrets"
	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

const testPath = "/seckill/test"

// manager answers the tool's calls to Secrets Manager.
type manager struct {
	mu       sync.Mutex
	values   map[string]map[string]string // by a secret's name
	before   func(call string)            // called before a call is answered
	refusals map[string]refusal           // by call
	wrote    []string                     // secrets that got a version, including repetitions
	was      map[string]string            // content of Keys at the last call of written
	lose     int                          // number of answers to writes that are lost after execution
	fail     int                          // which write from now on is refused; 1: the next
	deleted  map[string]bool              // names of secrets scheduled for deletion
}

func (m *manager) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct{ SecretID, Name, SecretString, ClientRequestToken string }
	_ = json.NewDecoder(r.Body).Decode(&in)
	_, call, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.before != nil {
		m.before(call)
	}
	no, refused := m.refusals[call]
	name := in.SecretID + in.Name
	_, exists := m.values[name]
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	out := map[string]any{"Name": name}
	write := func() {
		if m.fail--; m.fail == 0 {
			no, refused = refusal{400, "InvalidRequestException", "enough"}, true
			return
		}
		var values map[string]string
		if json.Unmarshal([]byte(in.SecretString), &values) != nil || len(in.ClientRequestToken) < 32 {
			no, refused = refusal{400, "InvalidParameterException", in.SecretString}, true
			return
		}
		m.values[name] = values
		m.wrote = append(m.wrote, strings.TrimPrefix(name, testPath+"/"))
		if m.lose > 0 {
			m.lose--
			panic(http.ErrAbortHandler)
		}
	}
	switch {
	case refused:
	case m.deleted[name] && call == "CreateSecret":
		no, refused = refusal{400, "InvalidRequestException",
			"You can't create this secret because a secret with this name is already scheduled for deletion."}, true
	case m.deleted[name]:
		no, refused = refusal{400, "InvalidRequestException",
			"You can't perform this operation on the secret because it was marked for deletion."}, true
	case (call == "GetSecretValue" || call == "PutSecretValue") && !exists:
		no, refused = refusal{400, "ResourceNotFoundException", "Secrets Manager can't find the specified secret."},
			true
	case call == "GetSecretValue":
		b, _ := json.Marshal(m.values[name]) // strings always marshal
		out["SecretString"] = string(b)
	case call == "CreateSecret" && exists:
		no, refused = refusal{400, "ResourceExistsException", "The secret already exists."}, true
	case call == "CreateSecret" || call == "PutSecretValue":
		write()
	default:
		no, refused = refusal{400, "ValidationException", fmt.Sprintf("%s %+v", call, in)}, true
	}
	if refused {
		w.WriteHeader(no.status)
		out = map[string]any{"__type": no.code, "message": no.message}
	}
	_ = json.NewEncoder(w).Encode(out)
}

// written returns the names of the values that changed since its last call, sorted, or nil if no secret was written.
func (m *manager) written() (names []string) {
	now := m.stored()
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, value := range now {
		if m.was[name] != value {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(m.wrote) == 0 {
		names = nil
	}
	m.was, m.wrote = now, nil
	return names
}

// stored returns all values.
func (m *manager) stored() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.values[testPath+"/"+secrets.Keys])
}

// secret returns the values of one secret.
func (m *manager) secret(name string) map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.values[testPath+"/"+name])
}

// set changes a value, "" removes it, in every secret that has it.
func (m *manager) set(name, value string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := maps.Clone(m.values[testPath+"/"+secrets.Keys])
	if all == nil {
		all = map[string]string{}
	}
	if all[name] = value; value == "" {
		delete(all, name)
	}
	m.values[testPath+"/"+secrets.Keys] = all
	for _, audience := range secrets.Audiences() {
		if values := secrets.Of(audience, all); len(values) > 0 {
			m.values[testPath+"/"+audience] = values
		}
	}
	m.was = maps.Clone(all)
}

// consistent checks that each audience's secret has exactly its part of all values.
func (m *manager) consistent(t *testing.T, when string) {
	t.Helper()
	for _, audience := range secrets.Audiences() {
		if have, want := m.secret(audience), secrets.Of(audience, m.stored()); !maps.Equal(have, want) {
			t.Errorf("%s: %s has %v, want %v", when, audience, slices.Sorted(maps.Keys(have)),
				slices.Sorted(maps.Keys(want)))
		}
	}
}

func newManager(t *testing.T) *manager {
	t.Helper()
	m := &manager{values: map[string]map[string]string{}}
	account(t, served(t, m).URL)
	return m
}

// keys runs the command, which must succeed, and checks that it prints no secret.
func (m *manager) keys(t *testing.T, args ...string) (stdout string) {
	t.Helper()
	old := m.stored()
	code, stdout, stderr := command(t, append([]string{"keys", "--path", testPath}, args...)...)
	if code != exitOK || stderr != "" {
		t.Fatalf("keys %v: exit %d\n%s%s", args, code, stdout, stderr)
	}
	for _, values := range []map[string]string{old, m.stored()} {
		for _, name := range []string{secrets.JWTSecret, secrets.ShopPrivate, secrets.GatewayPrivate} {
			for line := range strings.Lines(values[name]) {
				if line = strings.TrimSpace(line); len(line) > 8 && !strings.HasPrefix(line, "-----") &&
					strings.Contains(stdout, line) {
					t.Errorf("keys %v shows %s", args, name)
				}
			}
		}
	}
	return stdout
}

// refused runs the command and checks that it prints an error of one line and writes nothing.
func (m *manager) refused(t *testing.T, code int, want string, args ...string) {
	t.Helper()
	refused(t, code, want, args...)
	if names := m.written(); len(names) != 0 {
		t.Errorf("%v wrote %v", args, names)
	}
}

// sells checks that an order of a shop with these secrets can be paid at a gateway with them.
func sells(t *testing.T, s map[string]string) {
	t.Helper()
	g, err := fakegateway.New(fakegateway.Options{Clock: system.Clock{}, AppID: "1", SellerID: "2",
		MerchantPublicKey: s[secrets.ShopPublic], PrivateKey: s[secrets.GatewayPrivate]})
	must.OK(t, err)
	shop, err := alipay.New(alipay.Config{AppID: "1", SellerID: "2", PrivateKey: s[secrets.ShopPrivate],
		AlipayPublicKey: s[secrets.AlipayPublic],
		Gateway:         "https://gateway.example/gateway.do", NotifyURL: "https://shop.example/notify",
		Clock: system.Clock{}})
	must.OK(t, err)
	now := time.Now()
	id := seckill.KeyedOrderID("1", "1", "k")
	pay, err := shop.Prepare(seckill.Order{ID: id, Amount: 1, Title: "t", Placed: now, PayBy: now.Add(time.Hour)})
	must.OK(t, err)
	if _, err := g.Open(pay); err != nil {
		t.Errorf("the gateway does not know the shop: %v", err)
	}
	form, err := g.NotificationForm("n", fakegateway.Trade{OutTradeNo: id, TradeNo: "1", Amount: 1,
		Status: fakegateway.StatusSuccess, Created: now, Paid: now}, now)
	must.OK(t, err)
	if _, err := shop.Verify(form); err != nil {
		t.Errorf("the shop does not know the gateway: %v", err)
	}
}
