package linear

import "math"

// Recorder records a history. It has no clock: the caller passes the times. It is not safe for concurrent use.
type Recorder struct{ ops []Op }

// Handle identifies a started operation.
type Handle int

// Begin records a request made at op.Call. Until End it counts as unanswered.
func (r *Recorder) Begin(op Op) Handle {
	op.Return, op.Outcome = math.MaxInt64, Outcome{}
	r.ops = append(r.ops, op)
	return Handle(len(r.ops) - 1)
}

// End records the answer and its time. An Unknown answer changes nothing: the request may still take effect.
func (r *Recorder) End(h Handle, at int64, o Outcome) {
	if o.Kind == Unknown {
		return
	}
	op := &r.ops[h]
	op.Return, op.Outcome = at, o
}

// Ops returns the history in the order of Begin. The recorder owns it.
func (r *Recorder) Ops() []Op { return r.ops }
