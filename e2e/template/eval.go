package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// stackValues has a deployment's parameters, with which intrinsic functions have values. What AWS assigns to a
// resource is invented: a queue's Ref is a URL, everything else its own name.
type stackValues struct {
	t      *template
	params map[string]string
}

// nothing is AWS::NoValue.
type nothing struct{}

// deploy returns the values for these parameters and the defaults of the others.
func (t *template) deploy(params map[string]string) *stackValues {
	w := &stackValues{t, map[string]string{"AWS::StackName": "shop", "AWS::Region": "eu-west-1",
		"AWS::AccountId": "111122223333", "AWS::Partition": "aws",
		"AWS::URLSuffix": "amazonaws.com"}}
	all, _ := t.tree["Parameters"].(map[string]any)
	for name, p := range all {
		w.params[name] = fmt.Sprint(at(p, "Default"))
	}
	for name, v := range params {
		w.params[name] = v
	}
	return w
}

// refusals returns why CloudFormation would refuse the parameters, in the template's own sentences.
func (w *stackValues) refusals() (out []string, err error) {
	all, _ := w.t.tree["Parameters"].(map[string]any)
	for name, p := range all {
		v := w.params[name]
		if pattern := str(p, "AllowedPattern"); pattern != "" && !w.t.matches(pattern, v) {
			out = append(out, str(p, "ConstraintDescription"))
		}
		if allowed := list(p, "AllowedValues"); allowed != nil && !slices.ContainsFunc(allowed, func(a any) bool {
			return fmt.Sprint(a) == v
		}) {
			out = append(out, fmt.Sprintf("%s has to be one of %v", name, allowed))
		}
	}
	rules, _ := w.t.tree["Rules"].(map[string]any)
	for name, r := range rules {
		if holds, err := w.boolean(at(r, "RuleCondition")); err != nil || !holds {
			if err != nil {
				return nil, fmt.Errorf("rule %s: %w", name, err)
			}
			continue
		}
		for _, a := range list(r, "Assertions") {
			holds, err := w.boolean(at(a, "Assert"))
			if err != nil {
				return nil, fmt.Errorf("rule %s: %w", name, err)
			}
			if !holds {
				out = append(out, str(a, "AssertDescription"))
			}
		}
	}
	slices.Sort(out)
	return out, nil
}

// matches reports whether all of v matches a parameter's pattern.
func (t *template) matches(pattern, v string) bool {
	if t.patterns[pattern] == nil {
		t.patterns[pattern] = regexp.MustCompile("^(?:" + pattern + ")$")
	}
	return t.patterns[pattern].MatchString(v)
}

func (w *stackValues) boolean(v any) (bool, error) {
	got, err := w.eval(v)
	b, ok := got.(bool)
	if err == nil && !ok {
		err = fmt.Errorf("%v is no condition", v)
	}
	return b, err
}

// eval returns the value of v: a string, a boolean, a list, a map, nothing.
func (w *stackValues) eval(v any) (any, error) {
	m, isMap := v.(map[string]any)
	if !isMap || len(m) != 1 {
		return v, nil
	}
	for name, arg := range m {
		switch name {
		case "Ref":
			return w.ref(str(m, "Ref"))
		case "Fn::GetAtt":
			return fmt.Sprint(arg), nil
		case "Fn::Sub":
			return w.sub(arg)
		case "Fn::If":
			l := list(m, name)
			holds, err := w.condition(l[0].(string))
			if err != nil {
				return nil, err
			}
			if holds {
				return w.eval(l[1])
			}
			return w.eval(l[2])
		case "Fn::FindInMap":
			return w.find(list(m, name))
		case "Fn::Split":
			v, err := w.eval(list(m, name)[1])
			between, _ := list(m, name)[0].(string)
			return strings.Split(fmt.Sprint(v), between), err
		case "Fn::Select":
			v, err := w.eval(list(m, name)[1])
			parts, _ := v.([]string)
			n, isNumber := list(m, name)[0].(int)
			if err == nil && (!isNumber || n >= len(parts)) {
				err = fmt.Errorf("%v of %q is not there", list(m, name)[0], parts)
			}
			if err != nil {
				return nil, err
			}
			return parts[n], nil
		case "Fn::Equals", "Fn::Contains", "Fn::Not", "Fn::And":
			return w.logic(name, list(m, name))
		default:
			return nil, fmt.Errorf("%s is not known here", name)
		}
	}
	return v, nil
}

func (w *stackValues) find(path []any) (any, error) {
	var keys []string
	for _, p := range path {
		v, err := w.eval(p)
		if err != nil {
			return nil, err
		}
		keys = append(keys, fmt.Sprint(v))
	}
	v := at(w.t.tree["Mappings"], keys...)
	if v == nil {
		return nil, fmt.Errorf("no mapping has %v", keys)
	}
	return v, nil
}

func (w *stackValues) logic(name string, args []any) (any, error) {
	var values []any
	for _, a := range args {
		v, err := w.eval(a)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	switch name {
	case "Fn::Equals":
		return fmt.Sprint(values[0]) == fmt.Sprint(values[1]), nil
	case "Fn::Contains":
		return slices.ContainsFunc(values[0].([]any), func(a any) bool {
			return fmt.Sprint(a) == fmt.Sprint(values[1])
		}), nil
	case "Fn::Not":
		return values[0] == false, nil
	default: // Fn::And
		return !slices.Contains(values, any(false)), nil
	}
}

func (w *stackValues) condition(name string) (bool, error) {
	c := at(w.t.tree, "Conditions", name)
	if c == nil {
		return false, fmt.Errorf("no condition %s", name)
	}
	return w.boolean(c)
}

func (w *stackValues) ref(name string) (any, error) {
	if name == "AWS::NoValue" {
		return nothing{}, nil
	}
	if v, ok := w.params[name]; ok {
		return v, nil
	}
	if v, ok := w.t.values[name]; ok {
		return w.eval(v)
	}
	r := w.t.resource(name)
	switch {
	case r == nil:
		return nil, fmt.Errorf("no parameter or resource %s", name)
	case r.kind == kindQueue:
		return "https://sqs.eu-west-1.amazonaws.com/111122223333/" + name, nil
	}
	return name, nil
}

var placeholder = regexp.MustCompile(`\$\{[^}]+\}`)

func (w *stackValues) sub(arg any) (any, error) {
	text, own := arg, map[string]any{}
	if l, ok := arg.([]any); ok {
		text = l[0]
		own, _ = l[1].(map[string]any)
	}
	s, _ := text.(string)
	var failed error
	out := placeholder.ReplaceAllStringFunc(s, func(p string) string {
		name := p[2 : len(p)-1]
		inner, ok := own[name]
		switch {
		case ok:
		case strings.Contains(name, "."):
			return name // a GetAtt
		default:
			inner = map[string]any{"Ref": name}
		}
		v, err := w.eval(inner)
		if err != nil {
			failed = err
		}
		return fmt.Sprint(v)
	})
	return out, failed
}
