package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// template is template.yaml, or a part of it that reads like one.
type template struct {
	text     []byte
	tree     map[string]any
	patterns map[string]*regexp.Regexp // of parameters
}

// load reads a template of the project, whose folder is root.
func load(root, name string) (*template, error) {
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return nil, err
	}
	return newTemplate(text)
}

func newTemplate(text []byte) (*template, error) {
	tree, err := parse(text)
	return &template{text, tree, map[string]*regexp.Regexp{}}, err
}

// at follows a path through maps; nil when there is no such place.
func at(v any, path ...string) any {
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	return v
}

func str(v any, path ...string) string {
	s, _ := at(v, path...).(string)
	return s
}

// number is an integer's value, -1 when there is none.
func number(v any, path ...string) int {
	if n, ok := at(v, path...).(int); ok {
		return n
	}
	return -1
}

func list(v any, path ...string) []any {
	l, _ := at(v, path...).([]any)
	return l
}

// resource is one of a template's resources.
type resource struct {
	id, kind, condition string
	all                 map[string]any
}

func (r *resource) prop(path ...string) any { return at(r.all["Properties"], path...) }

// resources gives those of a type, or all when kind is "", by logical id.
func (t *template) resources(kind string) (out []*resource) {
	all, _ := t.tree["Resources"].(map[string]any)
	for _, id := range slices.Sorted(maps.Keys(all)) {
		body, _ := all[id].(map[string]any)
		if r := (&resource{id, str(body, "Type"), str(body, "Condition"), body}); kind == "" || r.kind == kind {
			out = append(out, r)
		}
	}
	return out
}

func (t *template) resource(id string) *resource {
	for _, r := range t.resources("") {
		if r.id == id {
			return r
		}
	}
	return nil
}

// Types of resources.
const (
	kindFunction = "AWS::Serverless::Function"
	kindAPI      = "AWS::Serverless::Api"
	kindTable    = "AWS::DynamoDB::Table"
	kindQueue    = "AWS::SQS::Queue"
	kindLog      = "AWS::Logs::LogGroup"
	kindAlarm    = "AWS::CloudWatch::Alarm"
	kindRole     = "AWS::IAM::Role"
)

// functions gives the functions by the step that they are named after.
func (t *template) functions() map[string]*resource {
	out := map[string]*resource{}
	for _, r := range t.resources(kindFunction) {
		out[strings.ToLower(strings.TrimSuffix(r.id, "Function"))] = r
	}
	return out
}

// environment is what a function is told, unevaluated.
func (t *template) environment(function *resource) map[string]any {
	out := map[string]any{}
	for _, of := range []any{at(t.tree, "Globals", "Function"), function.all["Properties"]} {
		vars, _ := at(of, "Environment", "Variables").(map[string]any)
		maps.Copy(out, vars)
	}
	return out
}

// event is one of a function's triggers.
type event struct {
	kind  string
	props map[string]any
}

func events(function *resource) (out []event) {
	all, _ := function.prop("Events").(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		props, _ := at(all[name], "Properties").(map[string]any)
		out = append(out, event{str(all[name], "Type"), props})
	}
	return out
}

// target is the resource that a Ref, or a GetAtt of its ARN or name, means; "" for anything else.
func target(v any) string {
	if id := str(v, "Ref"); id != "" {
		return id
	}
	if l := list(v, "Fn::GetAtt"); len(l) == 2 {
		id, _ := l[0].(string)
		return id
	}
	return ""
}

// right is one action on one resource.
type right struct{ action, on string }

// rights gives what a function's role may do, by its statements. Resources are named shortly: a resource's logical id, with what follows its
// ARN, or the name of a secret after SecretsPath.
func (t *template) rights(function *resource) (out []right, err error) {
	role := t.resource(target(function.prop("Role")))
	if role == nil || role.kind != kindRole {
		return nil, fmt.Errorf("%s has no role of its own", function.id)
	}
	for _, p := range list(role.prop(), "Policies") {
		for _, s := range list(p, "PolicyDocument", "Statement") {
			if str(s, "Effect") != "Allow" {
				return nil, fmt.Errorf("%s: effect %q", role.id, str(s, "Effect"))
			}
			for _, action := range several(at(s, "Action")) {
				for _, on := range several(at(s, "Resource")) {
					name, _ := action.(string)
					short, err := short(on)
					if err != nil {
						return nil, fmt.Errorf("%s: %s: %w", role.id, name, err)
					}
					out = append(out, right{name, short})
				}
			}
		}
	}
	return out, nil
}

// several is a list, or one value that stands for a list of one.
func several(v any) []any {
	if l, ok := v.([]any); ok {
		return l
	}
	return []any{v}
}

// A secret's ARN ends in a hyphen and six characters that AWS draws.
const (
	secretARN = "arn:${AWS::Partition}:secretsmanager:${AWS::Region}:${AWS::AccountId}:secret:${SecretsPath}/"
	drawn     = "-??????"
)

func short(on any) (string, error) {
	if id := target(on); id != "" {
		return id, nil
	}
	s := str(on, "Fn::Sub")
	if name, ok := strings.CutPrefix(s, secretARN); ok {
		if name, ok = strings.CutSuffix(name, drawn); ok {
			return "SecretsPath/" + name, nil
		}
	}
	if rest, ok := strings.CutPrefix(s, "${"); ok {
		if id, after, ok := strings.Cut(rest, ".Arn}"); ok {
			return id + after, nil
		}
	}
	return "", fmt.Errorf("resource %v is none that is known", on)
}
