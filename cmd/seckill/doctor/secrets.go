package doctor

import (
	"context"
	"crypto/rsa"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"seckill/shared/adapter/alipay"
)

const (
	minTokenKey  = 32 // bytes: as many as HS256 has (RFC 7518 section 3.2)
	maxAtATime   = 10 // parameters that GetParameters takes
	jwtSecret    = "jwt-secret"
	shopPrivate  = "alipay-private-key"
	shopPublic   = "alipay-shop-public-key"
	gateway      = "gateway-private-key"
	alipayPublic = "alipay-public-key"
	appCert      = "alipay-app-cert"
	alipayCert   = "alipay-cert"
	rootCert     = "alipay-root-cert"
	password     = "redis-password"
)

// soon is how long before its end a certificate is to be replaced.
const soon = 30 * 24 * time.Hour

// secrets reads the stack's secrets, and says of each whether it can be used. It never shows one.
func (d *Doctor) secrets(ctx context.Context, c *check) {
	path := d.outputs["SecretsPath"]
	s := &secrets{c, path, map[string]types.Parameter{}}
	certified := !d.sandbox() && d.parameters["AlipayCertificates"] == "true"
	names := []string{jwtSecret, shopPrivate}
	if certified {
		names = append(names, appCert, alipayCert, rootCert)
	} else {
		names = append(names, alipayPublic)
	}
	if d.sandbox() {
		names = append(names, gateway, shopPublic)
	}
	if d.parameters["RedisPassword"] == "true" {
		names = append(names, password)
	}
	for i, n := range names {
		names[i] = path + "/" + n
	}
	var kids []string // their parameters' names
	for _, kid := range strings.Split(d.parameters["JwtKids"], ",") {
		if _, name, ok := strings.Cut(kid, "="); ok {
			kids = append(kids, name)
		}
	}
	client := ssm.NewFromConfig(d.AWS)
	for part := range slices.Chunk(append(names, kids...), maxAtATime) {
		out, err := client.GetParameters(ctx, &ssm.GetParametersInput{Names: part, WithDecryption: aws.Bool(true)})
		if err != nil {
			c.unasked("for the secrets below "+path, err)
			return
		}
		for _, p := range out.Parameters {
			s.have[aws.ToString(p.Name)] = p
		}
	}
	s.token(path + "/" + jwtSecret)
	for _, k := range kids {
		s.token(k)
	}
	if d.parameters["RedisPassword"] == "true" && s.stored(path+"/"+password) != "" {
		c.ok("%s/%s is there", path, password)
	}
	shop := s.private(shopPrivate)
	if d.sandbox() {
		s.pair(shopPublic, shopPrivate, shop)
		s.pair(alipayPublic, gateway, s.private(gateway))
		return
	}
	if certified {
		s.certificates(shop != nil, time.Now())
		return
	}
	if theirs := s.public(alipayPublic); theirs != nil && shop != nil && theirs.Equal(&shop.PublicKey) {
		c.fault("%s/%s is the shop's own public key: store the one that Alipay's console shows (seckill keys --path %s --rotate=%s --alipay-public-key FILE)",
			path, alipayPublic, path, alipayPublic)
	} else if theirs != nil && shop != nil {
		c.ok("both keys of Alipay can be read; whether Alipay's console has the shop's public key, only a payment shows")
	}
}

type secrets struct {
	*check
	path string
	have map[string]types.Parameter
}

// stored gives a parameter's value, "" after saying what is wrong.
func (s *secrets) stored(name string) string {
	p, ok := s.have[name]
	switch {
	case !ok || aws.ToString(p.Value) == "":
		s.fault("%s is missing: %s", name, s.makes(name))
		return ""
	case p.Type != types.ParameterTypeSecureString:
		s.fault("%s is stored in the clear (%s): delete it and make another, %s", name, p.Type, s.makes(name))
		return ""
	}
	return aws.ToString(p.Value)
}

// makes says which command makes a secret.
func (s *secrets) makes(name string) string {
	sandbox := ""
	if s.sandbox() {
		sandbox = " --sandbox"
	}
	switch {
	case name == s.path+"/"+password || !strings.HasPrefix(name, s.path+"/") || strings.HasPrefix(name, s.path+"/jwt-") && name != s.path+"/"+jwtSecret:
		return fmt.Sprintf("aws ssm put-parameter --type SecureString --name %s --value …", name)
	case name == s.path+"/"+alipayPublic && !s.sandbox():
		return fmt.Sprintf("seckill keys --path %s --alipay-public-key FILE", s.path)
	case slices.Contains([]string{appCert, alipayCert, rootCert}, strings.TrimPrefix(name, s.path+"/")):
		return fmt.Sprintf("seckill keys --path %s --alipay-certificates FOLDER", s.path)
	}
	return fmt.Sprintf("seckill keys --path %s%s", s.path, sandbox)
}

func (s *secrets) token(name string) {
	switch v := s.stored(name); {
	case v == "":
	case len(v) < minTokenKey:
		s.fault("%s has %d bytes, and whoever guesses it shops as anybody: make one of %d or more", name, len(v), minTokenKey)
	default:
		s.ok("%s is there", name)
	}
}

func (s *secrets) private(short string) *rsa.PrivateKey {
	v := s.stored(s.path + "/" + short)
	if v == "" {
		return nil
	}
	key, err := alipay.ParsePrivateKey(v)
	if err != nil {
		s.fault("%s/%s cannot be used: %v; %s --rotate=%s makes a new one", s.path, short, err, s.makes(s.path+"/"+short), short)
		return nil
	}
	return key
}

func (s *secrets) public(short string) *rsa.PublicKey {
	v := s.stored(s.path + "/" + short)
	if v == "" {
		return nil
	}
	key, err := alipay.ParsePublicKey(v)
	if err != nil {
		s.fault("%s/%s cannot be used: %v", s.path, short, err)
		return nil
	}
	return key
}

// certificates says whether those of certificate mode fit the private key and each other, and for how long; nothing of the key when it is bad itself.
func (s *secrets) certificates(key bool, now time.Time) {
	text := map[string]string{shopPrivate: aws.ToString(s.have[s.path+"/"+shopPrivate].Value)}
	for _, name := range []string{appCert, alipayCert, rootCert} {
		text[name] = s.stored(s.path + "/" + name)
		key = key && text[name] != ""
	}
	if !key {
		return
	}
	app, theirs, err := alipay.CheckCertificates(text[shopPrivate], text[appCert], text[alipayCert], text[rootCert], now)
	if err != nil {
		s.fault("the certificates below %s cannot be used: %v", s.path, err)
		return
	}
	for _, c := range []struct {
		name string
		ends time.Time
	}{{appCert, app}, {alipayCert, theirs}} {
		if c.ends.Sub(now) < soon {
			s.fault("%s/%s is good until %s only: get new ones in Alipay's console, then %s --rotate=alipay-certificates", s.path, c.name, c.ends.Format(time.DateOnly), s.makes(s.path+"/"+c.name))
		} else {
			s.ok("%s/%s is good until %s", s.path, c.name, c.ends.Format(time.DateOnly))
		}
	}
}

// pair says whether a public key is that of a private one, which may be nil.
func (s *secrets) pair(public, private string, key *rsa.PrivateKey) {
	have := s.public(public)
	switch {
	case have == nil || key == nil:
	case !have.Equal(&key.PublicKey):
		s.fault("%s/%s is not the public key of %s: seckill keys --path %s --sandbox --rotate=%s makes a new pair", s.path, public, private, s.path, private)
	default:
		s.ok("%s/%s and %s are a pair", s.path, private, public)
	}
}
