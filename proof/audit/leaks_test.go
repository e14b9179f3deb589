//go:build !real

package audit_test

import (
	"testing"

	"go.uber.org/goleak"
)

// With real servers it is left out: clients keep their connections to them.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
