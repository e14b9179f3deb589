package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/smithy-go"
	"go.yaml.in/yaml/v3"

	"github.com/your-org/seckill/infra/edge"
	"github.com/your-org/seckill/infra/plan"
	"github.com/your-org/seckill/infra/stackstate"
)

const (
	template, wallTemplate = "infra/edge.yaml", "infra/wall.yaml"
	home                   = "us-east-1" // the only region for CloudFront's web ACLs and certificates
	// cdnPatience is long because every location of CloudFront gets the change, and a deletion disables it first.
	cdnPatience = 45 * time.Minute
	soon        = time.Second // between looks at the stack, and at most
	often       = 15 * time.Second
)

// cdn is one run of the command.
type cdn struct {
	stack, region, key string
	share              int
	subdomains         string                 // whether HSTS covers them: true or false
	cfn                *cloudformation.Client // in home
	behind             *cloudformation.Client // in region
	api                *apigateway.Client
}

func cdnMain(args []string) error {
	var c cdn
	flags := flag.NewFlagSet("cdn", flag.ExitOnError)
	flags.StringVar(&c.stack, "stack", "", "`name` of the stack behind it")
	flags.StringVar(&c.region, "region", "", "where that stack is")
	flags.StringVar(&c.key, "key", "", "which of its two keys the CDN sends: a or b (default the one it sends, else a)")
	flags.IntVar(&c.share, "share", 0, "`percent` of the throttles that one network address may use, 1 to 25 (default "+
		"that of the CDN, else 10)")
	flags.StringVar(&c.subdomains, "subdomains", "", "`true` if HSTS covers the subdomains of the shop's name, or false "+
		"(default as the CDN has it, else false)")
	if len(args) == 0 || flags.Parse(args[1:]) != nil || c.stack == "" || c.region == "" ||
		!slices.Contains([]string{"", "a", "b"}, c.key) ||
		!slices.Contains([]string{"", "true", "false"}, c.subdomains) {
		return errUsage
	}
	return c.run(context.Background(), args[0], flags.Args())
}

func (c *cdn) run(ctx context.Context, action string, given []string) error {
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(c.region))
	if err != nil {
		return err
	}
	c.behind, c.api = cloudformation.NewFromConfig(cfg), apigateway.NewFromConfig(cfg)
	c.cfn = cloudformation.NewFromConfig(cfg, func(o *cloudformation.Options) { o.Region = home })
	found, err := stackstate.Find(ctx, c.cfn, c.name())
	if err != nil {
		return err
	}
	switch {
	case action == "deploy":
		if err := c.deploy(ctx, found, given); err != nil {
			return err
		}
		found, err = stackstate.Find(ctx, c.cfn, c.name())
		if err == nil && found != nil && stackstate.Parameter(found, "DomainName") != "" {
			fmt.Fprintf(os.Stderr, "%s has to lead to %s (a CNAME record)\n", stackstate.Parameter(found, "DomainName"),
				stackstate.Output(found, "DistributionDomain"))
		}
		fallthrough
	case action == "url":
		if found != nil {
			fmt.Println(stackstate.Output(found, "Url"))
		}
		return err
	case action == "destroy" && found != nil:
		return c.remove(ctx, found)
	case action == "destroy":
		return nil
	}
	return fmt.Errorf("want deploy, url or destroy, not %s", action)
}

func (c *cdn) name() string { return c.stack + "-edge" }

func (c *cdn) remove(ctx context.Context, s *types.Stack) error {
	fmt.Fprintf(os.Stderr, "deleting %s in %s; this takes some minutes\n", c.name(), home)
	return stackstate.Delete(ctx, c.cfn, s)
}

// deploy creates or updates the CDN's stack and waits for it.
func (c *cdn) deploy(ctx context.Context, found *types.Stack, given []string) error {
	behind, err := c.stackBehind(ctx)
	if err != nil {
		return err
	}
	if c.key == "" && found != nil {
		c.key = tag(found, "key")
	}
	c.key = cmp.Or(c.key, "a")
	if c.share == 0 && found != nil {
		c.share, _ = strconv.Atoi(tag(found, "share")) // a release before this has no share
	}
	c.share = cmp.Or(c.share, edge.DefaultShare)
	if c.subdomains == "" && found != nil {
		c.subdomains = tag(found, "subdomains") // likewise
	}
	c.subdomains = cmp.Or(c.subdomains, "false")
	text, err := os.ReadFile(template)
	if err != nil {
		return err
	}
	body, err := edge.Template(string(text), throttles(behind), c.share)
	if err == nil && c.subdomains == "true" {
		body, err = edge.Subdomains(body)
	}
	if err != nil {
		return err
	}
	value, err := c.keyValue(ctx)
	if err != nil {
		return err
	}
	params := map[string]string{"Stack": c.stack, "Key": value,
		"AlarmEmail": stackstate.Parameter(behind, "AlarmEmail"),
		"Origin":     fmt.Sprintf("%s.execute-api.%s.amazonaws.com", stackstate.Output(behind, "ApiId"), c.region)}
	for _, g := range given {
		name, v, ok := strings.Cut(g, "=")
		if !ok {
			return fmt.Errorf("%q is not a KEY=VALUE", g)
		}
		params[name] = v
	}
	return c.put(ctx, found, body, params)
}

// stackBehind returns the stack behind.
func (c *cdn) stackBehind(ctx context.Context) (*types.Stack, error) {
	s, err := stackstate.Find(ctx, c.behind, c.stack)
	if err == nil && s == nil {
		err = fmt.Errorf("there is no stack %s in %s", c.stack, c.region)
	}
	return s, err
}

// throttles returns a function that has the numbers of a stack, by their parameters.
func throttles(of *types.Stack) func(parameter string) string {
	numbers := plan.Numbers(func(name string) string { return stackstate.Parameter(of, name) })
	return func(name string) string { return numbers[name] }
}

// wallMain prints the template of a stack's web ACL of its own, as CloudFormation takes it.
func wallMain(args []string) error {
	var c cdn
	flags := flag.NewFlagSet("wall", flag.ExitOnError)
	flags.StringVar(&c.stack, "stack", "", "`name` of the stack behind it")
	flags.StringVar(&c.region, "region", "", "where that stack is")
	if flags.Parse(args) != nil || c.stack == "" || c.region == "" {
		return errUsage
	}
	ctx := context.Background()
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(c.region))
	if err != nil {
		return err
	}
	c.behind = cloudformation.NewFromConfig(cfg)
	behind, err := c.stackBehind(ctx)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(wallTemplate)
	if err != nil {
		return err
	}
	inFront := stackstate.Parameter(behind, "Edge")
	body, err := edge.Wall(string(text), throttles(behind), inFront != "" && inFront != "none")
	fmt.Print(body)
	return err
}

// put creates the stack, or updates the stack that was found, and waits for it.
func (c *cdn) put(ctx context.Context, found *types.Stack, body string, params map[string]string) error {
	name, tags := c.name(), []types.Tag{{Key: aws.String("key"), Value: &c.key},
		{Key: aws.String("share"), Value: aws.String(strconv.Itoa(c.share))},
		{Key: aws.String("subdomains"), Value: &c.subdomains}}
	began := time.Now()
	if err := stackstate.Updatable(found, home); err != nil {
		return err
	}
	life := stackstate.LifeOf(found)
	if life == stackstate.Dead {
		if err := c.remove(ctx, found); err != nil {
			return err
		}
	}
	if life == stackstate.Dead || life == stackstate.None {
		found = nil
	}
	parameters, err := parametersOf(params, found, body)
	if err != nil {
		return err
	}
	if found == nil {
		fmt.Fprintf(os.Stderr, "making %s in %s; CloudFront takes some minutes\n", name, home)
		made, err := c.cfn.CreateStack(ctx, &cloudformation.CreateStackInput{StackName: &name, TemplateBody: &body,
			Parameters: parameters, Tags: tags, OnFailure: types.OnFailureDelete})
		if err != nil {
			return err
		}
		type options = cloudformation.StackCreateCompleteWaiterOptions
		err = cloudformation.NewStackCreateCompleteWaiter(c.cfn,
			func(o *options) { o.MinDelay, o.MaxDelay = soon, often }).Wait(ctx,
			&cloudformation.DescribeStacksInput{StackName: made.StackId}, cdnPatience)
		return c.because(ctx, err, aws.ToString(made.StackId), began)
	}
	_, err = c.cfn.UpdateStack(ctx, &cloudformation.UpdateStackInput{StackName: &name, TemplateBody: &body,
		Parameters: parameters, Tags: tags})
	var refused smithy.APIError
	if errors.As(err, &refused) && strings.Contains(refused.ErrorMessage(), "No updates") {
		return nil
	}
	if err != nil {
		return err
	}
	type options = cloudformation.StackUpdateCompleteWaiterOptions
	err = cloudformation.NewStackUpdateCompleteWaiter(c.cfn,
		func(o *options) { o.MinDelay, o.MaxDelay = soon, often }).Wait(ctx,
		&cloudformation.DescribeStacksInput{StackName: found.StackId}, cdnPatience)
	return c.because(ctx, err, aws.ToString(found.StackId), began)
}

// because adds the reason to the error of a wait. CloudFormation deletes a stack whose creation fails: its events are
// then found only by its id.
func (c *cdn) because(ctx context.Context, waited error, id string, began time.Time) error {
	if waited == nil {
		return nil
	}
	why, err := stackstate.Failure(ctx, c.cfn, id, began.Add(-stackstate.Skew))
	if err != nil || why == "" {
		return fmt.Errorf("%w; the events of %s say why, in CloudFormation's console of %s", waited, id, home)
	}
	return fmt.Errorf("%s failed, and CloudFormation rolls it back: %s", c.name(), why)
}

// keyValue returns the value of the newest of the stack's keys with the letter.
func (c *cdn) keyValue(ctx context.Context) (string, error) {
	prefix := c.stack + "-edge-" + c.key + "-"
	out, err := c.api.GetApiKeys(ctx, &apigateway.GetApiKeysInput{NameQuery: &prefix, IncludeValues: aws.Bool(true)})
	if err != nil {
		return "", err
	}
	value, made := "", time.Time{}
	for _, k := range out.Items {
		created := aws.ToTime(k.CreatedDate)
		if strings.HasPrefix(aws.ToString(k.Name), prefix) && !created.Before(made) {
			value, made = aws.ToString(k.Value), created
		}
	}
	if value == "" {
		return "", fmt.Errorf("%s has no API key %s…: deploy it with Edge=key first (make deploy EDGE=true does)",
			c.stack, prefix)
	}
	return value, nil
}

// parametersOf returns the parameters that are set; the stack's other parameters keep their values, if the template
// still has them.
func parametersOf(set map[string]string, has *types.Stack, body string) (out []types.Parameter, err error) {
	for name, value := range set {
		out = append(out, types.Parameter{ParameterKey: &name, ParameterValue: &value})
	}
	var t struct {
		Parameters map[string]any `yaml:"Parameters"`
	}
	if err := yaml.Unmarshal([]byte(body), &t); err != nil || has == nil {
		return out, err
	}
	for _, p := range has.Parameters {
		name := aws.ToString(p.ParameterKey)
		if _, ok := set[name]; !ok && t.Parameters[name] != nil {
			out = append(out, types.Parameter{ParameterKey: p.ParameterKey, UsePreviousValue: aws.Bool(true)})
		}
	}
	return out, nil
}

func tag(s *types.Stack, key string) string {
	for _, t := range s.Tags {
		if aws.ToString(t.Key) == key {
			return aws.ToString(t.Value)
		}
	}
	return ""
}

// templatesMain writes infra/edge.yaml and infra/wall.yaml as they are deployed in front of a stack with the default
// throttles, into a folder.
func templatesMain(args []string) error {
	if len(args) != 1 {
		return errUsage
	}
	small := plan.List(plan.SizeText(plan.Small))
	of := func(parameter string) string { return small[parameter] }
	for file, whole := range map[string]func(text string) (string, error){
		template:     func(text string) (string, error) { return edge.Template(text, of, edge.DefaultShare) },
		wallTemplate: func(text string) (string, error) { return edge.Wall(text, of, false) },
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		body, err := whole(string(text))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(args[0], filepath.Base(file)), []byte(body), 0o600); err != nil {
			return err
		}
	}
	return nil
}
