package ledger_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/driver/ledger"
)

// nounOf has the type of package seckill whose fields' row tags name a table's attributes.
var nounOf = map[string]string{"units": "UnitRow", "orders": "Order", "quotas": "Quota", "payments": "Payment",
	"returns": "ReturnRow", "notifications": "KeptNotification", "reconciliations": "Reconciliation",
	"counted": "CountMark", "deliveries": "Webhook", "blocks": "Block", "questions": "Question", "acts": "Act",
	"proposals": "Proposal", "activities": "Activity", "sessions": "StaffSession", "logins": "Session",
	"audit": "AuditEntry"}

// besides says what the attributes mean that no field has, one a line.
const besides = `
units.bucket: item, #, and the unit's number modulo the item's buckets
orders.placed_by: the user; absent when rejected
orders.created_id: created in 15 digits, #, and the id
orders.time_shard: the shard
orders.item_shard: item, #, and the shard
orders.due_shard: the shard while the order is open; f and the shard while it is shipped or received
orders.due_at: when expire looks at the order next
quotas.user:
quotas.item: an item's id; or family# and a family's id, for a limit that spans
payments.paid_day: the day of at, #, and the shard
payments.refund_shard: the shard, refused, or outside; while there is something to do
payments.back_day: the day of back, #, and the shard; in refunded only
returns.shard:
identities.id: identity: and the SHA-256 of issuer, zero byte, subject; or user: and the user id
identities.user: the user id; of identity: only
identities.issuer: the issuer's URL; of user: only
identities.subject: the issuer's name for the person, which is never logged; of user: only
identities.at: when the row was written
counts.item:
counts.since: when this count began, which identifies it
counts.recounting: 1 during a recount, in which orders are missing
counts.placed: units placed; absent for 0, as are paid and back
counts.paid: units paid
counts.back: units given back: expired, cancelled, or refunded with restock
counts.p<minute>: units placed in a minute, which is minutes since 1970 in 8 digits; absent for 0
counts.m<minute>: units paid in a minute
counts.b<minute>: units given back in a minute
counted.order:
deliveries.due_shard: the shard, or given_up; while entries are to be sent
blocks.shard: spreads the list
blocks.name: the subject, #, and the item
blocks.until: when the block ends; 9223372036854775807 for ever
attempts.user:
attempts.item_minute: item, #, and the minute
attempts.n: answers given, at most 5
attempts.expires: when DynamoDB deletes the row, in seconds: an hour later
questions.item:
acts.day: the day of the time in the id, #, and a hash of the id modulo 10
acts.expires: when DynamoDB deletes the row, in seconds: 90 days later
proposals.list: waiting; or alone, for how many refunds a person made alone on a day
proposals.n: refunds; of alone only
proposals.expires: when DynamoDB deletes the row, in seconds; of alone only
activities.activity: the activity in which the item is; only of rows whose id is item# and an item's id
activities.list: all
activities.end_id: end, #, and the id
sessions.list: staff
logins.expires: when DynamoDB deletes the row, in seconds: 30 days after the last renewal
sessions.expires: when DynamoDB deletes the row, in seconds
live.item: an item's id, shop or import
live.version: of the lease
live.until: when the lease ends
live.figures: JSON, as Live in shared/seckill/live.go
live.expires: when DynamoDB deletes the row, in seconds
`

var (
	// ofMinute matches an attribute that a row of counts has per minute.
	ofMinute = regexp.MustCompile(`^([a-z])\d{8}$`)
	// mayLack matches flags of an attribute that a row may lack.
	mayLack = regexp.MustCompile(`\b(opt|placed|rejected|later|with)\b`)
	// toRead replaces what a comment says to readers of Go.
	toRead = strings.NewReplacer("|", "\\|", "\n", " ", `""`, "empty", "nil:", "absent:", "zero:", "absent:")
)

// TestDataPageListsWhatTheLedgerWrites compares each table's attributes in docs/DATA.md with what a life of orders
// writes, and their meanings with the comments of the fields of the tables' nouns; -update writes both.
func TestDataPageListsWhatTheLedgerWrites(t *testing.T) {
	rows, written := newRows(), map[string]string{} // table.attribute → type
	l := ledger.New(rows)
	for _, step := range lifeSteps {
		if err := step.run(l); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		for _, table := range ledger.Schema {
			for _, row := range rows.Dump(table.Name) {
				for attr, v := range row {
					written[table.Name+"."+ofMinute.ReplaceAllString(attr, "$1<minute>")] = typeName(v)
				}
			}
		}
	}
	lines, structs := strings.Split(strings.TrimSpace(besides), "\n"), nouns(t)
	for _, table := range ledger.Schema {
		keys, others := "| attribute | type | meaning |\n|---|---|---|\n", ""
		list := func(name, mark, means string) {
			row := fmt.Sprintf("| %s | %s%s | %s |\n", name, written[table.Name+"."+name], mark, means)
			switch {
			case written[table.Name+"."+name] == "":
				t.Errorf("%s: nothing writes %s", table.Name, name)
			case name == table.PK || name == table.SK:
				keys += row
			default:
				others += row
			}
			delete(written, table.Name+"."+name)
		}
		delete(written, table.Name+".v") // every row has it
		tagged(structs, nounOf[table.Name], list)
		for _, line := range lines {
			name, means, _ := strings.Cut(line, ":")
			if name, here := strings.CutPrefix(name, table.Name+"."); here {
				list(name, "", strings.TrimSpace(means))
			}
		}
		holdBlock(t, "rows of "+table.Name, keys+others)
	}
	for name := range written {
		t.Errorf("%s is written, and nothing says what it means", name)
	}
}

// nouns returns the struct types of package seckill by name.
func nouns(t *testing.T) map[string]*ast.StructType {
	t.Helper()
	files, _ := filepath.Glob("../../seckill/*.go")
	found := map[string]*ast.StructType{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				found[spec.Name.Name], _ = spec.Type.(*ast.StructType)
			}
			return true
		})
	}
	return found
}

// tagged calls list for each field of a noun that has a row tag, in turn: the attribute, a question mark if rows may
// lack it, and the field's comment.
func tagged(structs map[string]*ast.StructType, noun string, list func(name, mark, means string)) {
	if structs[noun] == nil {
		return
	}
	for _, field := range structs[noun].Fields.List {
		if embedded, ok := field.Type.(*ast.Ident); ok && len(field.Names) == 0 {
			tagged(structs, embedded.Name, list)
		}
		if field.Tag == nil {
			continue
		}
		text, _ := strconv.Unquote(field.Tag.Value)
		name, flags, _ := strings.Cut(reflect.StructTag(text).Get("row"), ",")
		means, mark := strings.TrimSpace(field.Doc.Text()+field.Comment.Text()), ""
		for _, n := range field.Names {
			for _, is := range []string{" is ", " are ", ": "} {
				means = strings.TrimPrefix(means, n.Name+is)
			}
		}
		if mayLack.MatchString(flags) {
			mark = "?"
		}
		if name != "" {
			list(name, mark, toRead.Replace(means))
		}
	}
}

func typeName(v any) string {
	switch v.(type) {
	case string:
		return "S"
	case int64:
		return "N"
	case []string:
		return "L"
	case ledger.Set:
		return "SS"
	}
	return "?"
}
