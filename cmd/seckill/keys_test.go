package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"seckill/cmd/seckill/secrets"
	"seckill/shared/adapter/alipay"
	"seckill/shared/adapter/alipay/alipaytest"
	"seckill/shared/adapter/alipay/fakegateway"
	"seckill/shared/adapter/jwtauth"
	"seckill/shared/adapter/system"
	"seckill/shared/seckill"
)

const testPath = "/seckill/test"

// manager answers what the tool calls of Secrets Manager.
type manager struct {
	mu       sync.Mutex
	values   map[string]map[string]string // by a secret's name
	before   func(call string)            // a call is answered
	refusals map[string]refusal           // by call
	wrote    []string                     // secrets that got a version, a repeat too
	was      map[string]string            // what Keys had when written was asked last
	lose     int                          // answers to writes that are lost once they are carried out
	fail     int                          // which write from now on is refused, 1 for the next
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
	case (call == "GetSecretValue" || call == "PutSecretValue") && !exists:
		no, refused = refusal{400, "ResourceNotFoundException", "Secrets Manager can't find the specified secret."}, true
	case call == "GetSecretValue":
		b, _ := json.Marshal(m.values[name]) // texts always marshal
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

// written gives the names of the values that are others than when it was asked last, sorted; nil when no secret was written.
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

// stored gives all that is there.
func (m *manager) stored() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.values[testPath+"/"+secrets.Keys])
}

// secret gives what one secret has.
func (m *manager) secret(name string) map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.values[testPath+"/"+name])
}

// set changes a value, "" takes it away, wherever it is read.
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

// consistent wants each audience to have what it reads of everything, and nothing else.
func (m *manager) consistent(t *testing.T, when string) {
	t.Helper()
	for _, audience := range secrets.Audiences() {
		if have, want := m.secret(audience), secrets.Of(audience, m.stored()); !maps.Equal(have, want) {
			t.Errorf("%s: %s has %v, want %v", when, audience, slices.Sorted(maps.Keys(have)), slices.Sorted(maps.Keys(want)))
		}
	}
}

func newManager(t *testing.T) *manager {
	t.Helper()
	m := &manager{values: map[string]map[string]string{}}
	account(t, served(t, m).URL)
	return m
}

// keys runs the command on the test's path, wants it to succeed, and sees that no secret is said.
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
				if line = strings.TrimSpace(line); len(line) > 8 && !strings.HasPrefix(line, "-----") && strings.Contains(stdout, line) {
					t.Errorf("keys %v shows %s", args, name)
				}
			}
		}
	}
	return stdout
}

// refused runs the command and wants an error in one line, and nothing written.
func (m *manager) refused(t *testing.T, code int, want string, args ...string) {
	t.Helper()
	got, stdout, stderr := command(t, args...)
	if got != code || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, want) {
		t.Errorf("%v: exit %d\n%s%s\nwant exit %d and one line with %q", args, got, stdout, stderr, code, want)
	}
	if names := m.written(); len(names) != 0 {
		t.Errorf("%v wrote %v", args, names)
	}
}

// sells sees that a shop with these secrets can be paid at a gateway with these, which is what they are for.
func sells(t *testing.T, s map[string]string) {
	t.Helper()
	g, err := fakegateway.New(fakegateway.Options{Clock: system.Clock{}, AppID: "1", SellerID: "2", MerchantPublicKey: s[secrets.ShopPublic], PrivateKey: s[secrets.GatewayPrivate]})
	if err != nil {
		t.Fatal(err)
	}
	shop, err := alipay.New(alipay.Config{AppID: "1", SellerID: "2", PrivateKey: s[secrets.ShopPrivate], AlipayPublicKey: s[secrets.AlipayPublic],
		Gateway: "https://gateway.example/gateway.do", NotifyURL: "https://shop.example/notify", Clock: system.Clock{}})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	id := seckill.KeyedOrderID("1", "1", "k")
	pay, err := shop.Prepare(seckill.Order{ID: id, Amount: 1, Title: "t", Placed: now, PayBy: now.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Open(pay); err != nil {
		t.Errorf("the gateway does not know the shop: %v", err)
	}
	form, err := g.NotifyForm("n", fakegateway.Trade{OutTradeNo: id, TradeNo: "1", Amount: 1, Status: fakegateway.StatusSuccess, Created: now, Paid: now}, now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := shop.Verify(form); err != nil {
		t.Errorf("the shop does not know the gateway: %v", err)
	}
}

var sandboxNames = []string{secrets.JWTSecret, secrets.ShopPrivate, secrets.ShopPublic, secrets.GatewayPrivate, secrets.AlipayPublic}

func TestKeysOfASandbox(t *testing.T) {
	m := newManager(t)
	stdout := m.keys(t, "--sandbox")
	want := `jwt-secret: made: 32 random bytes, which sign shoppers' tokens
alipay-private-key: made: an RSA key of 2048 bits
alipay-shop-public-key: made: the public key of alipay-private-key
gateway-private-key: made: an RSA key of 2048 bits
alipay-public-key: made: the public key of gateway-private-key

Written below /seckill/test: keys, buy, gateway, login, notify, pay, shop
`
	if names := m.written(); stdout != want || !sameNames(names, sandboxNames) {
		t.Errorf("wrote %v, said\n%swant\n%s", names, stdout, want)
	}
	first := m.stored()
	sells(t, first)
	if n := len(first[secrets.JWTSecret]); n != 43 {
		t.Errorf("the secret of tokens has %d characters, want 32 bytes in base64", n)
	}

	stdout = m.keys(t, "--sandbox")
	if strings.Count(stdout, "is there, and stays") != len(sandboxNames) || len(m.written()) != 0 || !maps.Equal(first, m.stored()) {
		t.Errorf("the second time something was made:\n%s", stdout)
	}

	m.set(secrets.ShopPublic, "")
	m.set(secrets.AlipayPublic, "")
	m.keys(t, "--sandbox") // a run was broken off
	if names := m.written(); !sameNames(names, []string{secrets.ShopPublic, secrets.AlipayPublic}) || !maps.Equal(first, m.stored()) {
		t.Errorf("public keys that were missing: wrote %v, want both as they were", names)
	}

	for rotate, want := range map[string][]string{
		"--rotate=jwt-secret":                     {secrets.JWTSecret},
		"--rotate=alipay-shop-public-key":         {secrets.ShopPrivate, secrets.ShopPublic},
		"--rotate=jwt-secret,gateway-private-key": {secrets.JWTSecret, secrets.GatewayPrivate, secrets.AlipayPublic},
		"--rotate": sandboxNames,
	} {
		before := m.stored()
		stdout := m.keys(t, "--sandbox", rotate)
		after := m.stored()
		for _, name := range sandboxNames {
			if changed := before[name] != after[name]; changed != slices.Contains(want, name) {
				t.Errorf("%s: %s changed: %v", rotate, name, changed)
			}
		}
		if names := m.written(); !sameNames(names, want) || strings.Count(stdout, ": replaced: ") != len(want) {
			t.Errorf("%s wrote %v, want %v; said\n%s", rotate, names, want, stdout)
		}
		sells(t, after)
	}
}

func TestKeysOfAShop(t *testing.T) {
	m := newManager(t)
	stdout := m.keys(t)
	s := m.stored()
	_, text, _ := strings.Cut(stdout, "The shop's public key, for Alipay's console:\n")
	shown, err := alipay.ParsePublicKey(text)
	private, privateErr := alipay.ParsePrivateKey(s[secrets.ShopPrivate])
	if err != nil || privateErr != nil || !shown.Equal(&private.PublicKey) || strings.Count(text, "\n") != 1 {
		t.Fatalf("%v, %v; said\n%s", err, privateErr, stdout)
	}
	if !strings.Contains(stdout, "alipay-public-key: is missing: Alipay's console shows it") || len(s) != 2 {
		t.Errorf("stored %d, said\n%s", len(s), stdout)
	}
	m.written()

	theirs := make([]string, 2)
	for i := range theirs {
		pair, err := fakegateway.GenerateKeys()
		if err != nil {
			t.Fatal(err)
		}
		theirs[i] = written(t, fmt.Sprintf("alipay%d.pem", i), []byte(pair.Public))
	}
	run := func(said string, wrote []string, args ...string) {
		t.Helper()
		stdout := m.keys(t, args...)
		if names := m.written(); !sameNames(names, wrote) || !strings.Contains(stdout, said) || !strings.HasSuffix(stdout, text) {
			t.Errorf("%v: wrote %v, want %v; said\n%swant %q and the shop's public key", args, names, wrote, stdout, said)
		}
	}
	args := []string{"keys", "--path", testPath, "--alipay-public-key"}
	own := written(t, "own.txt", []byte(text))
	m.refused(t, exitUsage, "this is the shop's own public key", append(args, own)...)
	run("alipay-public-key: made: Alipay's public key, from "+theirs[0], []string{secrets.AlipayPublic}, "--alipay-public-key", theirs[0])
	run("alipay-public-key: is there already, just so", nil, "--alipay-public-key", theirs[0])
	run("alipay-public-key: is there, and stays", nil)
	m.refused(t, exitUsage, "alipay-public-key is there, with another key: --rotate=alipay-public-key replaces it", append(args, theirs[1])...)
	run("alipay-public-key: replaced: ", []string{secrets.AlipayPublic}, "--alipay-public-key", theirs[1], "--rotate=alipay-public-key")
	m.refused(t, exitUsage, "so /seckill/test is a real shop's: a sandbox needs another path", "keys", "--path", testPath, "--sandbox", "--rotate")
	if stdout := m.keys(t, "--rotate"); strings.HasSuffix(stdout, text) || !sameNames(m.written(), []string{secrets.JWTSecret, secrets.ShopPrivate}) {
		t.Errorf("rotated, yet said\n%s", stdout)
	}
}

// folder writes files as Alipay's console gives them.
func folder(t *testing.T, files alipaytest.Certificates) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"appCertPublicKey_2021000000000001.crt": files.App, "alipayCertPublicKey_RSA2.crt": files.Alipay, "alipayRootCert.crt": files.Root} {
		if text == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestKeysOfAShopWithCertificates(t *testing.T) {
	m := newManager(t)
	shop, theirs, now := pairs()[0], pairs()[1], time.Now()
	made := func(key fakegateway.KeyPair) alipaytest.Certificates {
		files := alipaytest.Make(t, key, theirs, now.AddDate(0, -1, 0), now.AddDate(0, 1, 0))
		files.Root = strings.Repeat(files.Root, 4) // Alipay's is longer than a standard parameter as well
		return files
	}
	first, second, others := made(shop), made(shop), made(theirs)
	if len(first.Root) <= 4096 {
		t.Fatalf("the root file has %d bytes, which prove nothing", len(first.Root))
	}
	args := []string{"keys", "--path", testPath, "--alipay-certificates"}
	m.refused(t, exitUsage, "alipay-private-key is missing, the private key that they were requested with", append(args, folder(t, first))...)
	m.set(secrets.JWTSecret, strings.Repeat("x", 43))
	m.set(secrets.ShopPrivate, shop.Private)

	m.refused(t, exitUsage, "alipay: app certificate: it is not the private key's", append(args, folder(t, others))...)
	ended := alipaytest.Make(t, shop, theirs, now.AddDate(-1, 0, 0), now.AddDate(0, 0, -1))
	m.refused(t, exitUsage, "alipay: app certificate: it ended on", append(args, folder(t, ended))...)
	m.refused(t, exitUsage, "there are 0 files alipayRootCert.crt, want 1", append(args, folder(t, alipaytest.Certificates{App: first.App, Alipay: first.Alipay}))...)
	m.refused(t, exitUsage, "no such file", append(args, filepath.Join(t.TempDir(), "none"))...)
	large := first
	large.Root = strings.Repeat(first.Root, 2)
	m.refused(t, exitUsage, "alipayRootCert.crt: larger than 8 KiB", append(args, folder(t, large))...)

	certs := []string{secrets.AppCert, secrets.AlipayCert, secrets.RootCert}
	stdout := m.keys(t, "--alipay-certificates", folder(t, first))
	s := m.stored()
	if names := m.written(); !sameNames(names, certs) || s[secrets.AppCert] != first.App || s[secrets.AlipayCert] != first.Alipay || s[secrets.RootCert] != first.Root ||
		strings.Contains(stdout, secrets.AlipayPublic) || strings.Contains(stdout, "The shop's public key") {
		t.Errorf("wrote %v, said\n%s", names, stdout)
	}
	if stdout = m.keys(t); strings.Count(stdout, "is there, and stays") != 5 || len(m.written()) != 0 {
		t.Errorf("the second time said\n%s", stdout)
	}
	if stdout = m.keys(t, "--alipay-certificates", folder(t, first)); strings.Count(stdout, "is there already, just so") != 3 || len(m.written()) != 0 {
		t.Errorf("the same again said\n%s", stdout)
	}
	m.set(secrets.RootCert, "")
	if stdout = m.keys(t); !strings.Contains(stdout, "alipay-root-cert: is missing: repeat the command with --alipay-certificates FOLDER") {
		t.Errorf("one is missing, said\n%s", stdout)
	}
	m.written()
	m.refused(t, exitUsage, "alipay-app-cert is there, with another certificate: --rotate=alipay-certificates replaces it", append(args, folder(t, second))...)
	m.keys(t, "--alipay-certificates", folder(t, second), "--rotate=alipay-certificates")
	if names := m.written(); !sameNames(names, certs) || m.stored()[secrets.AppCert] != second.App {
		t.Errorf("replaced %v", names)
	}
	for _, rotate := range []string{"--rotate", "--rotate=alipay-private-key"} {
		m.refused(t, exitUsage, "a new key has to have its certificate first", "keys", "--path", testPath, rotate)
	}
	// Another key comes with its certificates, in one run.
	theirKey := written(t, "app.pem", []byte(theirs.Private))
	m.refused(t, exitUsage, "a new key has to have its certificate first", "keys", "--path", testPath, "--alipay-private-key", theirKey, "--rotate=alipay-private-key")
	m.refused(t, exitUsage, "alipay-private-key is there, another one: --rotate=alipay-private-key replaces it", "keys", "--path", testPath, "--alipay-private-key", theirKey,
		"--alipay-certificates", folder(t, second))
	ours := alipaytest.Make(t, theirs, shop, now.AddDate(0, -1, 0), now.AddDate(0, 1, 0))
	m.keys(t, "--alipay-private-key", theirKey, "--alipay-certificates", folder(t, ours), "--rotate=alipay-private-key,alipay-certificates")
	if names := m.written(); !sameNames(names, append(certs, secrets.ShopPrivate)) || m.secret("pay")[secrets.AppCert] != ours.App || m.secret("pay")[secrets.ShopPrivate] != theirs.Private {
		t.Errorf("a new key and its certificates: replaced %v", names)
	}
	m.keys(t, "--rotate=jwt-secret")
	if names := m.written(); !sameNames(names, []string{secrets.JWTSecret}) {
		t.Errorf("rotated %v", names)
	}
	m.refused(t, exitUsage, "so /seckill/test is a real shop's: a sandbox needs another path", "keys", "--path", testPath, "--sandbox")
}

func TestKeysThatDoNotFitAreRefused(t *testing.T) {
	m := newManager(t)
	m.keys(t, "--sandbox")
	good := m.stored()
	m.written()
	sandbox := []string{"keys", "--path", testPath, "--sandbox"}
	for name, c := range map[string]struct {
		set, value string
		args       []string
		want       string
	}{
		"a sandbox's path": {"", "", sandbox[:3], "so /seckill/test is a sandbox's: give --sandbox, or another path"},
		"not a pair":       {secrets.ShopPublic, good[secrets.AlipayPublic], sandbox, "alipay-shop-public-key is not the public key of alipay-private-key: --rotate=alipay-private-key"},
		"no key":           {secrets.GatewayPrivate, "secret text", sandbox, "gateway-private-key cannot be used: neither PEM nor base64"},
		"no private key":   {secrets.ShopPrivate, "", sandbox, "alipay-shop-public-key is there without its private key"},
	} {
		if c.set != "" {
			m.set(c.set, c.value)
		}
		m.refused(t, exitUsage, c.want, c.args...)
		for n, v := range good {
			m.set(n, v)
		}
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

func TestFlagsOfKeys(t *testing.T) {
	m := newManager(t)
	for _, c := range []struct {
		want string
		args []string
	}{
		{`--path "": want the path`, []string{"keys"}},
		{`--path "seckill": want the path`, []string{"keys", "--path", "seckill"}},
		{`--path "/seckill/": want the path`, []string{"keys", "--path", "/seckill/"}},
		{"contradict each other", []string{"keys", "--path", testPath, "--sandbox", "--alipay-public-key", "x"}},
		{"contradict each other", []string{"keys", "--path", testPath, "--sandbox", "--alipay-certificates", "x"}},
		{"want the new ones as well, --alipay-certificates FOLDER", []string{"keys", "--path", testPath, "--rotate=alipay-certificates"}},
		{"--rotate=alipay-certificates: want one of", []string{"keys", "--path", testPath, "--sandbox", "--rotate=alipay-certificates"}},
		{"--rotate=redis-password: want one of all, jwt-secret,", []string{"keys", "--path", testPath, "--rotate=redis-password"}},
		{"--rotate=gateway-private-key: want one of", []string{"keys", "--path", testPath, "--rotate=gateway-private-key"}},
		{"want the new one as well", []string{"keys", "--path", testPath, "--rotate=alipay-public-key"}},
		{`--token-key "a b": want a kid`, []string{"keys", "--path", testPath, "--token-key", "a b"}},
		{`--token-key "secret": want a kid`, []string{"keys", "--path", testPath, "--token-key", "secret"}},
		{"the file is empty", []string{"keys", "--path", testPath, "--redis-password", written(t, "empty", []byte("\n"))}},
		{`"jwt-secret" is one argument too many`, []string{"keys", "--path", testPath, "--rotate", "jwt-secret"}},
		{"no such file", []string{"keys", "--path", testPath, "--alipay-public-key", filepath.Join(t.TempDir(), "none")}},
		{"neither PEM nor base64", []string{"keys", "--path", testPath, "--alipay-public-key", written(t, "bad.pem", []byte("no key!"))}},
		{"larger than 64 KiB", []string{"keys", "--path", testPath, "--alipay-public-key", written(t, "large.pem", make([]byte, 1<<17))}},
		{`--path "": want the path`, []string{"token", "--user", "1001"}},
		{"--user is missing", []string{"token", "--path", testPath}},
		{"--valid 0s: want", []string{"token", "--path", testPath, "--user", "1001", "--valid", "0s"}},
		{"has no jwt-secret in the secret /seckill/test/login: seckill keys makes it", []string{"token", "--path", testPath, "--user", "1001"}},
		{"the AWS configuration has no profile", []string{"keys", "--path", testPath, "--profile", "nobody"}},
	} {
		m.refused(t, exitUsage, c.want, c.args...)
	}
}

func TestKeysWhenAWSRefuses(t *testing.T) {
	m := newManager(t)
	m.refusals = map[string]refusal{"GetSecretValue": {400, "AccessDeniedException", "User: u is not authorized to perform: secretsmanager:GetSecretValue"}}
	args := []string{"keys", "--path", testPath}
	m.refused(t, exitUsage, "not allowed: User: u is not authorized to perform: secretsmanager:GetSecretValue", args...)
	m.refusals = map[string]refusal{"GetSecretValue": {400, "InternalServiceError", "oh"}}
	m.refused(t, exitFault, "AWS answers InternalServiceError: oh", args...)

	m.refusals = nil
	m.before = func(call string) {
		if call == "CreateSecret" {
			m.values[testPath+"/"+secrets.Keys] = map[string]string{secrets.JWTSecret: "another's"}
		}
	}
	code, stdout, stderr := command(t, args...)
	if want := "seckill: /seckill/test/keys was made by somebody else meanwhile: repeat the command"; code != exitUsage || stdout != "" || !strings.HasPrefix(stderr, want) {
		t.Errorf("exit %d\n%s%s\nwant %s", code, stdout, stderr, want)
	}
	if v := m.stored(); len(v) != 1 || v[secrets.JWTSecret] != "another's" || len(m.values) != 1 {
		t.Error("what somebody else made was overwritten, or more was made")
	}
	m.before = nil
	delete(m.values, testPath+"/"+secrets.Keys)
	m.values[testPath+"/buy"] = map[string]string{}
	m.refused(t, exitUsage, "/seckill/test/keys is missing, and /seckill/test/buy is there: bring it back", args...)

	gone := served(t, http.NotFoundHandler())
	gone.Close()
	account(t, gone.URL)
	code, _, stderr = command(t, args...)
	if code != exitFault || !strings.Contains(stderr, "AWS in region eu-central-1 cannot be reached: ") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

// TestKeysWhoseAnswerIsLost: the SDK tries again and meets what its first try made.
func TestKeysWhoseAnswerIsLost(t *testing.T) {
	m := newManager(t)
	m.lose = 1
	m.keys(t, "--sandbox")
	if len(m.wrote) != 7 || m.wrote[0] != secrets.Keys {
		t.Errorf("wrote %v, want each once", m.wrote)
	}
	m.consistent(t, "an answer was lost")
	sells(t, m.stored())
}

// TestKeysBrokenOff: whichever write is the last one that works, the same command without --rotate completes what was begun, and makes nothing anew.
func TestKeysBrokenOff(t *testing.T) {
	for nth := 1; nth <= 7; nth++ {
		m := newManager(t)
		m.fail = nth
		if code, _, stderr := command(t, "keys", "--path", testPath, "--sandbox"); code != exitFault || !strings.Contains(stderr, "InvalidRequestException") {
			t.Fatalf("write %d refused: exit %d, %s", nth, code, stderr)
		}
		begun := m.stored()
		m.keys(t, "--sandbox")
		m.consistent(t, fmt.Sprintf("made, write %d refused", nth))
		if nth > 1 && !maps.Equal(begun, m.stored()) {
			t.Errorf("made, write %d refused: the second run made others", nth)
		}
		before := m.stored()
		m.fail = nth
		code, _, _ := command(t, "keys", "--path", testPath, "--sandbox", "--rotate")
		begun = m.stored()
		m.fail = 0
		m.keys(t, "--sandbox")
		m.consistent(t, fmt.Sprintf("rotated, write %d refused", nth))
		if rotated := !maps.Equal(before, begun); code != exitFault || rotated != (nth > 1) || !maps.Equal(begun, m.stored()) {
			t.Errorf("rotated, write %d refused: exit %d, rotated %v, or the next run made others", nth, code, rotated)
		}
		sells(t, m.stored())
	}
}

// TestEachAudienceReadsItsPart is docs/IAM.md's promise in other words: who can read what.
func TestEachAudienceReadsItsPart(t *testing.T) {
	m := newManager(t)
	m.keys(t, "--sandbox", "--token-key", "2027", "--redis-password", written(t, "password", []byte("p\n")))
	for _, name := range []string{secrets.AppCert, secrets.AlipayCert, secrets.RootCert} {
		m.set(name, "certificate")
	}
	if m.stored()[secrets.RedisPassword] != "p" || len(m.stored()["jwt-2027"]) != 43 {
		t.Errorf("password %q, the kid's secret has %d characters", m.stored()[secrets.RedisPassword], len(m.stored()["jwt-2027"]))
	}
	for audience, want := range map[string]string{
		"login": "jwt-2027 jwt-secret", "buy": "jwt-2027 jwt-secret redis-password", "stock": "redis-password", "notify": "alipay-cert alipay-public-key alipay-root-cert",
		"gateway": "alipay-shop-public-key gateway-private-key", "pay": "alipay-app-cert alipay-cert alipay-private-key alipay-public-key alipay-root-cert",
		"shop": "alipay-app-cert alipay-cert alipay-private-key alipay-public-key alipay-root-cert jwt-2027 jwt-secret redis-password",
	} {
		if got := strings.Join(slices.Sorted(maps.Keys(m.secret(audience))), " "); got != want {
			t.Errorf("%s has %s, want %s", audience, got, want)
		}
	}
}

func TestKeysOfRedisAndOfKids(t *testing.T) {
	m := newManager(t)
	one, two := written(t, "one", []byte("one\r\n")), written(t, "two", []byte("two"))
	m.keys(t, "--sandbox", "--redis-password", one, "--token-key", "a", "--token-key", "b")
	first := m.stored()
	m.written()
	m.refused(t, exitUsage, "redis-password is there, another one: --rotate=redis-password replaces it", "keys", "--path", testPath, "--sandbox", "--redis-password", two)
	m.keys(t, "--sandbox", "--redis-password", two, "--rotate=redis-password,jwt-a", "--token-key", "a", "--token-key", "b")
	if names := m.written(); !sameNames(names, []string{secrets.RedisPassword, "jwt-a"}) || m.stored()[secrets.RedisPassword] != "two" || first[secrets.RedisPassword] != "one" {
		t.Errorf("rotated %v", names)
	}
	m.consistent(t, "rotated")
}

// sameNames compares lists whatever their order.
func sameNames(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func TestTokenIsTaken(t *testing.T) {
	m := newManager(t)
	m.keys(t, "--sandbox")
	verifier := func(at time.Time) *jwtauth.Verifier {
		v, err := jwtauth.New(jwtauth.Keys{Current: m.stored()[secrets.JWTSecret]}, stopped(at))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for valid, args := range map[time.Duration][]string{time.Hour: nil, time.Minute: {"--valid", "1m"}} {
		before := time.Now()
		code, stdout, stderr := command(t, append([]string{"token", "--path", testPath, "--user", "9007199254740993"}, args...)...)
		if code != exitOK || stderr != "" || strings.Count(stdout, "\n") != 1 {
			t.Fatalf("exit %d, %s%s", code, stdout, stderr)
		}
		token := strings.TrimSpace(stdout)
		if user, err := verifier(before).User(token); err != nil || user != "9007199254740993" {
			t.Errorf("valid %v: user %q, %v", valid, user, err)
		}
		if _, err := verifier(before.Add(valid - time.Second)).User(token); err != nil {
			t.Errorf("valid %v: a second before its end: %v", valid, err)
		}
		if _, err := verifier(time.Now().Add(valid + time.Second)).User(token); err == nil {
			t.Errorf("valid %v: a second after its end it is taken", valid)
		}
	}
	m.written()
	for _, user := range []string{"0", "x", "01", "-1"} {
		m.refused(t, exitUsage, "want a user id", "token", "--path", testPath, "--user="+user)
	}
}

// stopped is a clock that does not go.
type stopped time.Time

// Now implements seckill.Clock.
func (s stopped) Now() time.Time { return time.Time(s) }
