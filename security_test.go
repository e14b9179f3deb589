package seckill_test

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// asvsPoints are the numbers of ASVS 4.0.3 that are of level 1 or 2.
const asvsPoints = `
1.1.1 1.1.2 1.1.3 1.1.4 1.1.5 1.1.6 1.1.7 1.2.1 1.2.2 1.2.3 1.2.4 1.4.1 1.4.4 1.4.5 1.5.1 1.5.2 1.5.3 1.5.4 1.6.1
1.6.2 1.6.3 1.6.4 1.7.1 1.7.2 1.8.1 1.8.2 1.9.1 1.9.2 1.10.1 1.11.1 1.11.2 1.12.2 1.14.1 1.14.2 1.14.3 1.14.4 1.14.5
1.14.6 2.1.1 2.1.2 2.1.3 2.1.4 2.1.5 2.1.6 2.1.7 2.1.8 2.1.9 2.1.10 2.1.11 2.1.12 2.2.1 2.2.2 2.2.3 2.3.1 2.3.2
2.3.3 2.4.1 2.4.2 2.4.3 2.4.4 2.4.5 2.5.1 2.5.2 2.5.3 2.5.4 2.5.5 2.5.6 2.5.7 2.6.1 2.6.2 2.6.3 2.7.1 2.7.2 2.7.3
2.7.4 2.7.5 2.7.6 2.8.1 2.8.2 2.8.3 2.8.4 2.8.5 2.8.6 2.8.7 2.9.1 2.9.2 2.9.3 2.10.1 2.10.2 2.10.3 2.10.4 3.1.1
3.2.1 3.2.2 3.2.3 3.2.4 3.3.1 3.3.2 3.3.3 3.3.4 3.4.1 3.4.2 3.4.3 3.4.4 3.4.5 3.5.1 3.5.2 3.5.3 3.7.1 4.1.1 4.1.2
4.1.3 4.1.5 4.2.1 4.2.2 4.3.1 4.3.2 4.3.3 5.1.1 5.1.2 5.1.3 5.1.4 5.1.5 5.2.1 5.2.2 5.2.3 5.2.4 5.2.5 5.2.6 5.2.7
5.2.8 5.3.1 5.3.2 5.3.3 5.3.4 5.3.5 5.3.6 5.3.7 5.3.8 5.3.9 5.3.10 5.4.1 5.4.2 5.4.3 5.5.1 5.5.2 5.5.3 5.5.4 6.1.1
6.1.2 6.1.3 6.2.1 6.2.2 6.2.3 6.2.4 6.2.5 6.2.6 6.3.1 6.3.2 6.4.1 6.4.2 7.1.1 7.1.2 7.1.3 7.1.4 7.2.1 7.2.2 7.3.1
7.3.3 7.3.4 7.4.1 7.4.2 7.4.3 8.1.1 8.1.2 8.1.3 8.1.4 8.2.1 8.2.2 8.2.3 8.3.1 8.3.2 8.3.3 8.3.4 8.3.5 8.3.6 8.3.7
8.3.8 9.1.1 9.1.2 9.1.3 9.2.1 9.2.2 9.2.3 9.2.4 10.2.1 10.2.2 10.3.1 10.3.2 10.3.3 11.1.1 11.1.2 11.1.3 11.1.4
11.1.5 11.1.6 11.1.7 11.1.8 12.1.1 12.1.2 12.1.3 12.2.1 12.3.1 12.3.2 12.3.3 12.3.4 12.3.5 12.3.6 12.4.1 12.4.2
12.5.1 12.5.2 12.6.1 13.1.1 13.1.3 13.1.4 13.1.5 13.2.1 13.2.2 13.2.3 13.2.5 13.2.6 13.3.1 13.3.2 13.4.1 13.4.2
14.1.1 14.1.2 14.1.3 14.1.4 14.2.1 14.2.2 14.2.3 14.2.4 14.2.5 14.2.6 14.3.2 14.3.3 14.4.1 14.4.2 14.4.3 14.4.4
14.4.5 14.4.6 14.4.7 14.5.1 14.5.2 14.5.3 14.5.4`

var (
	asvsNumber = regexp.MustCompile(`\b\d+\.\d+\.\d+(?:–\d+\.\d+\.\d+)?`)
	shownBy    = regexp.MustCompile("`(\\w+)\\.((?:Test|Fuzz)\\w+)[/\\w]*`")
	browserBy  = regexp.MustCompile("`([\\w.]+\\.mjs)`")
	targetBy   = regexp.MustCompile("`make (\\w+)`")
)

// TestSecurityPage: docs/SECURITY.md has each point once, and the tests that it names are there.
func TestSecurityPage(t *testing.T) {
	const name = "docs/SECURITY.md"
	text, points := page(t, name), strings.Fields(asvsPoints)
	seen := map[string]int{}
	for _, found := range asvsNumber.FindAllString(strings.ReplaceAll(text, "ASVS 4.0.3", ""), -1) {
		first, last, isRange := strings.Cut(found, "–")
		if !isRange {
			last = first
		}
		from, to := slices.Index(points, first), slices.Index(points, last)
		if from < 0 || to < from || isRange && to == from {
			t.Errorf("%s: %s are not points of level 1 or 2", name, found)
			continue
		}
		for _, p := range points[from : to+1] {
			seen[p]++
		}
	}
	for _, p := range points {
		if seen[p] != 1 {
			t.Errorf("%s has %s %d times, want once", name, p, seen[p])
		}
	}
	tests := map[string]bool{}
	walk(t, ".", func(file string) {
		if !strings.HasSuffix(file, "_test.go") {
			return
		}
		folder := path.Base(path.Dir(file))
		if folder == "." {
			folder = "seckill"
		}
		for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllStringSubmatch(page(t, file), -1) {
			tests[folder+"."+m[1]] = true
		}
	})
	named := shownBy.FindAllStringSubmatch(text, -1)
	for _, m := range named {
		if !tests[m[1]+"."+m[2]] {
			t.Errorf("%s names %s, which is nowhere", name, m[0])
		}
	}
	for _, m := range browserBy.FindAllStringSubmatch(text, -1) {
		if found, _ := filepath.Glob("web/browsertest/" + m[1]); len(found) == 0 {
			t.Errorf("%s names %s, which is not in web/browsertest", name, m[1])
		}
	}
	for _, m := range targetBy.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(page(t, "Makefile"), "\n"+m[1]+":") {
			t.Errorf("%s names %s, which is not a target", name, m[0])
		}
	}
	if len(named) < 50 {
		t.Errorf("%s names %d tests: the pattern is out of date", name, len(named))
	}
}

// mayImport has what is refused of the standard library in what a shop runs, with the files that may.
var mayImport = map[string][]string{
	"C": nil, "crypto/des": nil, "crypto/dsa": nil, "crypto/rc4": nil, "database/sql": nil, "encoding/gob": nil,
	"encoding/xml": nil, "html/template": nil, "math/rand": nil, "net/rpc": nil, "net/smtp": nil, "os/exec": nil,
	"plugin": nil, "text/template": nil, "unsafe": nil,
	"crypto/aes": {"shared/seckill/seal.go"}, "crypto/cipher": {"shared/seckill/seal.go"}, // GCM alone
	"crypto/md5":  {"shared/driver/alipay/cert.go"},       // Alipay names certificates by it
	"crypto/sha1": {"shared/driver/redisstock/script.go"}, // Redis names scripts by it
	"math/rand/v2": {"shared/driver/config/secret.go", "shared/driver/dynamoledger/dynamoledger.go", // waits
		"shared/driver/sqsqueue/client.go",
		"shared/driver/dynamoledger/lists.go", // one of equal copies
		"shared/api/captcha/captcha.go"},      // lines and dots
}

// notInAShop are folders of code for tests, sandboxes and builds.
var notInAShop = regexp.MustCompile(
	`test/|^shared/fake/memory/|/fakegateway/|^functions/gateway/|^web/bundle/`)

// offTheList are calls that trust any certificate, or encrypt or decrypt otherwise than by AES-GCM.
var offTheList = regexp.MustCompile(`InsecureSkipVerify|cryptPKCS1v15|cryptOAEP|\bcipher\.New(?:CBC|CTR|OFB|CFB)`)

// TestCodeLeavesOut: no code of a shop starts programs, speaks SQL, XML, LDAP or mail, fills text templates, turns off
// memory safety or the check of certificates, encrypts otherwise than by AES-GCM, or uses broken or guessable
// algorithms for what must not be guessed.
func TestCodeLeavesOut(t *testing.T) {
	used, seen := map[string]bool{}, 0
	for _, folder := range []string{"shared", "functions", "web"} {
		for file, f := range files(t, folder) {
			if notInAShop.MatchString(file) {
				continue
			}
			seen++
			if found := offTheList.FindString(page(t, file)); found != "" {
				t.Errorf("%s has %s", file, found)
			}
			for _, p := range imports(f) {
				if may, refused := mayImport[p]; refused && !slices.Contains(may, file) {
					t.Errorf("%s imports %s", file, p)
				}
				if strings.Contains(p, "ldap") || strings.Contains(p, "sql") && !standard(p) {
					t.Errorf("%s imports %s", file, p)
				}
				used[file+" "+p] = true
			}
		}
	}
	for p, may := range mayImport {
		for _, file := range may {
			if !used[file+" "+p] {
				t.Errorf("%s does not import %s any more", file, p)
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d files", seen)
	}
}

// TestNoSecretsInFiles: outside of test data no file has a private key or a key of AWS.
func TestNoSecretsInFiles(t *testing.T) {
	secret := regexp.MustCompile(fmt.Sprintf(`%s[A-Z ]*PRIVATE KEY-----\s+[A-Za-z0-9+/]{20}|\bA%sA[0-9A-Z]{16}\b`,
		"-----BEGIN ", "KI"))
	walk(t, ".", func(file string) {
		if found := secret.FindString(page(t, file)); found != "" {
			t.Errorf("%s has %.40q", file, found)
		}
	})
}

// TestPagesAskForNothing: no page wants the camera, the place, the contacts or the like.
func TestPagesAskForNothing(t *testing.T) {
	asks := regexp.MustCompile(`geolocation|getUserMedia|getDisplayMedia|mediaDevices|requestPermission|` +
		`\bnavigator\.(permissions|contacts|bluetooth|usb|hid|serial|credentials)|DeviceMotionEvent|DeviceOrientation`)
	seen := 0
	walk(t, "web/src", func(file string) {
		if path.Ext(file) != ".js" {
			return
		}
		seen++
		if found := asks.FindString(page(t, file)); found != "" {
			t.Errorf("%s asks for %s", file, found)
		}
	})
	if seen < 20 {
		t.Errorf("only %d files", seen)
	}
}

// TestPagesAreStrict: no page compares across types, listens to other windows, makes a pattern out of a text, or writes
// under computed names, which might be __proto__, but where these are listed.
func TestPagesAreStrict(t *testing.T) {
	loose := regexp.MustCompile(`[^=!<>]==[^=]|!=[^=]|'message'|\bwindow\.onmessage|\bnew RegExp\b|__proto__`)
	computed := regexp.MustCompile(`\w+\)?\[[^\]'"]+\] = |Object\.assign\((?:[^,]*), `)
	mayCompute := regexp.MustCompile(`^(?:faults|inputs)\[name\] = $|^early\[path\] = $|^salt\[order\.id\] = $|` +
		`^Object\.assign\((?:\{\}|TEXTS|all|io\.TEXTS), $`)
	for _, bad := range []string{"a == b", "a != b", "window.onmessage ="} {
		if !loose.MatchString(bad) {
			t.Errorf("%s is found nowhere", bad)
		}
	}
	seen := 0
	walk(t, "web/src", func(file string) {
		if path.Ext(file) != ".js" {
			return
		}
		seen++
		text := page(t, file)
		if found := loose.FindString(text); found != "" {
			t.Errorf("%s has %q", file, found)
		}
		for _, found := range computed.FindAllString(text, -1) {
			if !mayCompute.MatchString(found) {
				t.Errorf("%s has %q", file, found)
			}
		}
	})
	if seen < 20 {
		t.Errorf("only %d files", seen)
	}
}
