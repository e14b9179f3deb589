package local

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/your-org/seckill/shared/api/operator"
)

const maxAdminBody = 4 << 10 // bytes

// decode reads a small JSON body.
func decode(r *http.Request, into any) error {
	d := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxAdminBody))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return errors.New("there is data after the JSON body")
	}
	return nil
}

func (s *System) reply(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // an exported description stays as it is
	if err := e.Encode(body); err != nil {
		s.log.Warn("answer not written", "err", err)
	}
}

// answer replies with a result or a problem document.
func (s *System) answer(w http.ResponseWriter, r *http.Request, result any, err error) {
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	s.reply(w, result)
}

// refuse answers with a problem document, as the API does.
func (s *System) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if operator.Status(operator.CodeOf(err)) >= http.StatusInternalServerError {
		s.log.Warn("request failed", "path", r.URL.Path, "err", err)
	}
	operator.WriteProblem(w, r, err)
}
