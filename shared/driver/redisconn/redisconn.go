// Package redisconn runs the stock's scripts on a Redis server or cluster (redisstock.Runner). In: a script, its keys
// and arguments. Out: its reply, or an error within Options.Timeout. It touches only the network.
//
// A script is sent once. Any failure after that is an error with unknown effect, never a retry: the flows retry
// themselves, with the same order id. Only answers that prove that the script did not run are followed: MOVED and ASK
// (cluster mode), and NOSCRIPT.
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

	"github.com/your-org/seckill/shared/driver/redisstock"
)

const (
	// defaultTimeout leaves buy 200 ms of the 1.2 s within which it must answer if Redis does not.
	defaultTimeout = time.Second
	// poolSize is the largest number of connections from one process to one node. They are opened as needed: a Lambda
	// instance, which handles one event at a time, has one; the step consume has ten.
	poolSize = 64
	// dialerPause is a pointless wait of the client library after a failed dial; its default is 100 ms.
	dialerPause = time.Millisecond
	// maxRedirects bounds the redirects in a cluster whose nodes disagree about a slot's owner.
	maxRedirects = 3
)

// Options configure the connection to Redis.
type Options struct {
	// host:port of the server or, in cluster mode, of one or more nodes, from which the client
	// learns the others
	Addrs    []string
	Cluster  bool   // the server is a Redis Cluster, like every ElastiCache Serverless cache
	TLS      bool   // 1.2 or newer; the certificate is verified against the system's roots and the host name
	Username string // "" means the default user
	Password string // "" if there is none
	// Timeout bounds a whole Run: waiting for a connection, dialling, greeting, sending, the reply. 0 means 1 s.
	Timeout time.Duration
}

// Runner runs scripts on a Redis. It is safe for concurrent use. It connects at its first use and reconnects as
// needed.
type Runner struct {
	client  redis.UniversalClient
	timeout time.Duration
}

var _ redisstock.Runner = (*Runner)(nil)

func init() {
	// The client library logs each failed dial to standard error, thousands a second in an outage. The caller gets
	// its errors and logs once a second.
	logging.Disable()
}

// New returns a Runner. It does not connect; the error names the invalid option.
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
	// RESP2 can represent all replies of scripts, and without push messages nothing can precede a reply.
	const protocol = 2
	// Negotiate nothing with the server: no maintenance notifications, no library name and version.
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

// Run implements redisstock.Runner. After an error the effect is unknown: the script may have run, may run later, or
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
		cmd.SetFirstKeyPos(3) // the argument that determines the cluster slot
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

// lookAgain reloads a cluster's map in the background when it may have changed: a node is gone, or is no longer
// master. Otherwise the scripts of the next ten seconds would go to the same node.
func (r *Runner) lookAgain(err error) {
	if c, ok := r.client.(*redis.ClusterClient); ok && !noScript(err) {
		c.ReloadState(context.Background())
	}
}

// noScript reports whether the server does not know the script by its SHA, so that it has not run. (A failing script
// answers with ERR or with the failing command's code, never with this one: scripts call no scripts.)
func noScript(err error) bool {
	var e redis.Error
	return errors.As(err, &e) && strings.HasPrefix(e.Error(), "NOSCRIPT ")
}

// Ping returns an error if the server does not answer within Options.Timeout. In cluster mode it asks one node.
func (r *Runner) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	return r.client.Ping(ctx).Err()
}

// Close closes all connections; a concurrent Run may fail.
func (r *Runner) Close() error { return r.client.Close() }
