package operator

import (
	"bytes"
	"errors"
	"net/http"

	"seckill/shared/adapter/httpapi"
	"seckill/shared/flow/stage"
	"seckill/shared/seckill"
)

// WriteProblem answers with an error's problem document. It is that of package httpapi; but what is wrong with an items file stands in the
// detail as it is.
func WriteProblem(w http.ResponseWriter, r *http.Request, err error) {
	if !inWords(err) {
		httpapi.Problem(w, r, err)
		return
	}
	code := CodeOf(err)
	b, marshalErr := marshal(map[string]any{"type": "urn:problem-type:seckill:" + string(code), "title": "Nothing was imported", "status": code.Status(),
		"code": code, "detail": err.Error()})
	if marshalErr != nil {
		panic(marshalErr) // texts and a number always marshal
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code.Status())
	_, _ = w.Write(b) // who has hung up misses nothing
}

// inWords says whether an error's own text is for the operator.
func inWords(err error) bool {
	var bad *FileError
	var refused *stage.ImportError
	return errors.As(err, &bad) || errors.As(err, &refused)
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
