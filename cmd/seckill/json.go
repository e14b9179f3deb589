package main

import (
	"encoding/json"
	"io"
)

// writeJSON writes what --json asks for, for people to read as well.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
