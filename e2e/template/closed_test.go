//go:build sam

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/drivertest/must"
)

// closed is a property whose values AWS documents as a closed list or an encoding. Schemas, cfn-lint and stand-ins do
// not hold them: only a real account refuses the others.
type closed struct {
	kind string         // of the resource
	path string         // of the property: names, and * for each of a list or map
	want *regexp.Regexp // matches a value whole
	says string         // AWS's page, and what it says
}

// word matches one of several values.
func word(values ...string) *regexp.Regexp {
	for i, v := range values {
		values[i] = regexp.QuoteMeta(v)
	}
	return regexp.MustCompile("^(" + strings.Join(values, "|") + ")$")
}

var closedLists = []closed{
	{"AWS::ApiGateway::Stage", "MethodSettings.*.ResourcePath", regexp.MustCompile(`^(/\*|/|/(~1[^~/]+)+)$`),
		"AWS::ApiGateway::Stage MethodSetting: slashes are ~1, and the first has a slash before it"},
	{"AWS::ApiGateway::Stage", "MethodSettings.*.HttpMethod",
		word("*", "ANY", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"),
		"AWS::ApiGateway::Stage MethodSetting"},
	{"AWS::WAFv2::WebACL", "Rules.*.Action.Block.CustomResponse.ResponseCode",
		word("400", "401", "403", "404", "405", "408", "409", "411", "412", "413", "414", "415", "416", "421", "429"),
		"AWS WAF: supported status codes for custom response, those of a refusal"},
	{"AWS::WAFv2::WebACL", "Rules.*.Statement.RateBasedStatement.EvaluationWindowSec", word("60", "120", "300", "600"),
		"AWS WAF: rate-based rules"},
	{"AWS::Lambda::Function", "Runtime", word("provided.al2023"), "Lambda runtimes: the one for Go"},
	{"AWS::CloudFront::Distribution", "DistributionConfig.DefaultCacheBehavior.CachePolicyId", managedCaching,
		"CloudFront: managed cache policies"},
	{"AWS::CloudFront::Distribution", "DistributionConfig.DefaultCacheBehavior.OriginRequestPolicyId",
		managedForwarding, "CloudFront: managed origin request policies"},
	{"AWS::CloudFront::Distribution", "DistributionConfig.CustomErrorResponses.*.ErrorCode",
		word("400", "403", "404", "405", "414", "416", "500", "501", "502", "503", "504"),
		"CloudFront: error codes that custom error responses may name"},
	{"AWS::CloudFront::Distribution", "DistributionConfig.ViewerCertificate.MinimumProtocolVersion",
		word("TLSv1.1_2016", "TLSv1.2_2018", "TLSv1.2_2019", "TLSv1.2_2021", "TLSv1.2_2025", "TLSv1.3_2025"),
		"CloudFront: security policies"},
	{"AWS::CloudFront::Function", "FunctionConfig.Runtime", word("cloudfront-js-1.0", "cloudfront-js-2.0"),
		"CloudFront Functions: JavaScript runtimes"},
	{"AWS::ElastiCache::User", "AccessString",
		regexp.MustCompile(`^(on( ~\S+)+|off)( &\S+)?( -@all)( [+-]@?[a-z|]+)*$`),
		"ElastiCache: access strings; off -@all is the documented form of a user that nobody is"},
	{"AWS::SNS::Subscription", "Protocol", word("email", "https", "sqs", "lambda"), "AWS::SNS::Subscription"},
	{"AWS::ElastiCache::ServerlessCache", "Engine", word("valkey", "redis", "memcached"), "CreateServerlessCache"},
}

var (
	managedCaching = word("4135ea2d-6df8-44a3-9df3-4b5a84be39ad", // CachingDisabled
		"658327ea-f89d-4fab-a63d-7e88639e58f6", // CachingOptimized
		"b2884449-e4de-46a7-ac36-70bc7f1ddd6d") // CachingOptimizedForUncompressedObjects
	managedForwarding = word("b689b0a8-53d0-40ab-baf2-68738e2966ac", // AllViewerExceptHostHeader
		"216adef6-5c7f-47e4-b989-5492eafa07d3", // AllViewer
		"88a5eaf4-2fd4-4709-b370-b4c650ea3fcf") // CORS-S3Origin
)

// TestClosedLists checks the processed templates against closed lists: each value that a deployment may give a
// property, also through Fn::If and through a parameter.
func TestClosedLists(t *testing.T) {
	seen := map[string]int{}
	for file, text := range all(t) {
		tree := asDeployed(t, file, text, "false")
		for _, problem := range strays(tree, seen) {
			t.Errorf("%s: %s", file, problem)
		}
	}
	for _, c := range closedLists {
		if seen[c.kind+" "+c.path] == 0 {
			t.Errorf("no template has %s %s: this list checks nothing", c.kind, c.path)
		}
	}
}

// strays lists the values of a processed template that are in no closed list, and counts those it saw.
func strays(tree map[string]any, seen map[string]int) (out []string) {
	parameters, _ := tree["Parameters"].(map[string]any)
	resources, _ := tree["Resources"].(map[string]any)
	for _, id := range slices.Sorted(maps.Keys(resources)) {
		for _, c := range closedLists {
			if str(resources[id], "Type") != c.kind {
				continue
			}
			for _, v := range given(at(resources[id], "Properties"), strings.Split(c.path, "."), parameters) {
				seen[c.kind+" "+c.path]++
				if !c.want.MatchString(v) {
					out = append(out, fmt.Sprintf("%s.%s is %q, which is not in the list (%s)", id, c.path, v, c.says))
				}
			}
		}
	}
	return out
}

// given returns the values that a property at a path may have. Of a parameter these are its default and its allowed
// values; a reference to another resource is none.
func given(v any, path []string, parameters map[string]any) (out []string) {
	switch x := v.(type) {
	case map[string]any:
		if branches, ok := x["Fn::If"].([]any); ok && len(branches) == 3 {
			return append(given(branches[1], path, parameters), given(branches[2], path, parameters)...)
		}
		if name, ok := x["Ref"].(string); ok && len(path) == 0 {
			p := parameters[name]
			if d := at(p, "Default"); d != nil && d != "" {
				out = append(out, text(d))
			}
			for _, a := range list(p, "AllowedValues") {
				if a != "" {
					out = append(out, text(a))
				}
			}
			return out
		}
		if len(path) == 0 {
			return nil
		}
		return given(x[path[0]], path[1:], parameters)
	case []any:
		if len(path) > 0 && path[0] == "*" {
			for _, e := range x {
				out = append(out, given(e, path[1:], parameters)...)
			}
		}
		return out
	case nil:
		return nil
	}
	if len(path) > 0 {
		return nil
	}
	return []string{text(v)}
}

// text returns a value of JSON as CloudFormation takes it.
func text(v any) string {
	if s, ok := v.(string); ok {
		return strings.Join(strings.Fields(s), " ")
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// TestClosedListsFindStrays checks that each list finds a value that is not in it, also those that the templates once
// had.
func TestClosedListsFindStrays(t *testing.T) {
	for _, c := range closedLists {
		var v any = "stray value"
		for _, p := range slices.Backward(strings.Split(c.path, ".")) {
			if p == "*" {
				v = []any{v}
			} else {
				none := map[string]any{"Ref": "AWS::NoValue"}
				v = map[string]any{p: map[string]any{"Fn::If": []any{"Condition", v, none}}}
			}
		}
		tree := map[string]any{"Resources": map[string]any{"R": map[string]any{"Type": c.kind, "Properties": v}}}
		must.Equal(t, 1, len(strays(tree, map[string]int{})), c.kind, c.path)
	}
	for kind, bad := range map[string][2]string{
		"AWS::ApiGateway::Stage": {"MethodSettings.*.ResourcePath", "/seckill/buy"},
		"AWS::WAFv2::WebACL":     {"Rules.*.Action.Block.CustomResponse.ResponseCode", "422"},
		"AWS::ElastiCache::User": {"AccessString", "off resetkeys resetchannels -@all"},
	} {
		for _, c := range closedLists {
			if c.kind == kind && c.path == bad[0] && c.want.MatchString(bad[1]) {
				t.Errorf("%s %s takes %s", kind, bad[0], bad[1])
			}
		}
	}
}
