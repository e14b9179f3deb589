//go:build real

package functions_test

import (
	"maps"
	"os"
	"testing"

	"github.com/your-org/seckill/functions/lambdatest"
	"github.com/your-org/seckill/shared/drivertest/dynamotest"
	"github.com/your-org/seckill/shared/fake/fakegateway"
)

// TestGatewayFunctionOnRealServers checks that two instances act as one gateway through the table alone.
func TestGatewayFunctionOnRealServers(t *testing.T) {
	prefix := dynamotest.Create(t, fakegateway.Table)
	env := maps.Clone(newDeployment(t).environ)
	maps.Copy(env, gatewayFields)
	env["TABLE_PREFIX"], env["AWS_ENDPOINT_URL_DYNAMODB"] = prefix, os.Getenv(dynamotest.Variable)
	start := func() *lambdatest.Function { return lambdatest.Start(t, binary(t, "gateway"), env) }
	testGateway(t, start(), start())
}
