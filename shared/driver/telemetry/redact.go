package telemetry

import (
	"bytes"
	"encoding"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"

	"github.com/your-org/seckill/shared/seckill"
)

// redacted replaces what must not be logged.
const redacted = "[redacted]"

// secret lists names of attributes that must not be logged, in addition to those of all that is known of a shopper
// (seckill.Given): contact data, and credentials. Flows and adapters do not log these; this guards against mistakes.
var secret = []string{"token", "authorization", "phone"}

func isSecret(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains(secret, name) || slices.Contains(seckill.GivenNames, name)
}

// redact is a slog.HandlerOptions.ReplaceAttr. It replaces the value of an attribute whose name is a secret's, or that
// is in a group or a value with such a name. It also names the time as Lambda expects.
func redact(groups []string, a slog.Attr) slog.Attr {
	switch {
	case isSecret(a.Key) || slices.ContainsFunc(groups, isSecret):
		a.Value = slog.StringValue(redacted)
	case len(groups) == 0 && a.Key == slog.TimeKey && a.Value.Kind() == slog.KindTime:
		a.Key = "timestamp"
	case a.Value.Kind() == slog.KindAny:
		a.Value = redactAny(a.Value)
	}
	return a
}

// redactAny redacts within a value that would be written as a JSON object or array.
func redactAny(v slog.Value) slog.Value {
	switch v.Any().(type) {
	case nil, error, encoding.TextMarshaler:
		return v // written as text
	}
	b, err := json.Marshal(v.Any())
	if err != nil {
		return v // the handler writes the error instead
	}
	var tree any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber() // keeps all digits of a 64-bit id
	if d.Decode(&tree) != nil || !cover(tree) {
		return v
	}
	return slog.AnyValue(tree)
}

// cover redacts within a decoded JSON value and reports whether there was anything to redact.
func cover(tree any) (found bool) {
	switch t := tree.(type) {
	case map[string]any:
		for name, v := range t {
			if isSecret(name) {
				t[name], found = redacted, true
			} else if cover(v) {
				found = true
			}
		}
	case []any:
		for _, v := range t {
			if cover(v) {
				found = true
			}
		}
	}
	return found
}
