package seckill

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of variants, for which Variant.Check looks.
const (
	MaxOptions     = 3  // options of a variant
	MaxOptionName  = 20 // characters
	MaxOptionValue = 40 // characters
	MaxFamily      = 50 // items of one family
)

// Variant says which of the variants of one product an item is. An item without a Family has no variants.
type Variant struct {
	Family  string // names the product, as an item's id: the items of a family are its variants
	Options Options
	// LimitSpans: the limit counts what a user holds of all items of the family, else only of this one.
	LimitSpans bool
}

// Option is one property in which variants differ, such as 颜色=黑.
type Option struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Options set a variant apart from the others of its family, in the order in which they are shown.
type Options []Option

const optionsForm = "name=value, up to three of them with | between, such as 颜色=黑 | 容量=256 GB"

// String returns the options as files and rows have them: 颜色=黑 | 容量=256 GB.
func (o Options) String() string {
	parts := make([]string, len(o))
	for i := range o {
		parts[i] = o[i].Name + "=" + o[i].Value
	}
	return strings.Join(parts, " | ")
}

// ParseOptions reads what String wrote; "" is not options. It does not check their limits.
func ParseOptions(text string) (Options, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var all Options
	for part := range strings.SplitSeq(text, "|") {
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			return nil, fmt.Errorf("options %.80q: want %s", text, optionsForm)
		}
		all = append(all, Option{strings.TrimSpace(name), strings.TrimSpace(value)})
	}
	return all, nil
}

// Equal reports whether both say the same.
func (v *Variant) Equal(other *Variant) bool {
	return v.Family == other.Family && v.LimitSpans == other.LimitSpans && slices.Equal(v.Options, other.Options)
}

// Span is the family whose units the limit counts together, or "" if the limit counts the item's units alone.
func (v *Variant) Span() string {
	if v.LimitSpans {
		return v.Family
	}
	return ""
}

// Check returns what is wrong with the variant in one sentence, or nil.
func (v *Variant) Check() error {
	switch {
	case v.Family == "" && (len(v.Options) > 0 || v.LimitSpans):
		return fmt.Errorf("family: options and limit_spans need one")
	case v.Family == "":
		return nil
	case !ValidItemID(v.Family):
		return fmt.Errorf("family %.40q: want 1 to 19 digits without a leading zero", v.Family)
	case len(v.Options) < 1 || len(v.Options) > MaxOptions:
		return fmt.Errorf("options: want 1 to %d: %s", MaxOptions, optionsForm)
	}
	for i, o := range v.Options {
		if !plain(o.Name, MaxOptionName) || !plain(o.Value, MaxOptionValue) {
			return fmt.Errorf("options: want names of 1 to %d and values of 1 to %d characters, without | = and "+
				"line breaks", MaxOptionName, MaxOptionValue)
		}
		for _, earlier := range v.Options[:i] {
			if earlier.Name == o.Name {
				return fmt.Errorf("options: %s is there twice", o.Name)
			}
		}
	}
	return nil
}

// plain reports whether a text can stand in the text of options.
func plain(s string, most int) bool {
	n := utf8.RuneCountInString(s)
	return n >= 1 && n <= most && utf8.ValidString(s) && s == strings.TrimSpace(s) &&
		!strings.ContainsFunc(s, func(r rune) bool { return r == '|' || r == '=' || unicode.IsControl(r) })
}
