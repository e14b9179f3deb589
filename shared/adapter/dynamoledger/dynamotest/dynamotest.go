// Package dynamotest gives tests a DynamoDB to run against: a server of this machine that e2e/servers/dynamodb.sh has
// started.
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

	"github.com/your-org/seckill/shared/adapter/dynamoledger"
	"github.com/your-org/seckill/shared/adapter/ledger"
)

// Variable names the server's address in the environment.
const Variable = "SECKILL_TEST_DYNAMODB"

// Limits of a server on a machine that is busy: DynamoDB itself is given less (dynamoledger.Options).
const (
	tryTimeout  = 30 * time.Second
	callTimeout = 2 * time.Minute
	dropTimeout = 2 * time.Minute // of the removal of a test's tables
)

// Config speaks to the test server; transport is nil, or a fault injector. Without a server the test fails.
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

// Prefix makes a prefix that no other test has.
func Prefix() string { return rand.Text() + "-" }

// Open makes empty tables, the ones that every deployment has and more, which go when the test ends.
func Open(t testing.TB, more ...ledger.Table) *dynamoledger.Rows {
	t.Helper()
	prefix := Prefix()
	rows := dynamoledger.New(Config(t, nil), dynamoledger.Options{Prefix: prefix, TryTimeout: tryTimeout,
		CallTimeout: callTimeout, Tables: more})
	if err := rows.CreateTables(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { Drop(t, prefix, more...) })
	return rows
}

// Drop removes all tables with a prefix, those that Open was given too.
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

// DropTable removes a table. One that is gone is none: the SDK repeats a call whose answer was lost on the way, as
// happens on a busy machine.
func DropTable(ctx context.Context, client *dynamodb.Client, name string) error {
	_, err := client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &name})
	if errors.As(err, new(*types.ResourceNotFoundException)) {
		return nil
	}
	return err
}
