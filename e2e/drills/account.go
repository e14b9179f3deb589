//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/your-org/seckill/e2e/account"
	"github.com/your-org/seckill/e2e/lambdahost"
	"github.com/your-org/seckill/infra/plan"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	scale     = 100              // divisor of AWS's rates and numbers in an account drill
	secrets   = "/seckill/drill" // SecretsPath
	ackLimit  = 3 * time.Second  // for an operator's stop
	toldLimit = 5 * time.Second  // for a notification
	// for a purchase while Redis does not answer: the function buy waits 1 s and answers within 1.2 s, after a cold
	// start of 0.1 to 1 s here
	buyLimit   = 3 * time.Second
	signinRate = 80                      // SigninRate
	operation  = 20 * time.Second        // after that an operator's command is aborted
	slowed     = 2500 * time.Millisecond // how long after Redis slows down old answers may still arrive
)

// deployment is a stack in an account, in AWS's own figures.
type deployment struct {
	limits account.Limits
	// of the stage, by method: parameters BuyRate, PollRate, ThrottleRate, NotifyRate and their bursts
	throttles map[string]account.Throttle
	consume   float64 // ConsumeConcurrency
}

// reserved has the executions that the template reserves for functions (ReserveConcurrency), except the functions
// consume and notify.
var reserved = map[string]float64{"expire": 7, "stage": 5, "refund": 3, "repair": 5, "admin": 7}

// planned returns a stack's limits as package plan has them. As in a plan, notify reserves as many executions as its
// throttle may allow at once (NotifyConcurrency).
func (d *deployment) planned() plan.Limits {
	l := plan.Today
	l.BuyRate, l.BuyBurst = d.throttles[ofBuy].Rate, d.throttles[ofBuy].Burst
	l.Poll, l.PollBurst = d.throttles[ofPoll].Rate, d.throttles[ofPoll].Burst
	l.Rate, l.Burst = d.throttles[ofOthers].Rate, d.throttles[ofOthers].Burst
	l.Notify, l.NotifyBurst = d.throttles[ofNotify].Rate, d.throttles[ofNotify].Burst
	l.Concurrency, l.Consume, l.Ramp = d.limits.Concurrency, d.consume, d.limits.Growth
	l.NotifyKept = l.Notifying()
	return l
}

// scaled returns throttles and reservations at a hundredth.
func (d *deployment) scaled() (throttles map[string]account.Throttle, kept map[string]float64) {
	throttles = map[string]account.Throttle{}
	for key, t := range d.throttles {
		throttles[key] = account.Throttle{Rate: account.Hundredth(t.Rate), Burst: account.Hundredth(t.Burst)}
	}
	l := d.planned()
	kept = map[string]float64{"consume": account.Hundredth(d.consume), "notify": account.Hundredth(l.NotifyKept)}
	for function, n := range reserved {
		kept[function] = account.Hundredth(n)
	}
	return throttles, kept
}

// limited is a drill in an account that enforces its limits: no instance runs before it is needed.
type limited struct {
	deployment
	stock int
	crowd string           // flags of seckill load, in addition to those of every drill
	check func(*rig) error // checked after the crowd has left; may be nil
	more  []string         // functions that only this drill runs
	// what the functions need before they start; may be nil
	prepare func(w *rig, environ map[string]string) error
}

// cold lists the functions of the stack. The fake payment gateway stands for Alipay, which has its own account.
var cold = []string{"buy", "shop", "consume", "notify", "expire", "refund", "reconcile", "repair", "stage",
	"admin"}

// raised returns an account whose quotas were raised as `seckill plan` says: concurrency, and the tables' warm
// writes.
func raised(concurrency, warmWrites float64) account.Limits {
	l := account.AWS()
	l.Concurrency, l.TableWrites = concurrency, warmWrites
	return l
}

func newSums() *sums {
	return &sums{by: map[answerKind]int{}, notReady: map[answerKind]int{}, looked: make(chan struct{})}
}

func (s *sums) add(a *lambdahost.Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := answerKind{a.Function, a.Status, a.Code, a.Gateway}
	s.by[kind]++
	if a.Code == notReady && !s.loaded.IsZero() && time.Now().Add(-a.Took).After(s.loaded) {
		s.notReady[kind]++
	}
	switch {
	case a.Function == "notify":
		s.notified = append(s.notified, *a)
	case a.Function == "buy" && a.Status != http.StatusTooManyRequests:
		s.bought, s.at = append(s.bought, *a), append(s.at, time.Now())
	case strings.HasPrefix(a.Resource, "/seckill/detail/") && a.Status == http.StatusOK && s.crowd:
		s.once.Do(func() { close(s.looked) })
	}
}

// installed records that the item is loaded for sale: from now on no shopper should get not_ready.
func (s *sums) installed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loaded = time.Now()
}

// reset drops the answers from before the crowd came.
func (s *sums) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.by, s.notReady = map[answerKind]int{}, map[answerKind]int{}
	s.notified, s.bought, s.at, s.crowd = nil, nil, nil, true
}

// boughtSince returns buy's answers from then on.
func (s *sums) boughtSince(from time.Time) []lambdahost.Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, _ := slices.BinarySearchFunc(s.at, from, time.Time.Compare)
	return slices.Clone(s.bought[i:])
}

// limits is the part of the account that functions meet.
type limits struct {
	*account.Gateway
	*account.Lambda
}

// within puts the account in front of the rig's servers: in the functions' settings and in the host's options.
func (w *rig) within(d *limited, o *lambdahost.Options) error {
	l := d.limits.Hundredth()
	throttles, kept := d.scaled()
	stack := strings.TrimSuffix(w.prefix(), "-")
	var err error
	w.account, err = account.New(
		account.Options{
			Limits:    l,
			DynamoDB:  w.dynamo.addr,
			Secrets:   w.secretValues(),
			Throttles: throttles,
			Resources: slices.Collect(maps.Keys(lambdahost.Routes)),
			Reserved:  kept,
			Scale:     scale,
			Stack:     stack,
			Outputs: map[string]string{
				"StageFunction":     stack + "-stage",
				"RefundFunction":    stack + "-refund",
				"ReconcileFunction": stack + "-reconcile",
				"ApiId":             "drill",
				"ApiStage":          "live",
			},
			Parameters: parameters(d.throttles),
			Invoke: func(ctx context.Context, function string, event []byte) ([]byte, error) {
				out, err := w.host.Invoke(ctx, function, event)
				if errors.Is(err, lambdahost.ErrThrottled) {
					err = account.ErrThrottled
				}
				return out, err
			},
		},
	)
	if err != nil {
		return err
	}
	if w.cache, err = w.account.NewCache(w.redis.addr); err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	w.aws = &http.Server{Handler: w.account, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = w.aws.Serve(listener) }() // runs until close
	w.awsURL = "http://" + listener.Addr().String()
	o.Account = limits{w.account.Gateway, w.account.Lambda}
	o.Cold = map[string]int{}
	for _, function := range cold {
		o.Cold[function] = 0
	}
	o.Instances = maps.Clone(o.Instances)
	for _, function := range d.more {
		o.Instances[function], o.Cold[function] = 2, 0
	}
	o.Cold["consume"], o.Cold["expire"] = int(kept["consume"]), int(kept["expire"])
	return nil
}

// parameters returns the template's parameters of throttles.
func parameters(throttles map[string]account.Throttle) map[string]string {
	out := map[string]string{"SigninRate": fmt.Sprint(throttles[ofSignin].Rate)} // its burst is the same
	for name, key := range map[string]string{"Buy": ofBuy, "Poll": ofPoll, "Throttle": ofOthers, "Notify": ofNotify} {
		out[name+"Rate"], out[name+"Burst"] = fmt.Sprint(throttles[key].Rate), fmt.Sprint(throttles[key].Burst)
	}
	return out
}

// secretValues returns the account's secrets, as `seckill keys` stores them.
func (w *rig) secretValues() map[string]string {
	values := map[string]string{
		"jwt-secret":         drillSecret,
		"ticket-secret":      drillTickets,
		"redis-password":     "any",
		"command-key":        drillCommands.String(),
		"command-public-key": drillCommands.Public().String(),
		"alipay-private-key": w.shop.Private,
		"alipay-public-key":  w.gateway.Public,
	}
	bundle, err := json.Marshal(values)
	if err != nil {
		panic(err) // cannot happen: strings always marshal
	}
	return map[string]string{secrets: string(bundle)}
}

// limitedEnviron changes the functions' environment for an account: AWS's URL, and names instead of secrets.
func (w *rig) limitedEnviron(environ map[string]string) {
	for _, name := range []string{"JWT_SECRET", "TICKET_SECRET", "ALIPAY_PRIVATE_KEY", "ALIPAY_PUBLIC_KEY",
		"COMMAND_KEY", "COMMAND_PUBLIC_KEY"} {
		delete(environ, name)
	}
	maps.Copy(environ, map[string]string{
		"AWS_ENDPOINT_URL_DYNAMODB":        w.awsURL,
		"AWS_ENDPOINT_URL_SECRETS_MANAGER": w.awsURL, "REDIS_ADDRS": w.cache.Addr,
		"SECRETS": secrets, "JWT_SECRET_NAME": "jwt-secret", "REDIS_PASSWORD_NAME": "redis-password",
		"TICKET_SECRET_NAME": "ticket-secret", "COMMAND_KEY_NAME": "command-key",
		"COMMAND_PUBLIC_KEY_NAME": "command-public-key", "AWS_ENDPOINT_URL_LAMBDA": w.awsURL,
		"ALIPAY_PRIVATE_KEY_NAME": "alipay-private-key", "ALIPAY_PUBLIC_KEY_NAME": "alipay-public-key",
	})
}

// coolDown ends all instances of the stack's functions.
func (w *rig) coolDown(functions ...string) (ended int) {
	for _, function := range functions {
		ended += w.host.Signal(function, syscall.SIGKILL)
	}
	return ended
}

// answers waits until the shop answers its lists, so that the load tool sees what is on sale.
func (w *rig) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.host.URL+"/seckill/detail/"+item, nil)
		if err != nil {
			return err
		}
		if answer, err := http.DefaultClient.Do(r); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		if !pause(ctx, time.Second) {
			return errors.New("the shop answers nobody before the crowd has come")
		}
	}
}

// initErrors returns the number of failed inits of the stack's functions so far.
func (w *rig) initErrors() (n int64) {
	for _, function := range cold {
		n += w.host.Stats(function).InitErrors
	}
	return n
}

// operate runs a command of an operator on the stack.
func (w *rig) operate(ctx context.Context, args ...string) (took time.Duration, said string, err error) {
	ctx, cancel := context.WithTimeout(ctx, operation)
	defer cancel()
	all := append([]string{"items", "--stack", strings.TrimSuffix(w.prefix(), "-"), "--region", region}, args...)
	cmd := exec.CommandContext(ctx, filepath.Join(w.root, "bin", "seckill"), all...)
	cmd.Env = append(cmd.Environ(), "AWS_ENDPOINT_URL="+w.awsURL, "AWS_ACCESS_KEY_ID=test",
		"AWS_SECRET_ACCESS_KEY=test", "AWS_EC2_METADATA_DISABLED=true")
	began := time.Now()
	out, err := cmd.CombinedOutput()
	return time.Since(began), strings.TrimSpace(string(out)), err
}

// acknowledged runs an operator's command that must succeed within ackLimit.
func (w *rig) acknowledged(ctx context.Context, what string, args ...string) (string, error) {
	took, said, err := w.operate(ctx, args...)
	if err != nil || took > ackLimit {
		return "", fmt.Errorf("%s is not acknowledged, after %.1f s: %q", what, took.Seconds(), said)
	}
	return fmt.Sprintf("%s acknowledged after %.1f s", what, took.Seconds()), nil
}

// again repeats an operator's command until it succeeds, for as long as an operator might.
func (w *rig) again(ctx context.Context, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, operation)
	defer cancel()
	for {
		_, said, err := w.operate(ctx, args...)
		if err == nil {
			return nil
		}
		if !pause(ctx, time.Second) {
			return fmt.Errorf("%s, again and again for %v: %q", strings.Join(args, " "), operation, said)
		}
	}
}

// refusals returns the number of calls that the account's limits refused, as text.
func (w *rig) refusals() string {
	var out []string
	for name, n := range w.account.Counts() {
		if n.Refused > 0 {
			out = append(out, fmt.Sprintf("%s %d of %d", name, n.Refused, n.Passed+n.Refused))
		}
	}
	slices.Sort(out)
	return "over the limit: " + strings.Join(out, ", ")
}

// notReady is the code of an answer about an item that the stock does not have.
const notReady = string(seckill.CodeNotReady)

// faults5xx lists the stack's 5xx answers, except not_ready while the item was not installed.
func (s *sums) faults5xx() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for k, n := range s.by {
		if k.code == notReady {
			n = s.notReady[k]
		}
		if n == 0 || k.status < http.StatusInternalServerError || !slices.Contains(cold, k.function) {
			continue
		}
		by := "by itself"
		if k.gateway {
			by = "by the gateway"
		}
		out = append(out, fmt.Sprintf("%s %d %s %s: %d", k.function, k.status, k.code, by, n))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// pause waits; it returns false if ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// Methods with their own throttles in the template; the others share a setting.
const (
	ofBuy    = "/seckill/buy/POST"
	ofPoll   = "/seckill/order/{seckill_id}/GET"
	ofNotify = "/seckill/alipay/notify/POST"
	ofSignin = "/signin/POST"
	ofOthers = "*/*"
)
