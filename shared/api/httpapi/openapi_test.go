package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/your-org/seckill/shared/seckill"
)

// document is docs/openapi.yaml. check compares every answer in these tests with it.
var document = func() object {
	b, err := os.ReadFile("../../../docs/openapi.yaml")
	if err != nil {
		panic(err)
	}
	var doc object
	if err := yaml.Unmarshal(b, &doc); err != nil {
		panic(err)
	}
	// Convert through JSON, so that numbers and objects have the same Go types as in an answer.
	text, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	closed := parse(text).(object)
	closeSchemas(closed)
	return closed
}()

type object = map[string]any

func parse(text []byte) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(fmt.Sprintf("%s: %v", text, err))
	}
	return v
}

// at follows keys from v, resolving references, and returns nil if one is missing.
func at(v any, keys ...string) any {
	for _, k := range keys {
		o, _ := resolve(v).(object)
		v = o[k]
	}
	return resolve(v)
}

func resolve(v any) any {
	if o, ok := v.(object); ok {
		if ref, ok := o["$ref"].(string); ok {
			target := at(document, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
			if target == nil {
				panic("no such reference: " + ref)
			}
			return target
		}
	}
	return v
}

// check compares an answer with the document's description of its route; for an unknown route only with the problem
// schema.
func check(t testing.TB, rt Route, w *httptest.ResponseRecorder) {
	t.Helper()
	kind, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
	schema := at(document, "components", "schemas", "Problem")
	if rt.Pattern != "" {
		response := at(document, "paths", rt.Pattern, strings.ToLower(rt.Method), "responses", fmt.Sprint(w.Code))
		if schema = at(response, "content", kind, "schema"); schema == nil {
			t.Fatalf("%s %s: status %d as %q is not described", rt.Method, rt.Pattern, w.Code, kind)
		}
		if kind == "application/problem+json" {
			code := at(parse(w.Body.Bytes()), "code")
			codes, _ := at(response, "x-codes").([]any)
			if !slices.Contains(codes, code) {
				t.Errorf("%s %s: code %v is not described for status %d", rt.Method, rt.Pattern, code, w.Code)
			}
		}
	}
	var got any = w.Body.String()
	if kind != "text/plain" {
		got = parse(w.Body.Bytes())
	}
	if err := mismatch(fmt.Sprint(rt, w.Code, kind), schema, got); err != nil {
		t.Errorf("%s %s: %v\n%s", rt.Method, rt.Pattern, err, w.Body)
	}
}

// keywords are the keywords that a schema of the document may have.
var keywords = []string{"type", "properties", "required", "items", "enum", "const", "pattern", "minLength", "maxLength",
	"minimum", "maximum", "oneOf", "description", "format", "default", "additionalProperties"}

// closeSchemas refuses unknown keywords in schemas, which would check nothing, and properties that are not described.
func closeSchemas(v any) {
	switch x := v.(type) {
	case object:
		types := []any{"object", "array", "string", "integer", "number", "boolean"}
		if slices.Contains(types, x["type"]) {
			for k := range x {
				if !slices.Contains(keywords, k) {
					panic("a schema has the keyword " + k)
				}
			}
			if x["properties"] != nil {
				x["additionalProperties"] = false
			}
		}
		for _, child := range x {
			closeSchemas(child)
		}
	case []any:
		for _, child := range x {
			closeSchemas(child)
		}
	}
}

// compiled has the schemas that were used, by name.
var compiled sync.Map

// mismatch compares a value with a schema of the document, which it calls by a name.
func mismatch(name string, schema, v any) error {
	s, ok := compiled.Load(name)
	if !ok {
		c := jsonschema.NewCompiler()
		if err := c.AddResource("document", object{"it": schema, "components": document["components"]}); err != nil {
			return err
		}
		s = c.MustCompile("document#/it")
		compiled.Store(name, s)
	}
	return s.(*jsonschema.Schema).Validate(v)
}

func TestEveryServedRouteIsDescribedAndEveryDescribedOneServed(t *testing.T) {
	h, _ := newStubs()
	served := map[string]bool{}
	for _, rt := range h.Routes() {
		served[rt.Method+" "+rt.Pattern] = true
	}
	described := map[string]bool{}
	for pattern, operations := range document["paths"].(object) {
		for method := range operations.(object) {
			described[strings.ToUpper(method)+" "+pattern] = true
		}
	}
	if diff := cmp.Diff(served, described); diff != "" {
		t.Errorf("served (-) and described (+) routes differ:\n%s", diff)
	}
	if len(served) != 22 {
		t.Errorf("%d routes, want 22", len(served))
	}
}

func TestPathParametersAreDescribed(t *testing.T) {
	for pattern, operations := range document["paths"].(object) {
		want := []string{}
		for _, m := range regexp.MustCompile(`\{(.+?)\}`).FindAllStringSubmatch(pattern, -1) {
			want = append(want, m[1])
		}
		for method, operation := range operations.(object) {
			got := []string{}
			parameters, _ := at(operation, "parameters").([]any)
			for _, p := range parameters {
				if at(p, "in") == "path" {
					got = append(got, at(p, "name").(string))
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s %s: path parameters (-want +described):\n%s", method, pattern, diff)
			}
		}
	}
}

func TestDescribedCodesAreTheDomains(t *testing.T) {
	want := map[any]bool{}
	for _, c := range seckill.Codes() {
		want[string(c)] = true
	}
	got := map[any]bool{}
	for _, c := range at(document, "components", "schemas", "Code", "enum").([]any) {
		got[c] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("codes of the domain (-) and the document (+) differ:\n%s", diff)
	}
	states := map[any]bool{}
	for _, s := range seckill.States {
		states[string(s.State)] = true
	}
	got = map[any]bool{}
	for _, s := range at(document, "components", "schemas", "State", "enum").([]any) {
		got[s] = true
	}
	if diff := cmp.Diff(states, got); diff != "" {
		t.Errorf("states of the domain (-) and the document (+) differ:\n%s", diff)
	}
}

// Checks that each described refusal lists codes, that each code has the status under which it is listed, and that
// every code appears in some route, except those that belong to no route.
func TestDescribedCodesHaveTheirStatus(t *testing.T) {
	used := map[seckill.Code]bool{seckill.CodeNotFound: true, seckill.CodeMethod: true}
	for pattern, operations := range document["paths"].(object) {
		for method, operation := range operations.(object) {
			for status := range at(operation, "responses").(object) {
				codes, _ := at(operation, "responses", status, "x-codes").([]any)
				if (status == "200") != (len(codes) == 0) {
					t.Errorf("%s %s: status %s has codes %v", method, pattern, status, codes)
				}
				for _, c := range codes {
					code := seckill.Code(c.(string))
					used[code] = true
					if !slices.Contains(seckill.Codes(), code) || fmt.Sprint(Status(code)) != status {
						t.Errorf("%s %s: %s is listed under %s, its status is %d", method, pattern, code, status,
							Status(code))
					}
				}
			}
		}
	}
	for _, c := range seckill.Codes() {
		if !used[c] {
			t.Errorf("no route is described to answer %s", c)
		}
	}
}

// TestExamplesFitTheirSchemas walks the whole document: wherever a schema has examples, each must match.
func TestExamplesFitTheirSchemas(t *testing.T) {
	seen := 0
	var walk func(v any, path string)
	walk = func(v any, path string) {
		switch x := v.(type) {
		case object:
			examples, _ := x["examples"].(object)
			for name, example := range examples {
				seen++
				if err := mismatch(path+name, x["schema"], at(example, "value")); err != nil {
					t.Errorf("%s, %s: %v", path, name, err)
				}
			}
			for k, child := range x {
				walk(child, path+"/"+k)
			}
		case []any:
			for i := range x {
				walk(x[i], fmt.Sprintf("%s/%d", path, i))
			}
		}
	}
	walk(document, "")
	if seen < 10 {
		t.Errorf("%d examples found, want at least 10", seen)
	}
}

func TestUndescribedPropertiesAreMistakes(t *testing.T) {
	status := at(document, "components", "schemas", "Status")
	for text, good := range map[string]bool{`{"alipay_order":"","state":"none"}`: true,
		`{"alipay_order":"","state":"none","extra":1}`: false} {
		if err := mismatch("Status", status, parse([]byte(text))); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestLimitsAreDescribed compares limits in docs/openapi.yaml with the limits in code.
func TestLimitsAreDescribed(t *testing.T) {
	for name, want := range map[string]int{
		"Purchase.address.maxLength": seckill.MaxAddress, "Order.count.maximum": seckill.MaxCount,
		"Solved.answer.maxLength": seckill.MaxAnswer, "Commodity.title.maxLength": seckill.MaxTitle,
		"Activity.title.maxLength": seckill.MaxTitle,
	} {
		key := strings.Split(name, ".")
		got := at(document, "components", "schemas", key[0], "properties", key[1], key[2])
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("docs/openapi.yaml: %s is %v, the code has %d", name, got, want)
		}
	}
}
