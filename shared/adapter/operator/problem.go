package operator

import (
	"bytes"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/your-org/seckill/shared/adapter/httpapi"
	"github.com/your-org/seckill/shared/flow/stage"
	"github.com/your-org/seckill/shared/seckill"
)

// maxCause is how many characters an operator is told of what a fault came of.
const maxCause = 500

// addresses are those in a text: with whom, or a password, before the host, and with a query, which may be signed.
var addresses = regexp.MustCompile(`([a-zA-Z][\w+.-]*://)(?:[^\s"/?#]*@)?([^\s"?#]*)(?:[?#][^\s"]*)?`)

// WriteProblem answers with an error's problem document. It is that of package httpapi; but what is wrong with an items
// file stands in the detail as it is, and what a fault came of on one line, cut at 500 characters, each address in it
// without user and query.
func WriteProblem(w http.ResponseWriter, r *http.Request, err error) {
	if !inWords(err) {
		httpapi.ProblemSaying(w, r, err, cause(err))
		return
	}
	code := CodeOf(err)
	b, marshalErr := marshal(map[string]any{"type": "urn:problem-type:seckill:" + string(code),
		"title": "Nothing was imported", "status": httpapi.Status(code),
		"code": code, "detail": err.Error()})
	if marshalErr != nil {
		panic(marshalErr) // texts and a number always marshal
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(httpapi.Status(code))
	_, _ = w.Write(b) // who has hung up misses nothing
}

// inWords says whether an error's own text is for the operator.
func inWords(err error) bool {
	var bad *FileError
	var refused *stage.ImportError
	return errors.As(err, &bad) || errors.As(err, &refused)
}

// cause is what a fault came of, for the operator; "" of any other error, and of a fault without a cause.
func cause(err error) string {
	e := seckill.AsError(err)
	if e.Err == nil || httpapi.Status(e.Code) < http.StatusInternalServerError {
		return ""
	}
	text := strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return ' '
		}
		return c
	}, addresses.ReplaceAllString(e.Err.Error(), "$1$2"))
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) > maxCause {
		text = string([]rune(text)[:maxCause-1]) + "…"
	}
	return text
}

// CodeOf is seckill.CodeOf, and CodeInvalid for what is wrong with an items file.
func CodeOf(err error) seckill.Code {
	if inWords(err) {
		return seckill.CodeInvalid
	}
	return seckill.CodeOf(err)
}

// document is an error's problem document, in English.
func document(err error) []byte {
	w := recorder{header: http.Header{}}
	WriteProblem(&w, &http.Request{Method: http.MethodPost, Header: http.Header{"Accept-Language": {"en"}}}, err)
	return w.body.Bytes()
}

// recorder keeps what is written to it.
type recorder struct {
	header http.Header
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header         { return w.header }
func (w *recorder) WriteHeader(int)             {}
func (w *recorder) Write(b []byte) (int, error) { return w.body.Write(b) }
