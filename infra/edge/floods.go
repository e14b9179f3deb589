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
	Except string // likewise, of paths among them that are not counted
	Method string // "" for all
	Of     string // the smallest throttle of these methods: a parameter of template.yaml, or calls a second
	Share  int    // percent of it; 0 for that of the deployment
	past   bool   // whether such calls also come past the CDN
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
		{Name: "rare", Path: `/([^/]+|order/[^/]+/(received|refund-request)|signin/(sessions|end))`, Except: `/(signin|healthz|bill|cashier|` +
			`gateway\.do|docs|openapi\.json|favicon\.ico|live)`, Of: "12"},
		// The CDN answers most of these, and counts them all: a smaller share would refuse the people of a carrier. Who
		// makes up ids and names uses up half of what is left for what the CDN does not keep.
		{Name: "looks", Path: `(/((item|assets|pictures)/.+|seckill/(ing|will|time|(detail|status)/[^/]+))?)?`,
			Of: "ThrottleRate", Share: half},
		// An office is one address: seven live screens that ask each second, and what is done beside them.
		{Name: "staff-looks", Path: `/admin/.+`, Method: "GET", Of: "10", Share: half},
		{Name: "staff-acts", Path: `/(admin/.+|operator/[^/]+)`, Method: "POST", Of: "12", Share: half},
		// Alipay has few addresses. Its notifications come past the CDN, at the API.
		{Name: "notifications", Path: `/seckill/alipay/notify`, Of: "NotifyRate", Share: 33, past: true},
	}
}

// Limit returns how many calls in a window f lets one address make: a share, in percent unless f has its own, of the
// throttle that throttle returns by its parameter.
func (f *Flood) Limit(throttle func(parameter string) string, share int) (int, error) {
	n, err := strconv.Atoi(f.Of)
	if err != nil {
		n, err = strconv.Atoi(throttle(f.Of))
	}
	if err != nil || n < 1 {
		return 0, fmt.Errorf("the stack's %s is %q: deploy the stack first", f.Of, throttle(f.Of))
	}
	return max(fewest, n*window*cmp.Or(f.Share, share)/100), nil
}

// Limits returns the limits of all floods, in their order, at a scale: 100 makes them a hundredth, at least 1.
func Limits(throttle func(parameter string) string, share, scale int) (limits []int, err error) {
	for _, f := range Floods() {
		n, err := f.Limit(throttle, share)
		if err != nil {
			return nil, err
		}
		limits = append(limits, max(1, n/scale))
	}
	return limits, nil
}

type m = map[string]any

// rule is WAF's rule of a flood.
func (f *Flood) rule(priority, limit int, prefix string, action *yaml.Node) m {
	return m{"Name": "flood-of-" + f.Name, "Priority": priority, "Action": action,
		"Statement": m{"RateBasedStatement": m{"AggregateKeyType": "IP", "EvaluationWindowSec": window, "Limit": limit,
			"ScopeDownStatement": f.scope(prefix)}},
		"VisibilityConfig": m{"SampledRequestsEnabled": false, "CloudWatchMetricsEnabled": true,
			"MetricName": "flood-" + f.Name}}
}

// scope is WAF's statement of a flood's calls.
func (f *Flood) scope(prefix string) m {
	path := func(expression string) m {
		return m{"RegexMatchStatement": m{"FieldToMatch": m{"UriPath": m{}}, "RegexString": whole(prefix, expression),
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

// whole returns an expression of whole texts: what begins them, and a path, with or without a slash at its end, which
// API Gateway takes for the same. Its groups capture nothing: WAF documents none that do.
func whole(prefix, path string) string {
	return "^" + strings.ReplaceAll(prefix+path, "(", "(?:") + "/?$"
}
