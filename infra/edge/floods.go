package edge

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// What one network address may do of all that a method's throttle lets through, in percent. A mobile carrier puts some
// hundreds of shoppers behind one address: a tenth of the default throttles is 1,000 people who press six times in an
// opening's minute, and 450 who ask for a challenge and answer it twice. And it is a tenth: ten addresses of a script
// use up all. A smaller share stops more of a script, and more people.
const (
	DefaultShare = 10
	MostShare    = 25
	half         = 50
)

const (
	window = 60 // seconds in which the web ACL counts
	fewest = 10 // WAF takes no lower limit
)

// Flood bounds what one network address may call in a window, of several methods together.
type Flood struct {
	Name   string
	Path   string // a regular expression of the paths, whole
	Except string // likewise, of paths that are not meant
	Method string // "" for all
	Of     string // the smallest throttle of these methods: a parameter of template.yaml, or calls a second
	Share  int    // percent of it; 0 for that of the deployment
	past   bool   // comes past the CDN, too
}

// Floods returns the limits. WAF takes ten of them in a web ACL, and one is a token's. Files and pages that the CDN
// keeps in a few copies have none. Paths that are written in an odd way meet none either: a rule refuses them.
func Floods() []Flood {
	return []Flood{
		{Name: "purchases", Path: `/seckill/buy`, Of: "BuyRate"},
		// A buyer's page asks every two seconds: 150 who wait for their order behind one address.
		{Name: "polls", Path: `/seckill/order/[^/]+`, Of: "PollRate", Share: 25},
		{Name: "sign-ins", Path: `/signin`, Of: "SigninRate"},
		{Name: "shoppers", Path: `/(seckill/(challenge|ticket)|order/(list|[^/]+(/(cancel|push|payment))?)|healthz|bill|` +
			`cashier(/pay)?|gateway\.do)`, Of: "ThrottleRate"},
		{Name: "rare", Path: `/([^/]+|order/[^/]+/(received|refund-request))`, Except: `/(signin|healthz|bill|cashier|` +
			`gateway\.do|docs|openapi\.json|favicon\.ico|live)`, Of: "15"},
		// The CDN answers most of these, and counts them all: a smaller share would refuse the people of a carrier. Who
		// makes up ids and names uses up half of what is left for what the CDN does not keep.
		{Name: "looks", Path: `(/((item|assets|pictures)/.+|seckill/(ing|will|time|(detail|status)/[^/]+))?)?`,
			Of: "ThrottleRate", Share: half},
		// An office is one address: seven live screens that ask each second, and what is done beside them.
		{Name: "staff-looks", Path: `/admin/.+`, Method: "GET", Of: "10", Share: half},
		{Name: "staff-acts", Path: `/(admin/.+|operator/[^/]+)`, Method: "POST", Of: "15", Share: half},
		// Alipay has few addresses. Its notifications come past the CDN, at the API.
		{Name: "notifications", Path: `/seckill/alipay/notify`, Of: "NotifyRate", Share: 33, past: true},
	}
}

// Limit returns how many calls in a window f lets one address make, of a stack whose throttles number returns by their
// parameters, for a deployment's share in percent.
func (f *Flood) Limit(number func(parameter string) string, share int) (int, error) {
	n, err := strconv.Atoi(f.Of)
	if err != nil {
		n, err = strconv.Atoi(number(f.Of))
	}
	if err != nil || n < 1 {
		return 0, fmt.Errorf("the stack's %s is %q: deploy the stack first", f.Of, number(f.Of))
	}
	return max(fewest, n*window*cmp.Or(f.Share, share)/100), nil
}

// place is in the rules of a template where one of each flood's belongs; its action is theirs.
const place = "infra/edge/floods.go"

// rules returns a web ACL's rules: with one for each of floods, of limits, in place of the last of all. stage is what
// the API's paths begin with, as a regular expression.
func rules(all *yaml.Node, floods []Flood, limits []int, stage string) error {
	last := len(all.Content) - 1
	var at struct {
		Floods string    `yaml:"Floods"`
		Action yaml.Node `yaml:"Action"`
	}
	if err := all.Content[last].Decode(&at); err != nil {
		return err
	}
	if at.Floods != place {
		return fmt.Errorf("the last rule is not that of %s", place)
	}
	all.Content = all.Content[:last]
	for i, f := range floods {
		var rule yaml.Node
		err := rule.Encode(map[string]any{"Name": "flood-of-" + f.Name, "Priority": last + i, "Action": &at.Action,
			"Statement": m{"RateBasedStatement": m{"AggregateKeyType": "IP", "EvaluationWindowSec": window,
				"Limit": limits[i], "ScopeDownStatement": f.scope(stage)}},
			"VisibilityConfig": m{"SampledRequestsEnabled": false, "CloudWatchMetricsEnabled": true,
				"MetricName": "flood-" + f.Name}})
		if err != nil {
			return err
		}
		all.Content = append(all.Content, &rule)
	}
	return nil
}

type m = map[string]any

// scope is WAF's statement of a flood's calls.
func (f *Flood) scope(stage string) m {
	path := func(expression string) m {
		return m{"RegexMatchStatement": m{"FieldToMatch": m{"UriPath": m{}}, "RegexString": whole(stage, expression),
			"TextTransformations": []m{{"Priority": 0, "Type": "URL_DECODE"},
				{"Priority": 1, "Type": "NORMALIZE_PATH"}}}}
	}
	all := []m{path(f.Path)}
	if f.Except != "" {
		all = append(all, m{"NotStatement": m{"Statement": path(f.Except)}})
	}
	if f.Method != "" {
		all = append(all, m{"ByteMatchStatement": m{"FieldToMatch": m{"Method": m{}}, "PositionalConstraint": "EXACTLY",
			"SearchString": f.Method, "TextTransformations": []m{{"Priority": 0, "Type": "NONE"}}}})
	}
	if len(all) == 1 {
		return all[0]
	}
	return m{"AndStatement": m{"Statements": all}}
}

// whole returns the expression of whole paths. API Gateway takes a path with a slash at its end for the one without.
// WAF documents no groups that capture.
func whole(stage, expression string) string {
	return "^" + strings.ReplaceAll(stage+expression, "(", "(?:") + "/?$"
}
