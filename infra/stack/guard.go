package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	secretstypes "github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/your-org/seckill/infra/plan"
	"github.com/your-org/seckill/infra/stackstate"
	"github.com/your-org/seckill/shared/driver/ledger"
)

// guardPatience bounds all calls to AWS, without the time for typing.
const guardPatience = time.Minute

// queues are the outputs with their URLs.
var queues = []string{"OrdersQueueUrl", "OrdersDeadLetterQueueUrl", "ClosingsQueueUrl", "ClosingsDeadLetterQueueUrl"}

// indexes lists the indexes that have rows only for what is under way.
var indexes = []struct{ table, index, what string }{
	{ledger.TableOrders, ledger.IndexOrdersDue, "orders wait to be paid or closed"},
	{ledger.TablePayments, ledger.IndexRefundsDue, "refunds are due"},
}

func guardMain(args []string) error {
	flags := flag.NewFlagSet("guard", flag.ExitOnError)
	stack := flags.String("stack", "", "its name")
	region := flags.String("region", "", "where it is")
	if len(args) == 0 || flags.Parse(args[1:]) != nil || *stack == "" || *region == "" {
		return errUsage
	}
	g := guard{action: args[0], stack: *stack, region: *region, in: os.Stdin, out: os.Stderr, env: os.Getenv,
		given: flags.Args(), root: os.DirFS(".")}
	return g.run(context.Background())
}

// guard is one confirmation.
type guard struct {
	action, stack, region string
	in                    io.Reader
	out                   io.Writer
	env                   func(string) string
	given                 []string // parameters of a deployment, KEY=VALUE
	root                  fs.FS    // with the templates
}

func (g *guard) run(ctx context.Context) error {
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(g.region))
	if err != nil {
		return err
	}
	cfn := cloudformation.NewFromConfig(cfg)
	found, err := g.find(ctx, cfn)
	if err != nil {
		return err
	}
	if g.action == "failed" && found != nil {
		return g.failed(ctx, cfn, found)
	}
	if g.action == "deploy" {
		if err := g.known(); err != nil {
			return err
		}
	}
	life, db := stackstate.LifeOf(found), dynamodb.NewFromConfig(cfg)
	if life != stackstate.Halted || g.action == "deploy" { // a halted stack can be deleted
		if err := stackstate.Updatable(found, g.region); err != nil {
			return err
		}
	}
	if g.action == "deploy" && life == stackstate.Dead {
		if err := g.bury(ctx, cfn, db, found); err != nil {
			return err
		}
		life = stackstate.None
	}
	if life == stackstate.None {
		if g.action == "deploy" {
			return g.fresh(ctx, db)
		}
		return nil
	}
	if g.action == "deploy" {
		if err := g.fits(ctx, cfg, found); err != nil {
			return err
		}
	}
	if stackstate.Sandbox(found) {
		return nil
	}
	switch g.action {
	case "deploy":
		if err := g.idle(ctx, cfg, found); err != nil && g.env("BUSY") != "true" {
			return fmt.Errorf("%w; messages and rows survive a deployment, but do it between sales: BUSY=true goes on",
				err)
		}
		return g.named("This deploys to " + g.stack + ", a shop and no sandbox.")
	case "shields":
		if stackstate.Parameter(found, shield) != "true" {
			fmt.Println(shield + "=true")
		}
		return nil
	case "protect":
		return g.protect(ctx, cfn, true)
	case "destroy":
		if life != stackstate.Dead { // which is at no work
			if err := g.idle(ctx, cfg, found); err != nil {
				return fmt.Errorf("%w; stop the sale, and wait until all is handled", err)
			}
		}
		if err := g.named("This deletes " + g.stack + ", a shop and no sandbox: API, functions, queues, logs. Its " +
			"tables stay."); err != nil {
			return err
		}
		return g.protect(ctx, cfn, false)
	}
	return fmt.Errorf("want deploy, failed, shields, protect or destroy, not %s", g.action)
}

// fits refuses a deployment that AWS would refuse midway, or after which the stack would not work.
func (g *guard) fits(ctx context.Context, cfg aws.Config, found *types.Stack) error {
	if err := g.oneField(found); err != nil {
		return err
	}
	if err := g.readable(found); err != nil {
		return err
	}
	if err := g.warm(ctx, cfg, found); err != nil {
		return err
	}
	return g.secrets(ctx, cfg, found)
}

// parameters are the parameters of template.yaml.
var parameters = regexp.MustCompile(`(?m)^  ([A-Z]\w+): \{Type: (?:String|Number), `)

// known refuses a parameter that the template does not have: SAM would drop it without a word.
func (g *guard) known() error {
	text, err := fs.ReadFile(g.root, "template.yaml")
	if err != nil {
		return err
	}
	var names []string
	for _, m := range parameters.FindAllSubmatch(text, -1) {
		names = append(names, string(m[1]))
	}
	for _, p := range g.given {
		if name, _, _ := strings.Cut(p, "="); !slices.Contains(names, name) {
			return fmt.Errorf("refused, there is no parameter %s: CHANGELOG.md says what replaces one of an earlier "+
				"release, seckill plan --help what changes a number", name)
		}
	}
	return nil
}

// shield is the parameter that has tables and accounts protected against deletion.
const shield = "Protect"

// find returns the stack, or nil if there is no such stack.
func (g *guard) find(ctx context.Context, cfn *cloudformation.Client) (*types.Stack, error) {
	ctx, cancel := context.WithTimeout(ctx, guardPatience)
	defer cancel()
	return stackstate.Find(ctx, cfn, g.stack)
}

// newest is the secret that earlier releases did not have: without it no function sells (docs/DATA.md).
const newest = "admit"

// secrets refuses a deployment whose functions would not start, because `seckill keys` was not run for this release.
func (g *guard) secrets(ctx context.Context, cfg aws.Config, s *types.Stack) error {
	ctx, cancel := context.WithTimeout(ctx, guardPatience)
	defer cancel()
	path := g.wanted("SecretsPath", stackstate.Output(s, "SecretsPath"))
	if path == "" {
		return nil // never deployed completely
	}
	name := path + "/" + newest
	client := secretsmanager.NewFromConfig(cfg)
	_, err := client.DescribeSecret(ctx, &secretsmanager.DescribeSecretInput{SecretId: &name})
	if errors.As(err, new(*secretstypes.ResourceNotFoundException)) {
		return fmt.Errorf("refused, there is no secret %s: run seckill keys --path %s, which makes what is new "+
			"(with --sandbox for a sandbox)", name, path)
	}
	if err != nil {
		return fmt.Errorf("secret %s cannot be asked for: %w", name, err)
	}
	return nil
}

// wanted returns the value of a parameter of this deployment, which keeps what is not given.
func (g *guard) wanted(name, has string) string {
	for _, p := range g.given {
		if v, ok := strings.CutPrefix(p, name+"="); ok {
			has = v
		}
	}
	return has
}

// cacheFields are the fields of the cache (infra/cache.yaml), by the parameter or number that changes them.
var cacheFields = map[string]string{"RedisPassword": "UserGroupId", plan.CacheGigabytes: "CacheUsageLimits",
	plan.CacheEcpu: "CacheUsageLimits"}

// oneField refuses a deployment that changes two fields of the cache. ElastiCache takes one in a request ("Serverless
// Cache modifications only support modifying one field per request"), and whether CloudFormation sends two is unknown.
func (g *guard) oneField(s *types.Stack) error {
	has := func(name string) string { return stackstate.Parameter(s, name) }
	want := func(name string) string { return g.wanted(name, has(name)) }
	before, after := plan.Numbers(has), plan.Numbers(want)
	before["RedisPassword"], after["RedisPassword"] = has("RedisPassword"), want("RedisPassword")
	changed := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(cacheFields)) {
		if before[name] != "" && after[name] != before[name] {
			changed[cacheFields[name]] = append(changed[cacheFields[name]], name)
		}
	}
	if len(changed) < 2 || has("CreateCache") != "true" {
		return nil
	}
	return fmt.Errorf("refused, %s and %s change two fields of the cache, and AWS changes one at a time: deploy one "+
		"of them first", changed["UserGroupId"][0], strings.Join(changed["CacheUsageLimits"], ", "))
}

// formats is the output with the versions of what a release writes.
var formats = regexp.MustCompile(`Outputs: \{Formats: \{Value: "([a-z0-9=,]+)"\}`)

// inTables is the part of formats that says which tables have the rows.
var inTables = regexp.MustCompile(`tables=\d+`)

// readable refuses a release that looks for rows in other tables than the stack's: nothing moves them. It also refuses
// to shift traffic step by step to a release that writes what the one before cannot read: the two run side by side, and
// CodeDeploy may go back.
func (g *guard) readable(s *types.Stack) error {
	text, err := fs.ReadFile(g.root, "template.yaml")
	if err != nil {
		return err
	}
	m := formats.FindSubmatch(text)
	if m == nil {
		return errors.New("template.yaml has no output Formats")
	}
	is, will := stackstate.Output(s, "Formats"), string(m[1])
	if inTables.FindString(is) != inTables.FindString(will) {
		return fmt.Errorf("refused, this release has rows in other tables than the stack (%q, not %q), and nothing "+
			"moves them: begin a new stack (STACK=…); CHANGELOG.md says what changed", will, is)
	}
	if is != will && g.wanted("GradualDeployment", stackstate.Parameter(s, "GradualDeployment")) == "true" {
		return fmt.Errorf("refused, the stack writes versions %q and this release writes %q, which the one before "+
			"cannot read: it can neither run beside it nor go back. Deploy with GRADUAL=false, between sales", is, will)
	}
	return nil
}

// warm refuses a deployment with a lower warm throughput than a table has: DynamoDB never lowers it, and the stack
// would be rolled back midway. A table's unchanged value requests nothing.
func (g *guard) warm(ctx context.Context, cfg aws.Config, s *types.Stack) error {
	ctx, cancel := context.WithTimeout(ctx, guardPatience)
	defer cancel()
	db := dynamodb.NewFromConfig(cfg)
	has := stackstate.Parameter(s, "Warm")
	have, want := plan.List(has), plan.List(g.wanted("Warm", has))
	var why, give []string
	for part := range strings.SplitSeq(warmDefault, ",") {
		table, _, _ := strings.Cut(part, "=")
		n, err := strconv.ParseInt(want[table], 10, 64)
		if err != nil {
			return fmt.Errorf("refused, Warm=%s: want %s, with other numbers", g.wanted("Warm", has), warmDefault)
		}
		if want[table] != have[table] {
			what, takes, err := g.takes(ctx, db, table, have[table])
			if err != nil {
				return err
			}
			if n < takes {
				why, n = append(why, fmt.Sprintf("%s=%d is below %d, which %s", table, n, takes, what)), takes
			}
		}
		give = append(give, fmt.Sprintf("%s=%d", table, n))
	}
	if why == nil {
		return nil
	}
	return fmt.Errorf("refused, Warm has %s: DynamoDB lowers no table; give Warm=%s", strings.Join(why, "; "),
		strings.Join(give, ","))
}

// warmDefault is the default of the parameter Warm.
const warmDefault = "units=4000,orders=4000,quotas=4000,payments=4000,notifications=4000"

// takes returns the write units that a table cannot go below, and what has them: the stack, the table or an index.
func (g *guard) takes(ctx context.Context, db *dynamodb.Client, table, have string) (what string, n int64, err error) {
	what = "the stack has"
	if n, err = strconv.ParseInt(have, 10, 64); err != nil {
		return "", 0, fmt.Errorf("the stack's Warm has %s=%q: %w", table, have, err)
	}
	name := g.stack + "-" + table
	out, err := db.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	if err != nil {
		return "", 0, fmt.Errorf("table %s cannot be asked what it takes: %w", name, err)
	}
	if w := out.Table.WarmThroughput; w != nil && aws.ToInt64(w.WriteUnitsPerSecond) > n {
		what, n = "table "+name+" takes", *w.WriteUnitsPerSecond
	}
	for _, x := range out.Table.GlobalSecondaryIndexes {
		if w := x.WarmThroughput; w != nil && aws.ToInt64(w.WriteUnitsPerSecond) > n {
			what, n = "index "+aws.ToString(x.IndexName)+" takes", *w.WriteUnitsPerSecond
		}
	}
	return what, n, nil
}

// idle returns nil if no queue has a message and no order is open.
func (g *guard) idle(ctx context.Context, cfg aws.Config, s *types.Stack) error {
	ctx, cancel := context.WithTimeout(ctx, guardPatience)
	defer cancel()
	var busy []string
	client := sqs.NewFromConfig(cfg)
	counts := []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameApproximateNumberOfMessages,
		sqstypes.QueueAttributeNameApproximateNumberOfMessagesNotVisible,
		sqstypes.QueueAttributeNameApproximateNumberOfMessagesDelayed}
	for _, name := range queues {
		url := stackstate.Output(s, name)
		if url == "" {
			continue // never deployed completely
		}
		out, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: counts})
		if err != nil {
			return fmt.Errorf("%s cannot be asked: %w", name, err)
		}
		n := 0
		for _, v := range out.Attributes {
			some, err := strconv.Atoi(v)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			n += some
		}
		if n > 0 {
			busy = append(busy, fmt.Sprintf("%s has %d messages", strings.TrimSuffix(name, "QueueUrl"), n))
		}
	}
	db := dynamodb.NewFromConfig(cfg)
	for _, i := range indexes {
		table := stackstate.Output(s, "StackPrefix") + i.table
		some, err := hasRows(ctx, db, table, i.index)
		if err != nil {
			return fmt.Errorf("table %s cannot be asked: %w", table, err)
		}
		if some {
			busy = append(busy, i.what)
		}
	}
	if len(busy) > 0 {
		return errors.New("refused, " + g.stack + " is at work: " + strings.Join(busy, ", "))
	}
	return nil
}

// hasRows reports whether a table, or one of its indexes, has a row, besides those of orders on their way, which wait
// for weeks.
func hasRows(ctx context.Context, db *dynamodb.Client, table, index string) (bool, error) {
	in := &dynamodb.ScanInput{TableName: &table, Limit: aws.Int32(1)}
	if index != "" {
		in.IndexName = &index
	}
	if index == ledger.IndexOrdersDue {
		in.Limit = nil // it counts the rows before the filter
		in.FilterExpression = aws.String("NOT begins_with(due_shard, :on_its_way)")
		in.ExpressionAttributeValues = map[string]dynamotypes.AttributeValue{
			":on_its_way": &dynamotypes.AttributeValueMemberS{Value: ledger.FulfilShard}}
	}
	for {
		out, err := db.Scan(ctx, in)
		if err != nil || len(out.Items) > 0 || out.LastEvaluatedKey == nil {
			return err == nil && len(out.Items) > 0, err
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// named requires the stack's name, from CONFIRM or typed.
func (g *guard) named(what string) error {
	given := g.env("CONFIRM")
	if given == "" {
		fmt.Fprintf(g.out, "%s\nType its name to go on (in a pipeline: CONFIRM=%s): ", what, g.stack)
		line, err := bufio.NewReader(g.in).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		given = strings.TrimSpace(line)
	}
	if given != g.stack {
		return fmt.Errorf("%q is not %q: nothing was done", given, g.stack)
	}
	return nil
}

// protect switches termination protection, which also covers nested stacks.
func (g *guard) protect(ctx context.Context, cfn *cloudformation.Client, on bool) error {
	ctx, cancel := context.WithTimeout(ctx, guardPatience)
	defer cancel()
	_, err := cfn.UpdateTerminationProtection(ctx, &cloudformation.UpdateTerminationProtectionInput{StackName: &g.stack,
		EnableTerminationProtection: &on})
	if err == nil && on {
		fmt.Fprintf(g.out, "%s is protected against deletion\n", g.stack)
	}
	return err
}
