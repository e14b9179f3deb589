package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"os"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// describe adds the API's description to files: openapi.json and, for people, docs.html.
func describe(name string, names map[string]string, files map[string][]byte) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var whole any
	var ordered yaml.Node
	if err := yaml.Unmarshal(text, &whole); err != nil {
		return err
	}
	if err := yaml.Unmarshal(text, &ordered); err != nil {
		return err
	}
	if files["openapi.json"], err = json.Marshal(whole); err != nil {
		return err
	}
	var page bytes.Buffer
	api := node{ordered.Content[0]}
	if err := docs.Execute(&page, map[string]any{"API": api, "Style": names["docs.css"]}); err != nil {
		return err
	}
	files["docs.html"] = blankLines.ReplaceAll(page.Bytes(), []byte("\n"))
	return nil
}

var blankLines = regexp.MustCompile(`\s*\n\s*`)

// node is a value of the description, in the order in which it is written.
type node struct{ n *yaml.Node }

// pair is a field of a mapping.
type pair struct {
	Name  string
	Value node
}

// Pairs returns the fields of a mapping, and nothing for another node.
func (v node) Pairs() (out []pair) {
	if v.n != nil && v.n.Kind == yaml.MappingNode {
		for i := 0; i < len(v.n.Content); i += 2 {
			out = append(out, pair{v.n.Content[i].Value, node{v.n.Content[i+1]}})
		}
	}
	return out
}

// List returns a sequence's entries.
func (v node) List() (out []node) {
	if v.n != nil && v.n.Kind == yaml.SequenceNode {
		for _, c := range v.n.Content {
			out = append(out, node{c})
		}
	}
	return out
}

// Get returns what stands at a path of fields; the zero node if nothing does.
func (v node) Get(names ...string) node {
	for _, name := range names {
		next := node{}
		for _, p := range v.Pairs() {
			if p.Name == name {
				next = p.Value
			}
		}
		v = next
	}
	return v
}

// String returns a scalar's text; "" of anything else.
func (v node) String() string {
	if v.n != nil && v.n.Kind == yaml.ScalarNode {
		return v.n.Value
	}
	return ""
}

// Reference returns the last part of a $ref, e.g. "Problem".
func (v node) Reference() string {
	ref := v.Get("$ref").String()
	return ref[strings.LastIndex(ref, "/")+1:]
}

// Follow returns what a $ref names, or the node itself. References lead to the same document only.
func (v node) Follow(api node) node {
	if ref := v.Get("$ref").String(); ref != "" {
		return api.Get(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
	return v
}

// Kind returns a schema in words, e.g. "[Order]" or "integer, 1 to 50".
func (v node) Kind() string {
	if name := v.Reference(); name != "" {
		return name
	}
	var choices []string
	for _, c := range v.Get("oneOf").List() {
		choices = append(choices, c.Kind())
	}
	if len(choices) > 0 {
		return strings.Join(choices, " or ")
	}
	kind := v.Get("type").String()
	if kind == "array" {
		return "list of " + v.Get("items").Kind()
	}
	for _, c := range v.Get("enum").List() {
		choices = append(choices, c.String())
	}
	if len(choices) > 0 {
		kind += ": " + strings.Join(choices, ", ")
	}
	for _, limit := range []struct{ name, words string }{{"const", ", always %s"}, {"format", ", %s"},
		{"minimum", ", at least %s"}, {"maximum", ", at most %s"}, {"maxLength", ", at most %s characters"},
		{"pattern", ", %s"}} {
		if value := v.Get(limit.name).String(); value != "" {
			kind += fmt.Sprintf(limit.words, value)
		}
	}
	return kind
}

var code = regexp.MustCompile("`([^`]+)`")

// prose turns the description's Markdown into HTML: paragraphs, lists and code; it has nothing else.
func prose(v node) template.HTML {
	var out strings.Builder
	for _, paragraph := range strings.Split(strings.TrimSpace(v.String()), "\n\n") {
		text := code.ReplaceAllString(template.HTMLEscapeString(paragraph), "<code>$1</code>")
		switch {
		case text == "":
		case strings.HasPrefix(text, "- "):
			out.WriteString("<ul><li>" + strings.ReplaceAll(text[2:], "\n- ", "</li><li>") + "</li></ul>")
		default:
			out.WriteString("<p>" + text + "</p>")
		}
	}
	return template.HTML(out.String()) //nolint:gosec // escaped above
}

var docs = template.Must(template.New("docs").Funcs(template.FuncMap{
	"prose": prose, "upper": strings.ToUpper, "pairs": node.Pairs, "list": node.List,
	"anchor": func(method, path string) string {
		return method + strings.NewReplacer("/", "-", "{", "", "}", "").Replace(path)
	},
}).Parse(`{{$api := .API}}<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>API · {{.API.Get "info" "title"}}</title>
<link rel="stylesheet" href="{{.Style}}">
</head>
<body>
<header><h1>{{.API.Get "info" "title"}}: API</h1><p>For programs: <a href="openapi.json">openapi.json</a>
(OpenAPI {{.API.Get "openapi"}}).</p></header>
<nav aria-label="Calls"><ul>{{range .API.Get "paths" | pairs}}{{$path := .Name}}{{range .Value.Pairs}}
<li><a href="#{{anchor .Name $path}}"><b>{{upper .Name}}</b> {{$path}}</a></li>{{end}}{{end}}</ul></nav>
<main>
<section>{{.API.Get "info" "description" | prose}}</section>
{{range .API.Get "paths" | pairs}}{{$path := .Name}}{{range .Value.Pairs}}{{$call := .Value}}
<section id="{{anchor .Name $path}}">
<h2><b>{{upper .Name}}</b> {{$path}}</h2>
<p>{{$call.Get "summary"}}</p>{{$call.Get "description" | prose}}
{{if $call.Get "security" | list}}<p>With a bearer token.</p>{{end}}
{{with $call.Get "parameters" | list}}<h3>Parameters</h3><dl>{{range .}}{{with .Follow $api}}
<dt><code>{{.Get "name"}}</code> in {{.Get "in"}}, {{(.Get "schema").Kind}}</dt><dd>{{.Get "description" | prose}}</dd>
{{end}}{{end}}</dl>{{end}}
{{with $call.Get "requestBody" "content" | pairs}}<h3>Body</h3><p>{{range .}}{{.Name}}:
{{template "schema" .Value.Get "schema"}}{{end}}</p>{{end}}
<h3>Answers</h3><dl>{{range $call.Get "responses" | pairs}}{{$status := .Name}}{{with .Value.Follow $api}}
<dt><b>{{$status}}</b>{{range .Get "content" | pairs}} {{.Name}} {{template "schema" .Value.Get "schema"}}{{end}}</dt>
<dd>{{.Get "description" | prose}}{{with .Get "x-codes" | list}}<p>Codes: {{range $i, $c := .}}{{if $i}}, {{end}}
<code>{{$c}}</code>{{end}}</p>{{end}}</dd>{{end}}{{end}}</dl>
</section>{{end}}{{end}}
<section><h2>Shapes</h2></section>
{{range .API.Get "components" "schemas" | pairs}}<section id="{{.Name}}"><h3>{{.Name}}</h3>
{{.Value.Get "description" | prose}}{{with .Value.Get "properties" | pairs}}<dl>{{range .}}
<dt><code>{{.Name}}</code> {{template "schema" .Value}}</dt><dd>{{.Value.Get "description" | prose}}</dd>{{end}}</dl>
{{else}}<p>{{.Value.Kind}}</p>{{end}}</section>{{end}}
</main>
</body>
</html>
{{define "schema"}}{{with .Reference}}<a href="#{{.}}">{{.}}</a>{{else}}{{.Kind}}{{end}}{{end}}`))
