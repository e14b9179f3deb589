// Package secrets stores a stack's secrets in AWS Secrets Manager. Below the stack's path there is a secret for each
// audience, a JSON object of names and values, so that a function reads exactly what it needs in one call. The secret
// Keys has all values; only the operator reads and writes it, and all others are copies of its parts (ADR 20).
package secrets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
)

// Names of values.
const (
	JWTSecret      = "jwt-secret"
	JWTPrefix      = "jwt-"              // before a key id: the secret of tokens with this id
	AudienceFrom   = "jwt-audience-from" // no secret: when tokens without an audience become invalid, if ever
	TicketSecret   = "ticket-secret"     // keys of tickets, as jwtauth.TicketKeys writes them
	CommandKey     = "command-key"       // signs staff's commands, as operator.Keys writes it
	CommandPublic  = "command-public-key"
	RedisPassword  = "redis-password"
	StaffSecret    = "staff-client-secret"   // secret of the back office's client at the issuer of staff
	SignInSecrets  = "signin-client-secrets" // of the shop's clients at shoppers' issuers, for those that have one
	ShopPrivate    = "alipay-private-key"
	ShopPublic     = "alipay-shop-public-key" // only a sandbox has it
	GatewayPrivate = "gateway-private-key"    // only a sandbox has it
	AlipayPublic   = "alipay-public-key"      // public key of Alipay or the fake gateway
	// this and the next two: only in certificate mode, instead of AlipayPublic
	AppCert    = "alipay-app-cert"
	AlipayCert = "alipay-cert"
	RootCert   = "alipay-root-cert"
	// only in a shop with a webhook: signs what is posted; two secrets, separated by a space, while one replaces the
	// other
	WebhookSecret = "webhook-secret"
	ReportSalts   = "report-salts" // only of a shop that shows salts of reports, as package salts writes it
)

// Keys is the secret with all values; all others are copies of its parts.
const Keys = "keys"

// Login is the name of the secret for the issuer of shoppers' tokens.
const Login = "login"

// CertNames are the names of certificate mode.
var CertNames = []string{AppCert, AlipayCert, RootCert}

// audiences has the names that each audience reads; JWTPrefix stands for all names with this prefix.
var audiences = map[string][]string{
	Login:    {JWTPrefix}, // also connect
	"buy":    {JWTPrefix, TicketSecret, RedisPassword},
	"admit":  {JWTPrefix, TicketSecret},
	"shop":   {JWTPrefix, RedisPassword, ShopPrivate, AlipayPublic, AppCert, AlipayCert, RootCert, ReportSalts},
	"notify": {AlipayPublic, AlipayCert, RootCert},
	"pay":    {ShopPrivate, AlipayPublic, AppCert, AlipayCert, RootCert}, // expire
	// refund, reconcile: they execute commands
	"refund":  {ShopPrivate, AlipayPublic, AppCert, AlipayCert, RootCert, CommandPublic},
	"payment": {JWTPrefix, ShopPrivate, AlipayPublic, AppCert, AlipayCert, RootCert}, // pay: it knows who pays
	"signin":  {JWTPrefix, SignInSecrets},                                            // no other function has them
	"stock":   {RedisPassword},                                                       // consume
	"stage":   {RedisPassword, CommandPublic},                                        // stage, repair
	"gateway": {GatewayPrivate, ShopPublic},
	"deliver": {WebhookSecret, CommandPublic},
	"command": {CommandPublic},           // tell, acts
	"admin":   {CommandKey, StaffSecret}, // nobody else can sign
}

// Newest is the secret that earlier releases did not have. The guard of deployments looks for it.
const Newest = "admin"

// Audiences returns the names of the secrets besides Keys, sorted.
func Audiences() []string { return slices.Sorted(maps.Keys(audiences)) }

// Of returns an audience's part of all values.
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

// ErrMeanwhile: another caller created the secret first.
var ErrMeanwhile = errors.New("was created by another caller meanwhile: repeat the command")

// ErrNotText: a value is not UTF-8, so that JSON would change it.
var ErrNotText = errors.New("is not text in UTF-8: nothing was stored")

// DeletedError is a secret that is scheduled for deletion: Secrets Manager keeps it for some days, and refuses every
// use of its name.
type DeletedError struct{ Name, Region string }

func (e *DeletedError) Error() string {
	return fmt.Sprintf(
		"the secret %[1]s is scheduled for deletion: restore it (aws secretsmanager restore-secret --region %[2]s "+
			"--secret-id %[1]s), "+
			"and repeat the command", e.Name, e.Region)
}

// deleted converts Secrets Manager's error for a secret that is scheduled for deletion to a *DeletedError, and returns
// other errors unchanged. That error has no code of its own ("InvalidRequestException", AWS Secrets Manager API
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

// Read returns a secret's values, nil if there is no such secret. For a deleted secret the error is a *DeletedError.
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
	if json.Unmarshal([]byte(aws.ToString(out.SecretString)), &values) != nil { // its error may contain the secret
		return nil, fmt.Errorf("the secret %s/%s is not a JSON object of strings", s.Path, secret)
	}
	return values, nil
}

// Write creates a secret (isNew), or adds a version to it. The SDK sends a token with each version, so that its retry
// after a lost response adds no second version. Errors are ErrNotText, ErrMeanwhile and *DeletedError.
func (s *Store) Write(ctx context.Context, secret string, values map[string]string, isNew bool) error {
	for name, value := range values {
		if !utf8.ValidString(value) {
			return fmt.Errorf("%s %w", name, ErrNotText)
		}
	}
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
		Description:  aws.String("Flash sale: written by seckill keys, with the others below this path. Do not edit.")})
	if errors.As(err, new(*types.ResourceExistsException)) {
		have, readErr := s.Read(ctx, secret) // perhaps by the SDK's own first try, whose answer was lost
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
