package config

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/your-org/seckill/shared/adapter/system"
	"github.com/your-org/seckill/shared/seckill"
)

// Times of secrets.
const (
	RefreshEvery = 5 * time.Minute // secrets are read again at the latest after so long, if an event comes
	// by up to so much sooner, so that instances that started at once do not read at once again
	spread     = time.Minute
	againAfter = time.Minute // after a refresh that failed, up to so long

	tryTimeout   = 2 * time.Second        // of one reading at init
	lateTimeout  = 30 * time.Second       // of a refresh: the instance may stand still in the middle of it
	firstDelay   = 100 * time.Millisecond // the longest wait before the second reading at init; it doubles
	longestDelay = 2 * time.Second
)

// Secret is a text that no log, error or JSON shows. string(s) reveals it.
type Secret string

const hidden = "***"

// String hides the secret.
func (Secret) String() string { return hidden }

// GoString hides it from %#v.
func (Secret) GoString() string { return hidden }

// Format hides it from every verb, numeric ones included.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) }

// LogValue hides it from slog.
func (Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText hides it from JSON and every other encoding.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Source is where a secret comes from: Value itself, or the entry Name of the function's secret in AWS Secrets Manager.
// Setting is the variable that gives the value; the one that names the entry ends in _NAME.
// JWT_KIDS alone only names entries.
type Source struct {
	Setting string
	Value   Secret
	Name    string
}

func (s Source) given() bool { return s.Value != "" || s.Name != "" }

func (s Source) problems() []string {
	if s.Value != "" && s.Name != "" {
		return []string{fmt.Sprintf("%s and %s_NAME are both set, want one of them", s.Setting, s.Setting)}
	}
	return nil
}

// variable is the one that names the entry.
func (s Source) variable() string {
	if s.Setting == kids {
		return kids
	}
	return s.Setting + "_NAME"
}

// Wrong says what is wrong with the value, after the variable that gives it, or names its entry.
func (s Source) Wrong(err error) error {
	if s.Name != "" {
		return fmt.Errorf("settings: %s names the secret %q, which cannot be used: %w", s.variable(), s.Name, err)
	}
	return fmt.Errorf("settings: %s: %w", s.Setting, err)
}

// Manager is what is needed of AWS Secrets Manager's client. It should not try again itself: Load does.
type Manager interface {
	GetSecretValue(ctx context.Context, in *secretsmanager.GetSecretValueInput,
		options ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error)
}

// Secrets has the entries of one secret in AWS Secrets Manager, a JSON object of texts. They are read again from time
// to time. Safe for concurrent use.
type Secrets struct {
	client  Manager
	clock   seckill.Clock
	id      string   // the secret's name or ARN
	sources []Source // those with a name

	mu      sync.Mutex
	values  map[string]Secret // by name
	next    time.Time         // when to read again
	reading bool
	read    chan reading // of the refresh under way
}

// reading is how a refresh ended.
type reading struct {
	values map[string]Secret
	err    error
}

// Load reads the secret in one call, and makes none when no source has a name. What may pass (no answer, a throttle, a
// fault of the service) is tried again until the context ends, after waits of full jitter. The error names the secret,
// or the entry that it lacks and its setting.
func Load(ctx context.Context, client Manager, clock seckill.Clock, id string, sources ...Source) (*Secrets, error) {
	s := &Secrets{client: client, clock: clock, id: id, read: make(chan reading, 1)}
	for _, src := range sources {
		if src.Name != "" {
			s.sources = append(s.sources, src)
		}
	}
	if len(s.sources) == 0 {
		return s, nil
	}
	if id == "" {
		return nil, fmt.Errorf("settings: SECRETS is missing: %s names an entry of it", s.sources[0].variable())
	}
	for n := 0; ; n++ {
		values, err := s.get(ctx, tryTimeout)
		if err == nil {
			s.values, s.next = values, clock.Now().Add(RefreshEvery-rand.N(spread))
			return s, nil
		}
		if !passing(err) || !system.Pause(ctx, rand.N(min(firstDelay<<n, longestDelay))) {
			return nil, err
		}
	}
}

// passing reports whether the same call may succeed later.
func passing(err error) bool {
	var wrong *contentError
	return !errors.As(err, &wrong) &&
		(errors.Is(err, context.DeadlineExceeded) ||
			retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err) == aws.TrueTernary ||
			retry.IsErrorThrottles(retry.DefaultThrottles).IsErrorThrottle(err) == aws.TrueTernary)
}

// Of returns a secret's value, "" when its source is empty.
func (s *Secrets) Of(src Source) Secret {
	if src.Name == "" {
		return src.Value
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values[src.Name]
}

// Refresh never waits: when it is time, it has the secret read by a goroutine, and a later Refresh takes over what
// came. changed: a value is another one now. The error is a reading's that failed: the old values stay, and the next
// reading follows within a minute. An instance stands still between events, so that a reading may end during a later
// one, or be given up.
func (s *Secrets) Refresh() (changed bool, err error) {
	if len(s.sources) == 0 {
		return false, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	select {
	case r := <-s.read:
		s.reading = false
		if r.err != nil {
			s.next = now.Add(rand.N(againAfter))
			return false, r.err
		}
		s.next = now.Add(RefreshEvery - rand.N(spread))
		changed, s.values = !maps.Equal(s.values, r.values), r.values
		return changed, nil
	default:
	}
	// a clock that was set back is no reason to wait
	if soon := s.next.Sub(now); s.reading || soon > 0 && soon <= RefreshEvery {
		return false, nil
	}
	s.reading = true
	go func() {
		values, err := s.get(context.Background(), lateTimeout)
		s.read <- reading{values, err}
	}()
	return false, nil
}

// Wait waits up to this long for the reading that Refresh began, if it is under way. It is for events whose answer no
// client waits for: Lambda freezes an instance after its answer, and a reading beside rare, short events might be
// interrupted each time.
func (s *Secrets) Wait(most time.Duration) {
	s.mu.Lock()
	reading := s.reading
	s.mu.Unlock()
	if !reading {
		return
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case r := <-s.read:
		s.read <- r // there is room: the reading's goroutine was the only sender, and has ended
	case <-timer.C:
	}
}

// contentError describes a secret that was read and is invalid.
type contentError struct{ what string }

func (e *contentError) Error() string { return "settings: " + e.what }

func (s *Secrets) get(ctx context.Context, timeout time.Duration) (map[string]Secret, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out, err := s.client.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &s.id})
	if err != nil {
		return nil, fmt.Errorf("settings: cannot read the secret %s: %w", s.id, err)
	}
	var values map[string]Secret
	if json.Unmarshal([]byte(aws.ToString(out.SecretString)), &values) != nil { // its error may show the text
		return nil, &contentError{fmt.Sprintf("the secret %s is no JSON object of texts", s.id)}
	}
	own := make(map[string]Secret, len(s.sources)) // another's entry may change without any notification here
	for _, src := range s.sources {
		if values[src.Name] == "" {
			return nil, &contentError{fmt.Sprintf("%s names the secret %q, which does not exist or is empty in %s",
				src.variable(), src.Name, s.id)}
		}
		own[src.Name] = values[src.Name]
	}
	return own, nil
}
