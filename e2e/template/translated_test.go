//go:build sam

package main

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/drivertest/must"
)

// samOnce starts sam.py once for all tests.
var samOnce = sync.OnceValues(func() (*translator, error) { return startSAM(context.Background(), root) })

func ask(t *testing.T, request map[string]any) map[string]any {
	t.Helper()
	s := must.Get(samOnce())
	return must.Get(s.ask(request))
}

// deployed returns a stack with these parameters, and the defaults of the others. The caller may change it.
func deployed(t *testing.T, params map[string]string) *template {
	t.Helper()
	return &template{ask(t, map[string]any{"stack": params})}
}

func samPython(t *testing.T) string { return must.Get(python(t.Context(), root)) }

// processed returns a template of functions as CloudFormation sees it.
func processed(t *testing.T, file string, params map[string]string) map[string]any {
	t.Helper()
	return ask(t, map[string]any{"file": file, "parameters": params})
}

// asDeployed returns a template as CloudFormation sees it: one with SAM's resources processed, another as it is.
// gradual is the parameter GradualDeployment.
func asDeployed(t *testing.T, file string, text []byte, gradual string) map[string]any {
	t.Helper()
	if strings.Contains(string(text), "AWS::Serverless::") && filepath.Dir(file) == "infra" {
		return processed(t, filepath.Base(file), map[string]string{"Deployment": monday, "GradualDeployment": gradual})
	}
	return must.Get(parse(text))
}

const (
	monday  = "aaaaaaaaaaaaaaaaaaaaaaaa"
	tuesday = "bbbbbbbbbbbbbbbbbbbbbbbb"
)

// templates of functions, with their numbers of functions.
var files = map[string]int{"sale.yaml": 5, "money.yaml": 5, "shopper.yaml": 4}

// serves returns the version that each function's alias points to, by function.
func serves(t *testing.T, tree map[string]any) map[string]string {
	t.Helper()
	out, resources := map[string]string{}, tree["Resources"].(map[string]any)
	for id := range resources {
		name, isAlias := strings.CutSuffix(id, "Aliaslive")
		if !isAlias {
			continue
		}
		l := list(resources[id], "Properties", "FunctionVersion", "Fn::GetAtt")
		if len(l) != 2 || str(resources[l[0].(string)], "Type") != "AWS::Lambda::Version" ||
			str(resources[l[0].(string)], "Properties", "FunctionName", "Ref") != name {
			t.Errorf("%s leads to %v", id, l)
			continue
		}
		out[name] = l[0].(string)
	}
	return out
}

// TestParametersReachTraffic checks that a deployment which changes only a parameter publishes and serves a new
// version of each function, because the hash of everything (infra/stack) changes, and that one without changes
// publishes none.
func TestParametersReachTraffic(t *testing.T) {
	for file, n := range files {
		first := processed(t, file, map[string]string{"Deployment": monday, "GradualDeployment": "false",
			"Hold": "15m"})
		before := serves(t, first)
		if len(before) != n {
			t.Fatalf("%s: %d functions have an alias, want %d", file, len(before), n)
		}
		if again := ask(t, map[string]any{"file": file, "again": true, "parameters": map[string]string{
			"Deployment": monday, "GradualDeployment": "false", "Hold": "15m"}}); !cmp.Equal(first, again) {
			t.Errorf("%s: the same deployment twice:\n%s", file, cmp.Diff(first, again))
		}
		if other := serves(t, processed(t, file, map[string]string{"Deployment": monday, "GradualDeployment": "false",
			"Hold": "20m"})); !maps.Equal(before, other) {
			t.Errorf("%s: %v became %v: not Deployment alone decides", file, before, other)
		}
		for name, version := range serves(t, processed(t, file, map[string]string{"Deployment": tuesday,
			"GradualDeployment": "false", "Hold": "20m"})) {
			if version == before[name] || !strings.HasSuffix(version, tuesday[:10]) {
				t.Errorf("%s: after another deployment %s serves %s, before %s", file, name, version, before[name])
			}
		}
	}
}

// TestGradualIsOnlyHow checks that switching it changes only the aliases' update policy and what executes it.
func TestGradualIsOnlyHow(t *testing.T) {
	for file := range files {
		off := processed(t, file, map[string]string{"Deployment": monday, "GradualDeployment": "false"})
		on := processed(t, file, map[string]string{"Deployment": monday, "GradualDeployment": "true"})
		resources := on["Resources"].(map[string]any)
		policies, groups := 0, 0
		for id, r := range resources {
			switch kind := str(r, "Type"); {
			case kind == "AWS::Lambda::Alias":
				if at(r, "UpdatePolicy", "CodeDeployLambdaAliasUpdate") == nil {
					t.Errorf("%s: %s goes over at once", file, id)
				}
				delete(r.(map[string]any), "UpdatePolicy")
				policies++
			case kind == "AWS::CodeDeploy::DeploymentGroup":
				var names []string
				for _, a := range list(r, "Properties", "AlarmConfiguration", "Alarms") {
					names = append(names, strings.TrimPrefix(str(a, "Name", "Fn::Sub"), "${Name}-"))
				}
				slices.Sort(names)
				must.Equal(t, watchedByRelease(t, resources), names, file, id, "looks at")
				groups++
				delete(resources, id)
			case strings.HasPrefix(kind, "AWS::CodeDeploy::"), id == "CodeDeployServiceRole":
				delete(resources, id)
			}
		}
		if policies == 0 || policies != groups {
			t.Errorf("%s: %d aliases, %d deployment groups", file, policies, groups)
		}
		on["Conditions"], off["Conditions"] = nil, nil
		if diff := cmp.Diff(off, on); diff != "" {
			t.Errorf("%s: off (-), on (+):\n%s", file, diff)
		}
	}
}

// watchedByRelease returns the alarms that must stop a release of a template's functions: on the errors of each, and on
// the API. A function that fails in another template rolls back the whole deployment. CodeDeploy allows ten.
func watchedByRelease(t *testing.T, resources map[string]any) []string {
	t.Helper()
	out := []string{"api-faults"}
	for id, r := range resources {
		if str(r, "Type") == "AWS::Lambda::Function" && str(r, "Condition") == "" { // a sandbox's has no alarm
			out = append(out, "function-errors-"+strings.ToLower(strings.TrimSuffix(id, "Function")))
		}
	}
	slices.Sort(out)
	if len(out) > 10 {
		t.Errorf("%d alarms", len(out))
	}
	return out
}

// TestEveryoneCallsTheAlias checks that schedules, queues and the API call the published version, never the newest
// code.
func TestEveryoneCallsTheAlias(t *testing.T) {
	for file := range files {
		tree, calls := processed(t, file, map[string]string{"Deployment": monday, "GradualDeployment": "false"}), 0
		for id, r := range tree["Resources"].(map[string]any) {
			var whom any
			switch str(r, "Type") {
			case "AWS::Lambda::EventSourceMapping", "AWS::Lambda::Permission":
				whom = at(r, "Properties", "FunctionName")
			case "AWS::Events::Rule":
				whom = at(list(r, "Properties", "Targets")[0], "Arn")
			case "AWS::Lambda::EventInvokeConfig":
				if str(r, "Properties", "Qualifier") != "live" {
					t.Errorf("%s: %s is about %v", file, id, at(r, "Properties", "Qualifier"))
				}
				continue
			default:
				continue
			}
			calls++
			if !strings.HasSuffix(str(whom, "Ref"), "Aliaslive") {
				t.Errorf("%s: %s calls %v", file, id, whom)
			}
		}
		if calls < files[file] {
			t.Errorf("%s: %d calls", file, calls)
		}
	}
}
