//go:build linux

package main

import (
	"sync"
	"time"

	"github.com/your-org/seckill/e2e/lambdahost"
)

// sums are answers of the front by what they are.
type sums struct {
	mu       sync.Mutex
	by       map[answerKind]int
	notified []lambdahost.Answer
	bought   []lambdahost.Answer // by buy itself, and by the gateway in its place, but for 429
	at       []time.Time         // of bought
	notReady map[answerKind]int  // answers of not_ready to requests that came when the item was installed
	loaded   time.Time           // when it was; zero: not yet
	crowd    bool                // its tool runs
	looked   chan struct{}       // closed when that has looked at the item
	once     sync.Once
}

type answerKind struct {
	function string
	status   int
	code     string
	gateway  bool
}
