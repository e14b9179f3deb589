package operator

import (
	"slices"
	"testing"

	"github.com/your-org/seckill/shared/seckill"
)

// TestEveryCommandHasItsRoles: a command without a row in the table of roles, or one that a role should not have,
// fails here. What an auditor or a viewer may do changes nothing.
func TestEveryCommandHasItsRoles(t *testing.T) {
	t.Parallel()
	reads := []string{cmdExport, cmdHealth, cmdCounts, cmdBlocks, cmdActs, cmdAct, cmdDelivery, cmdReconciled, cmdOpen,
		cmdCase, cmdOrders, cmdOrder, cmdAudit, cmdItem, cmdSessions, cmdLive, cmdLevel,
		cmdActivities, cmdActivity, cmdItems}
	for _, c := range allCommands() {
		least, ok := seckill.LeastRole(c.name)
		if !ok || !least.May(c.name) || !seckill.ValidRole(least) {
			t.Errorf("command %s: least role %q, %v; give it a row in shared/seckill/staff.go", c.name, least, ok)
		}
		read := slices.Contains(reads, c.name)
		if got := seckill.RoleAuditor.May(c.name); got != read {
			t.Errorf("an auditor may %s: %v, want %v", c.name, got, read)
		}
		if seckill.RoleViewer.May(c.name) && !read {
			t.Errorf("a viewer may %s", c.name)
		}
		if !read && seckill.RoleOperator.May(c.name) && seckill.RoleFinance.May(c.name) {
			t.Errorf("operator and finance may both %s", c.name)
		}
	}
	for _, act := range []string{"", "Stop", "drop"} {
		if role, ok := seckill.LeastRole(act); ok || seckill.RoleOperator.May(act) {
			t.Errorf("%q is %q's", act, role)
		}
	}
	if seckill.ValidRole("") || seckill.ValidRole("admin") {
		t.Error("roles that do not exist are valid")
	}
}
