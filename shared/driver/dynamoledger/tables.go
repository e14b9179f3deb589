package dynamoledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/your-org/seckill/shared/driver/ledger"
)

// Tables outside the ledger: items, and what pages show and no decision needs.
const (
	TableItems   = "items"
	TableCatalog = "catalog"
)

// activeTimeout is how long a new table may take to become active.
const activeTimeout = 2 * time.Minute

// Schema declares the tables of every deployment as they are in DynamoDB: those of the ledger that have one of their
// own, items, catalog, and those that the rest of the ledger shares.
func Schema() []ledger.Table {
	alone := slices.DeleteFunc(slices.Clone(ledger.Schema), func(t ledger.Table) bool { return homes[t.Name] != "" })
	return slices.Concat(alone, own(), sharedTables())
}

// own declares the tables outside the ledger.
func own() []ledger.Table {
	return []ledger.Table{{Name: TableItems, PK: "id"}, {Name: TableCatalog, PK: "id"}}
}

// CreateTables creates the missing tables, on demand and with point-in-time recovery if the server supports it, waits
// until they are active, and runs CheckTables. It is for local servers and tests: on AWS the template creates the
// tables.
func (r *Rows) CreateTables(ctx context.Context) error {
	for _, t := range r.schema {
		_, err := r.client.CreateTable(ctx, r.createInput(t))
		var exists *types.ResourceInUseException
		if err != nil && !errors.As(err, &exists) {
			return fmt.Errorf("dynamoledger: make table %s: %w", *r.name(t.Name), err)
		}
	}
	waiter := dynamodb.NewTableExistsWaiter(r.client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 50*time.Millisecond, 2*time.Second
	})
	for _, t := range r.schema {
		name := r.name(t.Name)
		if err := waiter.Wait(ctx, &dynamodb.DescribeTableInput{TableName: name}, activeTimeout); err != nil {
			return fmt.Errorf("dynamoledger: wait for table %s: %w", *name, err)
		}
		_, err := r.client.UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{TableName: name,
			PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{
				PointInTimeRecoveryEnabled: aws.Bool(true)}})
		if err != nil && !unknownOperation(err) {
			return fmt.Errorf("dynamoledger: point-in-time recovery of table %s: %w", *name, err)
		}
		if err := r.expire(ctx, *name, t.TTL); err != nil {
			return err
		}
	}
	return r.CheckTables(ctx)
}

// expire enables TTL on an attribute, unless it is enabled: DynamoDB refuses a repetition.
func (r *Rows) expire(ctx context.Context, name, attr string) error {
	if attr == "" {
		return nil
	}
	got, err := r.expiry(ctx, name)
	if unknownOperation(err) || err == nil && got == attr {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = r.client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: &name,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &attr, Enabled: aws.Bool(true)}})
	if err != nil && !unknownOperation(err) {
		return fmt.Errorf("dynamoledger: time to live of table %s: %w", name, err)
	}
	return nil
}

// expiry returns the TTL attribute, or "" if rows do not expire.
func (r *Rows) expiry(ctx context.Context, name string) (string, error) {
	out, err := r.client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &name})
	switch {
	case err != nil:
		return "", fmt.Errorf("dynamoledger: time to live of table %s: %w", name, err)
	case out.TimeToLiveDescription == nil:
		return "", nil
	}
	switch d := out.TimeToLiveDescription; d.TimeToLiveStatus {
	case types.TimeToLiveStatusEnabled, types.TimeToLiveStatusEnabling:
		return aws.ToString(d.AttributeName), nil
	default:
		return "", nil
	}
}

func unknownOperation(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && api.ErrorCode() == "UnknownOperationException"
}

func (r *Rows) createInput(t ledger.Table) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{TableName: r.name(t.Name), BillingMode: types.BillingModePayPerRequest,
		KeySchema: keySchema(t.PK, t.SK)}
	attrs := []string{t.PK, t.SK}
	for _, x := range t.Indexes {
		projection := types.ProjectionTypeAll
		if x.KeysOnly {
			projection = types.ProjectionTypeKeysOnly
		}
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes,
			types.GlobalSecondaryIndex{IndexName: aws.String(x.Name),
				KeySchema: keySchema(x.PK, x.SK), Projection: &types.Projection{ProjectionType: projection}})
		attrs = append(attrs, x.PK, x.SK)
	}
	slices.Sort(attrs)
	for _, a := range slices.Compact(attrs) {
		if a != "" {
			in.AttributeDefinitions = append(in.AttributeDefinitions,
				types.AttributeDefinition{AttributeName: aws.String(a), AttributeType: types.ScalarAttributeTypeS})
		}
	}
	return in
}

func keySchema(pk, sk string) []types.KeySchemaElement {
	keys := []types.KeySchemaElement{{AttributeName: aws.String(pk), KeyType: types.KeyTypeHash}}
	if sk != "" {
		keys = append(keys, types.KeySchemaElement{AttributeName: aws.String(sk), KeyType: types.KeyTypeRange})
	}
	return keys
}

// CheckTables returns one error with everything that is wrong with the named tables, or with all tables if none is
// named: a missing table, another key schema, a missing or different index. The names are those in Schema and
// Options.Tables. It queries all tables concurrently.
func (r *Rows) CheckTables(ctx context.Context, names ...string) error {
	if len(names) == 0 {
		for _, t := range r.schema {
			names = append(names, t.Name)
		}
	}
	ctx, cancel := r.bound(ctx)
	defer cancel()
	errs := make([]error, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() { errs[i] = r.checkTable(ctx, name) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (r *Rows) checkTable(ctx context.Context, name string) error {
	i := slices.IndexFunc(r.schema, func(t ledger.Table) bool { return t.Name == name })
	if i < 0 {
		return fmt.Errorf("dynamoledger: no table %q", name)
	}
	want, fullName := r.schema[i], r.prefix+name
	out, err := r.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &fullName})
	var missing *types.ResourceNotFoundException
	switch {
	case errors.As(err, &missing):
		return fmt.Errorf("dynamoledger: table %s is missing", fullName)
	case err != nil:
		return fmt.Errorf("dynamoledger: describe table %s: %w", fullName, err)
	}
	kinds := map[string]string{}
	for _, d := range out.Table.AttributeDefinitions {
		kinds[aws.ToString(d.AttributeName)] = string(d.AttributeType)
	}
	var wrong []error
	complain := func(what, got, want string) {
		if got != want {
			wrong = append(wrong, fmt.Errorf("dynamoledger: table %s: %s is %s, want %s", fullName, what, got, want))
		}
	}
	complain("key", describe(out.Table.KeySchema, kinds), wantKey(want.PK, want.SK))
	indexes := map[string]types.GlobalSecondaryIndexDescription{}
	for _, x := range out.Table.GlobalSecondaryIndexes {
		indexes[aws.ToString(x.IndexName)] = x
	}
	for _, x := range want.Indexes {
		got, ok := indexes[x.Name]
		if !ok {
			complain("index "+x.Name, "missing", wantKey(x.PK, x.SK))
			continue
		}
		complain("key of index "+x.Name, describe(got.KeySchema, kinds), wantKey(x.PK, x.SK))
		if p := got.Projection; !x.KeysOnly && p != nil && p.ProjectionType != types.ProjectionTypeAll {
			complain("projection of index "+x.Name, string(p.ProjectionType), string(types.ProjectionTypeAll))
		}
	}
	if want.TTL != "" {
		got, err := r.expiry(ctx, fullName)
		if err != nil && !unknownOperation(err) {
			return err
		}
		if err == nil {
			complain("time to live", cmp.Or(got, "off"), want.TTL)
		}
	}
	return errors.Join(wrong...)
}

func wantKey(pk, sk string) string {
	if sk == "" {
		return "(" + pk + " S)"
	}
	return "(" + pk + " S, " + sk + " S)"
}

// describe formats a key schema as wantKey does, partition key first.
func describe(keys []types.KeySchemaElement, kinds map[string]string) string {
	var pk, sk []string
	for _, k := range keys {
		part := aws.ToString(k.AttributeName) + " " + kinds[aws.ToString(k.AttributeName)]
		if k.KeyType == types.KeyTypeHash {
			pk = append(pk, part)
		} else {
			sk = append(sk, part)
		}
	}
	return "(" + strings.Join(append(pk, sk...), ", ") + ")"
}
