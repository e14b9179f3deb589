package config

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/seckill"
)

// Times of secrets.
const (
	RefreshEvery = 5 * time.Minute // longest time between two reads of the secrets, while events arrive
	// reads happen up to this much earlier, so that instances that started together do not read together again
	spread     = time.Minute
	againAfter = time.Minute // longest wait after a failed refresh

	tryTimeout   = 2 * time.Second        // one attempt at init
	lateTimeout  = 30 * time.Second       // one refresh: Lambda may freeze the instance during it
	firstDelay   = 100 * time.Millisecond // longest wait before the second attempt at init; it doubles
	longestDelay = 2 * time.Second
)

// Secret is a text that logs, errors and JSON never show. string(s) reveals it.
type Secret string

const hidden = "***"

// String hides the secret.
func (Secret) String() string { return hidden }

// GoString hides the secret from %#v.
func (Secret) GoString() string { return hidden }

// Format hides the secret from every verb, including numeric ones.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) }

// LogValue hides the secret from slog.
func (Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText hides the secret from JSON and every other encoding.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Source locates a secret: Value itself, or the entry Name of the function's secret in AWS Secrets Manager. Setting
// is the variable for the value; the variable for the entry's name ends in _NAME. JWT_KIDS has only names. A part has
// it with the tag envPrefix, which is the setting, and want:"one" unless it may be missing.
type Source struct {
	Setting string
	Value   Secret `env:""`
	Name    string `env:"_NAME"`
}

func (s Source) given() bool { return s.Value != "" || s.Name != "" }

// problems returns what is wrong with a source, which must be given or may be.
func (s Source) problems(must bool) []string {
	switch {
	case s.Value != "" && s.Name != "":
		return []string{fmt.Sprintf("%s and %s_NAME are both set, want one of them", s.Setting, s.Setting)}
	case must && !s.given():
		return []string{fmt.Sprintf("%s_NAME is missing (%s will do)", s.Setting, s.Setting)}
	}
	return nil
}

// variable returns the variable that is set: the variable of the value, or of the entry's name.
func (s Source) variable() string {
	if s.Setting == kids {
		return kids
	}
	return s.Setting + "_NAME"
}

// Wrong returns an error about the value, prefixed with the variable that gives it or names its entry.
func (s Source) Wrong(err error) error {
	if s.Name != "" {
		return fmt.Errorf("settings: %s names the secret %q, which cannot be used: %w", s.variable(), s.Name, err)
	}
	return fmt.Errorf("settings: %s: %w", s.Setting, err)
}

// Manager is what Secrets needs of AWS Secrets Manager's client. Disable the client's retries: Secrets retries itself.
type Manager interface {
	GetSecretValue(ctx context.Context, in *secretsmanager.GetSecretValueInput,
		options ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error)
}

// Secrets holds the entries of one secret in AWS Secrets Manager, a JSON object of strings, and rereads them
// periodically. It keeps only the entries that somebody asked for before Drop. It is safe for concurrent use.
type Secrets struct {
	client Manager
	clock  seckill.Clock
	id     string // the secret's name or ARN

	mu      sync.Mutex
	names   map[string]Source // the entries that were asked for
	values  map[string]Secret // by entry name; nil if they were not read
	next    time.Time         // when to read again
	reading bool
	begun   time.Time    // the last read of a refresh
	asked   time.Time    // when Renew waited last
	failed  error        // the error of the last read
	read    chan reading // receives the result of the refresh under way
}

// reading is the result of a refresh.
type reading struct {
	values map[string]Secret
	err    error
}

// NewSecrets returns the entries of the secret id, and makes no call.
func NewSecrets(client Manager, clock seckill.Clock, id string) *Secrets {
	return &Secrets{client: client, clock: clock, id: id, names: map[string]Source{}, read: make(chan reading, 1)}
}

// Get returns a secret's value, "" if its source is empty. It reads all entries in one call, the first time that it is
// asked for one. It retries transient failures (no answer, throttling, a service fault) with full jitter until the
// context ends; after a failure it fails at once. The error names the secret, or the missing entry and its setting.
func (s *Secrets) Get(ctx context.Context, src Source) (Secret, error) {
	if src.Name == "" {
		return src.Value, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values == nil && s.failed == nil {
		s.values, s.failed = s.first(ctx, src)
		s.next = s.clock.Now().Add(RefreshEvery - rand.N(spread))
	}
	if s.values == nil {
		return "", s.failed
	}
	s.names[src.Name] = src
	return s.values[src.Name], s.missing(s.values, src)
}

// first reads all entries.
func (s *Secrets) first(ctx context.Context, src Source) (map[string]Secret, error) {
	if s.id == "" {
		return nil, fmt.Errorf("settings: SECRETS is missing: %s names an entry of it", src.variable())
	}
	for n := 0; ; n++ {
		values, err := s.get(ctx, tryTimeout)
		if err == nil {
			return values, nil
		}
		if !passing(err) || !system.Pause(ctx, rand.N(min(firstDelay<<n, longestDelay))) {
			return nil, err
		}
	}
}

// Drop forgets the entries that nobody has asked for: other functions'.
func (s *Secrets) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.values, func(name string, _ Secret) bool { _, ours := s.names[name]; return !ours })
}

// passing reports whether the failure is transient.
func passing(err error) bool {
	var wrong *contentError
	return !errors.As(err, &wrong) &&
		(errors.Is(err, context.DeadlineExceeded) ||
			retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err) == aws.TrueTernary ||
			retry.IsErrorThrottles(retry.DefaultThrottles).IsErrorThrottle(err) == aws.TrueTernary)
}

// Of returns a secret's value as Get did, or as it was read since.
func (s *Secrets) Of(src Source) Secret {
	if src.Name == "" {
		return src.Value
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values[src.Name]
}

// Refresh never blocks: when a read is due it starts one in a goroutine, and a later call to Refresh applies the
// result, and reports whether some value changed. After a failed read the old values stay, and the next attempt
// follows within a minute. Lambda freezes an instance between events, so a read may finish during a later event or be
// abandoned.
func (s *Secrets) Refresh() (changed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values == nil {
		return false, nil
	}
	now := s.clock.Now()
	select {
	case r := <-s.read:
		s.reading, s.failed = false, r.err
		if r.err != nil {
			s.next = now.Add(rand.N(againAfter))
			return false, r.err
		}
		s.next = now.Add(RefreshEvery - rand.N(spread))
		changed, s.values = !maps.Equal(s.values, r.values), r.values
		return changed, nil
	default:
	}
	// if the clock was set back, do not wait
	if soon := s.next.Sub(now); s.reading || soon > 0 && soon <= RefreshEvery {
		return false, nil
	}
	s.begin(now)
	return false, nil
}

// begin starts a read; the caller holds the lock.
func (s *Secrets) begin(now time.Time) {
	s.reading, s.begun = true, now
	ours := maps.Clone(s.names)
	go func() {
		values, err := s.get(context.Background(), lateTimeout)
		maps.DeleteFunc(values, func(name string, _ Secret) bool { _, own := ours[name]; return !own })
		for _, name := range slices.Sorted(maps.Keys(ours)) {
			err = cmp.Or(err, s.missing(values, ours[name]))
		}
		s.read <- reading{values, err}
	}()
}

var errSlow = errors.New("settings: the secrets are being read")

// Renew makes sure that the secrets are no older than age: if they are, it reads them and waits, at most that long. So
// it reads once in that time at most, however often it is called. It reports whether some value changed. With an error
// the secrets may be older.
func (s *Secrets) Renew(age, wait time.Duration) (changed bool, err error) {
	s.mu.Lock()
	if s.values == nil {
		s.mu.Unlock()
		return false, nil
	}
	now := s.clock.Now()
	recent := func(t time.Time) bool { return now.Sub(t) >= 0 && now.Sub(t) < age }
	if !s.reading && recent(s.begun) || s.reading && recent(s.asked) {
		defer s.mu.Unlock()
		if s.reading {
			return false, errSlow
		}
		return false, s.failed
	}
	s.asked = now
	if !s.reading {
		s.begin(now)
	}
	s.mu.Unlock()
	s.Wait(wait)
	changed, err = s.Refresh()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reading || !recent(s.begun) { // it read on while the instance was frozen
		err = errors.Join(err, errSlow)
	}
	return changed, err
}

// Wait waits at most this long for the read that Refresh started, if any. Use it after events whose answer no client
// waits for: Lambda freezes an instance after its answer, so short, rare events might interrupt the read each time.
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
		s.read <- r // does not block: the read's goroutine was the only sender and has ended
	case <-timer.C:
	}
}

// contentError describes a secret that was read but is invalid.
type contentError struct{ what string }

func (e *contentError) Error() string { return "settings: " + e.what }

func (s *Secrets) get(ctx context.Context, timeout time.Duration) (map[string]Secret, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out, err := s.client.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &s.id})
	if err != nil {
		return nil, fmt.Errorf("settings: cannot read the secret %s: %w", s.id, err)
	}
	var entries map[string]json.RawMessage
	if json.Unmarshal([]byte(aws.ToString(out.SecretString)), &entries) != nil || entries == nil {
		// its error may contain the text
		return nil, &contentError{fmt.Sprintf("the secret %s is not a JSON object", s.id)}
	}
	values := make(map[string]Secret, len(entries))
	for name, entry := range entries {
		var text Secret
		_ = json.Unmarshal(entry, &text) // one that is no text is missing, if it is needed
		values[name] = text
	}
	return values, nil
}

// missing returns an error if an entry is missing or empty that may not be.
func (s *Secrets) missing(values map[string]Secret, src Source) error {
	if values[src.Name] != "" || slices.Contains([]string{audienceFrom, salts, clientSecrets}, src.Setting) {
		return nil
	}
	return &contentError{fmt.Sprintf("%s names the secret %q, which does not exist or is empty in %s", src.variable(),
		src.Name, s.id)}
}
