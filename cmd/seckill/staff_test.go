package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

var update = flag.Bool("update", false, "write the roles' table of docs/DEPLOY.md")

// TestDeployPageListsRoles compares the page's table with the table of roles.
func TestDeployPageListsRoles(t *testing.T) {
	const name, begin, end = "../../docs/DEPLOY.md", "<!-- generated: staff, by make generate -->\n",
		"<!-- end: staff -->"
	page, err := os.ReadFile(name)
	must.OK(t, err)
	before, rest, ok := strings.Cut(string(page), begin)
	_, after, also := strings.Cut(rest, end)
	if !ok || !also {
		t.Fatalf("%s has no %s", name, begin)
	}
	var table strings.Builder
	table.WriteString("role | may give\n---|---\n")
	for _, role := range seckill.Roles() {
		var may []string
		for _, act := range operator.Names() {
			if operator.May(role, act) {
				may = append(may, act)
			}
		}
		fmt.Fprintf(&table, "%s | %s\n", role, strings.Join(may, ", "))
	}
	want := before + begin + table.String() + end + after
	if *update {
		must.OK(t, os.WriteFile(name, []byte(want), 0o600))
	} else if want != string(page) {
		t.Errorf("%s is not what `make generate` writes", name)
	}
}
