// Package must ends a test whose preparation fails, and compares.
package must

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/google/go-cmp/cmp"
)

// T is a test, a benchmark or a check of package rapid.
type T interface {
	Helper()
	Fatal(args ...any)
	Errorf(format string, args ...any)
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

// Get returns a call's value, or panics with its error, which ends all tests of the package. It is for calls that fail
// only if the test is wrong.
func Get[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// Equal reports how a value differs from the one wanted, and what it is; the test goes on. Times are equal only in the
// same location.
func Equal[V any](t T, want, got V, what ...any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true }),
		cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) && a.Location() == b.Location() })); diff != "" {
		t.Errorf("%s(-want +got):\n%s", fmt.Sprintln(what...), diff)
	}
}

// Is reports an error that is not the wanted error by errors.Is; want is nil if no error is wanted. The test goes on.
func Is(t T, want, err error, what ...any) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%sgot error %v, want %v", fmt.Sprintln(what...), err, want)
	}
}

// Err returns the error of a call that also returns a value.
func Err[V any](_ V, err error) error { return err }
