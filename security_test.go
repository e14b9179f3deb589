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

// asvsLevel1 and asvsLevel2 are the numbers of ASVS 5.0.0: those of level 1, and those that level 2 adds.
const (
	asvsLevel1 = `
1.2.1 1.2.2 1.2.3 1.2.4 1.2.5 1.3.1 1.3.2 1.5.1 2.1.1 2.2.1 2.2.2 2.3.1 3.2.1 3.2.2 3.3.1 3.4.1 3.4.2 3.5.1 3.5.2
3.5.3 4.1.1 4.4.1 5.2.1 5.2.2 5.3.1 5.3.2 6.1.1 6.2.1 6.2.2 6.2.3 6.2.4 6.2.5 6.2.6 6.2.7 6.2.8 6.3.1 6.3.2 6.4.1
6.4.2 7.2.1 7.2.2 7.2.3 7.2.4 7.4.1 7.4.2 8.1.1 8.2.1 8.2.2 8.3.1 9.1.1 9.1.2 9.1.3 9.2.1 10.4.1 10.4.2 10.4.3 10.4.4
10.4.5 11.3.1 11.3.2 11.4.1 12.1.1 12.2.1 12.2.2 13.4.1 14.2.1 14.3.1 15.1.1 15.2.1 15.3.1`
	asvsLevel2 = `
1.1.1 1.1.2 1.2.6 1.2.7 1.2.8 1.2.9 1.3.3 1.3.4 1.3.5 1.3.6 1.3.7 1.3.8 1.3.9 1.3.10 1.3.11 1.4.1 1.4.2 1.4.3 1.5.2
2.1.2 2.1.3 2.2.3 2.3.2 2.3.3 2.3.4 2.4.1 3.3.2 3.3.3 3.3.4 3.4.3 3.4.4 3.4.5 3.4.6 3.5.4 3.5.5 3.7.1 3.7.2 4.1.2
4.1.3 4.2.1 4.3.1 4.3.2 4.4.2 4.4.3 4.4.4 5.1.1 5.2.3 5.4.1 5.4.2 5.4.3 6.1.2 6.1.3 6.2.9 6.2.10 6.2.11 6.2.12 6.3.3
6.3.4 6.4.3 6.4.4 6.5.1 6.5.2 6.5.3 6.5.4 6.5.5 6.6.1 6.6.2 6.6.3 6.8.1 6.8.2 6.8.3 6.8.4 7.1.1 7.1.2 7.1.3 7.3.1
7.3.2 7.4.3 7.4.4 7.4.5 7.5.1 7.5.2 7.6.1 7.6.2 8.1.2 8.2.3 8.4.1 9.2.2 9.2.3 9.2.4 10.1.1 10.1.2 10.2.1 10.2.2 10.3.1
10.3.2 10.3.3 10.3.4 10.4.6 10.4.7 10.4.8 10.4.9 10.4.10 10.4.11 10.5.1 10.5.2 10.5.3 10.5.4 10.5.5 10.6.1 10.6.2
10.7.1 10.7.2 10.7.3 11.1.1 11.1.2 11.2.1 11.2.2 11.2.3 11.3.3 11.4.2 11.4.3 11.4.4 11.5.1 11.6.1 12.1.2 12.1.3 12.3.1
12.3.2 12.3.3 12.3.4 13.1.1 13.2.1 13.2.2 13.2.3 13.2.4 13.2.5 13.3.1 13.3.2 13.4.2 13.4.3 13.4.4 13.4.5 14.1.1 14.1.2
14.2.2 14.2.3 14.2.4 14.3.2 14.3.3 15.1.2 15.1.3 15.2.2 15.2.3 15.3.2 15.3.3 15.3.4 15.3.5 15.3.6 15.3.7 16.1.1 16.2.1
16.2.2 16.2.3 16.2.4 16.2.5 16.3.1 16.3.2 16.3.3 16.3.4 16.4.1 16.4.2 16.4.3 16.5.1 16.5.2 16.5.3 17.1.1 17.2.1 17.2.2
17.2.3 17.2.4 17.3.1 17.3.2`
)

var (
	asvsNumber = regexp.MustCompile(`\b\d+\.\d+\.\d+(?:–\d+\.\d+\.\d+)?`)
	shownBy    = regexp.MustCompile("`(\\w+)\\.((?:Test|Fuzz)\\w+)[/\\w]*`")
	browserBy  = regexp.MustCompile("`([\\w.]+\\.mjs)`")
	targetBy   = regexp.MustCompile("`make (\\w+)`")
)

// byNumber compares points such as 1.2.10.
func byNumber(a, b string) int {
	parts := func(p string) (n [3]int) {
		_, _ = fmt.Sscanf(p, "%d.%d.%d", &n[0], &n[1], &n[2])
		return n
	}
	x, y := parts(a), parts(b)
	return slices.Compare(x[:], y[:])
}

// asvsIn counts how often a text has each point of level 1 or 2, those within ranges, too.
func asvsIn(t *testing.T, name, text string, points []string) map[string]int {
	seen := map[string]int{}
	for _, found := range asvsNumber.FindAllString(strings.ReplaceAll(text, "ASVS 5.0.0", ""), -1) {
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
	return seen
}

// TestSecurityPage: docs/SECURITY.md has each point once, says of each level how many are met, open and not applicable,
// and lists what is open under its level. The tests that it names are there.
func TestSecurityPage(t *testing.T) {
	const name = "docs/SECURITY.md"
	text := page(t, name)
	levels := [][]string{strings.Fields(asvsLevel1), strings.Fields(asvsLevel2)}
	points := slices.SortedFunc(slices.Values(slices.Concat(levels...)), byNumber)
	seen := asvsIn(t, name, text, points)
	for _, p := range points {
		if seen[p] != 1 {
			t.Errorf("%s has %s %d times, want once", name, p, seen[p])
		}
	}
	met, rest, _ := strings.Cut(text, "\n## Not applicable\n")
	not, open, _ := strings.Cut(rest, "\n## Open\n")
	open1, open2, whole := strings.Cut(open, "\n### Level 2\n")
	if !whole {
		t.Fatalf("%s has no open points of level 2", name)
	}
	count := func(text string, level []string) (n int) {
		has := asvsIn(t, name, text, points)
		for _, p := range level {
			n += has[p]
		}
		return n
	}
	for i, level := range levels {
		unmet := count([]string{open1, open2}[i], level)
		says := fmt.Sprintf("\n%d | %d | %d | %d\n", i+1, count(met, level), unmet, count(not, level))
		if !strings.Contains(text, says) {
			t.Errorf("%s: want the row%s", name, says)
		}
		if all := count(open, level); all != unmet {
			t.Errorf("%s: %d open points of level %d are under another level", name, all-unmet, i+1)
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
