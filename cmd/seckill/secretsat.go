package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/spf13/cobra"

	"github.com/your-org/seckill/cmd/seckill/secrets"
)

// secretPath is the pattern of template.yaml's parameter SecretsPath. Secrets Manager allows more characters.
var secretPath = regexp.MustCompile(`^(/[A-Za-z0-9_.-]{1,100}){1,4}$`)

// secretsAt holds the flags that name a stack's secrets.
type secretsAt struct {
	path string
	target
}

func (a *secretsAt) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.path, "path", "",
		"path of the stack's secrets (its parameter SecretsPath), such as /seckill/default")
	a.onAWS(f.StringVar)
}

// vault is a stack's secrets in Secrets Manager.
type vault struct {
	store        secrets.Store
	path, region string
	wait         waiting
}

// open finds region and credentials. It does not call Secrets Manager.
func (a *secretsAt) open(cmd *cobra.Command) (*vault, error) {
	if !secretPath.MatchString(a.path) {
		return nil, fmt.Errorf("--path %q: want the path of the stack's secrets, such as /seckill/default", a.path)
	}
	v := &vault{path: a.path, wait: waitingOn(cmd.ErrOrStderr())}
	return v, v.call(cmd.Context(), func(ctx context.Context) error {
		cfg, err := awsConfig(ctx, &a.target)
		if ctx.Err() != nil {
			return awsFault(ctx.Err(), cfg.Region, "") // not err, which would blame the credentials
		}
		v.store, v.region = secrets.Store{Client: secretsmanager.NewFromConfig(cfg), Path: a.path}, cfg.Region
		return err
	})
}

func (v *vault) call(ctx context.Context, f func(context.Context) error) error {
	return v.wait.during("AWS", func() error {
		ctx, cancel := context.WithTimeout(ctx, lookTimeout)
		defer cancel()
		return f(ctx)
	})
}

// read returns a secret's values, or nil if there is no such secret.
func (v *vault) read(ctx context.Context, secret string) (values map[string]string, err error) {
	return values, v.call(ctx, func(ctx context.Context) error {
		if values, err = v.store.Read(ctx, secret); err != nil {
			return awsFault(err, v.region, "")
		}
		return nil
	})
}

// everything returns all values, and the existing secrets by name. It is an error if Keys is missing and others exist:
// they may be in use, and new values would replace theirs.
func (v *vault) everything(ctx context.Context) (all map[string]string, there map[string]map[string]string, err error) {
	there = map[string]map[string]string{}
	for _, secret := range append(secrets.Audiences(), secrets.Keys) {
		values, err := v.read(ctx, secret)
		if err != nil {
			return nil, nil, err
		}
		if values != nil {
			there[secret] = values
		}
	}
	if all = there[secrets.Keys]; all == nil && len(there) > 0 {
		return nil, nil, fmt.Errorf(
			"%s/%s is missing, but %s/%s exists: restore it (aws secretsmanager restore-secret), or delete the others",
			v.path, secrets.Keys, v.path, slices.Sorted(maps.Keys(there))[0])
	}
	return all, there, nil
}

// write stores all values in Keys, and then those of each audience, where they differ. If it breaks off, a repetition
// completes it, because Keys is written first and determines all others.
func (v *vault) write(ctx context.Context, all map[string]string, there map[string]map[string]string) (written []string,
	err error) {
	put := func(secret string, values map[string]string) error {
		have, exists := there[secret]
		if maps.Equal(have, values) && exists || len(values) == 0 && !exists {
			return nil
		}
		err := v.call(ctx, func(ctx context.Context) error { return v.store.Write(ctx, secret, values, !exists) })
		switch {
		case errors.Is(err, secrets.ErrMeanwhile), errors.Is(err, secrets.ErrNotText):
			return err
		case errors.As(err, new(*secrets.DeletedError)):
			return faultError{err}
		case err != nil:
			return awsFault(err, v.region, fmt.Sprintf("; %s/%s may have been stored, and the command can be repeated",
				v.path, secret))
		}
		written = append(written, secret)
		return nil
	}
	if err := put(secrets.Keys, all); err != nil {
		return written, err
	}
	// The secret that a deployment looks for comes last: once it is there, all others are there, too.
	others := slices.DeleteFunc(secrets.Audiences(), func(a string) bool { return a == secrets.Newest })
	for _, audience := range append(others, secrets.Newest) {
		if err := put(audience, secrets.Of(audience, all)); err != nil {
			return written, err
		}
	}
	return written, nil
}
