package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/sqsqueue"
	"github.com/your-org/seckill/shared/seckill"
)

// gcPercent lowers the garbage collector's target for an audit, whose memory only grows.
const gcPercent = 50

// auditFlags are the flags of `seckill audit`.
type auditFlags struct {
	target
	item         string
	journal      string
	redis        []string
	redisCluster bool
	redisTLS     bool
	dynamoDB     string
	prefix       string
	again        time.Duration
	json         bool

	password string
}

func auditCommand(getenv func(string) string) *cobra.Command {
	var set auditFlags
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Check a sale afterwards: does each guarantee hold, by rows, Redis and a journal?",
		Long: `Check a sale from its data: the ledger's rows, Redis' keys, the fake gateway's trades if it has
any, and the journal of a crowd ("seckill load --journal"). For each guarantee of docs/GUARANTEES.md,
I1 to I11, A1, A4 and L1 to L4, the report is: holds, with how much was read; broken, with the rows; or
unknown, with what is missing. No guarantee holds without evidence. The command changes nothing.

The sale is one of a "seckill run" (--url), of servers of your own (--dynamodb, --redis), or of a
stack on AWS (--stack). For a stack, the AWS credentials need dynamodb:GetItem and dynamodb:Scan on
its tables and sqs:GetQueueAttributes; Redis is read only if --redis reaches it. The environment
variable REDIS_PASSWORD sets the password of Redis.

Wait until the sale is at rest: work in progress is unknown. The command reads what it finds broken
again after --again, because rows that are read one after the other during writes may disagree. The
exit code is 1 if a guarantee is broken or the journal is not valid.

"seckill audit list" is about another record: the audit log, which has what staff did.`,
		Example: `  seckill audit --item 2002                             a "seckill run"
  seckill audit --item 2002 --journal crowd.jsonl
  seckill audit --item 2002 --dynamodb http://localhost:8000 --redis localhost:6379
  seckill audit --item 2002 --stack seckill-prod --region eu-central-1 --json`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			set.password = getenv("REDIS_PASSWORD")
			return set.run(cmd)
		},
	}
	f := cmd.Flags()
	f.StringVar(&set.item, "item", "", "item id")
	f.StringVar(&set.journal, "journal", "", "journal file of seckill load --journal")
	set.from(f)
	f.DurationVar(&set.again, "again", 3*time.Second,
		"how long after the first reading to read again what is broken; 0s: never")
	f.BoolVar(&set.json, "json", false, "print the result as JSON")
	cmd.AddCommand(auditListCommand())
	return cmd
}

// from adds the flags that say where the sale's data is.
func (f *auditFlags) from(set *pflag.FlagSet) {
	f.onURL(set)
	set.StringSliceVar(&f.redis, "redis", nil,
		"address of Redis, host:port; several, separated by commas, with --redis-cluster")
	set.BoolVar(&f.redisCluster, "redis-cluster", false, "--redis is a cluster")
	set.BoolVar(&f.redisTLS, "redis-tls", false, "--redis speaks TLS")
	set.StringVar(&f.dynamoDB, "dynamodb", "", "URL of a DynamoDB-compatible server, such as http://localhost:8000")
	set.StringVar(&f.prefix, "prefix", "", "prefix of the names of tables (default the stack's own)")
	set.StringVar(&f.stack, "stack", "", "name of a deployed stack")
	f.onAWS(set.StringVar)
}

func (f *auditFlags) run(cmd *cobra.Command) error {
	if !seckill.ValidItemID(f.item) {
		return fmt.Errorf("--item %q: want an item id, such as 2002", f.item)
	}
	if f.again < 0 || f.again > time.Hour {
		return fmt.Errorf("--again %v: want 0s to 1h", f.again)
	}
	src, done, err := f.source(cmd)
	if err != nil {
		return err
	}
	defer done()
	debug.SetGCPercent(gcPercent)
	opt := audit.Options{Item: f.item, Again: f.again}
	if f.journal != "" {
		file, err := os.Open(f.journal)
		if err != nil {
			return fmt.Errorf("--journal: %w", err)
		}
		defer file.Close()
		opt.Journal = file
	}
	report, err := audit.Run(cmd.Context(), counting(src, waitingOn(cmd.ErrOrStderr())), opt)
	switch {
	case errors.Is(err, audit.ErrNoItem):
		return err
	case err != nil:
		return faulty(err)
	}
	if f.json {
		err = writeJSON(cmd.OutOrStdout(), report)
	} else {
		err = report.WriteText(cmd.OutOrStdout())
	}
	if err == nil && report.Broken() {
		return faultError{fmt.Errorf("item %s: %s", f.item, report.Verdict())}
	}
	return err
}

// faulty turns every error except a refusal into a faultError.
func faulty(err error) error {
	var refused *operator.Refusal
	if errors.As(err, &refused) || errors.As(err, &faultError{}) {
		return err
	}
	return faultError{err}
}

// source opens the sale's data; done closes it.
func (f *auditFlags) source(cmd *cobra.Command) (src audit.Source, done func(), err error) {
	given := cmd.Flags().Changed
	kinds := 0
	for _, name := range []string{"url", "dynamodb", "stack"} {
		if given(name) {
			kinds++
		}
	}
	done = func() {}
	switch {
	case kinds > 1:
		return nil, nil, errors.New("--url, --dynamodb and --stack contradict each other: give one of them")
	case !given("stack") && (given("region") || given("profile")):
		return nil, nil, errors.New("--region and --profile only apply to a deployed stack: name it with --stack")
	case !given("stack") && !given("dynamodb") && (len(f.redis) > 0 || given("prefix")):
		return nil, nil, errors.New("--redis and --prefix go with --dynamodb or --stack only")
	case !endpoint(f.dynamoDB):
		return nil, nil, fmt.Errorf("--dynamodb %s: want a URL such as http://localhost:8000", f.dynamoDB)
	case f.redisCluster && len(f.redis) == 0, f.redisTLS && len(f.redis) == 0:
		return nil, nil, errors.New("--redis-cluster and --redis-tls: want --redis with an address")
	case len(f.redis) > 1 && !f.redisCluster:
		return nil, nil, fmt.Errorf("--redis: %d addresses without --redis-cluster", len(f.redis))
	}
	if !given("stack") && !given("dynamodb") {
		shop, err := f.running()
		if err != nil {
			return nil, nil, err
		}
		return shop.dump(f.item), done, nil
	}
	sale := &audit.Sale{Item: f.item, Prefix: f.prefix, NoRedis: "name it with --redis"}
	if given("stack") {
		err = f.deployed(cmd, sale)
	} else {
		err = f.local(cmd.Context(), sale)
	}
	if err != nil {
		return nil, nil, err
	}
	if len(f.redis) > 0 {
		if done, err = f.openRedis(sale); err != nil {
			return nil, nil, err
		}
	}
	return sale, done, nil
}

// local uses a DynamoDB-compatible server. Some servers keep separate tables per region and credentials: it
// uses the environment's, else those of `seckill run`.
func (f *auditFlags) local(ctx context.Context, sale *audit.Sale) error {
	options := []func(*config.LoadOptions) error{}
	if os.Getenv("AWS_REGION") == "" {
		options = append(options, config.WithRegion("us-east-1"))
	}
	if os.Getenv("AWS_ACCESS_KEY_ID") == "" {
		options = append(options, config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider("local",
			"local", "")))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return fmt.Errorf("the AWS configuration cannot be used: %w", err)
	}
	cfg.BaseEndpoint = aws.String(f.dynamoDB)
	sale.DynamoDB = dynamodb.NewFromConfig(cfg)
	return nil
}

// deployed uses a stack's tables and queues.
func (f *auditFlags) deployed(cmd *cobra.Command, sale *audit.Sale) error {
	s, err := openStack(cmd.Context(), &f.target, waitingOn(cmd.ErrOrStderr()))
	if err != nil {
		return err
	}
	outputs := map[string]string{}
	for _, o := range s.found.Outputs {
		outputs[aws.ToString(o.OutputKey)] = aws.ToString(o.OutputValue)
	}
	if sale.Prefix == "" {
		sale.Prefix = outputs["StackPrefix"]
	}
	sale.DynamoDB = dynamodb.NewFromConfig(s.cfg)
	sale.NoRedis = "it is in the stack's own network: name an address that you can reach with --redis"
	client := sqs.NewFromConfig(s.cfg)
	sale.Queues = map[string]seckill.Queue{}
	for name, output := range map[string]string{"orders": "Orders", "closings": "Closings"} {
		url, dead := outputs[output+"QueueUrl"], outputs[output+"DeadLetterQueueUrl"]
		if url != "" && dead != "" {
			sale.Queues[name] = sqsqueue.New(client, sqsqueue.Options{URL: url, DeadLetterURL: dead})
		}
	}
	return nil
}

func (f *auditFlags) openRedis(sale *audit.Sale) (done func(), err error) {
	opt := &redis.UniversalOptions{Addrs: f.redis, Password: f.password, IsClusterMode: f.redisCluster}
	for _, addr := range f.redis {
		host, port, err := net.SplitHostPort(addr)
		if err != nil || host == "" || port == "" {
			return nil, fmt.Errorf("--redis %s: want host:port", addr)
		}
		if f.redisTLS {
			opt.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host}
		}
	}
	sale.Redis = redis.NewUniversalClient(opt)
	return func() { _ = sale.Redis.Close() }, nil
}

// dump reads an item's data from a running shop.
func (s *runningShop) dump(item string) audit.Source {
	return audit.SourceFunc(func(ctx context.Context, each func(*record.Line) error) error {
		// Without a timeout: a million units take minutes.
		resp, err := s.send(ctx, http.DefaultClient, http.MethodGet, "/_local/dump?item="+url.QueryEscape(item), nil)
		var refused *operator.Refusal
		if errors.As(err, &refused) && refused.Code == seckill.CodeItemUnknown {
			return fmt.Errorf("%s, item %s: %w", s.base, item, audit.ErrNoItem)
		}
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		return record.Lines(resp.Body, each)
	})
}

// counting prints the progress of a long reading on a terminal.
func counting(src audit.Source, wait waiting) audit.Source {
	if wait.w == nil {
		return src
	}
	return audit.SourceFunc(func(ctx context.Context, each func(*record.Line) error) error {
		said, count := time.Now(), 0
		return src.Read(ctx, func(l *record.Line) error {
			if count++; count%1000 == 0 && time.Since(said) > patience {
				said = time.Now()
				fmt.Fprintf(wait.w, "seckill: %s read …\n", counted(count, "row", "rows"))
			}
			return each(l)
		})
	})
}
