package seckill

import (
	"context"
	"errors"
	"time"
)

// Limits of push.
const (
	// PassLife is how long a connect pass is good: an accepted shopper's page connects at once.
	PassLife = 2 * time.Minute
	// MaxConnections is how many connections a shopper has at the same time. One more closes the oldest.
	MaxConnections = 2
	// ConnectionLife is how long a connection lasts at most (a WebSocket API's limit, Amazon API Gateway). Its rows
	// are deleted some time later, should its end not be told.
	ConnectionLife = 2 * time.Hour
	// PushProtocol is the WebSocket subprotocol that pages and servers speak. A page offers it and, as a second one,
	// its pass, because a browser sends no header of its own.
	PushProtocol = "seckill.v1"
)

// The errors of push.
var (
	ErrPass           = errors.New("seckill: the connect pass is forged, expired or used")
	ErrConnectionGone = errors.New("seckill: the connection has ended")
)

// Pass permits one connection. Its text is signed; see jwtauth.Passes.
type Pass struct {
	User    string
	Expires time.Time
	Nonce   string // tells passes apart
}

// Connection is an open connection of a shopper's page.
type Connection struct {
	ID    string // of whoever carries connections: API Gateway, or a local run
	User  string
	Since time.Time
}

// Connections remembers who is connected.
type Connections interface {
	// Open uses a pass and remembers its connection, both or none. If the shopper has MaxConnections, the new one
	// takes the place of the oldest, and replaced is that one's id. The error is ErrPass for a used pass.
	Open(ctx context.Context, p Pass, c Connection) (replaced string, err error)
	// Forget forgets a connection; nothing happens if it is not remembered.
	Forget(ctx context.Context, id string) error
	// Of returns a shopper's connections, at most MaxConnections.
	Of(ctx context.Context, user string) ([]string, error)
}

// Recent remembers what happened to orders, each event for PassLife.
type Recent interface {
	Add(e OrderEvent)
	// Of returns a shopper's events, oldest first.
	Of(user string) []OrderEvent
}

// Wire sends to connections.
type Wire interface {
	// Send sends a change. The error is ErrConnectionGone if the connection has ended.
	Send(ctx context.Context, connection string, e *OrderEvent) error
	// Close ends a connection; nothing happens if it has ended.
	Close(ctx context.Context, connection string) error
}
