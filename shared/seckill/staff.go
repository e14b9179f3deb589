package seckill

import "slices"

// MaxStaffName is how many characters of a name an order's history takes.
const MaxStaffName = 64

// Role is what a member of staff may do.
type Role string

// The roles.
const (
	RoleViewer   Role = "viewer"   // reads what has no shopper's data
	RoleEditor   Role = "editor"   // and changes items
	RoleOperator Role = "operator" // runs a sale, and answers shoppers
	RoleFinance  Role = "finance"  // moves money, compares bills
	RoleAuditor  Role = "auditor"  // reads everything, changes nothing
)

// Roles returns every role.
func Roles() []Role { return []Role{RoleViewer, RoleEditor, RoleOperator, RoleFinance, RoleAuditor} }

// ValidRole reports whether there is such a role.
func ValidRole(r Role) bool { return slices.Contains(Roles(), r) }
