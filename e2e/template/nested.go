package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// rootFile is the outermost template; it names the nested ones.
const rootFile = "template.yaml"

// flatten combines the outermost template and those that it always opens: their resources, conditions, mappings and
// globals beside its own. If a nested stack's parameter is a reference to a resource, references to it lead there;
// other values, with intrinsic functions in them, are kept by the parameter's name. What a condition opens stays a
// nested stack.
func flatten(files map[string][]byte) (*template, error) {
	tree, err := parse(files[rootFile])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", rootFile, err)
	}
	t := &template{files, tree, map[string]any{}, map[string]*regexp.Regexp{}}
	resources, _ := tree["Resources"].(map[string]any)
	stacks := map[string]map[string]any{} // nested trees, by logical id
	for _, id := range slices.Sorted(maps.Keys(resources)) {
		r, _ := resources[id].(map[string]any)
		if str(r, "Type") != kindStack || r["Condition"] != nil {
			continue
		}
		name := path.Clean(str(r, "Properties", "TemplateURL"))
		if stacks[id], err = parse(files[name]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := unroll(stacks[id]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if release, ok := at(stacks[id], "Globals", "Function", "DeploymentPreference").(map[string]any); ok {
			delete(release, "Alarms") // the one global that each template has for itself: CodeDeploy looks at ten
		}
	}
	f := &flattening{template: t, stacks: stacks, root: maps.Clone(resources)}
	for id := range stacks {
		delete(resources, id)
	}
	for _, id := range slices.Sorted(maps.Keys(stacks)) {
		f.add(id)
	}
	t.tree = f.within("", t.tree).(map[string]any)
	return t, errors.Join(f.errs...)
}

type flattening struct {
	*template
	stacks map[string]map[string]any
	root   map[string]any // resources of the outermost template
	errs   []error
}

func (f *flattening) fail(format string, a ...any) { f.errs = append(f.errs, fmt.Errorf(format, a...)) }

// add adds a nested stack's parts to the outermost template's.
func (f *flattening) add(id string) {
	given, _ := at(f.root[id], "Properties", "Parameters").(map[string]any)
	wanted, _ := f.stacks[id]["Parameters"].(map[string]any)
	for name := range wanted {
		if _, ok := given[name]; !ok {
			f.fail("stack %s is not given its parameter %s", id, name)
		}
	}
	for name, v := range given {
		if _, ok := wanted[name]; !ok {
			f.fail("stack %s has no parameter %s", id, name)
		}
		if own := at(f.tree, "Parameters", name); own != nil && str(v, "Ref") != name {
			f.fail("stack %s: its parameter %s is another thing than the outermost template's", id, name)
		}
	}
	for _, section := range []string{"Resources", "Conditions", "Mappings", "Globals"} {
		parts, _ := f.stacks[id][section].(map[string]any)
		all, _ := f.tree[section].(map[string]any)
		if all == nil {
			all = map[string]any{}
			f.tree[section] = all
		}
		for name, part := range parts {
			part = f.within(id, part)
			if other, twice := all[name]; twice && (section == "Resources" || !reflect.DeepEqual(other, part)) {
				f.fail("%s %s is in two templates", section, name)
			}
			all[name] = part
		}
	}
}

// within rewrites v, part of a nested stack ("" is the outermost template), as it reads outside of it.
func (f *flattening) within(stack string, v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = f.within(stack, e)
		}
		return out
	case map[string]any:
		if name := str(v, "Ref"); name != "" && len(v) == 1 {
			return f.reference(stack, name)
		}
		if l := list(v, "Fn::GetAtt"); len(l) == 2 && len(v) == 1 {
			return f.attribute(v, l)
		}
		out := map[string]any{}
		for k, e := range v {
			out[k] = f.within(stack, e)
		}
		if len(out) == 1 && out["Fn::Sub"] != nil {
			return f.substitute(stack, out)
		}
		return joined(out)
	}
	return v
}

// reference returns what a Ref in a nested stack means.
func (f *flattening) reference(stack, name string) any {
	ref := map[string]any{"Ref": name}
	given, ok := at(f.root[stack], "Properties", "Parameters").(map[string]any)
	if !ok || given[name] == nil {
		return ref
	}
	v := f.within("", given[name])
	if str(v, "Ref") != "" || list(v, "Fn::GetAtt") != nil {
		return v
	}
	if other, twice := f.values[name]; twice && !reflect.DeepEqual(other, v) {
		f.fail("parameter %s has two values", name)
	}
	f.values[name] = v
	return ref
}

// attribute follows an output of a nested stack to its value.
func (f *flattening) attribute(v map[string]any, l []any) any {
	id, _ := l[0].(string)
	of, _ := l[1].(string)
	name, isOutput := strings.CutPrefix(of, "Outputs.")
	if !isOutput || f.stacks[id] == nil {
		return v
	}
	out := at(f.stacks[id], "Outputs", name, "Value")
	if out == nil {
		f.fail("stack %s has no output %s", id, name)
	}
	return f.within(id, out)
}

// substitute replaces a nested stack's parameters in a text by what they mean, where that is a name.
func (f *flattening) substitute(stack string, v map[string]any) any {
	inText := func(s string) string {
		return placeholder.ReplaceAllStringFunc(s, func(p string) string {
			name := p[2 : len(p)-1]
			switch r := f.reference(stack, name); {
			case str(r, "Ref") != "":
				return "${" + str(r, "Ref") + "}"
			case list(r, "Fn::GetAtt") != nil:
				return fmt.Sprintf("${%v.%v}", list(r, "Fn::GetAtt")...)
			}
			return p
		})
	}
	if s, ok := v["Fn::Sub"].(string); ok {
		return map[string]any{"Fn::Sub": inText(s)}
	}
	return v
}

// joined converts a join of texts and references without separators into a substitution.
func joined(v map[string]any) map[string]any {
	l := list(v, "Fn::Join")
	if len(l) != 2 || l[0] != "" {
		return v
	}
	var text strings.Builder
	for _, p := range list(map[string]any{"": l[1]}, "") {
		s, ok := p.(string)
		if name := str(p, "Ref"); name != "" {
			s, ok = "${"+name+"}", true
		}
		if !ok {
			return v
		}
		text.WriteString(s)
	}
	if !strings.Contains(text.String(), "${") {
		return map[string]any{"Fn::Join": l}
	}
	return map[string]any{"Fn::Sub": text.String()}
}

// unroll replaces a template's loops over resources (Fn::ForEach) by the resources, and lookups in the template's
// mappings by their values.
func unroll(tree map[string]any) error {
	resources, _ := tree["Resources"].(map[string]any)
	for key, v := range resources {
		if !strings.HasPrefix(key, "Fn::ForEach::") {
			continue
		}
		delete(resources, key)
		loop, _ := v.([]any)
		if len(loop) != 3 {
			return fmt.Errorf("%s has %d parts", key, len(loop))
		}
		variable, _ := loop[0].(string)
		values, _ := loop[1].([]any)
		bodies, _ := loop[2].(map[string]any)
		for _, value := range values {
			name, _ := value.(string)
			for id, body := range bodies {
				id = strings.ReplaceAll(id, "${"+variable+"}", name)
				if resources[id] != nil {
					return fmt.Errorf("%s makes %s a second time", key, id)
				}
				resources[id] = looked(tree, bound(body, variable, name))
			}
		}
	}
	return nil
}

// bound replaces a loop's variable by its value.
func bound(v any, variable, value string) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = bound(e, variable, value)
		}
		return out
	case map[string]any:
		if len(v) == 1 && str(v, "Ref") == variable {
			return value
		}
		out := map[string]any{}
		for k, e := range v {
			out[k] = bound(e, variable, value)
		}
		return out
	}
	return v
}

// looked replaces each lookup in a mapping by its value, and a join of texts by the text.
func looked(tree map[string]any, v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = looked(tree, e)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = looked(tree, e)
		}
		if l := list(out, "Fn::FindInMap"); len(l) == 3 {
			if found := at(tree, "Mappings", fmt.Sprint(l[0]), fmt.Sprint(l[1]), fmt.Sprint(l[2])); found != nil {
				return found
			}
		}
		if l := list(out, "Fn::Join"); len(l) == 2 {
			return jointly(out, l)
		}
		return out
	}
	return v
}

// jointly simplifies nested joins without separators to one join, and a join of texts to a text.
func jointly(v map[string]any, l []any) any {
	between, _ := l[0].(string)
	parts, ok := l[1].([]any)
	if !ok {
		return v
	}
	var all []any
	texts := true
	for i, p := range parts {
		if i > 0 && between != "" {
			all = append(all, between)
		}
		_, isText := p.(string)
		texts = texts && isText
		all = append(all, p)
	}
	if !texts {
		return map[string]any{"Fn::Join": []any{"", all}}
	}
	var text strings.Builder
	for _, p := range all {
		text.WriteString(p.(string))
	}
	return text.String()
}

// texts returns the texts of all templates of the project, by path.
func texts(project fs.FS) (map[string][]byte, error) {
	nested, err := fs.Glob(project, "infra/*.yaml")
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, name := range append(nested, rootFile) {
		if files[name], err = fs.ReadFile(project, name); err != nil {
			return nil, err
		}
	}
	return files, nil
}
