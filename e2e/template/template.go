package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
)

// template is a template with its resources: one file's, or all that a stack has (translator.deploy).
type template struct{ tree map[string]any }

// texts returns the texts of all templates of the project in the folder root, by path.
func texts(root string) (map[string][]byte, error) {
	project := os.DirFS(root)
	names, err := fs.Glob(project, "infra/*.yaml")
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, name := range append(names, rootFile) {
		if files[name], err = fs.ReadFile(project, name); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// rootFile is the outermost template; it names the nested ones.
const rootFile = "template.yaml"

// at follows a path through maps; nil if it does not exist.
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

// number returns an integer's value, or -1 if the node is no integer.
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

// resources returns the resources of a type, or all if kind is "", by logical id.
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
	kindFunction   = "AWS::Serverless::Function"
	kindTable      = "AWS::DynamoDB::Table"
	kindQueue      = "AWS::SQS::Queue"
	kindLog        = "AWS::Logs::LogGroup"
	kindAlarm      = "AWS::CloudWatch::Alarm"
	kindRole       = "AWS::IAM::Role"
	kindPermission = "AWS::Lambda::Permission"
)

// functions returns the functions by the step that they are named after.
func (t *template) functions() map[string]*resource {
	out := map[string]*resource{}
	for _, r := range t.resources(kindFunction) {
		out[strings.ToLower(strings.TrimSuffix(r.id, "Function"))] = r
	}
	return out
}

// environment returns a function's settings.
func environment(function *resource) map[string]string {
	out := map[string]string{}
	all, _ := function.prop("Environment", "Variables").(map[string]any)
	for name, v := range all {
		out[name] = fmt.Sprint(v)
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

// queueURL is a queue's Ref, up to its name.
const queueURL = "https://sqs.eu-west-1.amazonaws.com/111122223333/"

// target returns the resource that an evaluated Ref or GetAtt means; "" for an ARN, or what is not text.
func target(v any) string {
	s, _ := v.(string)
	id, attribute, _ := strings.Cut(strings.TrimPrefix(s, queueURL), ".")
	switch {
	case strings.ContainsAny(id, ":/"):
		return ""
	case attribute == "StreamArn":
		return id + "/stream"
	}
	return id
}

// right is one action on one resource.
type right struct{ action, on string }

// rights returns the permissions of a function's role, by its statements. Resources have short names: a resource's
// logical id with what follows its ARN, or the name of a secret after SecretsPath. On a shared table the rows follow.
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
			rows, err := leading(at(s, "Condition"))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", role.id, err)
			}
			for _, action := range several(at(s, "Action")) {
				for _, on := range several(at(s, "Resource")) {
					name, _ := action.(string)
					short, err := short(on)
					if err != nil {
						return nil, fmt.Errorf("%s: %s: %w", role.id, name, err)
					}
					out = append(out, right{name, short + rows})
				}
			}
		}
	}
	return out, nil
}

// leading returns which rows of a shared table a statement is about, after a space, by its condition: the only one that
// a role may have. It holds for each action with a key; Scan has none, so no role may have that on a shared table
// ("Using IAM policy conditions for fine-grained access control", Amazon DynamoDB Developer Guide).
func leading(condition any) (string, error) {
	if condition == nil {
		return "", nil
	}
	keys := str(condition, "ForAllValues:StringLike", "dynamodb:LeadingKeys")
	table, ok := strings.CutSuffix(keys, "#*")
	if all, _ := condition.(map[string]any); !ok || len(all) != 1 || strings.ContainsAny(table, "*?#") {
		return "", fmt.Errorf("a condition that is none that is known: %v", condition)
	}
	return " " + table, nil
}

// several returns a list, or a single value as a list of one value.
func several(v any) []any {
	if l, ok := v.([]any); ok {
		return l
	}
	return []any{v}
}

// drawn is the end of a secret's ARN: a hyphen and six characters that AWS draws.
const drawn = "-??????"

// beginnings maps prefixes of ARNs to the short name of the resource.
var beginnings = map[string]func(rest string) string{
	"arn:aws:secretsmanager:eu-west-1:111122223333:secret:/seckill/default/": secretName,
	"arn:aws:logs:eu-west-1:111122223333:log-group:/aws/lambda/shop-": func(rest string) string {
		return logID(strings.TrimSuffix(rest, ":*"))
	},
	"arn:aws:execute-api:eu-west-1:111122223333:Api/": func(rest string) string { return "Push/" + rest },
	"arn:aws:s3:::Bucket/":                            func(rest string) string { return "Bucket/" + rest },
	"arn:aws:lambda:eu-west-1:111122223333:function:shop-": func(rest string) string {
		step, alias, _ := strings.Cut(rest, ":")
		return strings.ToUpper(step[:1]) + step[1:] + "Function:" + alias
	},
	"arn:aws:dynamodb:eu-west-1:111122223333:table/shop-": func(rest string) string {
		name, index, _ := strings.Cut(rest, "/")
		if index == "" {
			return tableID(name)
		}
		return tableID(name) + "/" + index
	},
}

func short(on any) (string, error) {
	if on == "*" { // stars holds it to a reason
		return "*", nil
	}
	if id := target(on); id != "" {
		return id, nil
	}
	s, _ := on.(string)
	for beginning, name := range beginnings {
		if rest, ok := strings.CutPrefix(s, beginning); ok {
			return name(rest), nil
		}
	}
	return "", fmt.Errorf("resource %v is none that is known", on)
}

// secretName returns "" for anything but a secret's ARN.
func secretName(rest string) string {
	name, ok := strings.CutSuffix(rest, drawn)
	if !ok {
		return ""
	}
	return "SecretsPath/" + name
}

// tableID returns a table's logical id: GatewayTradesTable for gateway_trades.
func tableID(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String() + "Table"
}

// logID returns the logical id of a step's log group: those of a loop contain the step's name unchanged.
func logID(step string) string {
	if step == "gateway" {
		return "GatewayLog"
	}
	return "Log" + step
}
