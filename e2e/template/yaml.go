package main

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// parse parses CloudFormation's YAML into maps, lists, strings, integers and booleans. It resolves aliases and
// converts the short forms (!Ref x, !GetAtt a.b, !Sub s) to the long ones ({"Ref": x}, {"Fn::GetAtt": [a, b]},
// {"Fn::Sub": s}).
func parse(text []byte) (map[string]any, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("no map")
	}
	v, err := value(doc.Content[0])
	m, _ := v.(map[string]any)
	return m, err
}

func value(n *yaml.Node) (v any, err error) {
	switch n.Kind {
	case yaml.MappingNode:
		v, err = mapping(n)
	case yaml.SequenceNode:
		l := []any{}
		for _, c := range n.Content {
			e, err := value(c)
			if err != nil {
				return nil, err
			}
			l = append(l, e)
		}
		v = l
	case yaml.AliasNode:
		return value(n.Alias)
	default:
		v = scalar(n)
	}
	if strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!") {
		v = long(n.Tag[1:], v)
	}
	return v, err
}

func mapping(n *yaml.Node) (map[string]any, error) {
	m := map[string]any{}
	for i := 0; i < len(n.Content); i += 2 {
		name := n.Content[i].Value
		if _, twice := m[name]; twice {
			return nil, fmt.Errorf("line %d: %s is given twice", n.Content[i].Line, name)
		}
		v, err := value(n.Content[i+1])
		if err != nil {
			return nil, err
		}
		m[name] = v
	}
	return m, nil
}

func scalar(n *yaml.Node) any {
	switch n.ShortTag() {
	case "!!bool":
		return n.Value == "true"
	case "!!int":
		if i, err := strconv.Atoi(n.Value); err == nil {
			return i
		}
	}
	return n.Value
}

// long converts a short form to its long form.
func long(tag string, v any) any {
	switch tag {
	case "Ref":
		return map[string]any{"Ref": v}
	case "GetAtt":
		if s, ok := v.(string); ok {
			id, name, _ := strings.Cut(s, ".")
			v = []any{id, name}
		}
	}
	return map[string]any{"Fn::" + tag: v}
}
