package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"github.com/aws/aws-sdk-go-v2/service/apigateway/types"
	"github.com/spf13/cobra"

	"github.com/your-org/seckill/cmd/seckill/doctor"
	"github.com/your-org/seckill/infra/plan"
	"github.com/your-org/seckill/infra/stackstate"
	"github.com/your-org/seckill/shared/api/operator"
)

// notifyPath, buyPath, pollPath, officePath and staffPath are the paths of Alipay's notifications, of purchases, of
// buyers' looks at orders and of staff's commands, by a signature or from a browser, as GetStage names them, without
// the first slash. notifyPatch is notifyPath as UpdateStage names it.
const (
	notifyPath  = "seckill/alipay/notify"
	officePath  = "operator/{role}"
	staffPath   = "admin/{proxy+}"
	buyPath     = "seckill/buy"
	pollPath    = "seckill/order/{seckill_id}"
	notifyPatch = "~1seckill~1alipay~1notify/POST"
)

// Limits of the check that a hard stop works.
const (
	seenStep    = 250 * time.Millisecond
	seenTimeout = 2 * time.Second // of one call
)

// seenWithin is how long the check is repeated; tests shorten it.
var seenWithin = 5 * time.Second

// stdin is read for a confirmation; tests replace it.
var stdin io.Reader = os.Stdin

// hardShop is a shop that can be stopped hard and reopened without its functions. Both may be repeated.
type hardShop interface {
	// name is what the operator has to type to confirm.
	name() string
	// shut blocks all calls but payment notifications, and open lets all through. They call tell with each line to
	// print.
	shut(ctx context.Context, tell func(string)) error
	open(ctx context.Context, tell func(string)) error
}

// hardStop stops a shop hard, or reopens it. Then it stops or resumes the item, if one is named.
func hardStop(cmd *cobra.Command, to *target, id string, stop, yes bool) error {
	deployed, err := to.isDeployed(cmd)
	if err != nil {
		return err
	}
	if id != "" {
		if err := checkItem(id); err != nil {
			return err
		}
	}
	var s hardShop
	var items func() *shop
	if deployed {
		d, err := openStack(cmd.Context(), to, waitingOn(cmd.ErrOrStderr()))
		if err != nil {
			return err
		}
		s = &apiStage{*d, apigateway.NewFromConfig(d.cfg)}
		items = func() *shop { return d.shop() }
	} else {
		r, err := to.running()
		if err != nil {
			return err
		}
		s, items = r, func() *shop { return r.shop() }
	}
	if stop && !yes {
		if err := confirm(cmd, "This stops the whole shop of "+whose(s)+", not one item: shoppers cannot look, buy, "+
			"cancel or see an order until it is resumed.", s.name()); err != nil {
			return err
		}
	}
	do := s.open
	if stop {
		do = s.shut
	}
	tell := func(line string) { _ = say(cmd, "%s", line) } // the change is made, even if it cannot be printed
	if err := do(cmd.Context(), tell); err != nil {
		return err
	}
	if stop {
		tell("Orders that are queued are still placed and can be paid. To open it again: seckill items resume --hard" +
			to.sameShop())
	}
	if id == "" {
		return nil
	}
	if err := setStopped(cmd, items(), id, stop); err != nil {
		state := "the shop is open again, but item %s itself is not resumed: %w"
		if stop {
			state = "the shop is stopped hard, but item %s itself is not stopped: %w"
		}
		return faultError{fmt.Errorf(state, id, err)}
	}
	return nil
}

func whose(s hardShop) string {
	if d, ok := s.(*apiStage); ok {
		return "stack " + d.stack
	}
	return s.name()
}

// confirm asks the operator to type a name.
func confirm(cmd *cobra.Command, what, name string) error {
	fmt.Fprintf(cmd.ErrOrStderr(), "%s\nType its name (%s) to go on: ", what, name)
	line, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return faultError{err}
	}
	if strings.TrimSpace(line) != name {
		return fmt.Errorf("%q is not %q: the shop is not stopped, and nothing was changed (--yes skips this question)",
			strings.TrimSpace(line), name)
	}
	return nil
}

// apiStage is the stage of a stack's API. Its throttle is set with the operator's own rights, without a function.
type apiStage struct {
	deployedShop
	gateway *apigateway.Client
}

func (s *apiStage) name() string { return s.stack }

// shut sets the throttle of every method but notify and the back office's to 0: staff go on. If notify has no
// throttle of its own, it gets the one that applied to it before.
func (s *apiStage) shut(ctx context.Context, tell func(string)) error {
	have, err := s.settings(ctx)
	if err != nil {
		return err
	}
	var ops []types.PatchOperation
	common, ok := have[doctor.EveryMethod]
	if !ok || !isShut(common) {
		ops = append(ops, throttleTo(doctor.EveryMethod, 0, 0)...)
	}
	kept, staff := false, ""
	for _, key := range slices.Sorted(maps.Keys(have)) {
		switch {
		case isNotification(key):
			kept = true
		case (isMethod(key, officePath) || isMethod(key, staffPath)) && !isShut(have[key]):
			staff = " and staff's commands"
		case key != doctor.EveryMethod && !isShut(have[key]):
			ops = append(ops, throttleTo(patchKey(key), 0, 0)...)
		}
	}
	if !kept {
		rate, burst := common.ThrottlingRateLimit, int(common.ThrottlingBurstLimit)
		if !ok || isShut(common) {
			if rate, burst, err = s.deployed("Throttle"); err != nil {
				return err
			}
		}
		ops = append(ops, throttleTo(notifyPatch, rate, burst)...)
	}
	said := "Nothing to do: stack " + s.stack + " was stopped hard already."
	if len(ops) > 0 {
		if err := s.patch(ctx, ops); err != nil {
			return err
		}
		said = "Stack " + s.stack + " is stopped hard: its API lets nothing through but Alipay's " +
			"notifications" + staff + "."
	}
	tell(said)
	tell(s.seen(ctx))
	return nil
}

// open sets each blocked method to the throttle that the stack was deployed with. It removes the throttle that shut set
// for notify, if the stack has none for it: a deployment would not remove it.
func (s *apiStage) open(ctx context.Context, tell func(string)) error {
	have, err := s.settings(ctx)
	if err != nil {
		return err
	}
	var ops []types.PatchOperation
	var own []string
	rate, burst, err := s.deployed("Throttle")
	_, _, gaveNone := s.deployed("Notify")
	for _, key := range slices.Sorted(maps.Keys(have)) {
		switch {
		case isNotification(key) && gaveNone != nil && isShut(have[doctor.EveryMethod]): // set by shut
			ops = append(ops, types.PatchOperation{Op: types.OpRemove, Path: aws.String("/" + patchKey(key))})
		case !isShut(have[key]):
		case err != nil:
			return err
		case key == doctor.EveryMethod:
			ops = append(ops, throttleTo(doctor.EveryMethod, rate, burst)...)
		case isMethod(key, buyPath), isMethod(key, pollPath):
			whose := "Buy"
			if isMethod(key, pollPath) {
				whose = "Poll"
			}
			itsRate, itsBurst, err := s.deployed(whose)
			if err != nil { // the stack is older than these parameters
				itsRate, itsBurst = rate, burst
			}
			ops = append(ops, throttleTo(patchKey(key), itsRate, itsBurst)...)
		default:
			ops = append(ops, throttleTo(patchKey(key), rate, burst)...)
			own = append(own, key)
		}
	}
	if len(ops) == 0 {
		tell("Nothing to do: stack " + s.stack + " was not stopped hard.")
		return nil
	}
	if err := s.patch(ctx, ops); err != nil {
		return err
	}
	tell(fmt.Sprintf("Stack %s is open again: each method lets %v calls a second through, %d at once, as it is "+
		"deployed.", s.stack, rate, burst))
	for _, key := range own {
		tell(key + " had a throttle of its own, which is not known any more: it has the stack's now; " +
			"deploy again to give it its own.")
	}
	return nil
}

// deployed returns a throttle of the stack's parameters: Throttle is that of all methods, Buy that of purchases, Poll
// that of looks at orders. No other source has these values, so a missing one is an error.
func (s *apiStage) deployed(whose string) (rate float64, burst int, err error) {
	numbers := plan.Numbers(func(name string) string { return stackstate.Parameter(&s.found, name) })
	rate, _ = strconv.ParseFloat(numbers[whose+"Rate"], 64)
	burst, _ = strconv.Atoi(numbers[whose+"Burst"])
	if rate <= 0 || burst <= 0 {
		return 0, 0, fmt.Errorf("stack %s has no %sRate and %sBurst, neither by its Size or Plan nor by themselves: "+
			"deploy it again", s.stack, whose, whose)
	}
	return rate, burst, nil
}

// settings returns the settings of methods, and those of all methods.
func (s *apiStage) settings(ctx context.Context) (have map[string]types.MethodSetting, err error) {
	return have, s.call(ctx, func(ctx context.Context) error {
		out, err := s.gateway.GetStage(ctx, &apigateway.GetStageInput{RestApiId: &s.api, StageName: &s.stage})
		if err == nil {
			have = out.MethodSettings
		}
		return err
	})
}

func (s *apiStage) patch(ctx context.Context, ops []types.PatchOperation) error {
	return s.call(ctx, func(ctx context.Context) error {
		_, err := s.gateway.UpdateStage(ctx, &apigateway.UpdateStageInput{RestApiId: &s.api, StageName: &s.stage,
			PatchOperations: ops})
		return err
	})
}

// call calls API Gateway, and describes its error.
func (s *apiStage) call(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	err := s.wait.during("API Gateway", func() error { return f(ctx) })
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*types.NotFoundException)):
		return fmt.Errorf("stack %s names the API %s with stage %s, and region %s has no such stage", s.stack, s.api,
			s.stage, s.region)
	}
	return awsFault(err, s.region, "; it may have been done, and can be repeated")
}

// seen calls the API until it refuses. API Gateway distributes a change to its machines, and does not report when it is
// done.
func (s *apiStage) seen(ctx context.Context) string {
	address := s.outputOf("Url") + "/healthz"
	again := " API Gateway takes some seconds. To check again: curl -si " + address
	client := &http.Client{Timeout: seenTimeout,
		Transport: &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment}}
	for until := time.Now().Add(seenWithin); ; {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return "The effect was not checked: the stack's output Url is not a URL."
		}
		resp, err := client.Do(r)
		heard := "did not answer within " + seenTimeout.String() // a hanging function gives no answer either
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusTooManyRequests {
				return "The API answers 429 now."
			}
			heard = "answers " + strconv.Itoa(resp.StatusCode)
		} else if late := (interface{ Timeout() bool })(nil); !errors.As(err, &late) || !late.Timeout() {
			heard = "cannot be reached from here"
		}
		if time.Now().After(until) || ctx.Err() != nil {
			return fmt.Sprintf("There is no effect yet: %s %s.%s", address, heard, again)
		}
		time.Sleep(seenStep)
	}
}

func isShut(m types.MethodSetting) bool {
	return m.ThrottlingRateLimit == 0 || m.ThrottlingBurstLimit == 0
}

func isNotification(key string) bool { return isMethod(key, notifyPath) }

// isMethod accepts a key with plain slashes or with those of JSON pointers, because AWS documents both.
func isMethod(key, path string) bool {
	key = doctor.Method(key)
	return key[:max(strings.LastIndexByte(key, '/'), 0)] == path
}

// patchKey converts a key of GetStage to a path of UpdateStage: the slashes of the resource, with a first one, as ~1,
// and then the method.
func patchKey(key string) string {
	key = doctor.Method(key)
	cut := max(strings.LastIndexByte(key, '/'), 0)
	return "~1" + strings.ReplaceAll(key[:cut], "/", "~1") + key[cut:]
}

func throttleTo(key string, rate float64, burst int) []types.PatchOperation {
	to := func(field, value string) types.PatchOperation {
		path := "/" + key + "/throttling/" + field
		return types.PatchOperation{Op: types.OpReplace, Path: &path, Value: &value}
	}
	return []types.PatchOperation{to("rateLimit", strconv.FormatFloat(rate, 'f', -1, 64)),
		to("burstLimit", strconv.Itoa(burst))}
}

func (s *runningShop) name() string { return s.base }

func (s *runningShop) shut(ctx context.Context, tell func(string)) error {
	return s.hard(ctx, tell, true, s.base+" is stopped hard: its API lets nothing through but payment notifications.",
		"Nothing to do: "+s.base+" was stopped hard already.")
}

func (s *runningShop) open(ctx context.Context, tell func(string)) error {
	return s.hard(ctx, tell, false, s.base+" is open again.", "Nothing to do: "+s.base+" was not stopped hard.")
}

func (s *runningShop) hard(ctx context.Context, tell func(string), stopped bool, did, nothing string) error {
	var out struct{ Changed bool }
	body, err := json.Marshal(map[string]bool{"stopped": stopped})
	if err == nil {
		var answer []byte
		if answer, err = s.call(ctx, "/_local/hard-stop", body); err == nil && json.Unmarshal(answer, &out) != nil {
			err = faultError{fmt.Errorf("%s: %w", s.base, operator.ErrAnswer)}
		}
	}
	switch {
	case err != nil:
		return err
	case out.Changed:
		tell(did)
	default:
		tell(nothing)
	}
	return nil
}
