package aws

import (
	"context"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/your-org/seckill/shared/driver/config"
)

// awsConfig reads the AWS settings that Lambda gives a function: region and credentials, which are valid for the
// instance's lifetime; and the URLs that local stand-ins set (AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_SQS, …). The SDK's
// own loader also supports profiles, single sign-on, roles and instance metadata: a function has none of them, and
// they cost each cold start two milliseconds and a mebibyte.
func awsConfig(environ map[string]string) (sdk.Config, error) {
	var missing config.Problems
	for _, name := range []string{"AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		if environ[name] == "" {
			missing = append(missing, name+" is missing")
		}
	}
	if len(missing) > 0 {
		return sdk.Config{}, missing
	}
	cfg := sdk.Config{
		HTTPClient: awshttp.NewBuildableClient(), // shared by all clients, so that two queues share connections
		Region:     environ["AWS_REGION"],
		Credentials: credentials.NewStaticCredentialsProvider(environ["AWS_ACCESS_KEY_ID"],
			environ["AWS_SECRET_ACCESS_KEY"], environ["AWS_SESSION_TOKEN"]),
		ConfigSources: []any{endpoints(environ)},
	}
	if all := environ["AWS_ENDPOINT_URL"]; all != "" {
		cfg.BaseEndpoint = &all
	}
	return cfg, nil
}

// endpoints are the variables with the URL of one service.
type endpoints map[string]string

// GetServiceBaseEndpoint implements the interface through which service clients read their URL.
func (e endpoints) GetServiceBaseEndpoint(_ context.Context, service string) (string, bool, error) {
	url := e["AWS_ENDPOINT_URL_"+strings.ToUpper(strings.ReplaceAll(service, " ", "_"))]
	return url, url != "", nil
}
