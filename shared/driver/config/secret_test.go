package config_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/smithy-go"

	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

func TestSecretIsNeverShown(t *testing.T) {
	type holder struct{ S config.Secret }
	const s = config.Secret("tell-nobody")
	var b bytes.Buffer
	slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "secret", s, "in", holder{s}, "source",
		config.Source{Setting: "A", Value: s})
	j := must.Get(json.Marshal(holder{s}))
	b.Write(j)
	for _, verb := range []string{"%s", "%v", "%+v", "%#v", "%q", "%x", "%X", "%d"} {
		fmt.Fprintf(&b, verb, s)
		fmt.Fprintf(&b, verb, holder{s})
		fmt.Fprintf(&b, verb, &holder{s})
	}
	for _, text := range []string{"tell-nobody", fmt.Sprintf("%x", "tell-nobody"), fmt.Sprintf("%X", "tell-nobody")} {
		if strings.Contains(b.String(), text) {
			t.Errorf("shown: %s", b.String())
		}
	}
}

// store is a fake Secrets Manager.
type store struct {
	mu     sync.Mutex
	values map[string]string
	text   string // returned instead of values
	errs   []error
	calls  atomic.Int32
}

func (s *store) GetSecretValue(ctx context.Context, in *secretsmanager.GetSecretValueInput,
	_ ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error) {
	s.calls.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.errs) > 0 {
		err := s.errs[0]
		s.errs = s.errs[1:]
		if errors.Is(err, errSilent) {
			<-ctx.Done()
			err = ctx.Err()
		}
		return nil, err
	}
	if aws.ToString(in.SecretId) != "/buy" {
		return nil, &smithy.GenericAPIError{Code: "ResourceNotFoundException"}
	}
	b, err := json.Marshal(s.values)
	if s.text != "" {
		b = []byte(s.text)
	}
	return &secretsmanager.GetSecretValueOutput{SecretString: aws.String(string(b))}, err
}

func (s *store) set(name, value string, errs ...error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[name], s.errs = value, errs
}

// load reads sources as a function's drivers do.
func load(ctx context.Context, api config.Manager, clock seckill.Clock, id string, sources ...config.Source) (
	*config.Secrets, error) {
	s := config.NewSecrets(api, clock, id)
	for _, src := range sources {
		if value, err := s.Get(ctx, src); err != nil || value != s.Of(src) {
			return nil, err
		}
	}
	s.Drop()
	return s, nil
}

var (
	errSilent   = errors.New("no answer")
	errThrottle = &smithy.GenericAPIError{Code: "ThrottlingException", Message: "Rate exceeded"}
	errDenied   = &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "no"}
)

func TestSecretsAreReadInOneCallAndAgainLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := memory.NewClock(time.Date(2026, 11, 11, 0, 0, 0, 0, time.UTC))
		api := &store{values: map[string]string{"a": "1", "b": "2", "others": "3"}}
		given, a, b := config.Source{Setting: "G", Value: "0"}, config.Source{Setting: "A", Name: "a"},
			config.Source{Setting: "B", Name: "b"}
		s := must.Get(load(t.Context(), api, clock, "/buy", given, b, a, a, config.Source{Setting: "EMPTY"}))
		check := func(step string, calls int32, want ...string) {
			t.Helper()
			got := []string{string(s.Of(given)), string(s.Of(a)), string(s.Of(b)), string(s.Of(config.Source{}))}
			if !slices.Equal(got, want) || api.calls.Load() != calls {
				t.Errorf("%s: %q after %d calls, want %q after %d", step, got, api.calls.Load(), want, calls)
			}
		}
		// event does what surrounds an event: it does not wait for a read; the next event applies the result.
		event := func(step string, wantChanged, wantErr bool) {
			t.Helper()
			begun := time.Now()
			if changed, err := s.Refresh(); changed != wantChanged || (err != nil) != wantErr ||
				!time.Now().Equal(begun) {
				t.Errorf("%s: changed %v, %v after %v", step, changed, err, time.Since(begun))
			}
		}
		check("at first", 1, "0", "1", "2", "")
		api.set("a", "one")
		clock.Advance(config.RefreshEvery - time.Minute - time.Millisecond)
		event("too early", false, false)
		synctest.Wait()
		check("too early", 1, "0", "1", "2", "")
		clock.Advance(time.Minute + time.Millisecond)
		event("it is time", false, false)
		synctest.Wait()
		check("read, not yet taken over", 2, "0", "1", "2", "")
		event("taken over", true, false)
		check("taken over", 2, "0", "one", "2", "")
		api.set("others", "another's")
		clock.Advance(config.RefreshEvery)
		event("it is time again", false, false)
		synctest.Wait()
		event("as before", false, false)
		check("as before", 3, "0", "one", "2", "")

		api.set("a", "two", errSilent)
		clock.Advance(config.RefreshEvery)
		event("a reading without an answer begins", false, false)
		event("and is under way", false, false)
		time.Sleep(time.Minute)
		event("and has failed", false, true)
		check("fault", 4, "0", "one", "2", "")
		clock.Advance(time.Minute)
		event("again within a minute", false, false)
		synctest.Wait()
		event("taken over after the fault", true, false)
		check("after the fault", 5, "0", "two", "2", "")
		api.set("b", "")
		clock.Advance(config.RefreshEvery)
		event("an entry is gone", false, false)
		synctest.Wait()
		event("an entry is gone", false, true)
		check("an entry is gone", 6, "0", "two", "2", "")
	})
}

// At an opening thousands of instances start at once: transient failures are retried at random moments, for as long
// as init may take.
func TestLoadTriesAgainWhatMayPass(t *testing.T) {
	for name, c := range map[string]struct {
		errs    []error
		calls   int32
		want    string
		longest time.Duration
	}{
		"throttled":    {[]error{errThrottle, errThrottle, errThrottle}, 4, "", time.Second},
		"no answer":    {[]error{errSilent, errThrottle}, 3, "", 3 * time.Second},
		"denied":       {[]error{errDenied}, 1, "cannot read the secret /buy: api error AccessDeniedException", 0},
		"never":        {slices.Repeat([]error{errThrottle}, 1000), 0, "ThrottlingException", 8 * time.Second},
		"never at all": {slices.Repeat([]error{errSilent}, 1000), 0, "deadline exceeded", 8 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
				defer cancel()
				api, begun := &store{values: map[string]string{"a": "1"}, errs: c.errs}, time.Now()
				s, err := load(ctx, api, memory.NewClock(begun), "/buy", config.Source{Setting: "A", Name: "a"})
				took := time.Since(begun)
				if c.want == "" && (err != nil || s.Of(config.Source{Name: "a"}) != "1") || c.want != "" &&
					(err == nil || !strings.Contains(err.Error(), c.want)) {
					t.Errorf("%v, want %q", err, c.want)
				}
				if calls := api.calls.Load(); took > c.longest || c.calls != 0 && calls != c.calls || c.calls == 0 &&
					calls < 4 {
					t.Errorf("%d calls in %v, want %d within %v", calls, took, c.calls, c.longest)
				}
			})
		})
	}
}

// Two instances that start together must not read together again.
func TestReadingsAreSpread(t *testing.T) {
	first, refreshed := map[time.Duration]bool{}, map[time.Duration]bool{}
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			api := &store{values: map[string]string{"a": "1"}, errs: []error{errThrottle, errThrottle, errThrottle}}
			clock := memory.NewClock(begun)
			s := must.Get(load(t.Context(), api, clock, "/buy", config.Source{Setting: "A", Name: "a"}))
			first[time.Since(begun)] = true
			for api.calls.Load() == 4 {
				clock.Advance(time.Second)
				must.Get(s.Refresh())
				synctest.Wait()
			}
			refreshed[clock.Now().Sub(begun)] = true
		})
	}
	if len(first) < 15 || len(refreshed) < 5 {
		t.Errorf("20 instances had %d moments of a start and %d of a refresh", len(first), len(refreshed))
	}
}

// TestOtherEntriesMayBeAnything: what somebody else stores beside an entry cannot keep it from being read.
func TestOtherEntriesMayBeAnything(t *testing.T) {
	clock := memory.NewClock(time.Unix(0, 0))
	api := &store{text: `{"jwt-secret":"hunter2","port":6379,"more":{"x":[1]},"none":null}`}
	must.Get(load(t.Context(), api, clock, "/buy", config.Source{Setting: "JWT_SECRET", Name: "jwt-secret"}))
}

func TestMissingEntryIsNamed(t *testing.T) {
	clock := memory.NewClock(time.Unix(0, 0))
	for name, c := range map[string]struct {
		api        *store
		secret     string
		want, hide string
	}{
		"missing": {&store{values: map[string]string{}}, "/buy",
			`JWT_SECRET_NAME names the secret "jwt-secret", which does not exist or is empty in /buy`, ""},
		"empty": {&store{values: map[string]string{"jwt-secret": ""}}, "/buy",
			`JWT_SECRET_NAME names the secret "jwt-secret"`, ""},
		"no object": {&store{text: `"hunter2"`}, "/buy", "settings: the secret /buy is not a JSON object",
			"hunter2"},
		"no text": {&store{text: `{"jwt-secret":{"x":"hunter2"}}`}, "/buy",
			`JWT_SECRET_NAME names the secret "jwt-secret"`, "hunter2"},
		"no secret": {&store{}, "/nowhere",
			"settings: cannot read the secret /nowhere: api error ResourceNotFoundException", ""},
		"no name": {&store{}, "", "settings: SECRETS is missing: JWT_SECRET_NAME names an entry of it", ""},
	} {
		_, err := load(t.Context(), c.api, clock, c.secret, config.Source{Setting: "JWT_SECRET", Name: "jwt-secret"})
		if err == nil || !strings.HasPrefix(err.Error(), "settings: ") || !strings.Contains(err.Error(), c.want) ||
			c.hide != "" && strings.Contains(err.Error(), c.hide) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestNoNameNoCall(t *testing.T) {
	clock := memory.NewClock(time.Unix(0, 0))
	api := &store{}
	s, err := load(t.Context(), api, clock, "", config.Source{Setting: "JWT_SECRET", Value: "s"})
	clock.Advance(time.Hour)
	if changed, again := s.Refresh(); err != nil || again != nil || changed || api.calls.Load() != 0 {
		t.Errorf("%v, %v, changed %v, %d calls", err, again, changed, api.calls.Load())
	}
}
