package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Settings of each function. A function can reach only what its settings name.

// Buy holds the settings of the purchase function.
type Buy struct {
	Base
	Redis  Redis
	Orders Orders
	Tokens Tokens
	Ticket Tickets
	CORS   CORS
	Push   Push

	Networks Networks
}

// Networks is how long network addresses of purchases are kept.
type Networks struct {
	// after the end of a sale; 0: none are kept. A day is long enough: no message older than seckill.MaxUnplaced places
	// an order.
	KeepDays uint16 `env:"NETWORK_RETENTION_DAYS"`
}

// Keep returns the retention as a duration.
func (n *Networks) Keep() time.Duration { return time.Duration(n.KeepDays) * 24 * time.Hour }

// Admit holds the settings of the function that gives tickets.
type Admit struct {
	Base
	Tokens Tokens
	Ticket Tickets
	CORS   CORS

	Contact string `env:"CONTACT"` // whom a blocked shopper may write to; "": the shop's support
}

// Consume holds the settings of the function on the orders queue.
type Consume struct {
	Base
	Redis    Redis
	Orders   Orders
	Dead     OrdersDead
	Closings Closings
	Hold     Hold
	Networks Networks
}

// Notify holds the settings of the function for Alipay's callback. No page calls it, so it needs no CORS.
type Notify struct {
	Base
	Verifier Verifier
	KeepDays uint16 `env:"NOTIFICATION_RETENTION_DAYS"` // that a notification is kept; 0: forever
}

// Expire holds the settings of the function on the closings queue.
type Expire struct {
	Base
	Orders   Orders
	Closings Closings
	Dead     ClosingsDead
	Alipay   Alipay
}

// Refund holds the settings of the function that makes refunds.
type Refund struct {
	Base
	Orders   Orders
	Alipay   Alipay
	Alone    Alone
	Commands Commands
}

// Reconcile holds the settings of the function that compares bills.
type Reconcile struct {
	Base
	Alipay   Alipay
	Commands Commands
}

// Tell holds the settings of the function that tells changes of orders to other systems.
type Tell struct {
	Base
	Bus    string `env:"EVENT_BUS,required,notEmpty"` // name or ARN of the event bus
	Pushes Pushes

	Commands Commands
}

// Pushes is how a shop's pages are reached.
type Pushes struct {
	Stage string `env:"CONNECTIONS_URL"` // address of the WebSocket API's stage; "": the shop pushes nothing
}

func (p *Pushes) problems() []string {
	if p.Stage == "" {
		return nil
	}
	return wantURL(nil, "CONNECTIONS_URL", p.Stage, "https", "http")
}

// Acts holds the settings of the function that keeps suspicious acts.
type Acts struct {
	Base
	Commands Commands
}

// Admin holds the settings of the function that is the back office's door.
type Admin struct {
	Base
	Command      CommandKey
	Page         Page
	Staff        Staff
	Orders       Orders // how many messages wait in the queues
	OrdersDead   OrdersDead
	Closings     Closings
	ClosingsDead ClosingsDead
	Pictures     Pictures
}

// Pictures is where pictures of items are.
type Pictures struct {
	Bucket string `env:"PICTURES_BUCKET"` // of S3; "": the shop has none
}

// Staff says where staff sign in in a browser.
type Staff struct {
	// issuer|client_id or issuer|client_id|metadata-base; "": nowhere
	Issuer     string `env:"STAFF_ISSUER"`
	Secret     Secret `env:"STAFF_CLIENT_SECRET"` // "": a public client
	SecretName string `env:"STAFF_CLIENT_SECRET_NAME"`
	// four texts with | between them: see StaffClaims
	Claims string `env:"STAFF_CLAIMS" envDefault:"cognito:groups|seckill-|sub|openid"`
}

// StaffClaims says what to ask an issuer about a person of staff.
type StaffClaims struct {
	Groups string // the claim that lists the person's groups
	Prefix string // of the groups whose names end with a role
	Who    string // the claim that names the person for good
	Scope  string // what to ask for
}

// Asks returns what to ask the issuer; ok is false if it cannot be read.
func (s *Staff) Asks() (c StaffClaims, ok bool) {
	texts := strings.Split(s.Claims, "|")
	if len(texts) != 4 || texts[0] == "" || texts[2] == "" || texts[3] == "" {
		return c, false
	}
	return StaffClaims{texts[0], texts[1], texts[2], texts[3]}, true
}

// Client returns the source of the client's secret.
func (s *Staff) Client() Source { return Source{"STAFF_CLIENT_SECRET", s.Secret, s.SecretName} }

// Entry returns the issuer; ok is false if there is none.
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
		out = append(out, fmt.Sprintf("STAFF_CLAIMS is %q, want groups' claim|prefix|person's claim|scopes", s.Claims))
	}
	return append(out, s.Client().problems()...)
}

// Connect holds the settings of the function that lets pages connect.
type Connect struct {
	Base
	Tokens Tokens // connect passes derive from their keys
	Door   Door
}

// Door is the WebSocket API at which pages connect.
type Door struct {
	Stage string `env:"CONNECTIONS_URL,required,notEmpty"` // its address
}

func (d *Door) problems() []string { return wantURL(nil, "CONNECTIONS_URL", d.Stage, "https", "http") }

// Deliver holds the settings of the function that posts changes of orders to the shop's endpoint.
type Deliver struct {
	Base
	Webhook  Webhook
	Commands Commands
}

// Webhook is the shop's endpoint.
type Webhook struct {
	URL string `env:"WEBHOOK_URL,required,notEmpty"` // https; http only on this machine
	// whsec_ and base64; two, separated by a space, while one replaces the other
	Secret     Secret `env:"WEBHOOK_SECRET"`
	SecretName string `env:"WEBHOOK_SECRET_NAME"`
}

// Secrets returns the source of the secrets.
func (w *Webhook) Secrets() Source { return Source{"WEBHOOK_SECRET", w.Secret, w.SecretName} }

func (w *Webhook) problems() []string {
	return wantURL(keyProblems(w.Secrets()), "WEBHOOK_URL", w.URL, "https", "http") // package webhook checks the rest
}

// Stage holds the settings of the function that loads items into the stock.
type Stage struct {
	Base
	Redis    Redis
	Commands Commands
}

// Repair holds the settings of the function that keeps stock and ledger consistent.
type Repair struct {
	Base
	Redis     Redis
	Orders    Orders
	Addresses Addresses
	Networks  Networks
	Commands  Commands
}

// Addresses is how long delivery addresses are kept.
type Addresses struct {
	KeepDays uint16 `env:"ADDRESS_RETENTION_DAYS"` // after the end of a sale; 0: forever
}

// Keep returns the retention as a duration.
func (a *Addresses) Keep() time.Duration { return time.Duration(a.KeepDays) * 24 * time.Hour }

func (a *Addresses) problems() []string {
	if a.KeepDays != 0 && a.Keep() < seckill.MinAddressKeep {
		return []string{fmt.Sprintf("ADDRESS_RETENTION_DAYS is %d, want 0, or at least %d", a.KeepDays,
			seckill.MinAddressKeep/(24*time.Hour))}
	}
	return nil
}

// Shop holds the settings of the function that serves lists and orders.
type Shop struct {
	Base
	Redis    Redis
	Closings Closings
	Tokens   Tokens
	Alipay   Alipay // only for signing pay strings; shop never calls Alipay
	CORS     CORS
	Push     Push
	Salts    Salts
	Pictures Pictures

	Contact string `env:"CONTACT"` // whom a blocked shopper may write to; "": the shop's support
}

// Pay holds the settings of the function that gives ways to the payment provider's cashier.
type Pay struct {
	Base
	Tokens Tokens
	Alipay Alipay // only for signing
	CORS   CORS
	Page   Page
}

// Page is where shoppers have the page.
type Page struct {
	URL  string `env:"PUBLIC_URL,required,notEmpty"` // with the API's stage or the CDN's name; https, unless Fake
	Fake bool   `env:"ALIPAY_FAKE"`
}

// maxPublicURL leaves room for an order's id in the 256 characters of Alipay's return_url.
const maxPublicURL = 200

func (p *Page) problems() (out []string) {
	schemes := []string{"https"}
	if p.Fake {
		schemes = append(schemes, "http")
	}
	out = wantURL(out, "PUBLIC_URL", p.URL, schemes...)
	if strings.ContainsAny(p.URL, "?#") || len(p.URL) > maxPublicURL {
		out = append(out, fmt.Sprintf("PUBLIC_URL is %q, want at most %d characters, without ? and #", p.URL,
			maxPublicURL))
	}
	return out
}

// Push says where pages hear the outcome of purchases.
type Push struct {
	URL string `env:"PUSH_URL"` // wss, or ws on this machine; "": nowhere
}

func (p *Push) problems() []string {
	if p.URL == "" {
		return nil
	}
	return wantURL(nil, "PUSH_URL", p.URL, "wss", "ws")
}

// Signin holds the settings of the function that signs shoppers in. It signs with one of the keys that the others
// verify with.
type Signin struct {
	Base
	Tokens  Tokens
	Issuers Issuers
	CORS    CORS
}

// Gateway holds the settings of the fake payment gateway, which only a sandbox has.
type Gateway struct {
	Base
	Fake FakeGateway
}
