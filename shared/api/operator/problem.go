package operator

import (
	"bytes"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/flow/office/activity"
	"github.com/your-org/seckill/shared/flow/sale/stage"
	"github.com/your-org/seckill/shared/seckill"
)

// maxLines is how many wrong lines of an items file a problem document has; it says how many there are.
const maxLines = 100

// maxCause is the largest length of a fault's cause in an operator's answer, in characters. It has room for the ids of
// an activity's 99 items.
const maxCause = 2500

// addresses matches the URLs in a text, with user and password before the host, and with the query, which may be
// signed.
var addresses = regexp.MustCompile(`([a-zA-Z][\w+.-]*://)(?:[^\s"/?#]*@)?([^\s"?#]*)(?:[?#][^\s"]*)?`)

// WriteProblem answers with an error's problem document, like package httpapi. Its detail also has what is wrong with
// an items file, or the cause of a fault: one line of at most 2,500 characters, with user and query removed from URLs.
func WriteProblem(w http.ResponseWriter, r *http.Request, err error) {
	if !inWords(err) {
		httpapi.ProblemSaying(w, r, err, cause(err))
		return
	}
	code := CodeOf(err)
	document := map[string]any{"type": "urn:problem-type:seckill:" + string(code),
		"title": "Nothing was saved", "status": Status(code),
		"code": code, "detail": err.Error()}
	if code == CodeActivityUnknown {
		document["detail"] = "There is no such activity."
	}
	if found := conflicts(err); len(found) > 0 {
		document["conflicts"] = found
	}
	if found := faults(err); len(found) > 0 {
		document["faults"] = found
	}
	if bad := (*FileError)(nil); errors.As(err, &bad) && len(bad.Lines) > 0 {
		document["lines"], document["wrong"] = bad.Lines[:min(len(bad.Lines), maxLines)], len(bad.Lines)
	}
	b, marshalErr := marshal(document)
	if marshalErr != nil {
		panic(marshalErr) // cannot happen: strings and a number always marshal
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(Status(code))
	_, _ = w.Write(b) // an error means that the client has disconnected
}

// inWords reports whether an error's own text is meant for the operator.
func inWords(err error) bool {
	var bad *FileError
	var refused *stage.ImportError
	var no *activity.Refused
	var conflict *activity.Conflict
	var picture *PictureError
	return errors.As(err, &bad) || errors.As(err, &refused) || errors.As(err, &no) || errors.As(err, &conflict) ||
		errors.As(err, &picture) || errors.Is(err, seckill.ErrNoActivity)
}

// cause returns the cause of a fault, for the operator, or "" if the error is not a fault or has no cause.
func cause(err error) string {
	e := seckill.AsError(err)
	if errors.Is(err, errImporting) {
		return importingText
	}
	if e.Err == nil || Status(e.Code) < http.StatusInternalServerError {
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

// Codes of the back office alone; shoppers never get them.
const (
	// CodeConflict: somebody has changed what is to be saved since the version that the save was made from.
	CodeConflict        seckill.Code = "version_conflict"
	CodeActivityUnknown seckill.Code = "activity_unknown"
)

// Status returns the HTTP status of a code of the back office.
func Status(c seckill.Code) int {
	switch c {
	case CodeConflict:
		return http.StatusConflict
	case CodeActivityUnknown:
		return http.StatusNotFound
	default:
		return httpapi.Status(c)
	}
}

// CodeOf is seckill.CodeOf, except that it returns CodeInvalid for an error in a save, and the back office's codes.
func CodeOf(err error) seckill.Code {
	if len(conflicts(err)) > 0 {
		return CodeConflict
	}
	if errors.Is(err, seckill.ErrNoActivity) {
		return CodeActivityUnknown
	}
	if inWords(err) {
		return seckill.CodeInvalid
	}
	return seckill.CodeOf(err)
}

// document returns an error's problem document in English.
func document(err error) []byte {
	_, body := problem(err)
	return body
}

// recorder is an http.ResponseWriter in memory.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header         { return w.header }
func (w *recorder) WriteHeader(status int)      { w.status = status }
func (w *recorder) Write(b []byte) (int, error) { return w.body.Write(b) }

// problem returns an error's problem document.
func problem(err error) (status int, body []byte) {
	w := recorder{header: http.Header{}}
	WriteProblem(&w, &http.Request{Method: http.MethodPost, Header: http.Header{"Accept-Language": {"en"}}}, err)
	return w.status, w.body.Bytes()
}
