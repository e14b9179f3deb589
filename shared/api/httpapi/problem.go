package httpapi

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// typePrefix followed by a code is a problem's type (RFC 9457 section 3.1.1): a name, not a URL to open.
const typePrefix = "urn:problem-type:seckill:"

// opening is the constant part of a problem document in one language.
type opening struct {
	status   int
	upToCode []byte // {"type":…,"title":…,"status":…,"code":…
	detail   []byte // as a JSON string
}

// openings is computed once: refusals are the most frequent answers of a sale.
var openings = func() (out [languages]map[seckill.Code]opening) {
	for l := range out {
		out[l] = make(map[seckill.Code]opening, len(words))
		for code, texts := range words {
			b := append([]byte(nil), `{"type":`...)
			b = appendString(b, typePrefix+string(code))
			b = append(b, `,"title":`...)
			b = appendString(b, texts[l].title)
			b = append(b, `,"status":`...)
			b = strconv.AppendInt(b, int64(Status(code)), 10)
			b = append(b, `,"code":`...)
			b = appendString(b, string(code))
			out[l][code] = opening{Status(code), b, appendString(nil, texts[l].detail)}
		}
	}
	return out
}()

// writeProblem answers with a problem document that reveals nothing of e.Err. With detail "" it uses the code's own
// text.
func writeProblem(w http.ResponseWriter, r *http.Request, e *seckill.Error, detail string, vary []string) {
	lang := preferred(r.Header["Accept-Language"])
	o, ok := openings[lang][e.Code]
	if !ok {
		o = openings[lang][seckill.CodeInternal]
	}
	wait := e.RetryAfter
	if wait <= 0 && o.status == http.StatusServiceUnavailable {
		wait = seckill.RetryAfterFault
	}
	b := append(make([]byte, 0, 512), o.upToCode...)
	b = append(b, `,"detail":`...)
	switch {
	case detail != "":
		b = appendString(b, detail)
	case e.Code == seckill.CodeInvalid:
		b = appendString(b, invalidDetail(lang, e))
	default:
		b = append(b, o.detail...)
	}
	if e.Field != "" {
		b = appendString(append(b, `,"field":`...), e.Field)
	}
	if e.Order != "" {
		b = appendString(append(b, `,"order_id":`...), e.Order)
	}
	if !e.Start.IsZero() {
		b = appendString(append(b, `,"start_time":`...), rfc3339(e.Start))
	}
	if !e.PayBy.IsZero() {
		b = appendString(append(b, `,"pay_by":`...), rfc3339(e.PayBy))
	}
	if e.Challenge != nil {
		b = appendChallenge(append(b, `,"challenge":`...), e.Challenge)
	}
	header := w.Header()
	if wait > 0 {
		b = strconv.AppendInt(append(b, `,"retry_after_ms":`...), whole(wait, time.Millisecond), 10)
		header["Retry-After"] = []string{strconv.FormatInt(whole(wait, time.Second), 10)}
	}
	b = append(b, '}')
	if o.status == http.StatusUnauthorized {
		header["Www-Authenticate"] = bearerScheme // RFC 9110 section 15.5.2 wants a scheme
	}
	header["Content-Type"] = kindProblem
	header["Content-Language"] = languageTags[lang]
	header["Vary"] = vary
	header["Cache-Control"] = cacheNever
	header["X-Content-Type-Options"] = nosniff
	write(w, r, o.status, b)
}

// whole rounds up to whole units: Retry-After has a resolution of one second (RFC 9110 section 10.2.3), and a client
// must not come back too early.
func whole(d, unit time.Duration) int64 { return int64((d + unit - 1) / unit) }

// invalidDetail returns a text that names the invalid field and what is allowed.
func invalidDetail(lang language, e *seckill.Error) string {
	texts, ok := fieldWords[e.Field]
	if ok && (e.Hint != "" || !strings.Contains(texts[lang], "%s")) {
		return strings.ReplaceAll(texts[lang], "%s", between(lang, e.Hint))
	}
	switch {
	case e.Field == "":
		return words[seckill.CodeInvalid][lang].detail
	case e.Hint == "":
		return strings.ReplaceAll(fieldWrong[lang], "%s", e.Field)
	default:
		return strings.NewReplacer("%s", e.Field, "%h", between(lang, e.Hint)).Replace(fieldWanted[lang])
	}
}

// between replaces ".." in the hint "1..5" by words.
func between(lang language, hint string) string { return strings.Replace(hint, "..", to[lang], 1) }

// appendString appends a JSON string.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c > 0x7e || c == '"' || c == '\\' {
			quoted, err := json.Marshal(s)
			if err != nil {
				panic(err) // cannot happen: a string always marshals
			}
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// Problem answers with an error's problem document, for servers with further routes. It logs nothing.
func Problem(w http.ResponseWriter, r *http.Request, err error) {
	ProblemSaying(w, r, err, "")
}

// ProblemSaying is Problem with a detail that is not meant for shoppers.
func ProblemSaying(w http.ResponseWriter, r *http.Request, err error, detail string) {
	writeProblem(w, r, seckill.AsError(err), detail, vary)
}
