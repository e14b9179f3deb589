package local

import "net/http"

// getReconciled lists what was kept of a day's reconciliations; nothing is matched.
func (s *System) getReconciled(w http.ResponseWriter, r *http.Request) {
	day := r.PathValue("day")
	kept, err := s.Reconcile.Kept(r.Context(), day)
	s.answer(w, r, map[string]any{"day": day, "reconciliations": kept}, err)
}

// postReconcile matches a day's bill against the ledger now, whether it was matched before or not.
func (s *System) postReconcile(w http.ResponseWriter, r *http.Request) {
	out, err := s.Reconcile.Day(r.Context(), r.PathValue("day"))
	s.answer(w, r, out, err)
}
