//go:build e2e

package suite

import (
	"context"
	"net/http/httptest"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/your-org/seckill/cmd/seckill/office"
	"github.com/your-org/seckill/cmd/seckill/office/officetest"
)

// office returns what sends commands to the stack's back office, signed as the tool does it. On AWS they go to the API.
// Stand-ins check no signatures and tell function admin no caller, so there a gateway of this process does both, and
// makes the deployed function handle what API Gateway would send.
func (s *stack) office(cfg aws.Config) (func(ctx context.Context, event []byte) ([]byte, error), error) {
	const account = "000000000000"
	o, err := office.Open(cfg, account, s.Outputs["ApiId"], s.Outputs["ApiStage"])
	if err != nil {
		return nil, err
	}
	if s.Endpoint != "" {
		o.Address = httptest.NewServer(&officetest.Gateway{Region: s.Region, // for as long as the suite runs
			Callers: map[string]officetest.Caller{"test": {Secret: "test", Account: account,
				ARN: "arn:aws:iam::" + account + ":user/suite"}},
			Admin: func(ctx context.Context, event []byte) ([]byte, error) {
				return s.invoke(ctx, "AdminFunction", event)
			}}).URL + "/live"
	}
	return func(ctx context.Context, event []byte) ([]byte, error) {
		role, err := office.Least(event)
		if err != nil {
			return nil, err
		}
		return o.Call(ctx, role, event)
	}, nil
}
