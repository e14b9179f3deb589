// Command stackfile writes the end-to-end suite's description of a deployed stack, a JSON file, and prints the URL of
// the stack's API. With -environment it also writes the environment of the stack's functions in the format of `sam
// local`.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
)

// deadline is for all calls together: a stand-in for AWS on a busy machine answers slowly.
const deadline = 2 * time.Minute

// file is the JSON that the suite reads.
type file struct {
	Outputs  map[string]string `json:"outputs"`
	URL      string            `json:"url"`      // of the API, without a slash at its end
	Redis    string            `json:"redis"`    // host:port as the suite reaches it; empty if it cannot
	Region   string            `json:"region"`   // of the stack
	Endpoint string            `json:"endpoint"` // of AWS's stand-in; empty means AWS itself
	// shell command that freezes or kills (action $2) the processes of the function named $1; empty if no command can
	Kill string `json:"kill"`
	// shell command that deploys the stack again with the parameters Key=Value that follow it; empty if no command can
	Update string `json:"update"`
	Limits string `json:"limits"` // how much the target stands: small or full
	Target string `json:"target"` // its name, for what is skipped
}

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "stackfile:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	f := file{Endpoint: os.Getenv("AWS_ENDPOINT_URL")}
	stack := flag.String("stack", "", "`name` of the stack")
	out := flag.String("o", "", "`file` to write")
	environment := flag.String("environment", "", "`file` to write with the functions' environment")
	flag.StringVar(&f.URL, "url", "{Url}", "address of the API; {X} is the stack's output X")
	flag.StringVar(&f.Redis, "redis", "", "host:port as the suite reaches it; {X} is the stack's output X")
	flag.StringVar(&f.Kill, "kill", "", "shell command: kill.sh for the function named $1, with the action $2")
	flag.StringVar(&f.Update, "update", "", "shell command that deploys the stack again with more parameters")
	flag.StringVar(&f.Limits, "limits", "small", "small or full")
	flag.StringVar(&f.Target, "target", "", "`name` of the target")
	flag.Parse()
	if *stack == "" || *out == "" || flag.NArg() > 0 {
		return errors.New("want -stack and -o, and no arguments")
	}
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	f.Region = cfg.Region
	if f.Outputs, err = outputs(ctx, cfg, *stack); err != nil {
		return err
	}
	for _, address := range []*string{&f.URL, &f.Redis} {
		if *address, err = expand(*address, f.Outputs); err != nil {
			return err
		}
	}
	if err := write(*out, f); err != nil {
		return err
	}
	if *environment != "" {
		all, err := environments(ctx, cfg, f.Outputs)
		if err != nil {
			return err
		}
		if err := write(*environment, all); err != nil {
			return err
		}
	}
	fmt.Println(f.URL)
	return nil
}

func outputs(ctx context.Context, cfg aws.Config, stack string) (map[string]string, error) {
	out, err := cloudformation.NewFromConfig(cfg).DescribeStacks(ctx,
		&cloudformation.DescribeStacksInput{StackName: &stack})
	if err != nil {
		return nil, err
	}
	if len(out.Stacks) != 1 {
		return nil, fmt.Errorf("%d stacks have the name %s", len(out.Stacks), stack)
	}
	all := map[string]string{}
	for _, o := range out.Stacks[0].Outputs {
		all[aws.ToString(o.OutputKey)] = aws.ToString(o.OutputValue)
	}
	return all, nil
}

// expand replaces names in braces by outputs.
func expand(s string, outputs map[string]string) (string, error) {
	for k, v := range outputs {
		s = strings.ReplaceAll(s, "{"+k+"}", v)
	}
	if strings.ContainsAny(s, "{}") {
		return "", fmt.Errorf("the stack lacks an output that %s needs", s)
	}
	return s, nil
}

// environments returns each function's environment, by logical id: the outputs that end in Function are functions'
// names.
func environments(ctx context.Context, cfg aws.Config, outputs map[string]string) (map[string]map[string]string,
	error) {
	client := lambda.NewFromConfig(cfg)
	all := map[string]map[string]string{}
	for id, name := range outputs {
		if !strings.HasSuffix(id, "Function") {
			continue
		}
		f, err := client.GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{FunctionName: &name})
		if err != nil {
			return nil, err
		}
		if f.Environment != nil {
			all[id] = f.Environment.Variables
		}
	}
	return all, nil
}

func write(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o600)
}
