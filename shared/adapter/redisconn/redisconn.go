// Package redisconn runs the stock's scripts on a Redis server or cluster (redisstock.Runner). In: a script, its keys
// and arguments. Out: its reply, or an error within Options.Timeout. It touches the network, and nothing else.
//
// A script is sent once. Whatever goes wrong after that is an error whose effect is unknown, never a second try: the
// flows know how to repeat, and repeat with the same order id. Only an answer that proves that the script did not run
// is followed: MOVED and ASK (cluster mode), NOSCRIPT.
package redisconn

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/your-org/seckill/shared/adapter/redisstock"
)

const (
	// defaultTimeout leaves buy 200 ms of the 1.2 s within which it answers when Redis does not.
	defaultTimeout = time.Second
	// poolSize is how many connections one process holds to one node, at most. They are opened as needed: a Lambda
	// instance, which handles one event at a time, has one, consume ten.
	poolSize = 64
	// dialerPause is how long the client library waits after the last failed dial, for nothing; its default is 100 ms.
	dialerPause = time.Millisecond
	// maxRedirects bounds a chase through a cluster whose nodes disagree on who has the slot.
	maxRedirects = 3
)

// Options say where Redis is.
type Options struct {
	Addrs    []string // host:port; the server, or in cluster mode one node or more to learn the others from
	Cluster  bool     // the server is a Redis Cluster, as ElastiCache Serverless always is
	TLS      bool     // 1.2 or newer; the certificate is checked against the system's roots and the address's name
	Username string   // "" is the default user
	Password string   // "" is none
	// Timeout bounds one Run from first to last: waiting for a connection, dialling, greeting, sending, the reply. 0 is
	// 1 s.
	Timeout time.Duration
}

// Runner runs scripts on a Redis. Safe for concurrent use. It connects when it is first used, and again whenever it has
// to.
type Runner struct {
	client  redis.UniversalClient
	timeout time.Duration
}

var _ redisstock.Runner = (*Runner)(nil)

func init() {
	// The client library logs each failed dial to standard error, thousands a second in an outage. Its errors reach the
	// caller, who logs once a second.
	logging.Disable()
}

// New makes a Runner. It does not connect; the error names the wrong option.
func New(o Options) (*Runner, error) {
	var t *tls.Config
	if o.TLS {
		t = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return newRunner(o, t, (&net.Dialer{}).DialContext)
}

func newRunner(o Options, t *tls.Config, dial dialer) (*Runner, error) {
	if len(o.Addrs) == 0 {
		return nil, errors.New("redis: no address")
	}
	for _, a := range o.Addrs {
		if host, port, err := net.SplitHostPort(a); err != nil || host == "" || port == "" {
			return nil, fmt.Errorf("redis: address %q: want host:port", a)
		}
	}
	switch {
	case !o.Cluster && len(o.Addrs) > 1:
		return nil, fmt.Errorf("redis: %d addresses without cluster mode", len(o.Addrs))
	case o.Username != "" && o.Password == "":
		return nil, errors.New("redis: a user name without a password")
	case o.Timeout < 0:
		return nil, fmt.Errorf("redis: timeout %s", o.Timeout)
	case o.Timeout == 0:
		o.Timeout = defaultTimeout
	}
	// RESP2 has all that scripts answer; without push messages there is nothing to look for before each reply.
	const protocol = 2
	// Nothing to negotiate with a server: no notifications of maintenance, no name and version of the library.
	quiet := &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	r, dial := &Runner{timeout: o.Timeout}, dialTLS(t, dial)
	if o.Cluster {
		c := redis.NewClusterClient(&redis.ClusterOptions{
			Addrs: o.Addrs, Username: o.Username, Password: o.Password, Dialer: dial,
			Protocol: protocol, DisableIdentity: true, MaintNotificationsConfig: quiet,
			DialTimeout: o.Timeout, ReadTimeout: o.Timeout, WriteTimeout: o.Timeout, PoolTimeout: o.Timeout,
			ContextTimeoutEnabled: true,
			DialerRetries:         1, DialerRetryTimeout: dialerPause, MaxRetries: -1, MaxRedirects: maxRedirects,
			PoolSize: poolSize, ConnMaxIdleTime: idleLimit,
		})
		c.OnNewNode(func(node *redis.Client) { node.AddHook(once{}) })
		r.client = c
		return r, nil
	}
	r.client = redis.NewClient(&redis.Options{
		Addr: o.Addrs[0], Username: o.Username, Password: o.Password, Dialer: dial,
		Protocol: protocol, DisableIdentity: true, MaintNotificationsConfig: quiet,
		DialTimeout: o.Timeout, ReadTimeout: o.Timeout, WriteTimeout: o.Timeout, PoolTimeout: o.Timeout,
		ContextTimeoutEnabled: true,
		DialerRetries:         1, DialerRetryTimeout: dialerPause, MaxRetries: -1, PoolSize: poolSize,
		ConnMaxIdleTime: idleLimit,
	})
	return r, nil
}

// Run implements redisstock.Runner. An error means that the effect is unknown: the script may have run, may run yet, or
// may never have arrived.
func (r *Runner) Run(ctx context.Context, s *redisstock.Script, keys, args []string) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	v, err := r.eval(ctx, "evalsha", s.SHA, keys, args)
	if err != nil && noScript(err) {
		v, err = r.eval(ctx, "eval", s.Source, keys, args)
	}
	return v, err
}

func (r *Runner) eval(ctx context.Context, command, script string, keys, args []string) (any, error) {
	words := make([]any, 0, 3+len(keys)+len(args))
	words = append(words, command, script, len(keys))
	for _, k := range keys {
		words = append(words, k)
	}
	for _, a := range args {
		words = append(words, a)
	}
	cmd := redis.NewCmd(ctx, words...)
	if len(keys) > 0 {
		cmd.SetFirstKeyPos(3) // what the cluster's slot is taken from
	}
	err := r.client.Process(ctx, cmd)
	var f *final
	if errors.As(err, &f) {
		err = f.cause
	}
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		r.lookAgain(err)
		return nil, err
	}
	return value(cmd.Val())
}

// lookAgain reads a cluster's map again, in the background, when it may have changed: a node that is gone, or that
// is master no more. Without it the next ten seconds' scripts would go to the same place.
func (r *Runner) lookAgain(err error) {
	if c, ok := r.client.(*redis.ClusterClient); ok && !noScript(err) {
		c.ReloadState(context.Background())
	}
}

// noScript says that the server does not know the script by its SHA, so it has not run. (A script that fails by itself
// answers with ERR or with the failing command's own word, never with this one: scripts call no scripts.)
func noScript(err error) bool {
	var e redis.Error
	return errors.As(err, &e) && strings.HasPrefix(e.Error(), "NOSCRIPT ")
}

// Ping reports whether the server answers: an error within Options.Timeout if not. In cluster mode one node is asked.
func (r *Runner) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	return r.client.Ping(ctx).Err()
}

// Close closes all connections; a Run under way may fail.
func (r *Runner) Close() error { return r.client.Close() }
