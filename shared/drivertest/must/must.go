// Package must ends a test whose preparation fails.
package must

// T is a test, a benchmark or a check of package rapid.
type T interface {
	Helper()
	Fatal(args ...any)
}

// OK ends the test at the first error.
func OK(t T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Get returns a call's value, or panics with its error.
func Get[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}
