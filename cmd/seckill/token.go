package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/cmd/seckill/secrets"
	"github.com/your-org/seckill/shared/api/jwtauth"
)

const defaultValid, maxValid = time.Hour, 30 * 24 * time.Hour // of a token

func tokenCommand() *cobra.Command {
	var at secretsAt
	var user string
	var valid time.Duration
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Print a shopper's token, to try a deployed stack",
		Long: `Print a token with which its bearer can shop as a user for a limited time, signed with the
stack's jwt-secret. It is for trying a stack; shoppers get theirs from the issuer that knows the
secret. The credentials need secretsmanager:GetSecretValue on PATH/login.`,
		Example: `  seckill token --path /seckill/test --user 1001
  TOKEN=$(seckill token --path /seckill/test --user 1001)
  curl -H "Authorization: Bearer $TOKEN" "$URL/order/list"`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if valid < time.Second || valid > maxValid {
				return fmt.Errorf("--valid %v: want 1s to %v", valid, maxValid)
			}
			if user == "" {
				return errors.New("--user is missing: give a user id, such as 1001")
			}
			secret, err := at.tokenSecret(cmd)
			if err != nil {
				return err
			}
			token, err := jwtauth.Sign(secret, user, time.Now().Add(valid))
			if err != nil {
				return fmt.Errorf("--user %q: want a user id, 1 to 9223372036854775807", user)
			}
			return say(cmd, "%s", token)
		},
	}
	at.flags(cmd)
	cmd.Flags().StringVar(&user, "user", "", "user id, such as 1001")
	cmd.Flags().DurationVar(&valid, "valid", defaultValid, "how long the token is valid")
	return cmd
}

// tokenSecret reads the secret that signs a stack's tokens.
func (a *secretsAt) tokenSecret(cmd *cobra.Command) (string, error) {
	store, err := a.open(cmd)
	if err != nil {
		return "", err
	}
	have, err := store.read(cmd.Context(), secrets.Login)
	if err == nil && have[secrets.JWTSecret] == "" {
		err = fmt.Errorf("region %s has no %s in the secret %s/%s: create it with \"seckill keys\"", store.region,
			secrets.JWTSecret, a.path, secrets.Login)
	}
	return have[secrets.JWTSecret], err
}
