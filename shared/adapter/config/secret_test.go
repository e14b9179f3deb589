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
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"seckill/shared/adapter/config"
	"seckill/shared/adapter/memory"
)

func TestSecretIsNeverShown(t *testing.T) {
	type holder struct{ S config.Secret }
	const s = config.Secret("tell-nobody")
	var b bytes.Buffer
	slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "secret", s, "in", holder{s}, "source", config.Source{Setting: "A", Value: s})
	j, err := json.Marshal(holder{s})
	if err != nil {
		t.Fatal(err)
	}
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

// store plays Systems Manager.
type store struct {
	values map[string]string
	err    error
	calls  [][]string
}

func (s *store) GetParameters(_ context.Context, in *ssm.GetParametersInput, _ ...func(*ssm.Options)) (*ssm.GetParametersOutput, error) {
	s.calls = append(s.calls, in.Names)
	if s.err != nil {
		return nil, s.err
	}
	out := &ssm.GetParametersOutput{}
	for _, n := range in.Names {
		if v, ok := s.values[n]; ok && aws.ToBool(in.WithDecryption) {
			out.Parameters = append(out.Parameters, types.Parameter{Name: aws.String(n), Value: aws.String(v)})
		} else {
			out.InvalidParameters = append(out.InvalidParameters, n)
		}
	}
	return out, nil
}

func TestSecretsAreReadInOneCallAndAgainLater(t *testing.T) {
	clock := memory.NewClock(time.Date(2026, 11, 11, 0, 0, 0, 0, time.UTC))
	api := &store{values: map[string]string{"/a": "1", "/b": "2"}}
	given, a, b := config.Source{Setting: "G", Value: "0"}, config.Source{Setting: "A", Param: "/a"}, config.Source{Setting: "B", Param: "/b"}
	ctx := context.Background()
	s, err := config.Load(ctx, api, clock, given, b, a, a, config.Source{Setting: "EMPTY"})
	if err != nil {
		t.Fatal(err)
	}
	check := func(step string, calls int, want ...string) {
		t.Helper()
		got := []string{string(s.Of(given)), string(s.Of(a)), string(s.Of(b)), string(s.Of(config.Source{}))}
		if !slices.Equal(got, want) || len(api.calls) != calls {
			t.Errorf("%s: %q after %d calls, want %q after %d", step, got, len(api.calls), want, calls)
		}
	}
	refresh := func(step string, wantChanged, wantErr bool) {
		t.Helper()
		if changed, err := s.Refresh(ctx); changed != wantChanged || (err != nil) != wantErr {
			t.Errorf("%s: changed %v, %v", step, changed, err)
		}
	}
	check("at first", 1, "0", "1", "2", "")
	if !slices.Equal(api.calls[0], []string{"/a", "/b"}) {
		t.Errorf("asked for %q", api.calls[0])
	}
	api.values["/a"] = "one"
	clock.Advance(config.RefreshEvery - time.Second)
	refresh("too early", false, false)
	check("too early", 1, "0", "1", "2", "")
	clock.Advance(time.Second)
	refresh("changed", true, false)
	check("changed", 2, "0", "one", "2", "")
	clock.Advance(config.RefreshEvery)
	refresh("as before", false, false)
	check("as before", 3, "0", "one", "2", "")

	api.err = errors.New("no way through")
	clock.Advance(config.RefreshEvery)
	refresh("fault", false, true)
	refresh("right after the fault", false, false)
	check("fault", 4, "0", "one", "2", "")
	api.err = nil
	delete(api.values, "/b")
	clock.Advance(config.RefreshEvery)
	refresh("a parameter is gone", false, true)
	check("a parameter is gone", 5, "0", "one", "2", "")
}

func TestMissingParameterIsNamed(t *testing.T) {
	clock := memory.NewClock(time.Unix(0, 0))
	for name, c := range map[string]struct {
		api  *store
		want string
	}{
		"missing": {&store{values: map[string]string{}}, `JWT_SECRET_PARAM names the parameter "/jwt", which does not exist or is empty`},
		"empty":   {&store{values: map[string]string{"/jwt": ""}}, `JWT_SECRET_PARAM names the parameter "/jwt"`},
		"fault":   {&store{err: errors.New("access denied")}, "cannot read the parameters /jwt: access denied"},
	} {
		_, err := config.Load(context.Background(), c.api, clock, config.Source{Setting: "JWT_SECRET", Param: "/jwt"})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// Systems Manager takes ten names at once. Shop in certificate mode with every kid has twelve.
func TestManyParametersAreReadTenAtATime(t *testing.T) {
	api := &store{values: map[string]string{}}
	var sources []config.Source
	for i := range 12 {
		name := fmt.Sprintf("/%02d", i)
		api.values[name] = "value of " + name
		sources = append(sources, config.Source{Setting: "S", Param: name})
	}
	clock := memory.NewClock(time.Unix(0, 0))
	s, err := config.Load(context.Background(), api, clock, sources...)
	if err != nil {
		t.Fatal(err)
	}
	if len(api.calls) != 2 || len(api.calls[0]) != 10 || len(api.calls[1]) != 2 {
		t.Errorf("calls %q", api.calls)
	}
	for _, src := range sources {
		if got := string(s.Of(src)); got != "value of "+src.Param {
			t.Errorf("%s is %q", src.Param, got)
		}
	}
	api.values["/11"] = "another"
	clock.Advance(config.RefreshEvery)
	if changed, err := s.Refresh(context.Background()); err != nil || !changed || s.Of(sources[11]) != "another" {
		t.Errorf("changed %v, %v, %q", changed, err, string(s.Of(sources[11])))
	}
	delete(api.values, "/10")
	if _, err := config.Load(context.Background(), api, clock, sources...); err == nil || !strings.Contains(err.Error(), `"/10", which does not exist`) {
		t.Errorf("%v", err)
	}
}

func TestNoParameterNoCall(t *testing.T) {
	clock := memory.NewClock(time.Unix(0, 0))
	api := &store{}
	s, err := config.Load(context.Background(), api, clock, config.Source{Setting: "JWT_SECRET", Value: "s"})
	clock.Advance(time.Hour)
	if changed, again := s.Refresh(context.Background()); err != nil || again != nil || changed || len(api.calls) != 0 {
		t.Errorf("%v, %v, changed %v, %d calls", err, again, changed, len(api.calls))
	}
}
