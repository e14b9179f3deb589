package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"seckill/shared/adapter/alipay"
	"seckill/shared/adapter/alipay/fakegateway"
	"seckill/shared/adapter/config"
)

const (
	tokenKeyBytes = 32       // of jwt-secret: as many as HS256 has (RFC 7518 section 3.2)
	maxKeyFile    = 64 << 10 // bytes
	maxCertFile   = 8 << 10  // bytes: as many as a parameter can have
	everything    = "all"    // what --rotate without a name means
	certificates  = "alipay-certificates"
)

// certFiles are the names that Alipay's console gives the certificates, by the names of their parameters.
var certFiles = map[string]string{appCert: "appCertPublicKey_*.crt", alipayCert: "alipayCertPublicKey_RSA2.crt", rootCert: "alipayRootCert.crt"}

// keysFlags are what `seckill keys` is told.
type keysFlags struct {
	secretsAt
	sandbox    bool
	alipayFile string
	certFolder string
	rotate     []string
}

// given is what was read of Alipay's; nil when there is none.
type given struct {
	key   *rsa.PublicKey
	certs map[string]string // by the names of their parameters
}

func keysCommand() *cobra.Command {
	var set keysFlags
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Make the secrets of a stack on AWS, where they are missing",
		Long: `Make the secrets of a stack and store them in AWS Systems Manager, encrypted (SecureString), below a path: the stack's parameter SecretsPath.
What is there stays, unless --rotate names it; so the command may be repeated. It prints which parameters it made and no secret.

Of a shop it makes the secret of shoppers' tokens and the shop's RSA key pair, prints the public key to paste into Alipay's console, and stores Alipay's
public key, which the console shows in exchange (--alipay-public-key FILE, in the same run or a later one). For an app in certificate mode
(AlipayCertificates=true) it stores the three certificates that the console gives for a request signed with the private key: appCertPublicKey_….crt,
alipayCertPublicKey_RSA2.crt and alipayRootCert.crt, all in one folder (--alipay-certificates FOLDER). With --sandbox it makes both sides' pairs: the stack
has a fake payment gateway.

` + fmt.Sprintf("Running functions take a changed secret within about %d minutes. Then", config.RefreshEvery/time.Minute) + ` a changed jwt-secret ends all tokens that were signed before, and a changed alipay-private-key
has Alipay refuse the shop's calls until its console has the new public key; in certificate mode it is not made anew here, since its certificate comes first.

The password of a Redis that somebody else made (redis-password) is stored by AWS's own tools. The credentials have to allow ssm:GetParameters and
ssm:PutParameter on the path.`,
		Example: `  seckill keys --path /seckill/test --sandbox
  seckill keys --path /seckill/prod --region eu-central-1 --profile shop
  seckill keys --path /seckill/prod --alipay-public-key alipay.pem
  seckill keys --path /seckill/prod --alipay-certificates ~/alipay
  seckill keys --path /seckill/prod --rotate=jwt-secret`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return set.run(cmd) },
	}
	set.flags(cmd)
	f := cmd.Flags()
	f.BoolVar(&set.sandbox, "sandbox", false, "for a stack with the fake payment gateway (Sandbox=true)")
	f.StringVar(&set.alipayFile, "alipay-public-key", "", "file with Alipay's public key, PEM or base64")
	f.StringVar(&set.certFolder, certificates, "", "folder with the three certificates of certificate mode, named as Alipay gives them")
	f.StringSliceVar(&set.rotate, "rotate", nil, "make these anew though they are there: --rotate=jwt-secret, or all of them; of a key pair both parts")
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
	have, err := store.read(cmd.Context(), append([]string{jwtSecret, shopPrivate, shopPublic, gatewayPrivate, alipayPublic}, certNames...)...)
	if err != nil {
		return err
	}
	p := &keyPlan{flags: k, have: have, theirs: theirs}
	if err := p.make(); err != nil {
		return err
	}
	for _, s := range p.steps {
		if s.value != "" {
			if err := store.write(cmd.Context(), s.name, s.value, have[s.name] != ""); err != nil {
				return err
			}
		}
		if err := say(cmd, "%s: %s", store.name(s.name), s.said); err != nil {
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
	names := []string{everything, jwtSecret, shopPrivate, alipayPublic}
	if k.sandbox {
		names = append(names, shopPublic, gatewayPrivate)
	} else {
		names = append(names, certificates)
	}
	for _, r := range k.rotate {
		if !slices.Contains(names, r) {
			return g, fmt.Errorf("--rotate=%s: want one of %s", r, strings.Join(names, ", "))
		}
	}
	switch {
	case k.sandbox && k.alipayFile != "":
		return g, errors.New("--alipay-public-key and --sandbox contradict each other: a sandbox has a payment gateway of its own")
	case k.sandbox && k.certFolder != "":
		return g, errors.New("--alipay-certificates and --sandbox contradict each other: a sandbox has a payment gateway of its own")
	case !k.sandbox && k.alipayFile == "" && slices.Contains(k.rotate, alipayPublic):
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
	for _, name := range certNames {
		found, err := fs.Glob(os.DirFS(folder), certFiles[name])
		if err != nil {
			return nil, err
		}
		if len(found) != 1 {
			return nil, fmt.Errorf("--alipay-certificates %s: there are %d files %s, want 1", folder, len(found), certFiles[name])
		}
		if out[name], err = readSmall(filepath.Join(folder, found[0]), maxCertFile); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// keyStep is what becomes of one parameter; without a value it is only said.
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
	return p.theirs.certs != nil || slices.ContainsFunc(certNames, func(name string) bool { return p.have[name] != "" })
}

func (p *keyPlan) make() (err error) {
	switch path := p.flags.path; {
	case !p.flags.sandbox && p.have[gatewayPrivate] != "":
		return fmt.Errorf("%s/%s is there, so %s is a sandbox's: give --sandbox, or another path", path, gatewayPrivate, path)
	case p.flags.sandbox && p.have[gatewayPrivate] == "" && p.have[alipayPublic] != "":
		return fmt.Errorf("%s/%s is there and no %s, so %s is a real shop's: a sandbox needs another path", path, alipayPublic, gatewayPrivate, path)
	case p.flags.sandbox && p.certified():
		return fmt.Errorf("certificates of Alipay are there, so %s is a real shop's: a sandbox needs another path", path)
	case p.have[appCert] != "" && p.rotates(shopPrivate):
		return fmt.Errorf("%s/%s is there, and is of the private key that is: a new key has to have its certificate first, docs/DEPLOY.md says how (other secrets: --rotate=NAME)", path, appCert)
	}
	p.tokens()
	if p.shop, err = p.pair(shopPrivate, shopPublic, p.flags.sandbox); err != nil {
		return err
	}
	if p.flags.sandbox {
		_, err = p.pair(gatewayPrivate, alipayPublic, true)
		return err
	}
	if p.theirs.key != nil || p.have[alipayPublic] != "" || !p.certified() {
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
	return slices.ContainsFunc(p.flags.rotate, func(r string) bool { return r == everything || slices.Contains(names, r) })
}

// put stores a value, as a new parameter or in the place of one.
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
	if p.have[jwtSecret] != "" && !p.rotates(jwtSecret) {
		p.keep(jwtSecret)
		return
	}
	b := make([]byte, tokenKeyBytes)
	_, _ = rand.Read(b) // it never fails
	p.put(jwtSecret, base64.RawURLEncoding.EncodeToString(b), fmt.Sprintf("%d random bytes, which sign shoppers' tokens", tokenKeyBytes))
}

// pair makes a key pair or completes it, and gives its public key. The private key is stored first: of it alone the public one can be made.
func (p *keyPlan) pair(private, public string, storePublic bool) (*rsa.PublicKey, error) {
	path := p.flags.path
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
		return nil, fmt.Errorf("%s/%s is there without its private key %s: --rotate=%s makes a new pair", path, public, private, private)
	}
	key, err := alipay.ParsePrivateKey(p.have[private])
	if err != nil {
		return nil, fmt.Errorf("%s/%s cannot be used: %w; --rotate=%s makes a new one", path, private, err, private)
	}
	p.keep(private)
	switch {
	case !storePublic:
	case !havePublic:
		p.put(public, pemText(&key.PublicKey), "the public key of "+private)
	default:
		if have, err := alipay.ParsePublicKey(p.have[public]); err != nil || !have.Equal(&key.PublicKey) {
			return nil, fmt.Errorf("%s/%s is not the public key of %s: --rotate=%s makes a new pair", path, public, private, private)
		}
		p.steps = append(p.steps, keyStep{name: public, said: "is there, and stays: it belongs to " + private})
	}
	return &key.PublicKey, nil
}

// alipay stores Alipay's public key, if it was given.
func (p *keyPlan) alipay() error {
	have, err := alipay.ParsePublicKey(p.have[alipayPublic])
	switch {
	case p.theirs.key == nil && p.have[alipayPublic] != "":
		p.steps = append(p.steps, keyStep{name: alipayPublic, said: "is there, and stays (--rotate=" + alipayPublic + " --alipay-public-key FILE replaces it)"})
	case p.theirs.key == nil:
		p.steps = append(p.steps, keyStep{name: alipayPublic, said: "is missing: Alipay's console shows it once it has the key below; then repeat the command with --alipay-public-key FILE"})
	case p.theirs.key.Equal(p.shop):
		return fmt.Errorf("--alipay-public-key %s: this is the shop's own public key; Alipay's is the one that its console shows in exchange", p.flags.alipayFile)
	case err == nil && p.theirs.key.Equal(have):
		p.steps = append(p.steps, keyStep{name: alipayPublic, said: "is there already, just so"})
	case p.have[alipayPublic] != "" && !p.rotates(alipayPublic):
		return fmt.Errorf("%s/%s is there, with another key: --rotate=%s replaces it", p.flags.path, alipayPublic, alipayPublic)
	default:
		p.put(alipayPublic, pemText(p.theirs.key), "Alipay's public key, from "+p.flags.alipayFile)
	}
	return nil
}

// certificates stores those of certificate mode, if they were given.
func (p *keyPlan) certificates() error {
	path, folder := p.flags.path, p.flags.certFolder
	if p.theirs.certs == nil {
		for _, name := range certNames {
			said := "is there, and stays (--rotate=" + certificates + " --alipay-certificates FOLDER replaces it)"
			if p.have[name] == "" {
				said = "is missing: repeat the command with --alipay-certificates FOLDER"
			}
			p.steps = append(p.steps, keyStep{name: name, said: said})
		}
		return nil
	}
	private := p.have[shopPrivate]
	if private == "" {
		return fmt.Errorf("--alipay-certificates %s: %s/%s is missing, the private key that they were requested with: store it first", folder, path, shopPrivate)
	}
	files := p.theirs.certs
	if _, _, err := alipay.CheckCertificates(private, files[appCert], files[alipayCert], files[rootCert], time.Now()); err != nil {
		return fmt.Errorf("--alipay-certificates %s: %w", folder, err)
	}
	for _, name := range certNames {
		switch {
		case p.have[name] == files[name]:
			p.steps = append(p.steps, keyStep{name: name, said: "is there already, just so"})
		case p.have[name] != "" && !p.rotates(certificates):
			return fmt.Errorf("%s/%s is there, with another certificate: --rotate=%s replaces it", path, name, certificates)
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
