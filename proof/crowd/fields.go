package crowd

import (
	"encoding/json"
	"html"
	"net/url"
	"regexp"

	"github.com/your-org/seckill/shared/seckill"
)

// said is what a crowd reads in answers and messages.
type said struct {
	Order    string        `json:"order_id"`
	State    seckill.State `json:"state"`
	Reason   string        `json:"reason"`
	Pay      string        `json:"alipay_order"`
	Code     string        `json:"code"` // of a problem document
	Retry    int64         `json:"retry_after_ms"`
	Push     offer         `json:"push"`
	Now      int64         `json:"now_ms"`
	Ticket   string        `json:"ticket"`
	Sequence int           `json:"sequence"`
}

// parse reads a body. One that is not JSON says nothing.
func parse(body []byte) (s said) {
	_ = json.Unmarshal(body, &s)
	return s
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
