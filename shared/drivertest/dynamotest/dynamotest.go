// Package dynamotest connects tests to the DynamoDB-compatible server that e2e/servers/dynamodb.sh started on this
// machine.
package dynamotest

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/provision"
)

// Variable is the environment variable with the server's URL.
const Variable = "SECKILL_TEST_DYNAMODB"

// Limits for a server on a busy machine; with DynamoDB itself calls get less time (dynamoledger.Options).
const (
	tryTimeout  = 30 * time.Second
	callTimeout = 2 * time.Minute
	dropTimeout = 2 * time.Minute // removing a test's tables
)

// Config returns a configuration for the test server. transport is nil or injects faults. It fails the test if there
// is not a server.
func Config(t testing.TB, transport http.RoundTripper) aws.Config {
	t.Helper()
	endpoint := os.Getenv(Variable)
	if endpoint == "" {
		t.Fatalf("%s is not set: it is the endpoint that `e2e/servers/dynamodb.sh start DIR` prints", Variable)
	}
	cfg := aws.Config{Region: "eu-west-1", BaseEndpoint: &endpoint,
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")}
	if transport != nil {
		cfg.HTTPClient = &http.Client{Transport: transport}
	}
	return cfg
}

// Prefix returns a prefix that no other test has.
func Prefix() string { return rand.Text() + "-" }

// Open creates empty tables, those of every deployment and more, and removes them when the test ends.
func Open(t testing.TB, more ...ledger.Table) *dynamoledger.Rows {
	t.Helper()
	return dynamoledger.New(Config(t, nil), dynamoledger.Options{Prefix: Create(t, more...), TryTimeout: tryTimeout,
		CallTimeout: callTimeout, Tables: more})
}

// Create is Open without a driver: it returns the tables' prefix.
func Create(t testing.TB, more ...ledger.Table) (prefix string) {
	t.Helper()
	prefix = Prefix()
	tables := provision.Tables{Client: dynamodb.NewFromConfig(Config(t, nil)), Prefix: prefix, More: more}
	if err := tables.Create(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { Drop(t, prefix, more...) })
	return prefix
}

// Drop removes all tables with a prefix, including those given to Open.
func Drop(t testing.TB, prefix string, more ...ledger.Table) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), dropTimeout)
	defer cancel()
	client := dynamodb.NewFromConfig(Config(t, nil))
	for _, table := range slices.Concat(dynamoledger.Schema(), more) {
		if err := DropTable(ctx, client, prefix+table.Name); err != nil {
			t.Errorf("remove table %s%s: %v", prefix, table.Name, err)
		}
	}
}

// DropTable removes a table. A missing table is not an error, because the SDK repeats a call whose answer was lost,
// which happens on a busy machine.
func DropTable(ctx context.Context, client *dynamodb.Client, name string) error {
	_, err := client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &name})
	if errors.As(err, new(*types.ResourceNotFoundException)) {
		return nil
	}
	return err
}
