package audit_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/proof/record"
)

// silent never answers.
type silent struct{}

func (silent) Do(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestBrokenOffScanEnds: a cancelled scan returns the context's error, however its readers end.
func TestBrokenOffScanEnds(t *testing.T) {
	client := dynamodb.New(dynamodb.Options{Region: "us-east-1", HTTPClient: silent{},
		Credentials:  credentials.NewStaticCredentialsProvider("a", "b", ""),
		BaseEndpoint: aws.String("http://localhost")})
	for range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := audit.ReadTable(ctx, client, "seckill-", "orders", func(*record.Line) error { return nil })
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
}
