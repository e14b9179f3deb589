//go:build real

package functions_test

import (
	"maps"
	"os"
	"testing"

	"github.com/your-org/seckill/functions/lambdatest"
	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/dynamotest"
	"github.com/your-org/seckill/shared/fake/fakegateway"
)

// TestGatewayFunctionOnRealServers checks that two instances act as one gateway through the table alone.
func TestGatewayFunctionOnRealServers(t *testing.T) {
	prefix := dynamotest.Prefix()
	t.Cleanup(func() { dynamotest.Drop(t, prefix, fakegateway.Table) })
	rows := dynamoledger.New(dynamotest.Config(t, nil), dynamoledger.Options{Prefix: prefix,
		Tables: []ledger.Table{fakegateway.Table}})
	if err := rows.CreateTables(t.Context()); err != nil {
		t.Fatal(err)
	}
	env := maps.Clone(newDeployment(t).environ)
	maps.Copy(env, gatewayFields)
	env["TABLE_PREFIX"], env["AWS_ENDPOINT_URL_DYNAMODB"] = prefix, os.Getenv(dynamotest.Variable)
	start := func() *lambdatest.Function { return lambdatest.Start(t, binary(t, "gateway"), env) }
	testGateway(t, start(), start())
}
