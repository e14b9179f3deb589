// Package provision creates a stack's tables and queues where no template does: on servers that a test or a run on one
// machine starts. It also compares tables with their declaration, there and on AWS. No function needs it. In: clients
// of DynamoDB and SQS. Out: requests to them.
package provision

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

	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/ledger"
)

const (
	activeTimeout = 2 * time.Minute // how long a new table may take to become active
	checkTimeout  = 5 * time.Second // of one check
)

// Tables are the tables of every deployment (dynamoledger.Schema), and more.
type Tables struct {
	Client *dynamodb.Client
	Prefix string // of each table's name
	More   []ledger.Table
}

func (p *Tables) all() []ledger.Table { return slices.Concat(dynamoledger.Schema(), p.More) }

// Create creates the missing tables, on demand and with point-in-time recovery if the server supports it, waits
// until they are active, and runs Check.
func (p *Tables) Create(ctx context.Context) error {
	for _, t := range p.all() {
		_, err := p.Client.CreateTable(ctx, p.createInput(t))
		var exists *types.ResourceInUseException
		if err != nil && !errors.As(err, &exists) {
			return fmt.Errorf("provision: make table %s: %w", p.Prefix+t.Name, err)
		}
	}
	waiter := dynamodb.NewTableExistsWaiter(p.Client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 50*time.Millisecond, 2*time.Second
	})
	for _, t := range p.all() {
		name := aws.String(p.Prefix + t.Name)
		if err := waiter.Wait(ctx, &dynamodb.DescribeTableInput{TableName: name}, activeTimeout); err != nil {
			return fmt.Errorf("provision: wait for table %s: %w", *name, err)
		}
		_, err := p.Client.UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{TableName: name,
			PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{
				PointInTimeRecoveryEnabled: aws.Bool(true)}})
		if err != nil && !unknownOperation(err) {
			return fmt.Errorf("provision: point-in-time recovery of table %s: %w", *name, err)
		}
		if err := p.expire(ctx, *name, t.TTL); err != nil {
			return err
		}
	}
	return p.Check(ctx)
}

// expire enables TTL on an attribute, unless it is enabled: DynamoDB refuses a repetition.
func (p *Tables) expire(ctx context.Context, name, attr string) error {
	if attr == "" {
		return nil
	}
	got, err := p.expiry(ctx, name)
	if unknownOperation(err) || err == nil && got == attr {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = p.Client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: &name,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &attr, Enabled: aws.Bool(true)}})
	if err != nil && !unknownOperation(err) {
		return fmt.Errorf("provision: time to live of table %s: %w", name, err)
	}
	return nil
}

// expiry returns the TTL attribute, or "" if rows do not expire.
func (p *Tables) expiry(ctx context.Context, name string) (string, error) {
	out, err := p.Client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &name})
	switch {
	case err != nil:
		return "", fmt.Errorf("provision: time to live of table %s: %w", name, err)
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

func (p *Tables) createInput(t ledger.Table) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{TableName: aws.String(p.Prefix + t.Name), KeySchema: keySchema(t.PK, t.SK),
		BillingMode: types.BillingModePayPerRequest}
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

// Check returns one error with everything that is wrong with the named tables, or with all tables if none is named: a
// missing table, another key schema, a missing or different index. It asks for all tables concurrently.
func (p *Tables) Check(ctx context.Context, names ...string) error {
	if len(names) == 0 {
		for _, t := range p.all() {
			names = append(names, t.Name)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	errs := make([]error, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() { errs[i] = p.checkTable(ctx, name) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (p *Tables) checkTable(ctx context.Context, name string) error {
	all := p.all()
	i := slices.IndexFunc(all, func(t ledger.Table) bool { return t.Name == name })
	if i < 0 {
		return fmt.Errorf("provision: no table %q", name)
	}
	want, fullName := all[i], p.Prefix+name
	out, err := p.Client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &fullName})
	var missing *types.ResourceNotFoundException
	switch {
	case errors.As(err, &missing):
		return fmt.Errorf("provision: table %s is missing", fullName)
	case err != nil:
		return fmt.Errorf("provision: describe table %s: %w", fullName, err)
	}
	kinds := map[string]string{}
	for _, d := range out.Table.AttributeDefinitions {
		kinds[aws.ToString(d.AttributeName)] = string(d.AttributeType)
	}
	var wrong []error
	complain := func(what, got, want string) {
		if got != want {
			wrong = append(wrong, fmt.Errorf("provision: table %s: %s is %s, want %s", fullName, what, got, want))
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
		got, err := p.expiry(ctx, fullName)
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
