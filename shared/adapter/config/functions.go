package config

import (
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Each function's settings. A function can reach only what its settings name.

// Buy is the purchase function's.
type Buy struct {
	Base
	Redis  Redis
	Orders Orders
	Tokens Tokens
	CORS   CORS
}

// Consume is the settings of the function on the orders queue.
type Consume struct {
	Base
	Redis    Redis
	Orders   Orders
	Dead     OrdersDead
	Closings Closings
	Hold     Hold
}

// Notify is the settings of the function behind Alipay's callback. No page calls it, so that it needs no CORS.
type Notify struct {
	Base
	Verifier Verifier
	KeepDays uint16 `env:"NOTIFICATION_RETENTION_DAYS"` // that a notification is kept; 0: forever
}

// Expire is the settings of the function on the closings queue.
type Expire struct {
	Base
	Orders   Orders
	Closings Closings
	Dead     ClosingsDead
	Alipay   Alipay
}

// Refund is the settings of the function that gives money back.
type Refund struct {
	Base
	Orders Orders
	Alipay Alipay
}

// Reconcile is the settings of the function that matches bills.
type Reconcile struct {
	Base
	Alipay Alipay
}

// Stage is the settings of the function that brings items into the stock.
type Stage struct {
	Base
	Redis Redis
}

// Repair is the settings of the function that keeps stock and ledger together.
type Repair struct {
	Base
	Redis     Redis
	Orders    Orders
	Addresses Addresses
}

// Addresses is how long the addresses of orders are kept.
type Addresses struct {
	KeepDays uint16 `env:"ADDRESS_RETENTION_DAYS"` // after the end of a sale; 0: forever
}

// Keep is that time.
func (a *Addresses) Keep() time.Duration { return time.Duration(a.KeepDays) * 24 * time.Hour }

func (a *Addresses) problems() []string {
	if a.KeepDays != 0 && a.Keep() < seckill.MinAddressKeep {
		return []string{fmt.Sprintf("ADDRESS_RETENTION_DAYS is %d, want 0, or at least %d", a.KeepDays,
			seckill.MinAddressKeep/(24*time.Hour))}
	}
	return nil
}

// Shop is the settings of the function that shoppers look through.
type Shop struct {
	Base
	Redis    Redis
	Closings Closings
	Tokens   Tokens
	Alipay   Alipay // signs pay strings only; never called
	CORS     CORS
}

// Gateway is the settings of the fake payment gateway, which only a sandbox has.
type Gateway struct {
	Base
	Fake FakeGateway
}
