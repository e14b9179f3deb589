package main

import (
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// deployer runs infra/stack.sh, for a stack that does not exist, with a SAM CLI that only records its arguments; more
// are parameters of samconfig.toml.
func deployer(t *testing.T, more ...string) func(env ...string) []string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w,
				"<ErrorResponse><Error><Code>ValidationError</Code><Message>Stack with id seckill does not "+
					"exist</Message></Error></ErrorResponse>")
		}
	}))
	t.Cleanup(server.Close)
	folder := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "shared", "template.yaml", "infra/deployment",
		"infra/cdn", "infra/edge", "infra/plan", "infra/stacks"} {
		whole, err := filepath.Abs(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		link(t, whole, filepath.Join(folder, name))
	}
	write(t, filepath.Join(folder, "samconfig.toml"), strings.Replace(read(t, filepath.Join(root, "samconfig.toml")),
		"parameter_overrides = [\n", "parameter_overrides = [\n"+strings.Join(more, ""), 1))
	write(t, filepath.Join(folder, "infra", "stack.sh"), read(t, filepath.Join(root, "infra", "stack.sh")))
	write(t, filepath.Join(folder, ".aws-sam", "build", "template.yaml"), read(t, filepath.Join(root, "template.yaml")))
	write(t, filepath.Join(folder, "sam"), "#!/bin/sh\nprintf '%s\\n' \"$@\" >told\n")
	return func(env ...string) []string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "bash", filepath.Join(folder, "infra", "stack.sh"), "deploy", "default",
			"v1")
		cmd.Env = append(os.Environ(), append(env, "SAM="+filepath.Join(folder, "sam"), "AWS_ENDPOINT_URL="+
			server.URL)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", env, err, out)
		}
		return strings.Split(strings.TrimSuffix(read(t, filepath.Join(folder, "told")), "\n"), "\n")
	}
}

func link(t *testing.T, to, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, name); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o700); err != nil { //nolint:gosec // scripts must be executable
		t.Fatal(err)
	}
}

// TestOverridesPublish checks that a sale's parameters replace samconfig.toml's and make a new deployment, so that
// versions with them are published and served (TestParametersReachTraffic); repeating them is the same deployment.
func TestOverridesPublish(t *testing.T) {
	t.Parallel()
	deploy := deployer(t)
	given := func(told []string, name string) (values []string) {
		for _, p := range told {
			if v, ok := strings.CutPrefix(p, name+"="); ok {
				values = append(values, v)
			}
		}
		return values
	}
	plain := deploy()
	day := deploy("OVERRIDES=Size=large RedisEndpoint=10.0.0.1:6379")
	again := deploy("OVERRIDES=Size=large RedisEndpoint=10.0.0.1:6379")
	back := deploy()
	for _, told := range [][]string{day, again} {
		if p, r := given(told, "Size"), given(told, "RedisEndpoint"); fmt.Sprint(p,
			r) != "[large] [10.0.0.1:6379]" {
			t.Errorf("told %v", told)
		}
	}
	hash := func(told []string) string { return fmt.Sprint(given(told, "Deployment")) }
	if hash(plain) == hash(day) || hash(day) != hash(again) || hash(back) != hash(plain) || len(hash(day)) != 66 {
		t.Errorf("deployments %s, %s, %s, %s", hash(plain), hash(day), hash(again), hash(back))
	}
}

// idleMonth has what a stack costs that nobody uses: what, why, and USD in us-east-1 and in ap-southeast-1.
var idleMonth = []struct {
	what, why string
	usd       [2]float64
}{
	{"endpoints of SQS and Secrets Manager", "CreateCache: 2 in 2 zones × 730 h × 0.01 (0.013)",
		[2]float64{29.20, 37.96}},
	{"ElastiCache Serverless for Valkey", "CreateCache: 0.1 GB × 730 h × 0.084 (0.101)", [2]float64{6.13, 7.37}},
	{"WAF: a web ACL with %d rules", "EDGE: 5 + %[1]d × 1", [2]float64{5, 5}},
	{"%d alarms with a cache, a webhook and the CDN", "%[2]d × 0.10 + 0.50", [2]float64{0.5, 0.5}},
	{"dashboard", "CreateDashboard", [2]float64{3, 3}},
	{"secrets, metrics, polling, storage", "about; more in a month of sales", [2]float64{6, 6}},
}

// TestIdleCost compares the idle month of DEPLOY.md with the list above and with what the templates have; -update
// writes it.
func TestIdleCost(t *testing.T) {
	tree, err := parse([]byte(read(t, filepath.Join(root, "infra", "edge.yaml"))))
	if err != nil {
		t.Fatal(err)
	}
	rules, n := len(list(tree, "Resources", "Acl", "Properties", "Rules")), len(alarms(t))
	var sum, cdn, cache [2]float64
	want := "| resource | why | us-east-1 | ap-southeast-1 |\n|---|---|---|---|\n"
	for _, row := range idleMonth {
		switch {
		case strings.HasPrefix(row.what, "WAF"):
			row.what, row.why = fmt.Sprintf(row.what, rules), fmt.Sprintf(row.why, rules)
			row.usd[0], row.usd[1] = row.usd[0]+float64(rules), row.usd[1]+float64(rules)
		case strings.Contains(row.what, "alarms"): // and the sale at risk
			row.what, row.why = fmt.Sprintf(row.what, n+1), fmt.Sprintf(row.why, n+1, n)
			row.usd[0], row.usd[1] = row.usd[0]+float64(n)/10, row.usd[1]+float64(n)/10
		}
		for i, usd := range row.usd {
			sum[i] += usd
			if strings.HasPrefix(row.why, "EDGE: ") {
				cdn[i] += usd
			} else if strings.HasPrefix(row.why, "CreateCache: ") {
				cache[i] += usd
			}
		}
		want += fmt.Sprintf("| %s | %s | %.2f | %.2f |\n", row.what, row.why, row.usd[0], row.usd[1])
	}
	want += fmt.Sprintf("| | **together** | **%.2f** | **%.2f** |\n", sum[0], sum[1]) +
		fmt.Sprintf("| | **without the CDN** | **%.2f** | **%.2f** |\n", sum[0]-cdn[0], sum[1]-cdn[1]) +
		fmt.Sprintf("| | **and with a Redis of your own** | **%.2f** | **%.2f** |\n", sum[0]-cdn[0]-cache[0],
			sum[1]-cdn[1]-cache[1])
	holdBlock(t, filepath.Join(root, "docs", "DEPLOY.md"), "idle month", want)
}

// TestFormats: the template has the versions of what the code writes; GRADUAL refuses a release with others.
func TestFormats(t *testing.T) {
	want := fmt.Sprintf("rows=%d,items=%d,catalog=%d,messages=%d", ledger.SpanVersion, dynamoledger.VariantVersion,
		dynamoledger.CatalogVersion, seckill.MessageVersion)
	if got := str(open(t).tree, "Outputs", "Formats", "Value"); got != want {
		t.Errorf("formats %s, want %s", got, want)
	}
}

// besideStack are templates with alarms that conditions open, or that are no part of the stack.
var besideStack = []string{"infra/cache.yaml", "infra/alert.yaml", "infra/edge.yaml"}

// alarms returns the alarms of a shop with all that it may have.
func alarms(t *testing.T) (out []*resource) {
	t.Helper()
	all := open(t)
	for _, a := range all.resources(kindAlarm) {
		if c := a.all["Condition"]; c == nil || c == "HasWebhook" {
			out = append(out, a)
		}
	}
	for _, name := range besideStack {
		tree, err := parse([]byte(read(t, filepath.Join(root, name))))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, (&template{tree: tree}).resources(kindAlarm)...)
	}
	return out
}

// alarmName returns an alarm's name, after the stack's.
func alarmName(a *resource) string {
	_, name, _ := strings.Cut(str(a.prop(), "AlarmName", "Fn::Sub"), "}-")
	return name
}

var severity = regexp.MustCompile(`^Severity ([123]): `)

var update = flag.Bool("update", false, "write what docs/DEPLOY.md and docs/runbooks/README.md have of the templates")

// TestAlarmsAreCounted checks that each alarm has a severity, that the index of runbooks has each alarm (-update writes
// it). The alarm of a sale at risk knows all of severity 1 that are in its region.
func TestAlarmsAreCounted(t *testing.T) {
	of, first := map[string]int{}, map[string]bool{}
	index := map[string]map[string][]string{} // names of alarms by page and severity
	for _, a := range alarms(t) {
		says := severity.FindStringSubmatch(str(a.prop(), "AlarmDescription"))
		page := runbook.FindStringSubmatch(str(a.prop(), "AlarmDescription"))
		if says == nil || page == nil {
			t.Errorf("%s has no severity or no page: %q", a.id, str(a.prop(), "AlarmDescription"))
			continue
		}
		of[says[1]]++
		if index[page[1]] == nil {
			index[page[1]] = map[string][]string{}
		}
		name := alarmName(a)
		index[page[1]][says[1]] = append(index[page[1]][says[1]], name)
		if says[1] == "1" && name != "api-faults-edge" {
			first[name] = true
		}
	}
	holdIndex(t, index, of)
	known := map[string]bool{}
	for _, m := range regexp.MustCompile(`ALARM\("\$\{Name\}-([a-z-]+)"\)`).FindAllStringSubmatch(
		read(t, filepath.Join(root, "infra", "alert.yaml")), -1) {
		known[m[1]] = true
	}
	if diff := cmp.Diff(first, known); diff != "" {
		t.Errorf("alarms of severity 1, and those that the sale at risk knows:\n%s", diff)
	}
}

// holdIndex compares the index of docs/runbooks/README.md with the alarms of each page, by severity.
func holdIndex(t *testing.T, index map[string]map[string][]string, of map[string]int) {
	t.Helper()
	want := fmt.Sprintf("%d alarms have severity 1, %d severity 2 and %d severity 3.\n\n", of["1"], of["2"], of["3"]) +
		"| page | severity 1 | severity 2 | severity 3 |\n|---|---|---|---|\n"
	for _, page := range slices.Sorted(maps.Keys(index)) {
		want += fmt.Sprintf("| [%s](%[1]s.md) ", page)
		for _, s := range []string{"1", "2", "3"} {
			names := slices.Sorted(slices.Values(index[page][s]))
			for i := range names { // each begins with the page's name
				if names[i] = strings.TrimPrefix(names[i], page+"-"); names[i] == page {
					names[i] = "the page's own"
				}
			}
			want += "| " + strings.Join(names, ", ") + " "
		}
		want += "|\n"
	}
	holdBlock(t, filepath.Join(root, "docs", "runbooks", "README.md"), "alarms", want)
}

// holdBlock compares a generated block of a page with want; -update writes it.
func holdBlock(t *testing.T, name, block, want string) {
	t.Helper()
	open, end := "<!-- generated: "+block+", by make generate -->\n", "<!-- end: "+block+" -->"
	before, rest, opened := strings.Cut(read(t, name), open)
	got, after, ended := strings.Cut(rest, end)
	switch {
	case !opened || !ended:
		t.Errorf("%s has no place for the %s", name, block)
	case *update:
		if err := os.WriteFile(name, []byte(before+open+want+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
	case got != want:
		t.Errorf("%s (make generate):\n%s", name, cmp.Diff(want, got))
	}
}
