package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/spf13/cobra"
)

// Names of a stack's secrets below its path, as template.yaml reads them.
const (
	jwtSecret      = "jwt-secret"
	shopPrivate    = "alipay-private-key"
	shopPublic     = "alipay-shop-public-key" // only a sandbox stores it
	gatewayPrivate = "gateway-private-key"    // only a sandbox has it
	alipayPublic   = "alipay-public-key"      // Alipay's, or the fake gateway's
	appCert        = "alipay-app-cert"        // this and the next two only in certificate mode, in the place of Alipay's public key
	alipayCert     = "alipay-cert"
	rootCert       = "alipay-root-cert"
)

// certNames are those of certificate mode.
var certNames = []string{appCert, alipayCert, rootCert}

// parameterPath is what Systems Manager allows as the names above a parameter, less a few of its own.
var parameterPath = regexp.MustCompile(`^(/[A-Za-z0-9_.-]{1,100}){1,10}$`)

// secretsAt holds the flags that say which stack's secrets are meant.
type secretsAt struct {
	path string
	target
}

func (a *secretsAt) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.path, "path", "", "path of the stack's secrets, its parameter SecretsPath, such as /seckill/default")
	f.StringVar(&a.region, "region", "", "AWS region (else AWS_REGION, or the profile's)")
	f.StringVar(&a.profile, "profile", "", "profile of the AWS configuration (else AWS_PROFILE, or the default one)")
}

// parameters are SecureStrings below a path.
type parameters struct {
	client       *ssm.Client
	path, region string
	wait         waiting
}

// open finds region and credentials; it asks nothing of Systems Manager.
func (a *secretsAt) open(cmd *cobra.Command) (*parameters, error) {
	if !parameterPath.MatchString(a.path) {
		return nil, fmt.Errorf("--path %q: want the path of the stack's secrets, such as /seckill/default", a.path)
	}
	p := &parameters{path: a.path, wait: waitingOn(cmd.ErrOrStderr())}
	return p, p.call(cmd.Context(), func(ctx context.Context) error {
		cfg, err := awsConfig(ctx, &a.target)
		if ctx.Err() != nil {
			return awsFault(ctx.Err(), cfg.Region, "") // otherwise it would be the credentials' fault
		}
		p.client, p.region = ssm.NewFromConfig(cfg), cfg.Region
		return err
	})
}

func (p *parameters) call(ctx context.Context, f func(context.Context) error) error {
	return p.wait.during("AWS", func() error {
		ctx, cancel := context.WithTimeout(ctx, lookTimeout)
		defer cancel()
		return f(ctx)
	})
}

func (p *parameters) name(short string) string { return p.path + "/" + short }

// read gives the values of at most ten parameters; those that do not exist are missing.
func (p *parameters) read(ctx context.Context, names ...string) (map[string]string, error) {
	values := map[string]string{}
	in := &ssm.GetParametersInput{WithDecryption: aws.Bool(true)}
	short := map[string]string{}
	for _, n := range names {
		in.Names = append(in.Names, p.name(n))
		short[p.name(n)] = n
	}
	err := p.call(ctx, func(ctx context.Context) error {
		out, err := p.client.GetParameters(ctx, in)
		if err != nil {
			return awsFault(err, p.region, "")
		}
		for _, v := range out.Parameters {
			values[short[aws.ToString(v.Name)]] = aws.ToString(v.Value)
		}
		return nil
	})
	return values, err
}

// write stores a parameter. Without replace one that is there by now is an error. A certificate may be longer than a standard parameter, 4 KB: then it
// becomes an advanced one, 8 KB, which costs some cents a month.
func (p *parameters) write(ctx context.Context, name, value string, replace bool) error {
	err := p.call(ctx, func(ctx context.Context) error {
		full := p.name(name)
		in := &ssm.PutParameterInput{Name: &full, Value: &value, Type: types.ParameterTypeSecureString, Overwrite: &replace}
		if slices.Contains(certNames, name) {
			in.Tier = types.ParameterTierIntelligentTiering
		}
		_, err := p.client.PutParameter(ctx, in)
		return err
	})
	if errors.As(err, new(*types.ParameterAlreadyExists)) {
		// It is ours when the answer to the SDK's first try was lost.
		have, readErr := p.read(ctx, name)
		if readErr != nil {
			return readErr
		}
		if have[name] == value {
			return nil
		}
		return fmt.Errorf("%s was made by somebody else meanwhile: repeat the command", p.name(name))
	}
	if err != nil {
		return awsFault(err, p.region, fmt.Sprintf("; %s may have been stored, and the command can be repeated", p.name(name)))
	}
	return nil
}
