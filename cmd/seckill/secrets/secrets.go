// Package secrets is how a stack's secrets lie in AWS Secrets Manager: below its path a secret for each audience, a
// JSON object of names to values, so that a function reads all it needs in one call, and nothing else; and one, KEYS,
// that has everything and that only the operator reads and writes. The others are made of it (ADR 20). In: calls of the
// command line tool. Out: calls of Secrets Manager.
package secrets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
)

// Names of values.
const (
	JWTSecret      = "jwt-secret"
	JWTPrefix      = "jwt-" // before a kid: the secret of tokens that name it
	RedisPassword  = "redis-password"
	ShopPrivate    = "alipay-private-key"
	ShopPublic     = "alipay-shop-public-key" // only a sandbox has it
	GatewayPrivate = "gateway-private-key"    // only a sandbox has it
	AlipayPublic   = "alipay-public-key"      // Alipay's, or the fake gateway's
	// this and the next two only in certificate mode, in the place of Alipay's public key
	AppCert    = "alipay-app-cert"
	AlipayCert = "alipay-cert"
	RootCert   = "alipay-root-cert"
)

// Keys is the secret that has everything; all others are made of it.
const Keys = "keys"

// Login is the secret of whoever signs shoppers' tokens.
const Login = "login"

// CertNames are those of certificate mode.
var CertNames = []string{AppCert, AlipayCert, RootCert}

// audiences are who reads what; JWTPrefix stands for all names that begin so.
var audiences = map[string][]string{
	Login:     {JWTPrefix},
	"buy":     {JWTPrefix, RedisPassword},
	"shop":    {JWTPrefix, RedisPassword, ShopPrivate, AlipayPublic, AppCert, AlipayCert, RootCert},
	"notify":  {AlipayPublic, AlipayCert, RootCert},
	"pay":     {ShopPrivate, AlipayPublic, AppCert, AlipayCert, RootCert}, // expire, refund, reconcile
	"stock":   {RedisPassword},                                            // consume, stage, repair
	"gateway": {GatewayPrivate, ShopPublic},
}

// Audiences gives the names of the secrets that are made of Keys, sorted.
func Audiences() []string { return slices.Sorted(maps.Keys(audiences)) }

// Of gives what an audience reads of everything.
func Of(audience string, all map[string]string) map[string]string {
	out := map[string]string{}
	for name, value := range all {
		if slices.Contains(audiences[audience], name) || strings.HasPrefix(name, JWTPrefix) &&
			slices.Contains(audiences[audience], JWTPrefix) {
			out[name] = value
		}
	}
	return out
}

// ErrMeanwhile says that somebody else made the secret that was to be made.
var ErrMeanwhile = errors.New("was made by somebody else meanwhile: repeat the command")

// DeletedError is a secret that somebody has had deleted: Secrets Manager keeps it for some days, and refuses every use
// of its name.
type DeletedError struct{ Name, Region string }

func (e *DeletedError) Error() string {
	return fmt.Sprintf(
		"the secret %[1]s is scheduled for deletion: bring it back (aws secretsmanager restore-secret --region %[2]s "+
			"--secret-id %[1]s), "+
			"and repeat the command", e.Name, e.Region)
}

// deleted gives a *DeletedError for what Secrets Manager says of a secret that is scheduled for deletion, and other
// errors as they are. It has no code of its own for that ("InvalidRequestException", AWS Secrets Manager API
// Reference).
func (s *Store) deleted(name string, err error) error {
	var invalid *types.InvalidRequestException
	if errors.As(err, &invalid) && strings.Contains(invalid.ErrorMessage(), "deletion") {
		return &DeletedError{name, s.Client.Options().Region}
	}
	return err
}

// Store is the secrets below a path.
type Store struct {
	Client *secretsmanager.Client
	Path   string
}

// Read gives what a secret has; nil when there is none. *DeletedError.
func (s *Store) Read(ctx context.Context, secret string) (map[string]string, error) {
	name := s.Path + "/" + secret
	out, err := s.Client.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &name})
	if errors.As(err, new(*types.ResourceNotFoundException)) {
		return nil, nil
	}
	if err != nil {
		return nil, s.deleted(name, err)
	}
	values := map[string]string{}
	if json.Unmarshal([]byte(aws.ToString(out.SecretString)), &values) != nil { // its error may show the text
		return nil, fmt.Errorf("the secret %s/%s is no JSON object of texts", s.Path, secret)
	}
	return values, nil
}

// Write makes a secret (isNew), or gives it another version. The SDK draws a token for each version, so that its own
// repeat of a call whose answer was lost makes no second one. ErrMeanwhile; *DeletedError.
func (s *Store) Write(ctx context.Context, secret string, values map[string]string, isNew bool) error {
	name := aws.String(s.Path + "/" + secret)
	b, err := json.Marshal(values)
	if err != nil {
		return err
	}
	if !isNew {
		_, err = s.Client.PutSecretValue(ctx, &secretsmanager.PutSecretValueInput{SecretId: name,
			SecretString: aws.String(string(b))})
		return s.deleted(*name, err)
	}
	_, err = s.Client.CreateSecret(ctx, &secretsmanager.CreateSecretInput{Name: name,
		SecretString: aws.String(string(b)),
		Description:  aws.String("Flash sale: written by seckill keys, with the others below this path; not by hand.")})
	if errors.As(err, new(*types.ResourceExistsException)) {
		have, readErr := s.Read(ctx, secret) // it is ours when the answer to the SDK's first try was lost
		switch {
		case readErr != nil:
			return readErr
		case maps.Equal(have, values):
			return nil
		}
		return fmt.Errorf("%s %w", *name, ErrMeanwhile)
	}
	return s.deleted(*name, err)
}
