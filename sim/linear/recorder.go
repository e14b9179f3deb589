package linear

import "math"

// Recorder writes a history down. It has no clock: the caller passes the times. Not safe for concurrent use.
type Recorder struct{ ops []Op }

// Handle names an operation that has begun.
type Handle int

// Begin notes a request that is made at op.Call. Until End it counts as one without an answer.
func (r *Recorder) Begin(op Op) Handle {
	op.Return, op.Outcome = math.MaxInt64, Outcome{}
	r.ops = append(r.ops, op)
	return Handle(len(r.ops) - 1)
}

// End notes the answer and when it came. An Unknown one changes nothing: what was asked for may still happen.
func (r *Recorder) End(h Handle, at int64, o Outcome) {
	if o.Kind == Unknown {
		return
	}
	op := &r.ops[h]
	op.Return, op.Outcome = at, o
}

// Ops returns the history, in the order of Begin. It is the recorder's own.
func (r *Recorder) Ops() []Op { return r.ops }

// Reset empties the recorder for another history.
func (r *Recorder) Reset() { r.ops = r.ops[:0] }
