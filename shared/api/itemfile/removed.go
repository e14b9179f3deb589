package itemfile

import (
	"strings"

	"golang.org/x/net/html"
)

// maxRemoved is how many kinds of removed things are named.
const maxRemoved = 20

// removed names what sanitizing took out of HTML: elements as <script>, attributes as "onclick of <p>", and comments.
func removed(before, after string) []string {
	left := map[string]int{}
	parts(after, func(part string) { left[part]++ })
	seen := map[string]bool{}
	var out []string
	gone := "" // the element that was taken out, while its attributes follow
	parts(before, func(part string) {
		_, element, isAttribute := strings.Cut(part, " of ")
		switch {
		case isAttribute && element == gone:
			return
		case !isAttribute:
			gone = ""
		}
		if left[part]--; left[part] >= 0 {
			return
		}
		if !isAttribute {
			gone = part
		}
		if !seen[part] && len(out) < maxRemoved {
			seen[part] = true
			out = append(out, part)
		}
	})
	return out
}

// parts visits the elements, attributes and comments of HTML in their order.
func parts(text string, visit func(string)) {
	z := html.NewTokenizer(strings.NewReader(text))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.CommentToken:
			visit("a comment")
		case html.DoctypeToken:
			visit("<!doctype>")
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			element := "<" + short(name) + ">"
			visit(element)
			for more {
				var key []byte
				key, _, more = z.TagAttr()
				visit(short(key) + " of " + element)
			}
		case html.TextToken, html.EndTagToken:
		}
	}
}

func short(name []byte) string { return strings.ToValidUTF8(string(name[:min(len(name), 40)]), "") }
