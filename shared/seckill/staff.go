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

// Roles of an act, the least of them first: it is the one that the command line tool asks for.
var (
	everybody   = []Role{RoleViewer, RoleEditor, RoleOperator, RoleFinance, RoleAuditor}
	editors     = []Role{RoleEditor}
	operators   = []Role{RoleOperator}
	seeShoppers = []Role{RoleOperator, RoleAuditor}
	financiers  = []Role{RoleFinance}
	seeMoney    = []Role{RoleFinance, RoleAuditor}
	auditors    = []Role{RoleAuditor}
)

// staff has each act, by the name of its command, with the roles that may do it. An act without a row is nobody's.
var staff = map[string][]Role{
	"export":          everybody,
	"item":            everybody,
	"items":           everybody,
	"health":          everybody,
	"counts":          everybody,
	"level":           everybody,
	"live":            everybody,
	"activities":      everybody,
	"activity":        everybody,
	"import":          editors,
	"picture":         editors,
	"save-activity":   editors,
	"delete-activity": editors,
	"copy-activity":   editors,
	"offline":         operators,
	"online":          operators,
	"stop":            operators,
	"resume":          operators,
	"add-stock":       operators,
	"block":           operators,
	"unblock":         operators,
	"handle":          operators,
	"tell":            operators,
	"replay":          operators,
	"redeliver":       operators,
	"redrive":         operators,
	"recount":         operators,
	"confirm":         operators,
	"ship":            operators,
	"note":            operators,
	"hide":            operators,
	"erase":           operators, // it cannot be undone, and concerns no money: who answers shoppers does it
	"orders":          seeShoppers,
	"order":           seeShoppers,
	"blocks":          seeShoppers,
	"acts":            seeShoppers,
	"act":             seeShoppers,
	"delivery":        seeShoppers,
	"audit":           auditors,
	"refund":          financiers,
	"withdraw":        financiers,
	"again":           financiers,
	"ask":             financiers,
	"record-trade":    financiers,
	"reconcile":       financiers, // each comparison is kept
	"reconciled":      seeMoney,
	"open":            seeMoney,
	"case":            seeMoney,
	"sessions":        seeShoppers,
	"end-sessions":    operators, // whoever is awake when somebody's laptop is stolen
}

// May reports whether a role may do an act.
func (r Role) May(act string) bool { return slices.Contains(staff[act], r) }

// LeastRole returns the least role that may do an act; ok is false if nobody may.
func LeastRole(act string) (r Role, ok bool) {
	if len(staff[act]) == 0 {
		return "", false
	}
	return staff[act][0], true
}

// ValidRole reports whether there is such a role.
func ValidRole(r Role) bool { return slices.Contains(Roles(), r) }
