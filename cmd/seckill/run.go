package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/api/itemfile"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/api/oidc"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/driver/telemetry"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

// settings are the flags of `seckill run`.
type settings struct {
	port  int
	hold  time.Duration
	alone config.Alone // what one person of staff may refund
	stock int
	limit int
	past  int
	items string
	demo  string

	pictures string

	checks string

	redis        []string
	redisCluster bool
	dynamoDB     string
	sqs          string
	keys         string

	gatewayFaults string
	issuers       []string
	staffIssuer   string
	staffClaims   string
	events        string
	noPush        bool
	contact       string
	reportKey     string
	networkDays   uint16 // days that orders keep network addresses
}

func runCommand(getenv func(string) string) *cobra.Command {
	var set settings
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Serve a whole sale on this machine: storefront, API, cashier, status page",
		Long: `Serve a whole sale on this machine: storefront, API, cashier and status page, with demo items
or your own. It needs no account and moves no money. It keeps its data in memory: the data is gone
on exit. Ctrl-C stops it, a second Ctrl-C at once.

--redis, --dynamodb and --sqs each replace an embedded driver by a real server. The command creates
missing tables and queues, and continues with existing data, also after it was killed. With
--dynamodb it keeps the payment gateway's trades in a table, and the keys that sign payments in
files, so that older signatures stay valid after a restart. --keys sets the directory of these files
(default seckill/keys in your configuration directory). GET /_local/keys returns the public keys,
for an Alipay SDK.

An items file is a JSON array of objects, or CSV with a header. Its columns are id, title, price,
sk_price, start_time, end_time, stock and limit; covers, detail, commodity_id, checks (off, standard
or strict) and questions (of strict checks; without any, a sum in a picture is asked) are optional.
Prices are in yuan, times in RFC 3339. In CSV, spaces separate covers, and each line of a cell is a
question: text = answer | answer. In JSON it is {"text": "...", "answers": ["...", "..."]}. Variants of
a product have the same family (an id) and differ in options (颜色=黑 | 容量=256 GB); limit_spans true
makes the limit count all of them together.

--gateway-faults makes payments fail: a share from 0 to 1 for each fault, and a seed, separated by
commas. GET /faults counts how often each fault happened, PUT /faults changes the shares, and
GET /trades lists the gateway's trades. The faults:

` + faultList() + `
Shoppers sign in at an issuer of OpenID Connect: at a demo issuer with four people and no passwords,
or at those of --issuers, where each is ISSUER|CLIENT_ID. Register there a client that comes back to
the page's address. It is a public one unless SIGNIN_CLIENT_SECRETS has a line
ISSUER|CLIENT_ID|SECRET for it.

Staff work at /admin. The link that is printed at the start signs a browser in, with every role, once
and within 15 minutes; "seckill staff link" prints another. With --staff-issuer they sign in at an
issuer, too, as in a stack: register there a client that comes back to /admin/callback. It is a
public one unless STAFF_CLIENT_SECRET has its secret. --staff-claims has the claim of groups, the
prefix of those that are roles, the claim that names a person, and the scopes. Their sessions then
follow the shop's clock: one that is moved by 5 minutes has the issuer asked again.

--events tells each change of an order to a URL (https, or http on this machine) or appends it to a
file, as a CloudEvent (docs/EVENTS.md).

Environment: JWT_SECRET sets the secret of tokens (default ` + local.DefaultSecret + `), REDIS_PASSWORD the
password of --redis. From the date JWT_AUDIENCE_FROM on, tokens without "aud" are refused.
WEBHOOK_SECRET signs what --events posts; two, separated by a space, both sign
(default ` + local.DefaultEventSecret + `).`,
		Example: `  seckill run
  seckill run --port 9000 --hold 30s           unpaid orders expire quickly
  seckill run --stock 100 --limit 2            more units of the live demo item
  seckill run --items my-items.csv
  seckill run --demo contract                  the items that existing clients know by their ids
  seckill run --demo none                      an empty shop, to be filled in the back office
  seckill run --redis localhost:6379           with a real Redis
  seckill run --gateway-faults notification-lost=0.2,unknown=0.1,two-trades=0.02,seed=7
  seckill run --issuers 'https://id.example.com|shop'
  seckill run --staff-issuer 'https://id.example.com|office'
  seckill run --events http://localhost:8200/       tell the example of events/picklist
  JWT_SECRET=my-secret seckill run             accept tokens of your own issuer`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return set.run(cmd, getenv) },
	}
	set.flags(cmd)
	return cmd
}

// run serves until the command is interrupted.
func (s *settings) run(cmd *cobra.Command, getenv func(string) string) error {
	opt, err := s.options(cmd)
	if err != nil {
		return err
	}
	opt.JWTSecret = getenv("JWT_SECRET")
	if opt.AudienceFrom, err = jwtauth.ParseAudienceFrom(getenv("JWT_AUDIENCE_FROM")); err != nil {
		return fmt.Errorf("JWT_AUDIENCE_FROM: %w", err)
	}
	if opt.EventSecrets = strings.Fields(getenv("WEBHOOK_SECRET")); len(opt.EventSecrets) == 0 {
		opt.EventSecrets = nil
	}
	opt.Servers.RedisPassword = getenv("REDIS_PASSWORD")
	if err = secretsOf(opt.Issuers, getenv("SIGNIN_CLIENT_SECRETS")); err != nil {
		return err
	}
	if opt.Staff, err = s.staff(getenv("STAFF_CLIENT_SECRET")); err != nil {
		return err
	}
	if opt.Salts, err = s.salts(); err != nil {
		return err
	}
	return serve(cmd, s.port, opt)
}

func (s *settings) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&s.port, "port", local.DefaultPort, "port, 1 to 65535; 0: any free port")
	f.IntVar(&s.alone.Yuan, "refund-alone-yuan", 0,
		"largest refund in yuan that one person may make alone; more waits for a second person; 0: any")
	f.IntVar(&s.alone.Daily, "refund-alone-daily", 0,
		"refunds a day that one person may make alone; more wait for a second person; 0: any number")
	f.DurationVar(&s.hold, "hold", seckill.DefaultHold, "how long an unpaid order keeps its units, 5s to 24h")
	f.IntVar(&s.stock, "stock", local.DemoStock, "units of the live demo item, 1 to 1000000")
	f.IntVar(&s.limit, "limit", local.DemoLimit, "units of the live demo item per shopper, 1 to 1000")
	f.IntVar(&s.past, "past-orders", 0, fmt.Sprintf("paid orders of a sale of days ago to begin with, up to %d",
		local.MaxPast))
	f.StringVar(&s.items, "items", "", "items file, .json or .csv, instead of the demo items")
	f.StringVar(&s.demo, "demo", "shop", "demo items: shop, contract (the ids that existing clients know) or none")
	f.StringVar(&s.checks, "checks", "off", "what shoppers pass to buy a demo item: off, standard or strict")
	f.StringSliceVar(&s.redis, "redis", nil,
		"address of a Redis server, host:port; several, separated by commas, with --redis-cluster")
	f.BoolVar(&s.redisCluster, "redis-cluster", false, "--redis is a cluster")
	f.StringVar(&s.dynamoDB, "dynamodb", "", "URL of a DynamoDB-compatible server, such as http://localhost:8000")
	f.StringVar(&s.sqs, "sqs", "", "URL of an SQS-compatible server, such as http://localhost:4566")
	f.StringVar(&s.pictures, "pictures", "",
		"folder of items' pictures, shown below "+seckill.PicturePath+" (default memory)")
	f.StringVar(&s.keys, "keys", "",
		"directory of the keys that sign payments (default new keys at each start, or see above with --dynamodb)")
	f.StringVar(&s.events, "events", "", "URL or file that gets each change of an order, as a CloudEvent")
	f.Uint16Var(&s.networkDays, "network-retention-days", 0,
		"days after a sale's end that orders keep the network address that bought them; 0: they keep none")
	f.StringVar(&s.contact, "contact", "", "whom a blocked shopper may write to, such as an e-mail address")
	f.StringVar(&s.reportKey, "report-key", "",
		"file with the private key of reports, whose salts orders show (default the demo key of \"report make\")")
	f.BoolVar(&s.noPush, "no-push", false, "push nothing to pages: they poll for their orders")
	f.StringVar(&s.gatewayFaults, "gateway-faults", "", "payment faults, such as notification-lost=0.2,unknown=0.1")
	f.StringSliceVar(&s.issuers, "issuers", nil,
		"where shoppers sign in, ISSUER|CLIENT_ID; several, separated by commas (default the demo issuer)")
	f.StringVar(&s.staffIssuer, "staff-issuer", "", "where staff sign in, ISSUER|CLIENT_ID (default by a link only)")
	f.StringVar(&s.staffClaims, "staff-claims",
		strings.Join([]string{oidc.DefaultGroups, oidc.DefaultPrefix, oidc.DefaultWho, oidc.DefaultScope}, "|"),
		"what to ask the issuer of staff: groups' claim|prefix|name's claim|scopes, and |acr or not")
}

// options checks the flags. An error names the flag and the valid values.
func (s *settings) options(cmd *cobra.Command) (local.Options, error) {
	opt := local.Options{Addr: fmt.Sprintf(":%d", s.port), Hold: s.hold, Past: s.past, Alone: s.alone.Limit(),
		Version: currentVersion(),
		Log:     telemetry.RateLimited(telemetry.NewTextLog(cmd.ErrOrStderr(), slog.LevelWarn), system.Clock{})}
	var err error
	if opt.GatewayFaults, err = fakegateway.ParseFaults(s.gatewayFaults); err != nil {
		return opt, fmt.Errorf("--gateway-faults: %w", err)
	}
	opt.Events, opt.NoPush, opt.Contact = s.events, s.noPush, seckill.Tidy(s.contact)
	opt.Servers = local.Servers{Redis: s.redis, RedisCluster: s.redisCluster, DynamoDB: s.dynamoDB, SQS: s.sqs}
	if opt.Issuers, err = clients("--issuers", s.issuers); err != nil {
		return opt, err
	}
	opt.Covers = s.pictures
	opt.KeepNetworks = time.Duration(s.networkDays) * 24 * time.Hour
	if opt.Keys, err = s.keysDir(cmd.Flags().Changed("keys")); err != nil {
		return opt, err
	}
	if err := s.numbers(); err != nil {
		return opt, err
	}
	switch {
	case s.redisCluster && len(s.redis) == 0:
		return opt, errors.New("--redis-cluster: want --redis with the address of a node")
	case !endpoint(s.dynamoDB):
		return opt, fmt.Errorf("--dynamodb %s: want a URL such as http://localhost:8000", s.dynamoDB)
	case !endpoint(s.sqs):
		return opt, fmt.Errorf("--sqs %s: want a URL such as http://localhost:4566", s.sqs)
	case s.events == "" && cmd.Flags().Changed("events"):
		return opt, errors.New("--events: want a URL or the name of a file")
	case opt.Contact != "" && seckill.CheckLine("contact", opt.Contact, config.MaxContact) != nil:
		return opt, fmt.Errorf("--contact: want up to %d characters on one line, which people can read",
			config.MaxContact)
	case s.items == "" && cmd.Flags().Changed("items"):
		return opt, errors.New("--items: want the name of a .json or .csv file")
	case s.items != "" && (cmd.Flags().Changed("stock") || cmd.Flags().Changed("limit")):
		return opt, errors.New("--stock and --limit apply to the demo item: with --items, set them in the file")
	case !slices.Contains([]string{"shop", "contract", "none"}, s.demo):
		return opt, fmt.Errorf("--demo %s: want shop, contract or none", s.demo)
	case s.items != "" && cmd.Flags().Changed("demo"):
		return opt, errors.New("--demo and --items: want only one of them")
	case s.demo == "contract" && (cmd.Flags().Changed("stock") || cmd.Flags().Changed("limit")):
		return opt, errors.New("--stock and --limit: --demo contract has ten units of each item, one per shopper")
	case !slices.Contains([]string{"off", "standard", "strict"}, s.checks):
		return opt, fmt.Errorf("--checks %s: want off, standard or strict", s.checks)
	case s.items != "" && cmd.Flags().Changed("checks"):
		return opt, errors.New("--checks applies to the demo items: with --items, set them in the file")
	case s.demo == "none" && slices.ContainsFunc([]string{"stock", "limit", "checks"}, cmd.Flags().Changed):
		return opt, errors.New("--stock, --limit and --checks apply to demo items: --demo none has no items")
	case s.demo == "none":
		opt.Items = []seckill.Listing{}
		return opt, nil
	case s.demo == "contract" && cmd.Flags().Changed("checks"):
		return opt, errors.New("--checks: existing clients, which --demo contract is for, know none")
	case s.demo == "contract":
		opt.Items = local.ContractItems(time.Now())
		return opt, nil
	case s.items == "":
		opt.Items = local.DemoItems(time.Now(), s.stock, s.limit)
		if s.checks != "off" {
			local.SetChecks(opt.Items, seckill.Checks(s.checks))
		}
		return opt, nil
	}
	opt.Items, err = itemfile.Read(s.items, time.Now())
	return opt, err
}

// numbers checks the flags that are numbers or times.
func (s *settings) numbers() error {
	switch {
	case s.port < 0 || s.port > 65535:
		return fmt.Errorf("--port %d: want 1 to 65535, or 0 for any free one", s.port)
	case s.alone.Yuan < 0 || s.alone.Yuan > config.MaxAlone:
		return fmt.Errorf("--refund-alone-yuan %d: want 0 to %d", s.alone.Yuan, config.MaxAlone)
	case s.alone.Daily < 0 || s.alone.Daily > config.MaxAlone:
		return fmt.Errorf("--refund-alone-daily %d: want 0 to %d", s.alone.Daily, config.MaxAlone)
	case s.hold < local.MinHold || s.hold > seckill.MaxHold:
		return fmt.Errorf("--hold %v: want %v to 24h, such as 30s or 15m", s.hold, local.MinHold)
	case s.stock < 1 || s.stock > seckill.MaxStock:
		return fmt.Errorf("--stock %d: want 1 to %d", s.stock, seckill.MaxStock)
	case s.past < 0 || s.past > local.MaxPast:
		return fmt.Errorf("--past-orders %d: want 0 to %d", s.past, local.MaxPast)
	case s.limit < 1 || s.limit > seckill.MaxLimit:
		return fmt.Errorf("--limit %d: want 1 to %d", s.limit, seckill.MaxLimit)
	}
	return nil
}

// salts returns the salts that orders show their shoppers.
func (s *settings) salts() (httpapi.Salts, error) {
	if s.reportKey == "" {
		return demoSalts{}, nil
	}
	key, err := keyFile("--report-key", s.reportKey)
	if err != nil {
		return nil, err
	}
	return key.Salts, nil
}

// staff reads the flags of the issuer of staff.
func (s *settings) staff(secret string) (o oidc.StaffOptions, err error) {
	if s.staffIssuer == "" {
		return o, nil
	}
	asks, ok := (&config.Staff{Claims: s.staffClaims}).Asks()
	if !ok {
		return o, fmt.Errorf("--staff-claims %s: want groups' claim|prefix|name's claim|scopes", s.staffClaims)
	}
	if o.Clients, err = clients("--staff-issuer", []string{s.staffIssuer}); err != nil {
		return o, err
	}
	if secret != "" {
		o.Clients[0].Secret = func() string { return secret }
	}
	o.Groups, o.Prefix, o.WhoClaim, o.Scope, o.ACR = asks.Groups, asks.Prefix, asks.Who, asks.Scope, asks.ACR
	return o, nil
}

// secretsOf gives clients the secrets that they have.
func secretsOf(clients []oidc.Client, text string) error {
	secrets, err := config.ParseClientSecrets(text)
	if err != nil {
		return fmt.Errorf("SIGNIN_CLIENT_SECRETS: %w", err)
	}
	for i := range clients {
		secret := secrets.Of(config.Issuer{URL: clients[i].Issuer, ClientID: clients[i].ClientID})
		clients[i].Secret = func() string { return secret }
	}
	return nil
}

// clients reads a flag that names issuers.
func clients(flag string, list []string) (out []oidc.Client, err error) {
	for _, entry := range list {
		issuer, client, ok := strings.Cut(entry, "|")
		if !ok || issuer == "" || client == "" || strings.Contains(client, "|") {
			return nil, fmt.Errorf("%s %s: want ISSUER|CLIENT_ID, such as https://id.example.com|shop", flag, entry)
		}
		out = append(out, oidc.Client{Issuer: issuer, ClientID: client})
	}
	if _, err := oidc.New(oidc.Options{Clients: out}); err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return out, nil
}

// keysDir returns the directory of the keys that sign payments, or "" if they are not kept. With a real ledger they are
// kept, because it has orders that an earlier run has signed.
func (s *settings) keysDir(named bool) (string, error) {
	switch {
	case s.keys != "":
		return s.keys, nil
	case named:
		return "", errors.New("--keys: want a directory")
	case s.dynamoDB == "":
		return "", nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("no directory for the keys that sign payments (%w): name one with --keys", err)
	}
	return filepath.Join(dir, "seckill", "keys"), nil
}

// faultList describes each fault of the gateway in a line.
func faultList() string {
	var list strings.Builder
	for _, f := range fakegateway.FaultNames {
		fmt.Fprintf(&list, "  %s: %s\n", f, fakegateway.Meanings[f])
	}
	return list.String()
}

// endpoint reports whether a flag is empty or the URL of a server.
func endpoint(s string) bool {
	u, err := url.Parse(s)
	return s == "" || err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// serve runs the system until the command's context ends.
func serve(cmd *cobra.Command, port int, opt local.Options) error {
	sys, err := local.New(opt)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("port %d is in use: stop the program that uses it, or choose another one with --port", port)
	}
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	// The ballast is never touched, so it takes no memory. It makes the heap's doubling, at which the garbage collector
	// runs, rarer: a few runs per second under load instead of dozens.
	ballast := make([]byte, 64<<20)
	stop := func() error {
		// Not the command's context: it has ended.
		ctx, cancel := context.WithTimeout(context.Background(), local.MaxClose)
		defer cancel()
		return sys.Close(ctx)
	}
	if err := sys.Start(ctx); err != nil {
		return faultError{errors.Join(err, stop())}
	}
	out := cmd.OutOrStdout()
	if stored, err := sys.Items.List(ctx, time.Time{}); len(stored) > 0 &&
		(err == nil || errors.Is(err, seckill.ErrUnreadable)) {
		opt.Items = nil // a real server may have items of an earlier run
		for _, it := range stored {
			opt.Items = append(opt.Items, seckill.Listing{Item: it})
		}
	}
	if err := welcome(out, sys, opt); err != nil {
		return faultError{errors.Join(err, stop())}
	}
	<-ctx.Done()
	runtime.KeepAlive(ballast)
	fmt.Fprintln(out, "\nStopping…")
	if err := stop(); err != nil {
		fmt.Fprintln(cmd.ErrOrStderr(), "seckill: stopped before everything had ended:", err)
	}
	if opt.Servers.Any() {
		fmt.Fprintln(out, "Stopped. The data of real servers and kept keys remain; all other data is gone.")
	} else {
		fmt.Fprintln(out, "Stopped. The data is gone.")
	}
	return nil
}
