package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"go.yaml.in/yaml/v3"

	"github.com/your-org/seckill/infra/stackstate"
)

// itself is the parameter that receives the hash.
const itself = "Deployment"

func deploymentMain(args []string) error {
	flags := flag.NewFlagSet("deployment", flag.ExitOnError)
	built := flags.String("built", "", "`folder` that was built")
	stack := flags.String("stack", "", "its name")
	region := flags.String("region", "", "where it is")
	if flags.Parse(args) != nil || *built == "" || *stack == "" || *region == "" {
		return errUsage
	}
	hash, err := deployment(context.Background(), *built, *stack, *region, flags.Args())
	if err != nil {
		return err
	}
	fmt.Println(hash)
	return nil
}

func deployment(ctx context.Context, built, stack, region string, given []string) (string, error) {
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(region))
	if err != nil {
		return "", err
	}
	files := os.DirFS(built)
	params, err := defaults(files)
	if err != nil {
		return "", err
	}
	has, err := deployed(ctx, cfg, stack)
	if err != nil {
		return "", err
	}
	maps.Copy(params, has)
	for _, g := range given {
		name, value, ok := strings.Cut(g, "=")
		if !ok {
			return "", fmt.Errorf("%q is not a KEY=VALUE", g)
		}
		params[name] = value
	}
	return hash(files, params)
}

// defaults returns a new stack's default parameters, so that its second deployment is the
// same as its first.
func defaults(built fs.FS) (map[string]string, error) {
	text, err := fs.ReadFile(built, "template.yaml")
	if err != nil {
		return nil, fmt.Errorf("nothing is built there: make functions: %w", err)
	}
	var t struct {
		Parameters map[string]struct {
			Default string `yaml:"Default"`
		} `yaml:"Parameters"`
	}
	if err := yaml.Unmarshal(text, &t); err != nil {
		return nil, err
	}
	params := map[string]string{}
	for name, p := range t.Parameters {
		params[name] = p.Default
	}
	return params, nil
}

// deployed returns the stack's parameters; none if there is no such stack.
func deployed(ctx context.Context, cfg aws.Config, stack string) (map[string]string, error) {
	found, err := stackstate.Find(ctx, cloudformation.NewFromConfig(cfg), stack)
	if err != nil {
		return nil, err
	}
	params := map[string]string{}
	if found == nil {
		return params, nil
	}
	for _, p := range found.Parameters {
		params[aws.ToString(p.ParameterKey)] = aws.ToString(p.ParameterValue)
	}
	return params, nil
}

// hash returns a hash of the names and contents of all files, and of the parameters, each prefixed with its length.
func hash(built fs.FS, params map[string]string) (string, error) {
	h := sha256.New()
	files := 0
	err := fs.WalkDir(built, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if name := d.Name(); name != "bootstrap" && filepath.Ext(name) != ".yaml" {
			return nil
		}
		f, err := built.Open(path)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		files++
		_, _ = fmt.Fprintf(h, "%d %s %d ", len(path), path, info.Size())
		_, err = io.Copy(h, f)
		return err
	})
	if err == nil && files == 0 {
		err = errors.New("nothing is built there: make functions")
	}
	delete(params, itself)
	delete(params, "Protect") // no function reads it
	for _, name := range slices.Sorted(maps.Keys(params)) {
		_, _ = fmt.Fprintf(h, "%d %s %d %s ", len(name), name, len(params[name]), params[name])
	}
	return fmt.Sprintf("%x", h.Sum(nil)), err
}
