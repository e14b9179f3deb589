package httpapi

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/your-org/seckill/shared/seckill"
)

func jsonNumber(s string) json.Number { return json.Number(s) }

func TestEveryCodeHasWordsInBothLanguages(t *testing.T) {
	for _, code := range seckill.Codes() {
		if s := statuses[code]; s < 400 || s > 599 {
			t.Errorf("%s: status %d", code, s)
		}
		for lang, header := range [languages]string{chinese: "zh-CN", english: "en-GB"} {
			w := httptest.NewRecorder()
			r := httptest.NewRequest("GET", "/", nil)
			r.Header.Set("Accept-Language", header)
			writeProblem(w, r, seckill.Refuse(code), "", vary)
			got := want(t, w, code)
			check(t, Route{}, w)
			if got["type"] != "urn:problem-type:seckill:"+string(code) {
				t.Errorf("%s: type %v", code, got["type"])
			}
			for _, member := range []string{"title", "detail"} {
				text, _ := got[member].(string)
				han := strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) })
				if text == "" || han != (language(lang) == chinese) {
					t.Errorf("%s in %s: %s is %q", code, header, member, text)
				}
			}
			if w.Header().Get("Content-Language") != languageTags[lang][0] ||
				w.Header().Get("Vary") != "Accept-Language" ||
				w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%s in %s: headers %v", code, header, w.Header())
			}
		}
	}
	if len(words) != len(seckill.Codes()) {
		t.Errorf("words for %d codes, there are %d", len(words), len(seckill.Codes()))
	}
}

func TestUnknownCodeIsAnInternalFault(t *testing.T) {
	w := httptest.NewRecorder()
	writeProblem(w, httptest.NewRequest("GET", "/", nil), seckill.Refuse("surprise"), "", vary)
	want(t, w, seckill.CodeInternal)
}

func TestProblemAnswersAnyError(t *testing.T) {
	for _, c := range []struct {
		err  error
		code seckill.Code
	}{{seckill.Refuse(seckill.CodeNotFound), seckill.CodeNotFound}, {errors.New("inner"), seckill.CodeUnavailable}} {
		w := httptest.NewRecorder()
		Problem(w, httptest.NewRequest("GET", "/", nil), c.err)
		want(t, w, c.code)
		if strings.Contains(w.Body.String(), "inner") {
			t.Errorf("the answer tells the cause: %s", w.Body)
		}
	}
}

// TestEnglish plays the table that infra/edge plays, too.
func TestEnglish(t *testing.T) {
	text, err := os.ReadFile("testdata/languages.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Headers []string
		Want    string
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) < 20 {
		t.Fatalf("%d cases, error %v", len(cases), err)
	}
	for _, c := range cases {
		if got := English(c.Headers); got != (c.Want == "en") {
			t.Errorf("English(%q) = %v, want %s", c.Headers, got, c.Want)
		}
	}
}

func TestInvalidRequestsSayWhatIsWanted(t *testing.T) {
	for _, c := range []struct {
		field, hint string
		lang        language
		want        string
	}{
		{"count", "1..5", chinese, "购买数量应为 1 至 5 的整数。"},
		{"count", "1..5", english, "The quantity must be a whole number, 1 to 5."},
		{"address", "1..500", english,
			"Please enter a delivery address of 1 to 500 characters, all of which can be read."},
		{"page", "1..10000", chinese, "请求中的 page 应为 1 至 10000。"},
		{"size", "1..100", english, "The value of size must be 1 to 100."},
		{"order", "", english, "The value of order is not right. Please check it and try again."},
		{"order", "", chinese, "请求中的 order 有误，请检查后重试。"},
		{"order", "an order's id", english, "The order must be an order's id."},
		{"body", "", english, "What was sent could not be read."},
		{"query", "", english, "The value of query is not right. Please check it and try again."},
		{"", "", english, "Something in the request is not right. Please check it and try again."},
	} {
		if got := invalidDetail(c.lang, seckill.Invalid(c.field, c.hint)); got != c.want {
			t.Errorf("invalidDetail(%d, %s, %s) = %q, want %q", c.lang, c.field, c.hint, got, c.want)
		}
	}
}

func TestWaitsAreRoundedUp(t *testing.T) {
	for _, c := range []struct {
		wait time.Duration
		want int64
	}{{1, 1}, {time.Second, 1}, {time.Second + 1, 2}, {90 * time.Second, 90}} {
		if got := whole(c.wait, time.Second); got != c.want {
			t.Errorf("whole(%v, second) = %d, want %d", c.wait, got, c.want)
		}
	}
}

func TestAppendStringIsJSON(t *testing.T) {
	for _, s := range []string{"", "plain", `quote " and \`, "line\n", "茶", "\x00", "\x7f", "\u2028", "bad \xff"} {
		var got string
		text := appendString(nil, s)
		if err := json.Unmarshal(text, &got); err != nil || got != strings.ToValidUTF8(s, "\ufffd") {
			t.Errorf("appendString(%q) = %s, read back as %q, %v", s, text, got, err)
		}
	}
}
