package seckill_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// TestAnotherModuleImportsTheGateway gives a copy of this module another path (make module), publishes it in a file
// proxy, and lets another project's module import the fake Alipay gateway from there.
func TestAnotherModuleImportsTheGateway(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles the gateway for another module, about five seconds")
	}
	const path, version = "example.com/shop/seckill", "v1.2.3"
	temp := t.TempDir()

	copied := filepath.Join(temp, "copy")
	walk(t, ".", func(file string) { write(t, filepath.Join(copied, file), page(t, file)) })
	run(t, copied, "make", "--silent", "module", "NEW="+path)

	// A module proxy is a folder of files: golang.org/ref/mod#goproxy-protocol.
	versions := filepath.Join(temp, "proxy", path, "@v")
	var archive strings.Builder
	if err := zip.CreateFromDir(&archive, module.Version{Path: path, Version: version}, copied); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(versions, version+".zip"), archive.String())
	write(t, filepath.Join(versions, version+".mod"), page(t, filepath.Join(copied, "go.mod")))
	write(t, filepath.Join(versions, version+".info"), `{"Version":"`+version+`"}`)

	shop := filepath.Join(temp, "shop")
	write(t, filepath.Join(shop, "go.mod"), "module example.com/another\n\ngo 1.25.0\n\nrequire "+path+" "+version+"\n")
	write(t, filepath.Join(shop, "pay_test.go"), `package another

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"`+path+`/shared/fake/fakegateway"
	"`+path+`/shared/fake/memory"
)

func TestPay(t *testing.T) {
	keys, err := fakegateway.GenerateKeys()
	if err != nil {
		t.Fatal(err)
	}
	gateway, err := fakegateway.New(fakegateway.Options{Clock: memory.NewClock(time.Now()),
		AppID: "2021000000000001", SellerID: "2088000000000001", MerchantPublicKey: keys.Public})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gateway)
	defer server.Close()
	if resp, err := http.Get(server.URL + "/gateway.do"); err != nil || resp.StatusCode >= 500 {
		t.Fatal(resp, err)
	}
}
`)
	cache := strings.TrimSpace(run(t, ".", "go", "env", "GOMODCACHE"))
	t.Setenv("GOPROXY", "file://"+filepath.Join(temp, "proxy")+",file://"+filepath.Join(cache, "cache", "download")+
		","+strings.TrimSpace(run(t, ".", "go", "env", "GOPROXY")))
	t.Setenv("GOSUMDB", "off")
	t.Setenv("GOMODCACHE", filepath.Join(temp, "modules"))
	t.Setenv("GOFLAGS", os.Getenv("GOFLAGS")+" -modcacherw -mod=mod")
	if out := run(t, shop, "go", "test", "-v", "./..."); !strings.Contains(out, "--- PASS: TestPay") {
		t.Error(out)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// run returns a command's output, and ends the test with it if the command fails.
func run(t *testing.T, folder, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
