package operator

import (
	"slices"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/seckill"
)

// TestEveryCommandHasItsRoles: a command without roles, or one that a role should not have, fails here. What an auditor
// or a viewer may do changes nothing.
func TestEveryCommandHasItsRoles(t *testing.T) {
	t.Parallel()
	reads := strings.Fields("export health counts blocks acts act delivery reconciled open case orders order audit " +
		"item sessions live level activities activity items")
	for _, c := range Names() {
		least, ok := LeastRole(c)
		if !ok || !May(least, c) || !seckill.ValidRole(least) {
			t.Errorf("command %s: least role %q, %v", c, least, ok)
		}
		read := slices.Contains(reads, c)
		if got := May(seckill.RoleAuditor, c); got != read {
			t.Errorf("an auditor may %s: %v, want %v", c, got, read)
		}
		if May(seckill.RoleViewer, c) && !read {
			t.Errorf("a viewer may %s", c)
		}
		if !read && May(seckill.RoleOperator, c) && May(seckill.RoleFinance, c) {
			t.Errorf("operator and finance may both %s", c)
		}
	}
	for _, act := range []string{"", "Stop", "drop"} {
		if role, ok := LeastRole(act); ok || May(seckill.RoleOperator, act) {
			t.Errorf("%q is %q's", act, role)
		}
	}
	if seckill.ValidRole("") || seckill.ValidRole("admin") {
		t.Error("roles that do not exist are valid")
	}
}

// TestCommandsThatMoveMoney: a command that changes something wants a fresh sign-in if finance may give it or what
// refunds executes it, but for what the shop also does by itself: it asks the provider, and compares bills.
func TestCommandsThatMoveMoney(t *testing.T) {
	t.Parallel()
	for _, c := range All() {
		spec := c.Spec()
		want := !ReadsOnly(c) && (May(seckill.RoleFinance, spec.Name) || spec.In == "refund") &&
			!slices.Contains([]string{"ask", "reconcile"}, spec.Name)
		if spec.Money != want {
			t.Errorf("%s moves money: %v, want %v", spec.Name, spec.Money, want)
		}
	}
}
