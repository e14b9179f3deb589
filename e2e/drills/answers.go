//go:build linux

package main

import (
	"sync"
	"time"

	"github.com/your-org/seckill/e2e/lambdahost"
)

// sums collects the front's answers by kind.
type sums struct {
	mu       sync.Mutex
	by       map[answerKind]int
	notified []lambdahost.Answer
	bought   []lambdahost.Answer // from buy itself, and from the gateway in its place, except 429
	at       []time.Time         // times of bought
	notReady map[answerKind]int  // answers of not_ready to requests that came after the item was installed
	loaded   time.Time           // when that was; zero if not yet
	crowd    bool                // the load tool is running
	looked   chan struct{}       // closed when the tool has read the item
	once     sync.Once
}

type answerKind struct {
	function string
	status   int
	code     string
	gateway  bool
}
