package main

import (
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/your-org/seckill/cmd/seckill/secrets"
)

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
		"a sandbox's path": {"", "", sandbox[:3],
			"so /seckill/test belongs to a sandbox: give --sandbox, or another path"},
		"not a pair": {secrets.ShopPublic, good[secrets.AlipayPublic], sandbox,
			"alipay-shop-public-key is not the public key of alipay-private-key: create a new pair with " +
				"--rotate=alipay-private-key"},
		"no key": {secrets.GatewayPrivate, "secret text", sandbox,
			"gateway-private-key is invalid: not a private key in PKCS #8 or PKCS #1"},
		"no private key": {secrets.ShopPrivate, "", sandbox,
			"alipay-shop-public-key exists without its private key"},
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
	refuses(t, exitUsage, "keys *", [][2]string{
		{"", `--path "": want the path`},
		{"--path seckill", `--path "seckill": want the path`},
		{"--path /seckill/", `--path "/seckill/": want the path`},
	})
	refuses(t, exitUsage, "keys --path "+testPath+" *", [][2]string{
		{"--sandbox --alipay-public-key x", "does not go with --sandbox"},
		{"--sandbox --alipay-certificates x", "does not go with --sandbox"},
		{"--rotate=alipay-certificates", "give the new ones as well, with --alipay-certificates FOLDER"},
		{"--sandbox --rotate=alipay-certificates", "--rotate=alipay-certificates: want one of"},
		{"--rotate=redis-password", "--rotate=redis-password: want one of all, jwt-secret,"},
		{"--rotate=gateway-private-key", "--rotate=gateway-private-key: want one of"},
		{"--rotate=alipay-public-key", "give the new key as well"},
		{"--token-key a~b", `--token-key "a b": want a key id`},
		{"--token-key secret", `--token-key "secret": want a key id`},
		{"--token-key audience-from", `--token-key "audience-from": want a key id`},
		{"--audience-from tomorrow", "--audience-from: want a date"},
		{"--redis-password " + written(t, "empty", []byte("\n")), "the file is empty"},
		{"--rotate jwt-secret", `"jwt-secret": unexpected argument`},
		{"--alipay-public-key " + filepath.Join(t.TempDir(), "none"), "no such file"},
		{"--alipay-public-key " + written(t, "bad.pem", []byte("no key!")), "neither PEM nor base64"},
		{"--alipay-public-key " + written(t, "large.pem", make([]byte, 1<<17)), "larger than 64 KiB"},
		{"--profile nobody", "the AWS configuration has no profile"},
	})
	refuses(t, exitUsage, "token *", [][2]string{
		{"--user 1001", `--path "": want the path`},
		{"--path " + testPath, "--user is missing"},
		{"--path " + testPath + " --user 1001 --valid 0s", "--valid 0s: want"},
		{"--path " + testPath + " --user 1001",
			"has no jwt-secret in the secret /seckill/test/login: create it with \"seckill keys\""},
	})
	if names := m.written(); len(names) != 0 {
		t.Errorf("wrote %v", names)
	}
}

func TestKeysWhenAWSRefuses(t *testing.T) {
	m := newManager(t)
	m.refusals = map[string]refusal{"GetSecretValue": {400, "AccessDeniedException",
		"User: u is not authorized to perform: secretsmanager:GetSecretValue"}}
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
	want := "seckill: /seckill/test/keys was created by another caller meanwhile: repeat the command"
	if code != exitUsage || stdout != "" || !strings.HasPrefix(stderr, want) {
		t.Errorf("exit %d\n%s%s\nwant %s", code, stdout, stderr, want)
	}
	if v := m.stored(); len(v) != 1 || v[secrets.JWTSecret] != "another's" || len(m.values) != 1 {
		t.Error("what somebody else made was overwritten, or more was made")
	}
	m.before = nil
	delete(m.values, testPath+"/"+secrets.Keys)
	m.values[testPath+"/buy"] = map[string]string{}
	m.refused(t, exitUsage, "/seckill/test/keys is missing, but /seckill/test/buy exists: restore it", args...)

	gone := served(t, http.NotFoundHandler())
	gone.Close()
	account(t, gone.URL)
	refused(t, exitFault, "AWS in region eu-central-1 cannot be reached: ", args...)
}

// TestKeysScheduledForDeletion checks that the error names the secret and the command that restores it, whichever
// call fails.
func TestKeysScheduledForDeletion(t *testing.T) {
	m := newManager(t)
	args := []string{"keys", "--path", testPath, "--sandbox"}
	want := func(secret string) string {
		return "the secret /seckill/test/" + secret +
			" is scheduled for deletion: restore it (aws secretsmanager restore-secret --region eu-central-1" +
			" --secret-id /seckill/test/" + secret + "), and repeat the command"
	}
	m.deleted = map[string]bool{testPath + "/keys": true}
	m.refused(t, exitFault, want("keys"), args...)
	m.deleted = nil
	m.keys(t, "--sandbox")
	m.written()
	m.deleted = map[string]bool{testPath + "/buy": true}
	m.refused(t, exitFault, want("buy"), args...)
	m.deleted = nil
	m.before = func(call string) { // between reading and writing
		if call == "PutSecretValue" {
			m.deleted = map[string]bool{testPath + "/keys": true}
		}
	}
	m.refused(t, exitFault, want("keys"), append(args, "--rotate=jwt-secret")...)
}

// TestKeysWhoseAnswerIsLost: the SDK retries and finds the result of its own first attempt.
func TestKeysWhoseAnswerIsLost(t *testing.T) {
	m := newManager(t)
	m.lose = 1
	m.keys(t, "--sandbox")
	if len(m.wrote) != 15 || m.wrote[0] != secrets.Keys {
		t.Errorf("wrote %v, want each once", m.wrote)
	}
	m.consistent(t, "an answer was lost")
	sells(t, m.stored())
}

// TestKeysBrokenOff checks that whichever write fails, the same command without --rotate completes the first one's
// work and creates nothing anew.
func TestKeysBrokenOff(t *testing.T) {
	for nth := 1; nth <= 7; nth++ {
		m := newManager(t)
		m.fail = nth
		if code, _, stderr := command(t, "keys", "--path", testPath, "--sandbox"); code != exitFault ||
			!strings.Contains(stderr, "InvalidRequestException") {
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
		if rotated := !maps.Equal(before, begun); code != exitFault || rotated != (nth > 1) ||
			!maps.Equal(begun, m.stored()) {
			t.Errorf("rotated, write %d refused: exit %d, rotated %v, or the next run made others", nth, code, rotated)
		}
		sells(t, m.stored())
	}
}
