package main

import (
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/your-org/seckill/cmd/seckill/secrets"
	"github.com/your-org/seckill/proof/report"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/api/salts"
	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/drivertest/alipaytest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
)

var sandboxNames = []string{secrets.JWTSecret, secrets.ShopPrivate, secrets.ShopPublic, secrets.GatewayPrivate,
	secrets.AlipayPublic, secrets.TicketSecret, secrets.CommandKey, secrets.CommandPublic}

func TestKeysOfASandbox(t *testing.T) {
	m := newManager(t)
	stdout := m.keys(t, "--sandbox")
	want := `jwt-secret: created: 32 random bytes, which sign shoppers' tokens
ticket-secret: created: 32 random bytes, which sign tickets
command-key: created: a key pair (Ed25519), which signs staff's commands
command-public-key: created: the public part, with which functions check commands
alipay-private-key: created: an RSA key of 2048 bits
alipay-shop-public-key: created: the public key of alipay-private-key
gateway-private-key: created: an RSA key of 2048 bits
alipay-public-key: created: the public key of gateway-private-key

Written below /seckill/test: keys, admit, buy, command, deliver, gateway, login, notify, pay, payment, refund, shop, signin, stage, admin
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
	if strings.Count(stdout, "exists, unchanged") != len(sandboxNames) || len(m.written()) != 0 ||
		!maps.Equal(first, m.stored()) {
		t.Errorf("the second time something was made:\n%s", stdout)
	}

	m.set(secrets.ShopPublic, "")
	m.set(secrets.AlipayPublic, "")
	m.keys(t, "--sandbox") // an earlier run was interrupted
	if names := m.written(); !sameNames(names, []string{secrets.ShopPublic, secrets.AlipayPublic}) ||
		!maps.Equal(first, m.stored()) {
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
	_, text, _ := strings.Cut(stdout, "The shop's public key, to paste into Alipay's console:\n")
	shown, err := alipay.ParsePublicKey(text)
	private, privateErr := alipay.ParsePrivateKey(s[secrets.ShopPrivate])
	if err != nil || privateErr != nil || !shown.Equal(&private.PublicKey) || strings.Count(text, "\n") != 1 {
		t.Fatalf("%v, %v; said\n%s", err, privateErr, stdout)
	}
	if !strings.Contains(stdout, "alipay-public-key: is missing: Alipay's console shows it") || len(s) != 5 {
		t.Errorf("stored %d, said\n%s", len(s), stdout)
	}
	m.written()

	theirs := make([]string, 2)
	for i := range theirs {
		pair, err := fakegateway.GenerateKeys()
		must.OK(t, err)
		theirs[i] = written(t, fmt.Sprintf("alipay%d.pem", i), []byte(pair.Public))
	}
	run := func(said string, wrote []string, args ...string) {
		t.Helper()
		stdout := m.keys(t, args...)
		if names := m.written(); !sameNames(names, wrote) || !strings.Contains(stdout, said) ||
			!strings.HasSuffix(stdout, text) {
			t.Errorf("%v: wrote %v, want %v; said\n%swant %q and the shop's public key", args, names, wrote, stdout,
				said)
		}
	}
	args := []string{"keys", "--path", testPath, "--alipay-public-key"}
	own := written(t, "own.txt", []byte(text))
	m.refused(t, exitUsage, "this is the shop's own public key", append(args, own)...)
	run("alipay-public-key: created: Alipay's public key, from "+theirs[0], []string{secrets.AlipayPublic},
		"--alipay-public-key", theirs[0])
	run("alipay-public-key: exists, with this value", nil, "--alipay-public-key", theirs[0])
	run("alipay-public-key: exists, unchanged", nil)
	m.refused(t, exitUsage, "alipay-public-key exists with another key: replace it with --rotate=alipay-public-key",
		append(args, theirs[1])...)
	run("alipay-public-key: replaced: ", []string{secrets.AlipayPublic}, "--alipay-public-key", theirs[1],
		"--rotate=alipay-public-key")
	m.refused(t, exitUsage, "so /seckill/test belongs to a real shop: give another path for a sandbox", "keys",
		"--path", testPath, "--sandbox", "--rotate")
	if stdout := m.keys(t, "--rotate"); strings.HasSuffix(stdout, text) ||
		!sameNames(m.written(), []string{secrets.JWTSecret, secrets.TicketSecret, secrets.CommandKey,
			secrets.CommandPublic, secrets.ShopPrivate}) {
		t.Errorf("rotated, yet said\n%s", stdout)
	}
}

// folder writes files as Alipay's console provides them.
func folder(t *testing.T, files alipaytest.Certificates) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"appCertPublicKey_2021000000000001.crt": files.App,
		"alipayCertPublicKey_RSA2.crt": files.Alipay, "alipayRootCert.crt": files.Root} {
		if text == "" {
			continue
		}
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

func TestKeysOfAShopWithCertificates(t *testing.T) {
	m := newManager(t)
	shop, theirs, now := pairs()[0], pairs()[1], time.Now()
	made := func(key fakegateway.KeyPair) alipaytest.Certificates {
		files := alipaytest.Make(t, key, theirs, now.AddDate(0, -1, 0), now.AddDate(0, 1, 0))
		files.Root = strings.Repeat(files.Root, 4) // Alipay's, too, is longer than a standard parameter
		return files
	}
	first, second, others := made(shop), made(shop), made(theirs)
	if len(first.Root) <= 4096 {
		t.Fatalf("the root file has %d bytes, which prove nothing", len(first.Root))
	}
	args := []string{"keys", "--path", testPath, "--alipay-certificates"}
	m.refused(t, exitUsage, "store alipay-private-key first", append(args, folder(t, first))...)
	m.set(secrets.JWTSecret, strings.Repeat("x", 43))
	m.set(secrets.TicketSecret, "1764000000:a-secret-of-tickets")
	var seed [32]byte
	commands := operator.Keys(nil).Add(seed, now)
	m.set(secrets.CommandKey, commands.String())
	m.set(secrets.CommandPublic, commands.Public().String())
	m.set(secrets.ShopPrivate, shop.Private)

	m.refused(t, exitUsage, "alipay: app certificate: it is not the private key's", append(args, folder(t, others))...)
	ended := alipaytest.Make(t, shop, theirs, now.AddDate(-1, 0, 0), now.AddDate(0, 0, -1))
	m.refused(t, exitUsage, "alipay: app certificate: it ended on", append(args, folder(t, ended))...)
	m.refused(t, exitUsage, "0 files match alipayRootCert.crt, want 1",
		append(args, folder(t, alipaytest.Certificates{App: first.App, Alipay: first.Alipay}))...)
	m.refused(t, exitUsage, "no such file", append(args, filepath.Join(t.TempDir(), "none"))...)
	large := first
	large.Root = strings.Repeat(first.Root, 2)
	m.refused(t, exitUsage, "alipayRootCert.crt: larger than 8 KiB", append(args, folder(t, large))...)

	certs := []string{secrets.AppCert, secrets.AlipayCert, secrets.RootCert}
	stdout := m.keys(t, "--alipay-certificates", folder(t, first))
	s := m.stored()
	if names := m.written(); !sameNames(names, certs) || s[secrets.AppCert] != first.App ||
		s[secrets.AlipayCert] != first.Alipay || s[secrets.RootCert] != first.Root ||
		strings.Contains(stdout, secrets.AlipayPublic) || strings.Contains(stdout, "The shop's public key") {
		t.Errorf("wrote %v, said\n%s", names, stdout)
	}
	if stdout = m.keys(t); strings.Count(stdout, "exists, unchanged") != 8 || len(m.written()) != 0 {
		t.Errorf("the second time said\n%s", stdout)
	}
	if stdout = m.keys(t, "--alipay-certificates", folder(t, first)); strings.Count(stdout,
		"exists, with this value") != 3 || len(m.written()) != 0 {
		t.Errorf("the same again said\n%s", stdout)
	}
	m.set(secrets.RootCert, "")
	if stdout = m.keys(t); !strings.Contains(stdout,
		"alipay-root-cert: is missing: repeat the command with --alipay-certificates FOLDER") {
		t.Errorf("one is missing, said\n%s", stdout)
	}
	m.written()
	m.refused(t, exitUsage,
		"alipay-app-cert exists with another certificate: replace it with --rotate=alipay-certificates",
		append(args, folder(t, second))...)
	m.keys(t, "--alipay-certificates", folder(t, second), "--rotate=alipay-certificates")
	if names := m.written(); !sameNames(names, certs) || m.stored()[secrets.AppCert] != second.App {
		t.Errorf("replaced %v", names)
	}
	for _, rotate := range []string{"--rotate", "--rotate=alipay-private-key"} {
		m.refused(t, exitUsage, "a new key needs its certificate first", "keys", "--path", testPath, rotate)
	}
	// A new key comes with its certificates, in one run.
	theirKey := written(t, "app.pem", []byte(theirs.Private))
	m.refused(t, exitUsage, "a new key needs its certificate first", "keys", "--path", testPath,
		"--alipay-private-key", theirKey, "--rotate=alipay-private-key")
	m.refused(t, exitUsage, "alipay-private-key exists with another value: replace it with --rotate=alipay-private-key",
		"keys", "--path", testPath, "--alipay-private-key", theirKey, "--alipay-certificates", folder(t, second))
	ours := alipaytest.Make(t, theirs, shop, now.AddDate(0, -1, 0), now.AddDate(0, 1, 0))
	m.keys(t, "--alipay-private-key", theirKey, "--alipay-certificates", folder(t, ours),
		"--rotate=alipay-private-key,alipay-certificates")
	if names := m.written(); !sameNames(names, append(certs, secrets.ShopPrivate)) ||
		m.secret("pay")[secrets.AppCert] != ours.App || m.secret("pay")[secrets.ShopPrivate] != theirs.Private {
		t.Errorf("a new key and its certificates: replaced %v", names)
	}
	m.keys(t, "--rotate=jwt-secret")
	if names := m.written(); !sameNames(names, []string{secrets.JWTSecret}) {
		t.Errorf("rotated %v", names)
	}
	m.refused(t, exitUsage, "so /seckill/test belongs to a real shop: give another path for a sandbox", "keys",
		"--path", testPath, "--sandbox")
}

// TestTheSameKeyInAnotherText checks that private keys are compared as keys, whatever their encoding.
func TestTheSameKeyInAnotherText(t *testing.T) {
	m := newManager(t)
	m.keys(t)
	key, err := alipay.ParsePrivateKey(m.stored()[secrets.ShopPrivate])
	must.OK(t, err)
	m.written()
	pkcs1 := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	for name, text := range map[string]string{
		"PKCS #1": string(pkcs1), "Windows": strings.ReplaceAll(m.stored()[secrets.ShopPrivate], "\n", "\r\n"),
	} {
		out := m.keys(t, "--alipay-private-key", written(t, "key.pem", []byte(text)))
		if names := m.written(); len(names) > 0 ||
			!strings.Contains(out, secrets.ShopPrivate+": exists, with this value") {
			t.Errorf("%s: wrote %v and said %s", name, names, out)
		}
	}
	other, err := fakegateway.GenerateKeys()
	must.OK(t, err)
	m.refused(t, exitUsage, "alipay-private-key exists with another value", "keys", "--path", testPath,
		"--alipay-private-key", written(t, "key.pem", []byte(other.Private)))
}

// TestEachAudienceReadsItsPart repeats independently what docs/IAM.md promises: which values each audience reads.
func TestEachAudienceReadsItsPart(t *testing.T) {
	m := newManager(t)
	m.keys(t, "--sandbox", "--token-key", "2027", "--redis-password", written(t, "password", []byte("p\n")),
		"--staff-client-secret", written(t, "staff", []byte("s\n")), "--signin-client-secrets",
		written(t, "clients", []byte("\ufeffhttps://id.example.com|shop|s|t\r\n")), "--report-key", reportKeyFile(t))
	for _, name := range []string{secrets.AppCert, secrets.AlipayCert, secrets.RootCert} {
		m.set(name, "certificate")
	}
	if m.stored()[secrets.RedisPassword] != "p" || len(m.stored()["jwt-2027"]) != 43 {
		t.Errorf("password %q, the kid's secret has %d characters", m.stored()[secrets.RedisPassword],
			len(m.stored()["jwt-2027"]))
	}
	for audience, want := range map[string]string{
		"login": "jwt-2027 jwt-secret", "buy": "jwt-2027 jwt-secret redis-password ticket-secret",
		"stock": "redis-password", "stage": "command-public-key redis-password",
		"deliver": "command-public-key", "command": "command-public-key", "admin": "command-key staff-client-secret",
		"refund": "alipay-app-cert alipay-cert alipay-private-key alipay-public-key alipay-root-cert " +
			"command-public-key",
		"signin": "jwt-2027 jwt-secret signin-client-secrets", "admit": "jwt-2027 jwt-secret ticket-secret",
		"payment": "alipay-app-cert alipay-cert alipay-private-key alipay-public-key alipay-root-cert jwt-2027 " +
			"jwt-secret",
		"notify":  "alipay-cert alipay-public-key alipay-root-cert",
		"gateway": "alipay-shop-public-key gateway-private-key",
		"pay":     "alipay-app-cert alipay-cert alipay-private-key alipay-public-key alipay-root-cert",
		"shop": "alipay-app-cert alipay-cert alipay-private-key alipay-public-key alipay-root-cert jwt-2027 " +
			"jwt-secret redis-password report-salts",
	} {
		if got := strings.Join(slices.Sorted(maps.Keys(m.secret(audience))), " "); got != want {
			t.Errorf("%s has %s, want %s", audience, got, want)
		}
	}
}

// TestKeysOfTickets: a new key makes tickets when every instance has read it, and the two before it go on checking.
func TestKeysOfTickets(t *testing.T) {
	m := newManager(t)
	var last jwtauth.TicketKeys
	for i, rotate := range []string{"", "", "--rotate=ticket-secret", "--rotate=ticket-secret", "--rotate"} {
		began := time.Now().Truncate(time.Second)
		m.keys(t, slices.DeleteFunc([]string{"--sandbox", rotate}, func(s string) bool { return s == "" })...)
		keys, err := jwtauth.ParseTicketKeys(m.secret("admit")[secrets.TicketSecret])
		if err != nil || m.secret("buy")[secrets.TicketSecret] != keys.String() {
			t.Fatalf("run %d: %v", i, err)
		}
		newest := keys[len(keys)-1]
		switch {
		case i == 0 && (len(keys) != 1 || newest.From.Before(began) || newest.From.After(time.Now())):
			t.Errorf("the first key makes tickets from %v on", newest.From)
		case i == 1 && keys.String() != last.String():
			t.Error("a run without --rotate changed the keys")
		case i > 1 && (len(keys) != min(i, 3) || newest.From.Before(began.Add(keyDelay)) ||
			keys[len(keys)-2] != last[len(last)-1]):
			t.Errorf("run %d: %d keys, the newest makes tickets from %v on", i, len(keys), newest.From)
		}
		last = keys
	}
	m.set(secrets.TicketSecret, "no keys")
	m.keys(t, "--sandbox", "--rotate=ticket-secret")
	if keys, err := jwtauth.ParseTicketKeys(m.stored()[secrets.TicketSecret]); err != nil || len(keys) != 1 ||
		keys[0].From.After(time.Now()) {
		t.Errorf("what nobody could use was replaced by %d keys, %v", len(keys), err)
	}
}

// TestKeysOfCommands: a new key signs when every instance has read it, and functions have the public parts of all.
func TestKeysOfCommands(t *testing.T) {
	m := newManager(t)
	last := ""
	for i, rotate := range []string{"", "", "--rotate=command-key", "--rotate"} {
		m.keys(t, slices.DeleteFunc([]string{"--sandbox", rotate}, func(s string) bool { return s == "" })...)
		text, now := m.secret("admin")[secrets.CommandKey], time.Now()
		keys, err := operator.ParseKeys(text)
		if err != nil {
			t.Fatalf("run %d: %v", i, err)
		}
		for _, audience := range []string{"stage", "refund", "deliver", "command"} {
			if got := m.secret(audience)[secrets.CommandPublic]; got != keys.Public().String() {
				t.Errorf("run %d: %s has another key", i, audience)
			}
		}
		n := len(strings.Fields(text))
		switch {
		case i == 1 && text != last:
			t.Error("a run without --rotate changed the keys")
		case n != max(1, i) || i > 1 && !strings.HasPrefix(text, last+" "):
			t.Errorf("run %d: %d keys", i, n)
		case i > 1 && (keys.Signs(now).Equal(keys.Signs(now.Add(2*keyDelay))) ||
			!keys.Signs(now).Equal(keys.Signs(now.Add(keyDelay-time.Minute)))):
			t.Errorf("run %d: the new key does not sign a quarter of an hour later", i)
		}
		last = text
	}
	m.set(secrets.CommandPublic, "")
	if m.keys(t, "--sandbox"); m.secret("stage")[secrets.CommandPublic] == "" {
		t.Error("a public part that is missing is not made again")
	}
	m.set(secrets.CommandKey, "no keys")
	m.keys(t, "--sandbox", "--rotate=command-key")
	if keys, err := operator.ParseKeys(m.stored()[secrets.CommandKey]); err != nil ||
		!keys.Signs(time.Now()).Equal(keys.Signs(time.Now().Add(time.Hour))) {
		t.Errorf("what nobody could use was replaced by keys that sign later, %v", err)
	}
}

func TestKeysOfRedisAndOfKids(t *testing.T) {
	m := newManager(t)
	one, two := written(t, "one", []byte("one\r\n")), written(t, "two", []byte("two"))
	m.keys(t, "--sandbox", "--redis-password", one, "--token-key", "a", "--token-key", "b")
	first := m.stored()
	m.written()
	m.refused(t, exitUsage, "redis-password exists with another value: replace it with --rotate=redis-password", "keys",
		"--path", testPath, "--sandbox", "--redis-password", two)
	m.keys(t, "--sandbox", "--redis-password", two, "--rotate=redis-password,jwt-a", "--token-key", "a", "--token-key",
		"b")
	if names := m.written(); !sameNames(names, []string{secrets.RedisPassword, "jwt-a"}) ||
		m.stored()[secrets.RedisPassword] != "two" || first[secrets.RedisPassword] != "one" {
		t.Errorf("rotated %v", names)
	}
	m.consistent(t, "rotated")
}

func reportKeyFile(t *testing.T) string {
	t.Helper()
	text, err := report.GenerateKey("shop.example")
	must.OK(t, err)
	return written(t, "report.key", []byte(text))
}

// TestSaltsOfReports: what is stored makes salts, and has nothing of the private key.
func TestSaltsOfReports(t *testing.T) {
	m := newManager(t)
	one, two := reportKeyFile(t), reportKeyFile(t)
	m.keys(t, "--sandbox")
	m.written()
	out := m.keys(t, "--sandbox", "--report-key", one)
	secret, err := salts.Parse(m.secret("shop")[secrets.ReportSalts])
	key, keyErr := keyFile("", one)
	if err != nil || keyErr != nil || !sameNames(m.written(), []string{secrets.ReportSalts}) {
		t.Fatal(err, keyErr)
	}
	if salt, verifier := secret.Of("o1"); salt != key.Salt("o1") || verifier != key.Verifier ||
		!strings.Contains(out, secrets.ReportSalts+": created: the secret of salts, from "+one) ||
		strings.Contains(out, strings.Fields(secret.Text())[1]) {
		t.Errorf("salt %s, verifier %s, said %s", salt, verifier, out)
	}
	m.keys(t, "--sandbox", "--report-key", one)
	m.keys(t, "--sandbox", "--rotate=jwt-secret")
	if names := m.written(); !sameNames(names, []string{secrets.JWTSecret}) {
		t.Errorf("written %v", names)
	}
	m.refused(t, exitUsage, "report-salts exists with another value: replace it with --rotate=report-salts", "keys",
		"--path", testPath, "--sandbox", "--report-key", two)
	m.refused(t, exitUsage, "no key of reports", "keys", "--path", testPath, "--sandbox", "--report-key",
		written(t, "x", []byte("x")))
	m.keys(t, "--sandbox", "--report-key", two, "--rotate=report-salts")
	if names := m.written(); !sameNames(names, []string{secrets.ReportSalts}) {
		t.Errorf("rotated %v", names)
	}
	m.consistent(t, "rotated")
}

// TestAudienceFrom: every function that reads shoppers' tokens reads the date.
func TestAudienceFrom(t *testing.T) {
	m := newManager(t)
	m.keys(t, "--sandbox")
	m.written()
	out := m.keys(t, "--sandbox", "--audience-from", "2027-01-31")
	if names := m.written(); !sameNames(names, []string{secrets.AudienceFrom}) || !strings.Contains(out,
		secrets.AudienceFrom+": created: tokens without an audience are refused from 2027-01-31") {
		t.Errorf("written %v, said %s", names, out)
	}
	must.Equal(t, "2027-01-31", m.secret("buy")[secrets.AudienceFrom], "buy reads")
	m.refused(t, exitUsage, "exists with another value: replace it with --rotate=jwt-audience-from", "keys", "--path",
		testPath, "--sandbox", "--audience-from", "2027-02-01")
	m.keys(t, "--sandbox", "--audience-from", "2027-02-01T08:00:00Z", "--rotate=jwt-audience-from")
	must.Equal(t, "2027-02-01T08:00:00Z", m.secret("signin")[secrets.AudienceFrom], "signin reads")
	m.consistent(t, "replaced")
}

// inUTF16 encodes a text as editors on Windows save it.
func inUTF16(text string) []byte {
	out := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = binary.LittleEndian.AppendUint16(out, unit)
	}
	return out
}

// TestKeysInUTF16: what is stored can be read back, however the files were encoded.
func TestKeysInUTF16(t *testing.T) {
	m := newManager(t)
	shop, now := pairs()[0], time.Now()
	files := alipaytest.Make(t, shop, pairs()[1], now.AddDate(0, -1, 0), now.AddDate(0, 1, 0))
	odd := alipaytest.Certificates{App: string(inUTF16(files.App)), Alipay: string(inUTF16(files.Alipay)),
		Root: string(inUTF16("Alipay's\n" + files.Root))}
	m.keys(t, "--alipay-private-key", written(t, "key.txt", inUTF16(shop.Private)), "--alipay-certificates",
		folder(t, odd))
	s := m.secret("pay")
	if _, _, err := alipay.CheckCertificates(s[secrets.ShopPrivate], s[secrets.AppCert], s[secrets.AlipayCert],
		s[secrets.RootCert], now); err != nil || s[secrets.ShopPrivate] != shop.Private ||
		s[secrets.RootCert] != files.Root {
		t.Errorf("%v, stored %q", err, s[secrets.RootCert])
	}
	m.written()
	out := m.keys(t, "--alipay-private-key", written(t, "key.pem", []byte(shop.Private)), "--alipay-certificates",
		folder(t, files))
	if names := m.written(); len(names) > 0 || strings.Count(out, "exists, with this value") != 4 {
		t.Errorf("the same in UTF-8: wrote %v, said\n%s", names, out)
	}
	err := (&secrets.Store{}).Write(t.Context(), secrets.Keys, map[string]string{"a": "\xff\xfe"}, true)
	if !errors.Is(err, secrets.ErrNotText) {
		t.Errorf("bytes that are no text: %v", err)
	}
}

// TestSecretsOfOneLine: a pasted secret is stored without what its editor put before it, and nothing else is guessed.
func TestSecretsOfOneLine(t *testing.T) {
	m := newManager(t)
	m.keys(t, "--sandbox", "--redis-password", written(t, "p", []byte("\ufeffp\u00e4ss\r\n")),
		"--staff-client-secret", written(t, "s", []byte("\ufeffs\n")))
	if s := m.stored(); s[secrets.RedisPassword] != "p\u00e4ss" || s[secrets.StaffSecret] != "s" {
		t.Errorf("stored %q and %q", s[secrets.RedisPassword], s[secrets.StaffSecret])
	}
	m.written()
	for name, file := range map[string][]byte{"UTF-16": inUTF16("p"), "two lines": []byte("a\nb"),
		"a tab": []byte("a\tb"), "a letter of another encoding": []byte("p\xe4ss")} {
		if m.refused(t, exitUsage, "want one line of text in UTF-8", "keys", "--path", testPath, "--sandbox",
			"--rotate=redis-password", "--redis-password", written(t, "p", file)); t.Failed() {
			t.Fatal(name)
		}
	}
}

// TestTheLastClientSecret: an empty list takes the secrets of all clients away, if the caller says so.
func TestTheLastClientSecret(t *testing.T) {
	m := newManager(t)
	args := []string{"--sandbox", "--signin-client-secrets"}
	empty := written(t, "none", []byte("\ufeff\r\n"))
	m.keys(t, append(args, written(t, "clients", []byte("https://id.example.com|shop|s\n")))...)
	m.written()
	m.refused(t, exitUsage, "no secret; with --rotate=signin-client-secrets it takes all away",
		append([]string{"keys", "--path", testPath}, append(args, empty)...)...)
	for range 2 {
		out := m.keys(t, append(args, empty, "--rotate=signin-client-secrets")...)
		if _, there := m.stored()[secrets.SignInSecrets]; there ||
			!strings.Contains(out, secrets.SignInSecrets+": taken away") {
			t.Errorf("it is there: %v; said\n%s", there, out)
		}
		m.consistent(t, "taken away")
	}
}

// sameNames compares lists without regard to order.
func sameNames(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
