package dynamoledger_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/must"
)

// sent is a call on a row, or on a partition, as it is sent.
type sent struct {
	TableName, IndexName                  string
	UpdateExpression, ConditionExpression string
	ExpressionAttributeNames              map[string]string
	ExpressionAttributeValues             map[string]map[string]string
	Item, Key, ExclusiveStartKey          map[string]map[string]string
	TransactItems                         []map[string]*sent
}

// heard returns what a call sent, whose answer is given.
func heard(t *testing.T, response string, call func(*dynamoledger.Rows) error) *sent {
	t.Helper()
	w := &wire{script: times(1, answer(200, response))}
	must.OK(t, call(dynamoledger.New(w.config(), dynamoledger.Options{Prefix: "x-"})))
	var in sent
	must.OK(t, json.Unmarshal([]byte(w.requests[0].Body), &in))
	for _, item := range in.TransactItems {
		for _, write := range item {
			return write
		}
	}
	return &in
}

// sharedBy returns which table of DynamoDB has the rows of several, by docs/DATA.md.
func sharedBy(t *testing.T) map[string]string {
	t.Helper()
	page := must.Get(os.ReadFile("../../../docs/DATA.md"))
	_, section, _ := strings.Cut(string(page), "\n## On DynamoDB\n")
	text := strings.Join(strings.Fields(section), " ")
	out := map[string]string{}
	for _, m := range regexp.MustCompile("`(office|passing)` those of ([a-z, ]+)").FindAllStringSubmatch(text, -1) {
		for _, table := range regexp.MustCompile(`[a-z]+`).FindAllString(m[2], -1) {
			if table != "and" {
				out[table] = m[1]
			}
		}
	}
	return out
}

// TestSharedTables: each table of the ledger is where docs/DATA.md says; a row that is read is the one that was
// written, and its partition keys begin with the name of its table, which roles are held to.
func TestSharedTables(t *testing.T) {
	in, ttl := sharedBy(t), map[string]string{}
	if len(in) != 13 {
		t.Fatalf("docs/DATA.md has %v", in)
	}
	for _, table := range dynamoledger.Schema() {
		ttl[table.Name] = table.TTL
	}
	for _, table := range ledger.Schema {
		home := in[table.Name]
		if home == "" {
			home = table.Name
		}
		if table.TTL != "" && table.TTL != ttl[home] {
			t.Errorf("rows of %s would stay", table.Name)
		}
		key := ledger.Key{Table: table.Name, PK: "p#1"}
		if table.SK != "" {
			key.SK = "s"
		}
		row, stored := ledger.Row{"a": int64(7)}, asStored(table, in[table.Name] != "")
		for _, x := range table.Indexes[:min(len(table.Indexes), 1)] {
			row[x.PK], row[x.SK] = "00", "n"
		}
		put := heard(t, `{}`, func(r *dynamoledger.Rows) error {
			return r.Transact(ctx, []ledger.Write{{Key: key, Op: ledger.OpPut, Row: row}})
		})
		if diff := cmp.Diff(stored, put.Item); diff != "" || put.TableName != "x-"+home {
			t.Errorf("%s is put into %s: %s", table.Name, put.TableName, diff)
		}
		text, _ := json.Marshal(stored) // texts always marshal
		row[table.PK] = key.PK
		if table.SK != "" {
			row[table.SK] = key.SK
		}
		var got ledger.Row
		get := heard(t, fmt.Sprintf(`{"Item":%s}`, text), func(r *dynamoledger.Rows) (err error) {
			got, _, err = r.Get(ctx, key)
			return err
		})
		if diff := cmp.Diff(row, got); diff != "" || get.TableName != put.TableName {
			t.Errorf("%s is got from %s: %s", table.Name, get.TableName, diff)
		}
		for attr, v := range get.Key {
			if !cmp.Equal(v, stored[attr]) {
				t.Errorf("%s is got by %s %v", table.Name, attr, v)
			}
		}
	}
}

// asStored returns the row of TestSharedTables as a table of DynamoDB has it.
func asStored(table ledger.Table, isShared bool) map[string]map[string]string {
	text := func(s string) map[string]string { return map[string]string{"S": s} }
	out := map[string]map[string]string{"a": {"N": "7"}}
	pk, sk, prefix := table.PK, table.SK, ""
	if isShared {
		pk, sk, prefix = "pk", "sk", table.Name+"#"
		out[sk] = text("-")
	}
	out[pk] = text(prefix + "p#1")
	if table.SK != "" {
		out[sk] = text("s")
	}
	for _, x := range table.Indexes[:min(len(table.Indexes), 1)] {
		if isShared {
			x.PK, x.SK = "listed_pk", "listed_sk"
		}
		out[x.PK], out[x.SK] = text(prefix+"00"), text("n")
	}
	return out
}

// TestASharedIndexIsReadPageByPage: by its own key, and on from where a page ended.
func TestASharedIndexIsReadPageByPage(t *testing.T) {
	const last = `{"listed_pk":{"S":"activities#all"},"listed_sk":{"S":"9#7"},"pk":{"S":"activities#activity#7"},` +
		`"sk":{"S":"-"}}`
	next := ""
	read := func(r *dynamoledger.Rows) error {
		rows, n, err := r.Index(ctx, ledger.IndexActivitiesListed, "all", next, 1, true)
		next = n
		if want := (ledger.Row{"list": "all", "end_id": "9#7", "id": "activity#7"}); err == nil &&
			(len(rows) != 1 || !cmp.Equal(want, rows[0])) {
			t.Errorf("got %v, want %v", rows, want)
		}
		return err
	}
	page := `{"Items":[` + last + `],"LastEvaluatedKey":` + last + `}`
	in := heard(t, page, read)
	if in.TableName != "x-office" || in.IndexName != "listed" || in.ExpressionAttributeNames["#pk"] != "listed_pk" ||
		in.ExpressionAttributeValues[":pk"]["S"] != "activities#all" || in.ExclusiveStartKey != nil {
		t.Errorf("asked %+v", in)
	}
	var want map[string]map[string]string
	must.OK(t, json.Unmarshal([]byte(last), &want))
	must.Equal(t, want, heard(t, page, read).ExclusiveStartKey, "where the second page begins")
}

// TestExpressionsNameSharedKeys: an expression about a key names it as the shared table has it.
func TestExpressionsNameSharedKeys(t *testing.T) {
	key := ledger.Key{Table: ledger.TableActivities, PK: "item#7"}
	in := heard(t, `{}`, func(r *dynamoledger.Rows) error {
		return r.Transact(ctx, []ledger.Write{{Key: key, Op: ledger.OpUpdate, Set: ledger.Row{"list": "all"},
			If: []ledger.Cond{ledger.Eq("id", "item#7")}}})
	})
	for expression, want := range map[string]string{in.ConditionExpression: "pk = activities#item#7",
		in.UpdateExpression: "SET listed_pk = activities#all"} {
		for p, name := range in.ExpressionAttributeNames {
			expression = strings.ReplaceAll(expression, p, name)
		}
		for p, v := range in.ExpressionAttributeValues {
			expression = strings.ReplaceAll(expression, p, v["S"])
		}
		if expression != want {
			t.Errorf("sent %q, want %q", expression, want)
		}
	}
	in = heard(t, `{}`, func(r *dynamoledger.Rows) error {
		return r.Transact(ctx, []ledger.Write{{Key: key, Op: ledger.OpCheck, If: []ledger.Cond{ledger.Absent()}}})
	})
	if in.ConditionExpression != "attribute_not_exists(#0)" || in.ExpressionAttributeNames["#0"] != "pk" {
		t.Errorf("sent %q of %v", in.ConditionExpression, in.ExpressionAttributeNames)
	}
}
