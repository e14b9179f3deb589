package crowd

import (
	"bytes"
	"encoding/json"
	"html"
	"net/url"
	"strconv"
)

// field finds the value of a name in a flat JSON object: the text of a string, or of a number as it stands. It reads no
// more than it must: a crowd parses tens of thousands of answers a second. In valid JSON no string can contain the
// quoted name itself, because quotes inside strings are escaped; a string that *is* the name is no match, for no colon
// follows.
func field(body []byte, quoted string) string {
	for {
		i := bytes.Index(body, []byte(quoted))
		if i < 0 {
			return ""
		}
		body = bytes.TrimLeft(body[i+len(quoted):], " \t\r\n")
		if len(body) == 0 || body[0] != ':' {
			continue
		}
		return value(bytes.TrimLeft(body[1:], " \t\r\n"))
	}
}

func value(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if b[0] != '"' {
		end := bytes.IndexAny(b, ",}] \t\r\n")
		if end < 0 {
			end = len(b)
		}
		return string(b[:end])
	}
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			if bytes.IndexByte(b[:i], '\\') < 0 {
				return string(b[1:i])
			}
			var s string
			if json.Unmarshal(b[:i+1], &s) != nil {
				return ""
			}
			return s
		}
	}
	return ""
}

// number is a field that is a whole number, else 0.
func number(body []byte, quoted string) int64 {
	n, err := strconv.ParseInt(field(body, quoted), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// form is what the cashier's page sends, and where to.
type form struct {
	url    string
	fields url.Values
}

// cashierForm reads the form of the test cashier: where it goes, relative to the page, and its hidden fields; nil when
// the page has none.
func cashierForm(page []byte) (action string, form url.Values) {
	_, rest, ok := bytes.Cut(page, []byte(`<form method="post" action="`))
	if !ok {
		return "", nil
	}
	to, rest, _ := bytes.Cut(rest, []byte(`"`))
	rest, _, _ = bytes.Cut(rest, []byte(`</form>`))
	form = url.Values{}
	for {
		_, after, ok := bytes.Cut(rest, []byte(`<input type="hidden" name="`))
		if !ok {
			return html.UnescapeString(string(to)), form
		}
		name, after, _ := bytes.Cut(after, []byte(`" value="`))
		value, after, _ := bytes.Cut(after, []byte(`"`))
		form.Set(string(name), html.UnescapeString(string(value)))
		rest = after
	}
}

// relative is where a page's link leads.
func relative(page, link string) string {
	base, err := url.Parse(page)
	if err != nil {
		return link
	}
	to, err := base.Parse(link)
	if err != nil {
		return link
	}
	return to.String()
}
