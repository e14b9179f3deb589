//go:build real

package provision_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/provision"
	"github.com/your-org/seckill/shared/drivertest/dynamotest"
)

func TestTablesAreMadeOnceAndChecked(t *testing.T) {
	prefix := dynamotest.Prefix()
	tables := provision.Tables{Client: dynamodb.NewFromConfig(dynamotest.Config(t, nil)), Prefix: prefix}
	err := tables.Check(t.Context())
	for _, table := range tableNames() {
		if want := "table " + prefix + table + " is missing"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("without tables: got error %v, want one with %q", err, want)
		}
	}
	t.Cleanup(func() { dynamotest.Drop(t, prefix) })
	for range 2 {
		if err := tables.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, names := range [][]string{nil, {dynamoledger.TableItems}, tableNames()} {
		if err := tables.Check(t.Context(), names...); err != nil {
			t.Errorf("tables %v: %v", names, err)
		}
	}
	if err := tables.Check(t.Context(), "nonsense"); err == nil {
		t.Error("a table that is not ours was checked")
	}
}

func tableNames() (names []string) {
	for _, t := range dynamoledger.Schema() {
		names = append(names, t.Name)
	}
	return names
}

func TestATableWithAnotherSchemaIsNamed(t *testing.T) {
	key := func(pk, sk string) []types.KeySchemaElement {
		k := []types.KeySchemaElement{{AttributeName: &pk, KeyType: types.KeyTypeHash}}
		if sk != "" {
			k = append(k, types.KeySchemaElement{AttributeName: &sk, KeyType: types.KeyTypeRange})
		}
		return k
	}
	index := func(name, pk, sk string, p types.ProjectionType) types.GlobalSecondaryIndex {
		return types.GlobalSecondaryIndex{IndexName: &name, KeySchema: key(pk, sk),
			Projection: &types.Projection{ProjectionType: p}}
	}
	declared := []types.GlobalSecondaryIndex{index("refunds_due", "refund_shard", "refund_at", types.ProjectionTypeAll),
		index("payments_by_day", "paid_day", "trade_no", types.ProjectionTypeAll), index("refunds_by_day", "back_day",
			"trade_no", types.ProjectionTypeAll)}
	for _, c := range []struct {
		name    string
		table   string
		key     []types.KeySchemaElement
		numbers string // attributes of type N
		indexes []types.GlobalSecondaryIndex
		want    string // "" if nothing is wrong
	}{
		{"as declared", "payments", key("order", "trade_no"), "", declared, ""},
		{"an index too many", "returns", key("shard", "order"), "",
			[]types.GlobalSecondaryIndex{index("mine", "order", "shard", "ALL")}, ""},
		{"keys exchanged", "units", key("unit", "bucket"), "", nil,
			"key is (unit S, bucket S), want (bucket S, unit S)"},
		{"no sort key", "quotas", key("user", ""), "", nil, "key is (user S), want (user S, item S)"},
		{"a sort key of numbers", "units", key("bucket", "unit"), "unit", nil,
			"key is (bucket S, unit N), want (bucket S, unit S)"},
		{"no index", "payments", key("order", "trade_no"), "", nil,
			"index refunds_due is missing, want (refund_shard S, refund_at S)"},
		{"an index with another key", "payments", key("order", "trade_no"), "",
			[]types.GlobalSecondaryIndex{index("refunds_due", "refund_shard", "trade_no", "ALL")},
			"key of index refunds_due is (refund_shard S, trade_no S), want (refund_shard S, refund_at S)"},
		{"an index that carries less", "payments", key("order", "trade_no"), "",
			[]types.GlobalSecondaryIndex{index("refunds_due", "refund_shard", "refund_at", "KEYS_ONLY")},
			"projection of index refunds_due is KEYS_ONLY, want ALL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, prefix := dynamotest.Config(t, nil), dynamotest.Prefix()
			client := dynamodb.NewFromConfig(cfg)
			in := &dynamodb.CreateTableInput{TableName: aws.String(prefix + c.table),
				BillingMode: types.BillingModePayPerRequest, KeySchema: c.key, GlobalSecondaryIndexes: c.indexes}
			seen := map[string]bool{}
			all := c.key
			for _, x := range c.indexes {
				all = append(all, x.KeySchema...)
			}
			for _, k := range all {
				kind := types.ScalarAttributeTypeS
				if *k.AttributeName == c.numbers {
					kind = types.ScalarAttributeTypeN
				}
				if !seen[*k.AttributeName] {
					in.AttributeDefinitions = append(in.AttributeDefinitions,
						types.AttributeDefinition{AttributeName: k.AttributeName, AttributeType: kind})
				}
				seen[*k.AttributeName] = true
			}
			// Only this test uses the name: if the table exists, an earlier attempt of this call, repeated by the
			// SDK, created it.
			if _, err := client.CreateTable(t.Context(), in); err != nil &&
				!errors.As(err, new(*types.ResourceInUseException)) {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := dynamotest.DropTable(context.Background(), client, *in.TableName); err != nil {
					t.Error(err)
				}
			})
			err := (&provision.Tables{Client: client, Prefix: prefix}).Check(t.Context(), c.table)
			if c.want == "" {
				if err != nil {
					t.Errorf("got error %v, want none", err)
				}
				return
			}
			if want := "table " + prefix + c.table + ": " + c.want; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got error %v, want one with %q", err, want)
			}
		})
	}
}
