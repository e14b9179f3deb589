package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Networks is how long network addresses of purchases are kept.
type Networks struct {
	// days after the end of a sale; 0 if none are kept. A day is long enough: no message older than seckill.MaxUnplaced
	// places an order.
	KeepDays uint16 `env:"NETWORK_RETENTION_DAYS"`
}

// Notifications is how long notifications of payments are kept.
type Notifications struct {
	KeepDays uint16 `env:"NOTIFICATION_RETENTION_DAYS"` // 0 means forever
}

// Contact is whom a blocked shopper may write to.
type Contact struct {
	Text string `env:"CONTACT"` // "" means the shop's support
}

// MaxContact is the longest contact, in characters.
const MaxContact = 200

func (c *Contact) problems() []string {
	if text := seckill.Tidy(c.Text); text != "" && seckill.CheckLine("contact", text, MaxContact) != nil {
		return []string{fmt.Sprintf("CONTACT is %.60q, want up to %d characters on one line, which people can read",
			text, MaxContact)}
	}
	return nil
}

// Bus is the event bus.
type Bus struct {
	Name string `env:"EVENT_BUS,required,notEmpty"` // or its ARN
}

// Pushes is how a shop's pages are reached.
type Pushes struct {
	// of the WebSocket API; "" if the shop pushes nothing
	URL string `env:"CONNECTIONS_URL" url:"https or http"`
}

// Pictures is where pictures of items are.
type Pictures struct {
	Bucket string `env:"PICTURES_BUCKET"` // of S3; "" if the shop has none
}

// Staff says where staff sign in in a browser.
type Staff struct {
	// issuer|client_id or issuer|client_id|metadata-base; if "", staff sign in nowhere
	Issuer string `env:"STAFF_ISSUER"`
	Client Source `envPrefix:"STAFF_CLIENT_SECRET"` // without it the client is public
	// four or five texts with | between them: see StaffClaims
	Claims string `env:"STAFF_CLAIMS" envDefault:"cognito:groups|seckill-|sub|openid"`
}

// StaffClaims says what to ask an issuer about a person of staff.
type StaffClaims struct {
	Groups string // the claim that lists the person's groups
	Prefix string // the prefix of groups whose names end with a role
	Who    string // the claim that names the person for good
	Scope  string // what to ask for
	ACR    string // the claim acr that commands that move money want; "": any
}

// Asks returns what to ask the issuer; ok is false if it cannot be read.
func (s *Staff) Asks() (c StaffClaims, ok bool) {
	texts := strings.Split(s.Claims, "|")
	if len(texts) == 4 {
		texts = append(texts, "")
	}
	if len(texts) != 5 || texts[0] == "" || texts[2] == "" || texts[3] == "" {
		return c, false
	}
	return StaffClaims{texts[0], texts[1], texts[2], texts[3], texts[4]}, true
}

// Entry returns the issuer; ok is false if the shop has no issuer of staff.
func (s *Staff) Entry() (entry Issuer, ok bool) {
	if s.Issuer == "" {
		return Issuer{}, false
	}
	return (&Issuers{List: []string{s.Issuer}}).Entries()[0], true
}

func (s *Staff) problems() (out []string) {
	if _, ok := s.Entry(); ok {
		for _, p := range (&Issuers{List: []string{s.Issuer}}).problems() {
			out = append(out, strings.Replace(p, "SIGNIN_ISSUERS", "STAFF_ISSUER", 1))
		}
	}
	if _, ok := s.Asks(); !ok {
		out = append(out, fmt.Sprintf(
			"STAFF_CLAIMS is %q, want groups' claim|prefix|person's claim|scopes, and |acr or not", s.Claims))
	}
	return out
}

// WebSocket is the API at which pages connect.
type WebSocket struct {
	URL string `env:"CONNECTIONS_URL,required,notEmpty" url:"https or http"`
}

// Webhook is the shop's endpoint.
type Webhook struct {
	// https; http only on this machine, which package bus checks
	URL string `env:"WEBHOOK_URL,required,notEmpty" url:"https or http"`
	// whsec_ and base64; two, separated by a space, while one replaces the other
	Secrets Source `envPrefix:"WEBHOOK_SECRET" want:"one"`
}

// Addresses is how long delivery addresses are kept.
type Addresses struct {
	KeepDays uint16 `env:"ADDRESS_RETENTION_DAYS"` // after the end of a sale; 0 means forever
}

func (a *Addresses) problems() []string {
	const shortest = seckill.MinAddressKeep / (24 * time.Hour)
	if a.KeepDays != 0 && a.KeepDays < uint16(shortest) {
		return []string{fmt.Sprintf("ADDRESS_RETENTION_DAYS is %d, want 0, or at least %d", a.KeepDays, shortest)}
	}
	return nil
}

// Site is the shop's public address, with the API's stage or the CDN's name.
type Site struct {
	URL string `env:"PUBLIC_URL" url:"https or http"` // "" if the shop does not know it
}

// Page is where shoppers have the page.
type Page struct {
	URL  string `env:"PUBLIC_URL,required,notEmpty"` // with the API's stage or the CDN's name; https, unless Fake
	Fake bool   `env:"ALIPAY_FAKE"`
}

// maxPublicURL leaves room for an order's id in the 256 characters of Alipay's return_url.
const maxPublicURL = 200

func (p *Page) problems() (out []string) {
	schemes := "https"
	if p.Fake {
		schemes = "https or http"
	}
	out = wantURL(out, "PUBLIC_URL", p.URL, schemes)
	if strings.ContainsAny(p.URL, "?#") || len(p.URL) > maxPublicURL {
		out = append(out, fmt.Sprintf("PUBLIC_URL is %q, want at most %d characters, without ? and #", p.URL,
			maxPublicURL))
	}
	return out
}

// Push says where pages hear the outcome of purchases.
type Push struct {
	URL string `env:"PUSH_URL" url:"wss or ws"` // ws on this machine; "" means nowhere
}
