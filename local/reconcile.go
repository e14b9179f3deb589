package local

import "net/http"

// getReconciled lists what came of matching a day's bill before; nothing is matched.
func (s *System) getReconciled(w http.ResponseWriter, r *http.Request) {
	all, err := s.bills.Reconciled(r.Context(), r.PathValue("day"))
	s.answer(w, r, all, err)
}

// postReconcile matches a day's bill against the ledger now, whether that was done before or not.
func (s *System) postReconcile(w http.ResponseWriter, r *http.Request) {
	out, err := s.bills.Reconcile(r.Context(), r.PathValue("day"))
	s.answer(w, r, out, err)
}
