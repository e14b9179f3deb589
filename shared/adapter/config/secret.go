package config

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"seckill/shared/seckill"
)

// Times of secrets.
const (
	RefreshEvery = 5 * time.Minute // at most so often are the parameters read again, whether that worked or not
	ReadTimeout  = 2 * time.Second // of one reading, at init
	againTimeout = time.Second     // of a later one: a shopper may be waiting for it
	maxAtATime   = 10              // parameters that one call reads
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

// Source is where a secret comes from: Value itself, or the SSM parameter of that name. Setting is the variable that gives the value;
// the one that names the parameter ends in _PARAM.
type Source struct {
	Setting string
	Value   Secret
	Param   string
}

func (s Source) given() bool { return s.Value != "" || s.Param != "" }

func (s Source) problems() []string {
	if s.Value != "" && s.Param != "" {
		return []string{fmt.Sprintf("%s and %s_PARAM are both set, want one of them", s.Setting, s.Setting)}
	}
	return nil
}

// Wrong says what is wrong with the value, after the variable that gives it, or names its parameter.
func (s Source) Wrong(err error) error {
	if s.Param != "" {
		return fmt.Errorf("settings: %s_PARAM names the parameter %q, which cannot be used: %w", s.Setting, s.Param, err)
	}
	return fmt.Errorf("settings: %s: %w", s.Setting, err)
}

// Parameters is what is needed of AWS Systems Manager's client.
type Parameters interface {
	GetParameters(ctx context.Context, in *ssm.GetParametersInput, options ...func(*ssm.Options)) (*ssm.GetParametersOutput, error)
}

// Secrets has the values of parameters, read again from time to time. Safe for concurrent use.
type Secrets struct {
	client  Parameters
	clock   seckill.Clock
	sources []Source // those with a parameter
	names   []string

	reading sync.Mutex // held while parameters are read: nobody waits for somebody else's reading
	mu      sync.Mutex
	values  map[string]Secret // by parameter
	asked   time.Time
}

// Load reads the parameters of all sources in one call, more than ten in several, and makes none when no source has one. The error names the parameter that does not
// exist, and its setting.
func Load(ctx context.Context, client Parameters, clock seckill.Clock, sources ...Source) (*Secrets, error) {
	s := &Secrets{client: client, clock: clock, asked: clock.Now()}
	for _, src := range sources {
		if src.Param != "" {
			s.sources, s.names = append(s.sources, src), append(s.names, src.Param)
		}
	}
	slices.Sort(s.names)
	s.names = slices.Compact(s.names) // the service refuses a name given twice
	var err error
	s.values, err = s.read(ctx, ReadTimeout)
	return s, err
}

// Of gives a secret's value, "" when its source is empty.
func (s *Secrets) Of(src Source) Secret {
	if src.Param == "" {
		return src.Value
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values[src.Param]
}

// Refresh reads the parameters again when RefreshEvery has passed, and says whether one of them changed. After a fault the old values stay and
// the next attempt waits as long. It takes at most a second; while one caller reads, others go on at once.
func (s *Secrets) Refresh(ctx context.Context) (changed bool, err error) {
	if len(s.names) == 0 || !s.reading.TryLock() {
		return false, nil
	}
	defer s.reading.Unlock()
	now := s.clock.Now()
	if age := now.Sub(s.asked); age >= 0 && age < RefreshEvery {
		return false, nil
	}
	s.asked = now
	fresh, err := s.read(ctx, againTimeout)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, v := range fresh {
		changed = changed || s.values[name] != v
	}
	s.values = fresh
	return changed, nil
}

func (s *Secrets) read(ctx context.Context, timeout time.Duration) (map[string]Secret, error) {
	if len(s.names) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	values := make(map[string]Secret, len(s.names))
	for names := range slices.Chunk(s.names, maxAtATime) {
		out, err := s.client.GetParameters(ctx, &ssm.GetParametersInput{Names: names, WithDecryption: aws.Bool(true)})
		if err != nil {
			return nil, fmt.Errorf("settings: cannot read the parameters %s: %w", strings.Join(names, ", "), err)
		}
		for _, p := range out.Parameters {
			values[aws.ToString(p.Name)] = Secret(aws.ToString(p.Value))
		}
	}
	for _, src := range s.sources {
		if values[src.Param] == "" {
			return nil, fmt.Errorf("settings: %s_PARAM names the parameter %q, which does not exist or is empty", src.Setting, src.Param)
		}
	}
	return values, nil
}
