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

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/cmd/seckill/secrets"
	"github.com/your-org/seckill/shared/adapter/alipay"
	"github.com/your-org/seckill/shared/adapter/alipay/fakegateway"
	"github.com/your-org/seckill/shared/adapter/config"
)

const (
	tokenKeyBytes = 32       // of jwt-secret: as many as HS256 has (RFC 7518 section 3.2)
	maxKeyFile    = 64 << 10 // bytes
	maxCertFile   = 8 << 10  // bytes: three of them and three keys fit a secret of 64 KB
	maxPassword   = 1 << 10  // bytes of a Redis password
	everything    = "all"    // what --rotate without a name means
	certificates  = "alipay-certificates"
)

var kidPattern = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// certFiles are the names that Alipay's console gives the certificates, by their names.
var certFiles = map[string]string{secrets.AppCert: "appCertPublicKey_*.crt",
	secrets.AlipayCert: "alipayCertPublicKey_RSA2.crt", secrets.RootCert: "alipayRootCert.crt"}

// keysFlags are what `seckill keys` is told.
type keysFlags struct {
	secretsAt
	sandbox    bool
	alipayFile string
	certFolder string
	rotate     []string
	kids       []string
	password   string // file
	shopFile   string
}

// given is what was read of Alipay's; nil when there is none.
type given struct {
	key   *rsa.PublicKey
	certs map[string]string // by their names
	// private is the shop's private key, password that of Redis; "" when none was given.
	private, password string
}

func keysCommand() *cobra.Command {
	var set keysFlags
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Make the secrets of a stack on AWS, where they are missing",
		Long: `Make the secrets of a stack and store them in AWS Secrets Manager below a path: the
stack's parameter SecretsPath. PATH/keys has all of them, PATH/buy, PATH/shop, … what each function
reads, PATH/login what whoever signs shoppers' tokens needs. What is there stays, unless --rotate
names it; so the command may be repeated, and has to be when it was broken off: then it completes
what it had begun. It prints what it made and no secret.

Of a shop it makes the secret of shoppers' tokens and the shop's RSA key pair, prints the public key
to paste into Alipay's console, and stores Alipay's public key, which the console shows in exchange
(--alipay-public-key FILE, in the same run or a later one). For an app in certificate mode
(AlipayCertificates=true) it stores the three certificates that the console gives for a request
signed with the private key: appCertPublicKey_….crt, alipayCertPublicKey_RSA2.crt and
alipayRootCert.crt, all in one folder (--alipay-certificates FOLDER). With --sandbox it makes both
sides' pairs: the stack has a fake payment gateway.

` + fmt.Sprintf("Running functions take a changed secret within about %d minutes. Then",
			config.RefreshEvery/time.Minute) +
			` a changed jwt-secret ends all tokens that were signed before, and a changed
alipay-private-key has Alipay refuse the shop's calls until its console has the new public key; in
certificate mode it is not made anew here, since its certificate comes first: store the two together
(--alipay-private-key FILE --alipay-certificates FOLDER).

--token-key KID makes the secret of tokens whose header names that key (the stack's parameter
JwtKids); --redis-password FILE stores the password of a Redis that somebody else made. The
credentials have to allow secretsmanager:GetSecretValue, CreateSecret and PutSecretValue on PATH/*.`,
		Example: `  seckill keys --path /seckill/test --sandbox
  seckill keys --path /seckill/prod --region eu-central-1 --profile shop
  seckill keys --path /seckill/prod --alipay-public-key alipay.pem
  seckill keys --path /seckill/prod --alipay-certificates ~/alipay
  seckill keys --path /seckill/prod --token-key 2027
  seckill keys --path /seckill/prod --redis-password password.txt --rotate=redis-password
  seckill keys --path /seckill/prod --rotate=jwt-secret`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return set.run(cmd) },
	}
	set.flags(cmd)
	f := cmd.Flags()
	f.BoolVar(&set.sandbox, "sandbox", false, "for a stack with the fake payment gateway (Sandbox=true)")
	f.StringVar(&set.alipayFile, "alipay-public-key", "", "file with Alipay's public key, PEM or base64")
	f.StringVar(&set.shopFile, "alipay-private-key", "",
		"file with the shop's private key, PEM or base64, if it was made elsewhere")
	f.StringVar(&set.certFolder, certificates, "",
		"folder with the three certificates of certificate mode, named as Alipay gives them")
	f.StringArrayVar(&set.kids, "token-key", nil,
		"make the secret of tokens that name this key (kid), jwt-KID; may be repeated")
	f.StringVar(&set.password, "redis-password", "", "file with the password of Redis, its last line break left out")
	f.StringSliceVar(&set.rotate, "rotate", nil,
		"make these anew though they are there: --rotate=jwt-secret, or all of them; of a key pair both parts")
	f.Lookup("rotate").NoOptDefVal = everything
	return cmd
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
	return say(cmd, "\nThe shop's public key, for Alipay's console:\n%s", publicText(p.shop))
}

// check finds what is wrong with the flags, and reads what they name of Alipay's.
func (k *keysFlags) check() (g given, err error) {
	names := []string{everything, secrets.JWTSecret, secrets.ShopPrivate, secrets.AlipayPublic}
	if k.sandbox {
		names = append(names, secrets.ShopPublic, secrets.GatewayPrivate)
	} else {
		names = append(names, certificates)
	}
	for _, kid := range k.kids {
		if !kidPattern.MatchString(kid) || secrets.JWTPrefix+kid == secrets.JWTSecret {
			return g,
				fmt.Errorf(
					"--token-key %q: want a kid, 1 to 64 letters, digits, underscores, dots and hyphens, and not "+
						"secret", kid)
		}
		names = append(names, secrets.JWTPrefix+kid)
	}
	if k.password != "" {
		names = append(names, secrets.RedisPassword)
		text, err := readSmall(k.password, maxPassword)
		if err != nil {
			return g, err
		}
		if g.password = strings.TrimRight(text, "\r\n"); g.password == "" {
			return g, fmt.Errorf("--redis-password %s: the file is empty", k.password)
		}
	}
	for _, r := range k.rotate {
		if !slices.Contains(names, r) {
			return g, fmt.Errorf("--rotate=%s: want one of %s", r, strings.Join(names, ", "))
		}
	}
	switch {
	case k.sandbox && k.alipayFile != "":
		return g,
			errors.New(
				"--alipay-public-key and --sandbox contradict each other: a sandbox has a payment gateway of its own")
	case k.sandbox && k.shopFile != "":
		return g,
			errors.New("--alipay-private-key and --sandbox contradict each other: a sandbox's pairs are made here")
	case k.sandbox && k.certFolder != "":
		return g,
			errors.New(
				"--alipay-certificates and --sandbox contradict each other: a sandbox has a payment gateway of its own")
	case !k.sandbox && k.alipayFile == "" && slices.Contains(k.rotate, secrets.AlipayPublic):
		return g, errors.New("--rotate=alipay-public-key: want the new one as well, --alipay-public-key FILE")
	case k.certFolder == "" && slices.Contains(k.rotate, certificates):
		return g, errors.New("--rotate=alipay-certificates: want the new ones as well, --alipay-certificates FOLDER")
	}
	if k.alipayFile != "" {
		text, err := readSmall(k.alipayFile, maxKeyFile)
		if err != nil {
			return g, err
		}
		if g.key, err = alipay.ParsePublicKey(text); err != nil {
			return g, fmt.Errorf("%s: %w", k.alipayFile, err)
		}
	}
	if k.shopFile != "" {
		if g.private, err = readSmall(k.shopFile, maxKeyFile); err != nil {
			return g, err
		}
		if _, err = alipay.ParsePrivateKey(g.private); err != nil {
			return g, fmt.Errorf("%s: %w", k.shopFile, err)
		}
	}
	if k.certFolder != "" {
		g.certs, err = readCertificates(k.certFolder)
	}
	return g, err
}

// readSmall reads a file of at most so many bytes.
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
			return nil, fmt.Errorf("--alipay-certificates %s: there are %d files %s, want 1", folder, len(found),
				certFiles[name])
		}
		if out[name], err = readSmall(filepath.Join(folder, found[0]), maxCertFile); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// keyStep is what becomes of one value; without a value it is only said.
type keyStep struct{ name, value, said string }

// keyPlan says what to make of what there is. All is decided before anything is written.
type keyPlan struct {
	flags  *keysFlags
	have   map[string]string
	theirs given // Alipay's, from files
	steps  []keyStep
	shop   *rsa.PublicKey // of the shop's pair, as it will be
}

// certified says whether there are certificates, or will be.
func (p *keyPlan) certified() bool {
	return p.theirs.certs != nil || slices.ContainsFunc(secrets.CertNames, func(name string) bool {
		return p.have[name] != ""
	})
}

func (p *keyPlan) make() (err error) {
	switch path := p.flags.path; {
	case !p.flags.sandbox && p.have[secrets.GatewayPrivate] != "":
		return fmt.Errorf("%s is there, so %s is a sandbox's: give --sandbox, or another path", secrets.GatewayPrivate,
			path)
	case p.flags.sandbox && p.have[secrets.GatewayPrivate] == "" && p.have[secrets.AlipayPublic] != "":
		return fmt.Errorf("%s is there and no %s, so %s is a real shop's: a sandbox needs another path",
			secrets.AlipayPublic, secrets.GatewayPrivate, path)
	case p.flags.sandbox && p.certified():
		return fmt.Errorf("certificates of Alipay are there, so %s is a real shop's: a sandbox needs another path",
			path)
	case p.have[secrets.AppCert] != "" && p.rotates(secrets.ShopPrivate) &&
		(p.theirs.private == "" || p.theirs.certs == nil):
		return fmt.Errorf(
			"%s is there, and is of the private key that is: a new key has to have its certificate first, "+
				"docs/DEPLOY.md says how (other secrets: --rotate=NAME)", secrets.AppCert)
	}
	p.tokens()
	if err := p.redis(); err != nil {
		return err
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

func (p *keyPlan) rotates(names ...string) bool {
	return slices.ContainsFunc(p.flags.rotate, func(r string) bool {
		return r == everything || slices.Contains(names, r)
	})
}

// put stores a value, as a new one or in the place of one.
func (p *keyPlan) put(name, value, what string) {
	said := "made: " + what
	if p.have[name] != "" {
		said = "replaced: " + what
	}
	p.steps = append(p.steps, keyStep{name, value, said})
}

func (p *keyPlan) keep(name string) {
	p.steps = append(p.steps, keyStep{name: name, said: "is there, and stays (--rotate=" + name + " makes it anew)"})
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
		b := make([]byte, tokenKeyBytes)
		_, _ = rand.Read(b) // it never fails
		p.put(name, base64.RawURLEncoding.EncodeToString(b), fmt.Sprintf("%d random bytes, which sign shoppers' tokens",
			tokenKeyBytes))
	}
}

// redis stores the password of Redis, if it was given.
func (p *keyPlan) redis() error {
	switch name := secrets.RedisPassword; {
	case p.theirs.password == "":
	case p.have[name] == p.theirs.password:
		p.steps = append(p.steps, keyStep{name: name, said: "is there already, just so"})
	case p.have[name] != "" && !p.rotates(name):
		return fmt.Errorf("%s is there, another one: --rotate=%s replaces it", name, name)
	default:
		p.put(name, p.theirs.password, "the password of Redis, from "+p.flags.password)
	}
	return nil
}

// pair makes a key pair or completes it, and gives its public key. The private key is stored first: of it alone the
// public one can be made.
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
		return nil, fmt.Errorf("%s is there without its private key %s: --rotate=%s makes a new pair", public, private,
			private)
	}
	key, err := alipay.ParsePrivateKey(p.have[private])
	if err != nil {
		return nil, fmt.Errorf("%s cannot be used: %w; --rotate=%s makes a new one", private, err, private)
	}
	p.keep(private)
	switch {
	case !storePublic:
	case !havePublic:
		p.put(public, pemText(&key.PublicKey), "the public key of "+private)
	default:
		if have, err := alipay.ParsePublicKey(p.have[public]); err != nil || !have.Equal(&key.PublicKey) {
			return nil, fmt.Errorf("%s is not the public key of %s: --rotate=%s makes a new pair", public, private,
				private)
		}
		p.steps = append(p.steps, keyStep{name: public, said: "is there, and stays: it belongs to " + private})
	}
	return &key.PublicKey, nil
}

// given stores the shop's private key that was made elsewhere.
func (p *keyPlan) given() error {
	key, err := alipay.ParsePrivateKey(p.theirs.private)
	if err != nil {
		return err
	}
	p.shop = &key.PublicKey
	have, err := alipay.ParsePrivateKey(p.have[secrets.ShopPrivate])
	switch name := secrets.ShopPrivate; {
	case err == nil && have.Equal(key): // perhaps written in another way
		p.steps = append(p.steps, keyStep{name: name, said: "is there already, just so"})
	case p.have[name] != "" && !p.rotates(name):
		return fmt.Errorf("%s is there, another one: --rotate=%s replaces it", name, name)
	default:
		p.put(name, p.theirs.private, "the shop's private key, from "+p.flags.shopFile)
	}
	return nil
}

// alipay stores Alipay's public key, if it was given.
func (p *keyPlan) alipay() error {
	have, err := alipay.ParsePublicKey(p.have[secrets.AlipayPublic])
	switch {
	case p.theirs.key == nil && p.have[secrets.AlipayPublic] != "":
		p.steps = append(p.steps, keyStep{name: secrets.AlipayPublic, said: "is there, and stays (--rotate=" +
			secrets.AlipayPublic + " --alipay-public-key FILE replaces it)"})
	case p.theirs.key == nil:
		p.steps = append(p.steps, keyStep{name: secrets.AlipayPublic,
			said: "is missing: Alipay's console shows it once it has the key below; then repeat the command with " +
				"--alipay-public-key FILE"})
	case p.theirs.key.Equal(p.shop):
		return fmt.Errorf(
			"--alipay-public-key %s: this is the shop's own public key; Alipay's is the one that its console shows "+
				"in exchange", p.flags.alipayFile)
	case err == nil && p.theirs.key.Equal(have):
		p.steps = append(p.steps, keyStep{name: secrets.AlipayPublic, said: "is there already, just so"})
	case p.have[secrets.AlipayPublic] != "" && !p.rotates(secrets.AlipayPublic):
		return fmt.Errorf("%s is there, with another key: --rotate=%s replaces it", secrets.AlipayPublic,
			secrets.AlipayPublic)
	default:
		p.put(secrets.AlipayPublic, pemText(p.theirs.key), "Alipay's public key, from "+p.flags.alipayFile)
	}
	return nil
}

// certificates stores those of certificate mode, if they were given.
func (p *keyPlan) certificates() error {
	folder := p.flags.certFolder
	if p.theirs.certs == nil {
		for _, name := range secrets.CertNames {
			said := "is there, and stays (--rotate=" + certificates + " --alipay-certificates FOLDER replaces it)"
			if p.have[name] == "" {
				said = "is missing: repeat the command with --alipay-certificates FOLDER"
			}
			p.steps = append(p.steps, keyStep{name: name, said: said})
		}
		return nil
	}
	private := cmp.Or(p.theirs.private, p.have[secrets.ShopPrivate])
	if private == "" {
		return fmt.Errorf(
			"--alipay-certificates %s: %s is missing, the private key that they were requested with: store it first",
			folder, secrets.ShopPrivate)
	}
	files := p.theirs.certs
	if _, _, err := alipay.CheckCertificates(private, files[secrets.AppCert], files[secrets.AlipayCert],
		files[secrets.RootCert], time.Now()); err != nil {
		return fmt.Errorf("--alipay-certificates %s: %w", folder, err)
	}
	for _, name := range secrets.CertNames {
		switch {
		case p.have[name] == files[name]:
			p.steps = append(p.steps, keyStep{name: name, said: "is there already, just so"})
		case p.have[name] != "" && !p.rotates(certificates):
			return fmt.Errorf("%s is there, with another certificate: --rotate=%s replaces it", name, certificates)
		default:
			p.put(name, files[name], "the certificate "+certFiles[name]+" from "+folder)
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

// publicText is a key as Alipay's console takes it: what is between PEM's first and last line.
func publicText(key *rsa.PublicKey) string { return base64.StdEncoding.EncodeToString(publicDER(key)) }
