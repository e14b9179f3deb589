package crowd

import (
	"bytes"
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"strconv"
)

// field returns the value of a name in a flat JSON object: a string's text, or a number's digits. A crowd parses tens
// of thousands of answers a second, so field scans for the quoted name instead of decoding the object. That is safe in
// valid JSON: quotes inside strings are escaped, and a string that equals the name has no colon after it.
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

// number returns a field's integer, or 0 when it has none.
func number(body []byte, quoted string) int64 {
	n, err := strconv.ParseInt(field(body, quoted), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// form is the form of a cashier's page.
type form struct {
	url    string // where it goes
	fields url.Values
}

var (
	formTag   = regexp.MustCompile(`(?s)<form method="post" action="([^"]*)"(.*?)(?:</form>|$)`)
	hiddenTag = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)
)

// cashierForm returns the hidden fields of the test cashier's form, and its target relative to the page. fields is nil
// when the page has no form.
func cashierForm(page []byte) (action string, fields url.Values) {
	found := formTag.FindSubmatch(page)
	if found == nil {
		return "", nil
	}
	fields = url.Values{}
	for _, input := range hiddenTag.FindAllSubmatch(found[2], -1) {
		fields.Set(string(input[1]), html.UnescapeString(string(input[2])))
	}
	return html.UnescapeString(string(found[1])), fields
}

// relative resolves a link against the address of its page.
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
