// Package edge holds what runs in front of a stack: which answers a CDN keeps and for whom, the CDN's function, and a
// stand-in for the CDN on one machine. In: requests and answers on their way. Out: the same, with the server's time
// and one of two languages. infra/edge.yaml deploys it; tests hold that template to this table.
package edge

import (
	_ "embed" // the function's text
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Function is the code that runs for every request, before the cache and after it.
//
//go:embed function.js
var Function string

// placeholder is in infra/edge.yaml where CloudFormation wants Function.
const placeholder = "infra/edge/function.js"

// Cache says what of a request tells cached answers apart, and for how long an answer may be kept at most. How long it
// is kept the API says (Cache-Control). Cookies, Authorization and every other header are neither in the key nor passed
// to the API, so an answer cannot depend on them.
type Cache struct {
	Longest  time.Duration
	Language bool     // Accept-Language, which the function has reduced to zh or en
	Accept   bool     // Accept, which the function has set to a picture's
	Queries  []string // parameters of the query; others are dropped
}

// The kinds of caches. Answers and pages may live for 1 s, 5 s more while a new one is fetched, and 60 s more while the
// API fails.
var (
	lists   = Cache{Longest: 2 * time.Minute, Language: true, Queries: []string{"page", "size"}}
	answers = Cache{Longest: 2 * time.Minute, Language: true}
	pages   = Cache{Longest: 2 * time.Minute, Language: true, Queries: []string{"lang"}}
	files   = Cache{Longest: 365 * 24 * time.Hour}
	drawn   = Cache{Longest: 365 * 24 * time.Hour, Accept: true}
)

// Behaviour is a path and how its answers are cached. A star at the end of a path stands for any characters.
type Behaviour struct {
	Path  string
	Cache Cache
}

// Behaviours returns the paths whose answers are kept, in the order in which they are matched. The answers
// of all other paths are not kept: they are a shopper's own, or differ each time.
func Behaviours() []Behaviour {
	return []Behaviour{
		{"/seckill/ing", lists}, {"/seckill/will", lists},
		{"/seckill/detail/*", answers}, {"/seckill/status/*", answers},
		{"/", pages}, {"/item/*", pages}, {"/docs", pages}, {"/openapi.json", pages},
		{"/assets/*", files}, {"/pictures/*", drawn}, {"/favicon.ico", files},
	}
}

// staleOn has the statuses of an API that fails, in whose place an expired copy is sent.
var staleOn = []int{500, 502, 503, 504}

// Template returns infra/edge.yaml as it is deployed in front of a stack: with the function's text, which
// CloudFormation takes only there; with a rule for each of Floods, of share percent of the throttles that throttle
// returns by their parameters; and without aliases of YAML, which CloudFormation refuses.
func Template(text string, throttle func(parameter string) string, share int) (string, error) {
	line := "      FunctionCode: " + placeholder
	before, after, ok := strings.Cut(text, line)
	if !ok {
		return "", fmt.Errorf("the template has no line %q", line)
	}
	_, after, _ = strings.Cut(after, "\n") // a comment may follow
	block := "        " + strings.ReplaceAll(strings.TrimSpace(Function), "\n", "\n        ")
	if share < 1 || share > MostShare {
		return "", fmt.Errorf("%d in 100 of the throttles for one network address: want 1 to %d", share, MostShare)
	}
	return withFloods(before+"      FunctionCode: |\n"+block+"\n"+after, Floods(), "", throttle, share)
}

// Subdomains returns a template of Template's in which HSTS also covers the subdomains of the shop's name. The CDN then
// replaces the header of every answer, because the API does not know the name.
func Subdomains(whole string) (string, error) {
	for _, s := range []struct{ short, long string }{
		{"'max-age=31536000'", "'max-age=31536000; includeSubDomains'"},
		{"AccessControlMaxAgeSec: 31536000, Override: false",
			"AccessControlMaxAgeSec: 31536000, IncludeSubdomains: true, Override: true"},
	} {
		if strings.Count(whole, s.short) != 1 {
			return "", fmt.Errorf("the template does not have %s once", s.short)
		}
		whole = strings.Replace(whole, s.short, s.long, 1)
	}
	return whole, nil
}

// Wall returns infra/wall.yaml, the web ACL of the API itself, likewise. Behind a CDN, all calls but notifications have
// the CDN's addresses: only notifications have a limit there.
func Wall(text string, throttle func(parameter string) string, cdn bool) (string, error) {
	floods := slices.DeleteFunc(Floods(), func(f Flood) bool { return cdn && !f.past })
	return withFloods(text, floods, live, throttle, DefaultShare)
}

// live may begin a path at the API's own name: its stage.
const live = "(/live)?"

// withFloods returns a template whose web ACL has a rule for each of floods in place of its last rule, and no aliases.
// prefix is an expression of what paths begin with.
func withFloods(text string, floods []Flood, prefix string, throttle func(string) string, share int) (string, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return "", err
	}
	spell(&doc)
	rules := doc.Content[0]
	for _, name := range []string{"Resources", "Acl", "Properties", "Rules"} {
		if rules = entry(rules, name); rules == nil {
			return "", fmt.Errorf("the template has no %s of a web ACL", name)
		}
	}
	last := len(rules.Content) - 1
	var place struct {
		Floods string    `yaml:"Floods"`
		Action yaml.Node `yaml:"Action"` // of each rule
	}
	if err := rules.Content[last].Decode(&place); err != nil {
		return "", err
	}
	if place.Floods != "infra/edge/floods.go" {
		return "", errors.New("the last rule is not the place of those of infra/edge/floods.go")
	}
	rules.Content = rules.Content[:last]
	for i, f := range floods {
		limit, err := f.Limit(throttle, share)
		if err != nil {
			return "", err
		}
		var rule yaml.Node
		if err := rule.Encode(f.rule(last+i, limit, prefix, &place.Action)); err != nil {
			return "", err
		}
		rules.Content = append(rules.Content, &rule)
	}
	out, err := yaml.Marshal(&doc)
	return string(out), err
}

// entry returns a mapping's value, or nil.
func entry(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// spell replaces aliases with what they stand for, and leaves comments out.
func spell(n *yaml.Node) {
	n.Anchor, n.HeadComment, n.LineComment, n.FootComment = "", "", "", ""
	for i, c := range n.Content {
		if c.Kind == yaml.AliasNode {
			n.Content[i] = c.Alias
		}
		spell(n.Content[i])
	}
}
