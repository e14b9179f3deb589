package local

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/seckill"
)

// postOperator carries out an operator's command. Event and answer are those of a stack's functions (package operator):
// a refused command, too, has status 200, and "problem" in its answer says why.
func (s *System) postOperator(w http.ResponseWriter, r *http.Request) {
	event, err := io.ReadAll(http.MaxBytesReader(w, r.Body, operator.MaxEvent))
	if errors.As(err, new(*http.MaxBytesError)) {
		s.refuse(w, r, &seckill.Error{Code: seckill.CodeTooLarge, Err: err})
		return
	}
	if err != nil {
		s.refuse(w, r, seckill.Invalid("body", ""))
		return
	}
	// A client that hangs up does not stop a command halfway.
	answer, err := s.operator(context.WithoutCancel(r.Context()), event)
	if err != nil {
		s.refuse(w, r, &seckill.Error{Code: seckill.CodeInvalid, Field: "operator", Err: err})
		return
	}
	var refused struct{ Problem *operator.Refusal }
	if json.Unmarshal(answer, &refused) == nil && refused.Problem != nil &&
		operator.Status(refused.Problem.Code) >= http.StatusInternalServerError {
		s.log.Warn("an operator's command failed", "code", refused.Problem.Code, "err", refused.Problem)
	}
	s.reply(w, json.RawMessage(answer))
}

// load makes imported items available for purchase at once.
func (s *System) load(ctx context.Context) {
	if err := errors.Join(s.Stage.Run(ctx), s.Repair.Run(ctx)); err != nil {
		s.log.Warn("imported items will be loaded by the next minute's schedule", "err", err)
	}
}
