package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/your-org/seckill/cmd/seckill/secrets"
)

// heldKey is a row of the inventory of keys: what protects what, by which algorithm, until when.
type heldKey struct {
	names   []string // of values below SecretsPath, which the same functions read; none if it is elsewhere
	what    string   // the key, if it has no name
	use     string   // what it is for, and for nothing else
	kind    string   // algorithm and size
	maker   string
	where   string // if not below SecretsPath
	ends    string // or how it is replaced
	readers string // if not functions
}

// rotates ends the text of a value that only `seckill keys --rotate` replaces.
const rotates = "at `--rotate`; "

// certificateEnds is when a certificate of Alipay ends.
const certificateEnds = "at the date that `seckill doctor` shows, which warns 30 days before; " + rotates + "with a pause"

// heldKeys are all keys, secrets and certificates that a stack depends on.
var heldKeys = []heldKey{
	{names: []string{secrets.JWTSecret, "jwt-KID"},
		use:  "shoppers' tokens; by derived keys their passes, and users and networks in logs",
		kind: "HMAC-SHA-256, 32 random bytes", maker: "`seckill keys`",
		ends: rotates + "without a pause by a second key (`--token-key`); a token ends after an hour, a pass after 2 min"},
	{names: []string{secrets.AudienceFrom}, use: "a date, no secret: tokens without an audience are refused then",
		kind: "none", maker: "`seckill keys --audience-from`", ends: rotates + "without a pause"},
	{names: []string{secrets.TicketSecret}, use: "tickets; challenges by derived keys",
		kind: "HMAC-SHA-256, 32 random bytes; up to three", maker: "`seckill keys`",
		ends: rotates + "without a pause: the two earlier keys go on checking"},
	{names: []string{secrets.CommandKey}, use: "signs staff's commands", kind: "Ed25519; up to three",
		maker: "`seckill keys`", ends: rotates + "without a pause: an hour later the old key is refused"},
	{names: []string{secrets.CommandPublic}, use: "checks staff's commands", kind: "Ed25519; up to three",
		maker: "`seckill keys`", ends: "with command-key"},
	{names: []string{secrets.RedisPassword}, use: "the functions at Redis", kind: "password", maker: "operators",
		ends: rotates + "without a pause if Redis accepts both passwords meanwhile"},
	{names: []string{secrets.StaffSecret}, use: "the back office at the issuer of staff", kind: "client secret",
		maker: "the issuer", ends: rotates + "without a pause if the issuer accepts both meanwhile"},
	{names: []string{secrets.SignInSecrets}, use: "the shop at shoppers' issuers", kind: "client secrets",
		maker: "the issuers", ends: rotates + "without a pause if the issuer accepts both meanwhile"},
	{names: []string{secrets.ShopPrivate}, use: "calls and payments at Alipay; not encryption",
		kind: "RSA, 2,048 bits, SHA-256", maker: "`seckill keys`, or operators in certificate mode",
		ends: rotates + "with a pause: Alipay refuses calls until its console has the new key"},
	{names: []string{secrets.AlipayPublic}, use: "checks notifications and answers of Alipay",
		kind: "RSA, 2,048 bits or more, SHA-256", maker: "Alipay",
		ends: rotates + "with a pause from Alipay's change to the functions' next read"},
	{names: []string{secrets.AppCert}, use: "certificate mode: shows Alipay whose alipay-private-key is",
		kind: "X.509, RSA, SHA-256", maker: "Alipay", ends: certificateEnds},
	{names: []string{secrets.AlipayCert, secrets.RootCert}, use: "certificate mode: as alipay-public-key",
		kind: "X.509, RSA, SHA-256", maker: "Alipay", ends: certificateEnds},
	{names: []string{secrets.GatewayPrivate, secrets.ShopPublic},
		use:  "sandboxes: the fake gateway's signatures and checks",
		kind: "RSA, 2,048 bits, SHA-256", maker: "`seckill keys --sandbox`", ends: rotates + "with a pause"},
	{names: []string{secrets.WebhookSecret}, use: "what the webhook posts",
		kind:  "HMAC-SHA-256, 24 random bytes; up to two",
		maker: "`seckill keys --webhook`", ends: rotates + "without a pause: both sign"},
	{names: []string{secrets.ReportSalts}, use: "orders' salts in reports; it cannot sign",
		kind: "HMAC-SHA-256, derived from the key of reports", maker: "`seckill keys --report-key`",
		ends: "with the key of reports; " + rotates + "without a pause"},
	{what: "key of reports", use: "signs reports of sales", kind: "Ed25519", maker: "`seckill report key`",
		where: "a file of operators", ends: "when operators publish another verifier", readers: "no function"},
	{what: "CDN's key", use: "requests that came through the CDN", kind: "API key, random",
		maker: "API Gateway", where: "API Gateway; CloudFront's origin header; two",
		ends: "by `EdgeKeys`, without a pause: both are accepted", readers: "CloudFront"},
	{what: "staff's cookies", use: "a session; by a derived key (HKDF-SHA-256, AES-256-GCM) its refresh token",
		kind: "32 random bytes", maker: "admin", where: "the browser; the table has a hash",
		ends: "after 10 hours, or when the session ends", readers: "admin"},
	{what: "issuers' public keys", use: "check ID tokens and access tokens", kind: "RSA, 2,048 bits or more, or ECDSA",
		maker: "the issuers", where: "the issuers' key documents (JWKS)",
		ends:    "when an issuer replaces them, without a pause",
		readers: "signin, admin"},
	{what: "TLS certificates", use: "the shop's own and AWS's names", kind: "X.509, as ACM makes them", maker: "ACM",
		where: "ACM", ends: "ACM renews them without a pause", readers: "CloudFront, API Gateway"},
	{what: "keys of stored data", use: "tables, queues, secrets, logs and pictures at rest", kind: "AES-256",
		maker: "AWS",
		where: "AWS", ends: "AWS replaces them without a pause", readers: "AWS"},
	{what: "functions' credentials", use: "calls of AWS", kind: "HMAC-SHA-256 (SigV4)", maker: "AWS", where: "Lambda",
		ends: "after hours; Lambda renews them", readers: "each function its own"},
}

// writeKeys writes the inventory of keys. Readers of values are the functions whose role may read them.
func writeKeys(b *bytes.Buffer, mayRead map[string][]string) error {
	b.WriteString("\n## Keys\n\nEvery key, secret and certificate of a stack. Those with a name are values below " +
		"SecretsPath, in `keys`, which\nonly operators read, and in a copy for each reader; " +
		"[how to replace them](DEPLOY.md#secrets-rotation).\n\n" +
		"| key | for nothing but | algorithm, size | made by | where | ends, is replaced | read by |\n|" +
		strings.Repeat("---|", 7) + "\n")
	for _, k := range heldKeys {
		what, where, read := k.what, k.where, k.readers
		if len(k.names) > 0 {
			what, where = strings.Join(k.names, ", "), "Secrets Manager"
			read = strings.Join(readers(k.names[0], mayRead), ", ")
			for _, n := range k.names[1:] {
				if other := strings.Join(readers(n, mayRead), ", "); other != read {
					return fmt.Errorf("%s is read by %s, %s by %s: they need a row each", k.names[0], read, n, other)
				}
			}
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", what, k.use, k.kind, k.maker, where, k.ends, read)
	}
	return nil
}

// readers returns which functions read a value. mayRead has the audiences whose secret a function may read.
func readers(name string, mayRead map[string][]string) (out []string) {
	for step, audiences := range mayRead {
		if slices.ContainsFunc(audiences, func(a string) bool {
			return len(secrets.Of(a, map[string]string{name: "x"})) > 0
		}) {
			out = append(out, step)
		}
	}
	slices.Sort(out)
	return out
}
