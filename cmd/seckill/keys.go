package main

import (
	"cmp"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/your-org/seckill/cmd/seckill/secrets"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/api/salts"
	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/fake/fakegateway"
)

const (
	tokenKeyBytes   = 32       // of jwt-secret, in bytes: the output size of HS256 (RFC 7518 section 3.2)
	ticketKeyBytes  = 32       // of a key in ticket-secret, likewise
	webhookKeyBytes = 24       // as Standard Webhooks recommends: 24 to 64
	maxKeyFile      = 64 << 10 // bytes
	maxCertFile     = 8 << 10  // bytes; three certificates and three keys fit into a secret of 64 KB
	maxPassword     = 1 << 10  // bytes of a Redis password
	everything      = "all"    // --rotate without a name
	certificates    = "alipay-certificates"
)

var kidPattern = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// certFiles are the certificates' file names as Alipay's console downloads them, by secret.
var certFiles = map[string]string{secrets.AppCert: "appCertPublicKey_*.crt",
	secrets.AlipayCert: "alipayCertPublicKey_RSA2.crt", secrets.RootCert: "alipayRootCert.crt"}

// keysFlags are the flags of `seckill keys`.
type keysFlags struct {
	secretsAt
	sandbox    bool
	alipayFile string
	certFolder string
	rotate     []string
	kids       []string
	webhook    bool
	password   string // file
	staff      string // file
	signIn     string // file
	shopFile   string
	reportFile string
	audience   string // from when on tokens need one
}

// given are the values that were read from files; zero if not given.
type given struct {
	key      *rsa.PublicKey    // Alipay's public key
	certs    map[string]string // by name
	private  string            // the shop's private key, in PEM
	password string            // of Redis
	staff    string            // the secret of the client at the issuer of staff
	signIn   string            // the secrets of the clients at shoppers' issuers
	salts    salts.Secret      // of the key of reports
}

func keysCommand() *cobra.Command {
	var set keysFlags
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Create the secrets of a stack on AWS, where they are missing",
		Long: `Create the secrets of a stack and store them in AWS Secrets Manager below a path, the stack's
parameter SecretsPath. PATH/keys has all values; PATH/buy, PATH/shop and so on have the values that
each function reads; PATH/login has those of the issuer of shoppers' tokens. Existing values stay,
unless --rotate names them. The command may be repeated, and must be if it broke off: it then
completes its work. It prints what it created, and no secret.

For a real shop the command creates the secret of shoppers' tokens and the shop's RSA key pair, and
prints the public key to paste into Alipay's console. The console shows Alipay's public key in
exchange: store it with --alipay-public-key FILE, in the same run or later. An app in certificate
mode (AlipayCertificates=true) has three certificates instead, which the console issues for a
request signed with the private key: appCertPublicKey_….crt, alipayCertPublicKey_RSA2.crt and
alipayRootCert.crt. Put them into one folder and store them with --alipay-certificates FOLDER. With
--sandbox, for a stack with a fake payment gateway, it creates the key pairs of both sides.

` + fmt.Sprintf("Running functions load a changed secret within about %d minutes. Then a changed",
			config.RefreshEvery/time.Minute) +
			`
jwt-secret invalidates all earlier tokens. A new key in ticket-secret makes tickets a quarter of an
hour later, and the two before it go on checking: after a leak, rotate it three times. A new key in
command-key signs staff's commands a quarter of an hour later; the one before it is refused an hour
after that. After a change of alipay-private-key, Alipay refuses the shop's calls until its console
has the new public key. In certificate mode this command does not create that key, because its
certificate comes first: store both together (--alipay-private-key FILE --alipay-certificates
FOLDER).

--report-key FILE stores the secret of salts of the key that "seckill report key" made: then each
order shows its shopper, once the sale is over, the salt that the report has it under. It cannot
sign. --token-key KID creates the secret of tokens whose header has that key id (the stack's
parameter JwtKids). --redis-password FILE stores the password of an existing Redis,
--staff-client-secret FILE the secret of the back office's client at the issuer of staff
(StaffSecret). --signin-client-secrets FILE stores the secrets of the shop's clients at shoppers'
issuers: a line ISSUER|CLIENT_ID|SECRET for each client of SigninIssuers that has one. An empty
FILE, with --rotate=signin-client-secrets, takes all of them away. --audience-from DATE refuses
tokens without an audience from then on: give it once all services that sign tokens say "aud". The
credentials need secretsmanager:GetSecretValue, CreateSecret and PutSecretValue on PATH/*.`,
		Example: `  seckill keys --path /seckill/test --sandbox
  seckill keys --path /seckill/prod --region eu-central-1 --profile shop
  seckill keys --path /seckill/prod --alipay-public-key alipay.pem
  seckill keys --path /seckill/prod --alipay-certificates ~/alipay
  seckill keys --path /seckill/prod --token-key 2027
  seckill keys --path /seckill/prod --report-key report.key
  seckill keys --path /seckill/prod --redis-password password.txt --rotate=redis-password
  seckill keys --path /seckill/prod --rotate=jwt-secret`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return set.run(cmd) },
	}
	set.flags(cmd)
	set.more(cmd.Flags())
	return cmd
}

// more defines the flags besides those of secretsAt.
func (k *keysFlags) more(f *pflag.FlagSet) {
	f.BoolVar(&k.sandbox, "sandbox", false, "for a stack with the fake payment gateway (Sandbox=true)")
	f.StringVar(&k.alipayFile, "alipay-public-key", "", "file with Alipay's public key, PEM or base64")
	f.StringVar(&k.shopFile, "alipay-private-key", "", "file with an existing private key of the shop, PEM or base64")
	f.StringVar(&k.certFolder, certificates, "",
		"folder with the three certificates of certificate mode, with Alipay's file names")
	f.BoolVar(&k.webhook, "webhook", false, "also create the secret that signs webhooks (docs/EVENTS.md)")
	f.StringVar(&k.reportFile, "report-key", "",
		"file with the private key of the shop's reports, of which only the secret of salts is stored")
	f.StringArrayVar(&k.kids, "token-key", nil, "create jwt-KID, the secret of tokens with this key id; repeatable")
	f.StringVar(&k.audience, "audience-from", "",
		"a date, or a time in RFC 3339, from which on tokens without \"aud\": \"seckill\" are refused")
	f.StringVar(&k.password, "redis-password", "",
		"file with the password of Redis; a line break at its end is ignored")
	f.StringVar(&k.staff, "staff-client-secret", "",
		"file with the client's secret at the issuer of staff; a line break at its end is ignored")
	f.StringVar(&k.signIn, secrets.SignInSecrets, "",
		"file with lines of ISSUER|CLIENT_ID|SECRET, the clients' secrets at shoppers' issuers")
	f.StringSliceVar(&k.rotate, "rotate", nil,
		"replace existing values: --rotate=NAME, or --rotate for all; of a key pair, both parts")
	f.Lookup("rotate").NoOptDefVal = everything
}

func (k *keysFlags) run(cmd *cobra.Command) error {
	theirs, err := k.check()
	if err != nil {
		return err
	}
	store, err := k.open(cmd)
	if err != nil {
		return err
	}
	have, there, err := store.everything(cmd.Context())
	if err != nil {
		return err
	}
	p := &keyPlan{flags: k, have: have, theirs: theirs}
	if err := p.make(); err != nil {
		return err
	}
	all := map[string]string{}
	maps.Copy(all, have)
	for _, s := range p.steps {
		if s.value != "" {
			all[s.name] = s.value
		}
		if s.gone {
			delete(all, s.name)
		}
	}
	written, err := store.write(cmd.Context(), all, there)
	if err != nil {
		return err
	}
	for _, s := range p.steps {
		if err := say(cmd, "%s: %s", s.name, s.said); err != nil {
			return err
		}
	}
	if len(written) > 0 {
		if err := say(cmd, "\nWritten below %s: %s", k.path, strings.Join(written, ", ")); err != nil {
			return err
		}
	}
	if k.sandbox || p.certified() {
		return nil
	}
	return say(cmd, "\nThe shop's public key, to paste into Alipay's console:\n%s", publicText(p.shop))
}

// check checks the flags and reads the files that they name.
func (k *keysFlags) check() (g given, err error) {
	names := []string{everything, secrets.JWTSecret, secrets.TicketSecret, secrets.CommandKey, secrets.ShopPrivate,
		secrets.AlipayPublic}
	if k.sandbox {
		names = append(names, secrets.ShopPublic, secrets.GatewayPrivate)
	} else {
		names = append(names, certificates)
	}
	for _, kid := range k.kids {
		if !kidPattern.MatchString(kid) || slices.Contains([]string{secrets.JWTSecret,
			secrets.AudienceFrom}, secrets.JWTPrefix+kid) {
			return g, fmt.Errorf("--token-key %q: want a key id of 1 to 64 letters, digits, underscores, dots and "+
				"hyphens, not \"secret\" or \"audience-from\"", kid)
		}
		names = append(names, secrets.JWTPrefix+kid)
	}
	if k.webhook {
		names = append(names, secrets.WebhookSecret)
	}
	more, err := g.read(k)
	if err != nil {
		return g, err
	}
	names = append(names, more...)
	for _, r := range k.rotate {
		if !slices.Contains(names, r) {
			return g, fmt.Errorf("--rotate=%s: want one of %s", r, strings.Join(names, ", "))
		}
	}
	switch {
	case k.sandbox && k.alipayFile != "":
		return g, errors.New("--alipay-public-key does not go with --sandbox, which has its own payment gateway")
	case k.sandbox && k.shopFile != "":
		return g, errors.New("--alipay-private-key does not go with --sandbox, which creates its key pairs")
	case k.sandbox && k.certFolder != "":
		return g, errors.New("--alipay-certificates does not go with --sandbox, which has its own payment gateway")
	case !k.sandbox && k.alipayFile == "" && slices.Contains(k.rotate, secrets.AlipayPublic):
		return g, errors.New("--rotate=alipay-public-key: give the new key as well, with --alipay-public-key FILE")
	case k.certFolder == "" && slices.Contains(k.rotate, certificates):
		return g, errors.New("--rotate=alipay-certificates: give the new ones as well, with " +
			"--alipay-certificates FOLDER")
	}
	err = k.read(&g)
	return g, err
}

// read reads the secrets that others have made, and returns their names.
func (g *given) read(k *keysFlags) (names []string, err error) {
	for _, of := range []struct {
		name, file string
		to         *string
	}{{secrets.RedisPassword, k.password, &g.password}, {secrets.StaffSecret, k.staff, &g.staff}} {
		if of.file == "" {
			continue
		}
		names = append(names, of.name)
		if *of.to, err = readPassword(of.name, of.file); err != nil {
			return nil, err
		}
	}
	if k.signIn != "" {
		names = append(names, secrets.SignInSecrets)
		if g.signIn, err = readSmall(k.signIn, config.MaxClientSecrets); err != nil {
			return nil, err
		}
		list, err := config.ParseClientSecrets(g.signIn)
		if err == nil && len(list) == 0 {
			g.signIn = "" // what is stored is taken away
			if !k.rotates(secrets.SignInSecrets) {
				err = errors.New("no secret; with --rotate=" + secrets.SignInSecrets + " it takes all away")
			}
		}
		if err != nil {
			return nil, fmt.Errorf("--%s %s: %w", secrets.SignInSecrets, k.signIn, err)
		}
	}
	if k.audience != "" {
		names = append(names, secrets.AudienceFrom)
		if _, err = jwtauth.ParseAudienceFrom(k.audience); err != nil {
			return nil, fmt.Errorf("--audience-from: %w", err)
		}
	}
	if k.reportFile != "" {
		names = append(names, secrets.ReportSalts)
		if g.salts, err = readSalts(k.reportFile); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// readPassword reads a secret of one line.
func readPassword(flag, file string) (string, error) {
	text, err := readSmall(file, maxPassword)
	if err != nil {
		return "", err
	}
	text = strings.TrimRight(strings.TrimPrefix(text, "\ufeff"), "\r\n") // editors begin a file with this mark
	switch {
	case text == "":
		return "", fmt.Errorf("--%s %s: the file is empty", flag, file)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return "", fmt.Errorf("--%s %s: want one line of text in UTF-8", flag, file)
	}
	return text, nil
}

// readSmall reads a file of at most this many bytes.
func readSmall(name string, most int64) (string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if info.Size() > most {
		return "", fmt.Errorf("%s: larger than %d KiB", name, most>>10)
	}
	b, err := os.ReadFile(name)
	return string(b), err
}

// readCertificates finds Alipay's files in a folder.
func readCertificates(folder string) (map[string]string, error) {
	if _, err := os.Stat(folder); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, name := range secrets.CertNames {
		found, err := fs.Glob(os.DirFS(folder), certFiles[name])
		if err != nil {
			return nil, err
		}
		if len(found) != 1 {
			return nil, fmt.Errorf("--alipay-certificates %s: %d files match %s, want 1", folder, len(found),
				certFiles[name])
		}
		if out[name], err = readSmall(filepath.Join(folder, found[0]), maxCertFile); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// keyStep is the outcome for one value; an empty value is not written, unless it is gone.
type keyStep struct {
	name, value, said string
	gone              bool
}

// keyPlan decides what to create or change before anything is written.
type keyPlan struct {
	flags  *keysFlags
	have   map[string]string
	theirs given // from files
	steps  []keyStep
	shop   *rsa.PublicKey // of the shop's pair, after the run
}

// certified reports whether the path has certificates, or will have them.
func (p *keyPlan) certified() bool {
	return p.theirs.certs != nil || slices.ContainsFunc(secrets.CertNames, func(name string) bool {
		return p.have[name] != ""
	})
}

func (p *keyPlan) make() (err error) {
	switch path := p.flags.path; {
	case !p.flags.sandbox && p.have[secrets.GatewayPrivate] != "":
		return fmt.Errorf("%s exists, so %s belongs to a sandbox: give --sandbox, or another path",
			secrets.GatewayPrivate, path)
	case p.flags.sandbox && p.have[secrets.GatewayPrivate] == "" && p.have[secrets.AlipayPublic] != "":
		return fmt.Errorf("%s exists without %s, so %s belongs to a real shop: give another path for a sandbox",
			secrets.AlipayPublic, secrets.GatewayPrivate, path)
	case p.flags.sandbox && p.certified():
		return fmt.Errorf("certificates of Alipay exist, so %s belongs to a real shop: give another path for a sandbox",
			path)
	case p.have[secrets.AppCert] != "" && p.rotates(secrets.ShopPrivate) &&
		(p.theirs.private == "" || p.theirs.certs == nil):
		return fmt.Errorf("%s belongs to the existing private key: a new key needs its certificate first, see "+
			"docs/DEPLOY.md (other secrets: --rotate=NAME)", secrets.AppCert)
	}
	p.tokens()
	p.tickets(time.Now())
	p.commands(time.Now())
	p.webhook()
	if err := cmp.Or(p.take(secrets.RedisPassword, p.theirs.password, "the password of Redis, from "+p.flags.password),
		p.take(secrets.StaffSecret, p.theirs.staff, "the client's secret, from "+p.flags.staff),
		p.take(secrets.SignInSecrets, p.theirs.signIn, "the clients' secrets, from "+p.flags.signIn),
		p.take(secrets.AudienceFrom, p.flags.audience, "tokens without an audience are refused from "+
			p.flags.audience+" on"),
		p.take(secrets.ReportSalts, p.theirs.salts.Text(), "the secret of salts, from "+
			p.flags.reportFile)); err != nil {
		return err
	}
	if p.flags.signIn != "" && p.theirs.signIn == "" { // its file names no client
		p.steps = append(p.steps, keyStep{name: secrets.SignInSecrets, said: "taken away: no client has a secret",
			gone: true})
	}
	if p.theirs.private != "" {
		err = p.given()
	} else {
		p.shop, err = p.pair(secrets.ShopPrivate, secrets.ShopPublic, p.flags.sandbox)
	}
	if err != nil {
		return err
	}
	if p.flags.sandbox {
		_, err = p.pair(secrets.GatewayPrivate, secrets.AlipayPublic, true)
		return err
	}
	if p.theirs.key != nil || p.have[secrets.AlipayPublic] != "" || !p.certified() {
		if err := p.alipay(); err != nil {
			return err
		}
	}
	if p.certified() {
		return p.certificates()
	}
	return nil
}

func (p *keyPlan) rotates(names ...string) bool { return p.flags.rotates(names...) }

func (k *keysFlags) rotates(names ...string) bool {
	return slices.ContainsFunc(k.rotate, func(r string) bool {
		return r == everything || slices.Contains(names, r)
	})
}

// put creates or replaces a value.
func (p *keyPlan) put(name, value, what string) {
	said := "created: " + what
	if p.have[name] != "" {
		said = "replaced: " + what
	}
	p.steps = append(p.steps, keyStep{name: name, value: value, said: said})
}

// stays says why a value is not written.
func (p *keyPlan) stays(name, said string) {
	p.steps = append(p.steps, keyStep{name: name, said: said})
}

func (p *keyPlan) keep(name string) {
	p.stays(name, "exists, unchanged (--rotate="+name+" replaces it)")
}

// random returns random bytes.
func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

func (p *keyPlan) tokens() {
	names := []string{secrets.JWTSecret}
	for _, kid := range p.flags.kids {
		names = append(names, secrets.JWTPrefix+kid)
	}
	for _, name := range names {
		if p.have[name] != "" && !p.rotates(name) {
			p.keep(name)
			continue
		}
		p.put(name, base64.RawURLEncoding.EncodeToString(random(tokenKeyBytes)),
			fmt.Sprintf("%d random bytes, which sign shoppers' tokens", tokenKeyBytes))
	}
}

// keyDelay is the time until a new key of tickets, or of commands, is used: all instances have read it by then.
const keyDelay = 3 * config.RefreshEvery

// tickets creates the first key of tickets, or adds another one. Earlier keys still check tickets.
func (p *keyPlan) tickets(now time.Time) {
	name, from, what := secrets.TicketSecret, now, fmt.Sprintf("%d random bytes, which sign tickets", ticketKeyBytes)
	var keys jwtauth.TicketKeys
	switch have := p.have[name]; {
	case have != "" && !p.rotates(name):
		p.keep(name)
		return
	case have != "":
		var err error
		if keys, err = jwtauth.ParseTicketKeys(have); err == nil { // replace a malformed value at once
			from, what = now.Add(keyDelay), what+"; the ones before go on checking"
		}
	}
	p.put(name, keys.Add(base64.RawURLEncoding.EncodeToString(random(ticketKeyBytes)), from).String(), what)
}

// webhook creates or replaces the secret of webhooks, if asked for. The previous secret stays beside the new one, so
// that its readers can change over when they want.
func (p *keyPlan) webhook() {
	name, have := secrets.WebhookSecret, p.have[secrets.WebhookSecret]
	switch {
	case !p.flags.webhook:
	case have != "" && !p.rotates(name):
		p.keep(name)
	default:
		both := strings.Fields("whsec_" + base64.StdEncoding.EncodeToString(random(webhookKeyBytes)) + " " + have)
		p.put(name, strings.Join(both[:min(len(both), 2)], " "), fmt.Sprintf(
			"%d random bytes, which sign webhooks; the one before goes on signing beside it", webhookKeyBytes))
	}
}

// pair creates or completes a key pair and returns its public key, which can be computed from the private key alone.
func (p *keyPlan) pair(private, public string, storePublic bool) (*rsa.PublicKey, error) {
	havePublic := p.have[public] != "" && storePublic
	if p.rotates(private, public) || p.have[private] == "" && !havePublic {
		made, err := fakegateway.GenerateKeys()
		if err != nil {
			return nil, err
		}
		p.put(private, made.Private, "an RSA key of 2048 bits")
		if storePublic {
			p.put(public, made.Public, "the public key of "+private)
		}
		return alipay.ParsePublicKey(made.Public)
	}
	if p.have[private] == "" {
		return nil, fmt.Errorf("%s exists without its private key %s: create a new pair with --rotate=%s", public,
			private, private)
	}
	key, err := alipay.ParsePrivateKey(p.have[private])
	if err != nil {
		return nil, fmt.Errorf("%s is invalid: %w; replace it with --rotate=%s", private, err, private)
	}
	p.keep(private)
	switch {
	case !storePublic:
	case !havePublic:
		p.put(public, pemText(&key.PublicKey), "the public key of "+private)
	default:
		if have, err := alipay.ParsePublicKey(p.have[public]); err != nil || !have.Equal(&key.PublicKey) {
			return nil, fmt.Errorf("%s is not the public key of %s: create a new pair with --rotate=%s", public,
				private, private)
		}
		p.stays(public, "exists, unchanged: it belongs to "+private)
	}
	return &key.PublicKey, nil
}

// given stores an existing private key of the shop.
func (p *keyPlan) given() error {
	key, err := alipay.ParsePrivateKey(p.theirs.private)
	if err != nil {
		return err
	}
	p.shop = &key.PublicKey
	if have, err := alipay.ParsePrivateKey(p.have[secrets.ShopPrivate]); err == nil && have.Equal(key) {
		p.stays(secrets.ShopPrivate, "exists, with this value") // perhaps in another encoding
		return nil
	}
	return p.take(secrets.ShopPrivate, p.theirs.private, "the shop's private key, from "+p.flags.shopFile)
}

// alipay stores Alipay's public key, if given.
func (p *keyPlan) alipay() error {
	have, err := alipay.ParsePublicKey(p.have[secrets.AlipayPublic])
	switch {
	case p.theirs.key == nil && p.have[secrets.AlipayPublic] != "":
		p.stays(secrets.AlipayPublic, "exists, unchanged (--rotate="+secrets.AlipayPublic+
			" --alipay-public-key FILE replaces it)")
	case p.theirs.key == nil:
		p.stays(secrets.AlipayPublic, "is missing: Alipay's console shows it once you have pasted the key below "+
			"there; then repeat the command with --alipay-public-key FILE")
	case p.theirs.key.Equal(p.shop):
		return fmt.Errorf("--alipay-public-key %s: this is the shop's own public key; give Alipay's, which its "+
			"console shows in exchange", p.flags.alipayFile)
	case err == nil && p.theirs.key.Equal(have):
		p.stays(secrets.AlipayPublic, "exists, with this value")
	case p.have[secrets.AlipayPublic] != "" && !p.rotates(secrets.AlipayPublic):
		return fmt.Errorf("%s exists with another key: replace it with --rotate=%s", secrets.AlipayPublic,
			secrets.AlipayPublic)
	default:
		p.put(secrets.AlipayPublic, pemText(p.theirs.key), "Alipay's public key, from "+p.flags.alipayFile)
	}
	return nil
}

// certificates stores the certificates of certificate mode, if given.
func (p *keyPlan) certificates() error {
	folder := p.flags.certFolder
	if p.theirs.certs == nil {
		for _, name := range secrets.CertNames {
			said := "exists, unchanged (--rotate=" + certificates + " --alipay-certificates FOLDER replaces it)"
			if p.have[name] == "" {
				said = "is missing: repeat the command with --alipay-certificates FOLDER"
			}
			p.stays(name, said)
		}
		return nil
	}
	private := cmp.Or(p.theirs.private, p.have[secrets.ShopPrivate])
	if private == "" {
		return fmt.Errorf("--alipay-certificates %s: store %s first, the private key that signed their request", folder,
			secrets.ShopPrivate)
	}
	files := p.theirs.certs
	if _, _, err := alipay.CheckCertificates(private, files[secrets.AppCert], files[secrets.AlipayCert],
		files[secrets.RootCert], time.Now()); err != nil {
		return fmt.Errorf("--alipay-certificates %s: %w", folder, err)
	}
	for _, name := range secrets.CertNames {
		text, err := alipay.PlainCertificates(files[name]) // the file may be in UTF-16, which no secret can hold
		if err != nil {
			return fmt.Errorf("--alipay-certificates %s: %s: %w", folder, name, err)
		}
		have, err := alipay.PlainCertificates(p.have[name])
		switch {
		case err == nil && have == text:
			p.stays(name, "exists, with this value") // perhaps in another encoding
		case p.have[name] != "" && !p.rotates(certificates):
			return fmt.Errorf("%s exists with another certificate: replace it with --rotate=%s", name, certificates)
		default:
			p.put(name, text, "the certificate "+certFiles[name]+" from "+folder)
		}
	}
	return nil
}

func publicDER(key *rsa.PublicKey) []byte {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		panic(err) // an RSA key always marshals
	}
	return der
}

func pemText(key *rsa.PublicKey) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: publicDER(key)}))
}

// publicText encodes a key as Alipay's console takes it: PEM without its first and last line.
func publicText(key *rsa.PublicKey) string { return base64.StdEncoding.EncodeToString(publicDER(key)) }
