package stackstate_test // what an operator types when a deployment fails, on a fake account

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMain also is `sam`, as stack.sh calls it: it says to the fake account what is deployed.
func TestMain(m *testing.M) {
	if os.Getenv("JOURNEY") == "sam" {
		os.Exit(sam(os.Args[1:]))
	}
	os.Exit(m.Run())
}

func sam(args []string) int {
	form := url.Values{}
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "--stack-name":
			form.Set("stack", args[i+1])
		case "--parameter-overrides":
			form["override"] = args[i+1:]
		}
	}
	answer, err := http.PostForm(os.Getenv("AWS_ENDPOINT_URL")+"/sam", form)
	if err == nil && answer.StatusCode == http.StatusOK {
		return 0
	}
	fmt.Fprintln(os.Stderr, "Error: Failed to create/update the stack", err)
	return 1
}

// operator is one at a shell, in a project whose commands are built.
type operator struct {
	*account
	root, env, stack, endpoint string
	variables                  []string
}

// project copies what stack.sh reads, and builds what it runs: `go run ./infra/NAME` starts bin/NAME.
func project(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	infra, err := filepath.Glob("../*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range append(infra, "../stack.sh", "../../template.yaml", "../../samconfig.toml") {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(root, "infra", filepath.Base(f)), string(text))
	}
	for _, f := range []string{"template.yaml", "samconfig.toml"} {
		if err := os.Rename(filepath.Join(root, "infra", f), filepath.Join(root, f)); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(root, ".aws-sam/build/template.yaml"), "Parameters: {Release: {Default: dev}}")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(root, "bin/sam"), fmt.Sprintf("#!/bin/sh\nJOURNEY=sam exec %q \"$@\"\n", self))
	put(t, filepath.Join(root, "bin/go"), fmt.Sprintf("#!/bin/sh\nshift\nname=${1##*/}\nshift\nexec %q/$name \"$@\"\n",
		filepath.Join(root, "bin")))
	out, err := exec.Command("go", "build", "-o", filepath.Join(root, "bin")+"/", "../stack").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return root
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil { //nolint:gosec // a script
		t.Fatal(err)
	}
}

// operate returns an operator at a new account, of an environment of samconfig.toml.
func operate(t *testing.T, root, env string, variables ...string) *operator {
	t.Helper()
	o := &operator{account: newAccount(t, root), root: root, env: env, stack: "seckill-" + env, variables: variables}
	server := httptest.NewServer(o.account)
	t.Cleanup(server.Close)
	o.endpoint = server.URL
	return o
}

// types runs stack.sh, and returns what the operator reads, and whether it went well.
func (o *operator) types(typed string, args ...string) (said string, ok bool) {
	cmd := exec.Command("bash", append([]string{filepath.Join(o.root, "infra/stack.sh")}, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(o.root, "bin")+":"+os.Getenv("PATH"), "SAM=sam",
		"AWS_ENDPOINT_URL="+o.endpoint, "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test",
		"OVERRIDES=CreateIdentity=true CreatePush=true") // and with these, all nested stacks
	cmd.Env = append(cmd.Env, o.variables...)
	cmd.Stdin = strings.NewReader(typed)
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

func (o *operator) deploys(typed string) (string, bool) { return o.types(typed, "deploy", o.env, "v1") }

// must fails the test unless a command ended as wanted and its output says so.
func (o *operator) must(said string, ok, want bool, parts ...string) {
	o.t.Helper()
	for _, p := range parts {
		if !strings.Contains(said, p) {
			o.t.Fatalf("no %q in: %s", p, said)
		}
	}
	if ok != want {
		o.t.Fatalf("succeeded: %t, want %t: %s", ok, want, said)
	}
}

// TestFailedFirst fails the creation of each nested stack of a shop in turn, and of a sandbox's first. The operator
// reads which resource failed and why, and what to type; and what they type, works.
func TestFailedFirst(t *testing.T) {
	root := project(t)
	for env, shop := range map[string]bool{"dev": false, "prod": true} {
		all := operate(t, root, env).order()
		if len(all) != 17 {
			t.Fatalf("%d nested stacks: %v", len(all), all)
		}
		if !shop {
			all = all[:1]
		}
		for _, nested := range all {
			t.Run(env+" "+nested, func(t *testing.T) {
				t.Parallel()
				o := operate(t, root, env)
				o.fail = nested
				said, ok := o.deploys("")
				o.must(said, ok, false, nested+": ", injected, "deploy again, which deletes what is left")
				if shop {
					said, ok = o.deploys("")
					o.must(said, ok, false, injected, "Type its name", `"" is not "seckill-prod": nothing was done`)
				}
				said, ok = o.deploys(o.stack + "\n")
				o.must(said, ok, true, injected, "It can only be deleted")
				o.stands(shop)
			})
		}
	}
}

// stands checks the stack in the end: it is there once, and a shop is protected, but not from its first release on.
func (o *operator) stands(shop bool) {
	o.t.Helper()
	s := o.newest(o.stack)
	if s == nil || !strings.HasSuffix(s.status, "E_COMPLETE") || s.termination != shop ||
		(s.params["Protect"] == "true") != shop || o.released[0]["Protect"] == "true" {
		o.t.Errorf("%d releases, in the end %+v", len(o.released), s)
	}
}

// TestFailedOtherwise has what else a deployment can meet.
func TestFailedOtherwise(t *testing.T) {
	root := project(t)
	for name, play := range map[string]func(o *operator){
		"a rollback that fails, too, and then its deletion": func(o *operator) {
			o.fail, o.stubborn = "Office", true
			said, ok := o.deploys("")
			o.must(said, ok, false, injected)
			said, ok = o.deploys("")
			o.must(said, ok, false, "is ROLLBACK_FAILED", "cannot be deleted: Office: ", "it is protected",
				"--deletion-mode FORCE_DELETE_STACK --stack-name seckill-dev --region ap-southeast-1")
			if !o.remove(o.newest(o.stack), true) {
				o.t.Fatal("not forced")
			}
			o.newest(o.stack).status = "DELETE_COMPLETE" // as typed
			said, ok = o.deploys("")
			o.must(said, ok, false, "aws dynamodb delete-table")
			clear(o.tables) // as typed
			said, ok = o.deploys("")
			o.must(said, ok, true)
		},
		"destroyed instead": func(o *operator) {
			o.fail = "Office"
			said, ok := o.deploys("")
			o.must(said, ok, false, injected)
			said, ok = o.types("", "destroy", o.env, "delete")
			o.must(said, ok, true, "deleted, and its tables")
			if len(o.tables) > 0 {
				o.t.Errorf("left: %v", o.tables)
			}
			said, ok = o.types("", "destroy", o.env, "delete")
			o.must(said, ok, false, "there is no stack seckill-dev in ap-southeast-1")
		},
		"tables of a stack before": func(o *operator) {
			o.tables["seckill-dev-orders"] = true
			said, ok := o.deploys("")
			o.must(said, ok, false, "an earlier stack seckill-dev has left tables", "STACK=",
				"for t in seckill-dev-orders;")
			if o.newest(o.stack) != nil {
				o.t.Error("made all the same")
			}
		},
		"only a change set": func(o *operator) {
			o.add(o.stack, nil).status = "REVIEW_IN_PROGRESS"
			said, ok := o.deploys("")
			o.must(said, ok, true)
		},
		"CloudFormation at work": func(o *operator) {
			o.add(o.stack, nil).status = "ROLLBACK_IN_PROGRESS"
			said, ok := o.deploys("")
			o.must(said, ok, false, "still at work on seckill-dev (ROLLBACK_IN_PROGRESS): try again when it is done")
		},
		"an update halted": func(o *operator) {
			said, ok := o.deploys("")
			o.must(said, ok, true)
			o.newest(o.stack).status = "UPDATE_ROLLBACK_FAILED"
			said, ok = o.deploys("")
			o.must(said, ok, false, "aws cloudformation continue-update-rollback --stack-name seckill-dev")
		},
		"the CDN": func(o *operator) {
			o.fail, o.variables = "edge", []string{"EDGE=true"}
			said, ok := o.deploys("")
			o.must(said, ok, false, "seckill-dev-edge failed", "rolls it back: Acl (AWS::WAFv2::WebACL): "+injected)
			said, ok = o.deploys("")
			o.must(said, ok, true)
		},
		"the CDN's deletion": func(o *operator) {
			o.add(o.stack+"-edge", nil).status = "DELETE_FAILED"
			o.variables = []string{"EDGE=true"}
			said, ok := o.deploys("")
			o.must(said, ok, true, "deleting seckill-dev-edge in us-east-1")
			if !strings.HasSuffix(o.newest(o.stack+"-edge").status, "E_COMPLETE") {
				o.t.Error("no CDN")
			}
		},
		"a second deployment": func(o *operator) {
			o.env, o.stack = "prod", "seckill-prod"
			for range 2 {
				said, ok := o.deploys(o.stack + "\n")
				o.must(said, ok, true)
			}
			o.stands(true)
			given := slices.IndexFunc(o.released, func(p map[string]string) bool { return p["Protect"] == "true" })
			if len(o.released) != 3 || given != 1 {
				o.t.Errorf("released %d times, first protected by %d", len(o.released), given)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(operate(t, root, "dev"))
		})
	}
}
