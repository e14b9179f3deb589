package branches

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/seckill"
)

// errNoted is the recorder's answer, so that the stock stops there.
var errNoted = errors.New("noted")

// recorder is a runner that records each script.
type recorder struct{ scripts []*redisstock.Script }

// Run implements redisstock.Runner.
func (r *recorder) Run(_ context.Context, s *redisstock.Script, _, _ []string) (any, error) {
	r.scripts = append(r.scripts, s)
	return nil, errNoted
}

// scripts returns every script of package redisstock, which does not export them: it calls each of the stock's
// methods and records what they would run.
func scripts() ([]*redisstock.Script, error) {
	r := &recorder{}
	s, ctx, at := redisstock.New(r), context.Background(), time.UnixMilli(0)
	calls := []func() error{
		func() error { _, err := s.Reserve(ctx, at, seckill.Request{}, true, 0); return err },
		func() error { return s.Confirm(ctx, "", "", "", nil) },
		func() error {
			_, _, err := s.Redraw(ctx, at, seckill.Reservation{}, seckill.Collision{}, 0)
			return err
		},
		func() error { return s.Return(ctx, "", "", "", nil) },
		func() error { _, err := s.Due(ctx, at, "", 0, 0); return err },
		func() error { return s.Assert(ctx, seckill.Item{}) },
		func() error { _, err := s.Level(ctx, ""); return err },
		func() error { _, err := s.Queued(ctx, "", "", ""); return err },
		func() error { _, err := s.DriftBegin(ctx, "", ""); return err },
		func() error { return s.DriftEnd(ctx, "", "", 0) },
		func() error { _, err := s.Scan(ctx, "", 0, 1); return err },
		func() error { _, err := s.Correct(ctx, "", seckill.Correction{}); return err },
		func() error { _, _, err := s.Users(ctx, "", 0); return err },
		func() error { _, err := s.CorrectUser(ctx, "", seckill.UserEntries{}, nil); return err },
		func() error { return s.BuildStart(ctx, at, "", "") },
		func() error { _, err := s.BuildUnits(ctx, at, "", "", make([]seckill.UnitRow, 1)); return err },
		func() error { return s.BuildGaps(ctx, at, "", "", 1, 1) },
		func() error { return s.Install(ctx, seckill.Item{}, "", 0, 0, 0) },
		func() error { return s.Remove(ctx, "") },
	}
	for i, call := range calls {
		if err := call(); !errors.Is(err, errNoted) {
			return nil, fmt.Errorf("call %d of the stock ran no script: %w", i, err)
		}
	}
	missing := slices.DeleteFunc(redisstock.Names(), func(name string) bool {
		return strings.HasSuffix(name, "common") || slices.ContainsFunc(r.scripts, func(s *redisstock.Script) bool {
			return s.Name == name
		})
	})
	if len(missing) > 0 {
		return nil, fmt.Errorf("no call of the stock runs %v", missing)
	}
	return r.scripts, nil
}

// files lists the files of which a script consists.
type files []struct {
	name string
	from int // its first line in the script, from 1
}

// header matches the first line of each file of package redisstock.
var header = regexp.MustCompile(`^-- (\w+)(\.lua)?: `)

func filesOf(s *redisstock.Script) (files, error) {
	names := redisstock.Names()
	var out files
	for i, line := range strings.Split(s.Source, "\n") {
		if m := header.FindStringSubmatch(line); m != nil && slices.Contains(names, m[1]) {
			out = append(out, struct {
				name string
				from int
			}{m[1] + ".lua", i + 1})
		}
	}
	if len(out) != 2 || out[0].from != 1 || out[1].name != s.Name+".lua" {
		return nil, fmt.Errorf("made of %v: want what scripts share, then the script, each with its header", out)
	}
	return out, nil
}

// at converts a line of the script to a place.
func (f files) at(line int) place {
	file := f[0]
	for _, g := range f {
		if line >= g.from {
			file = g
		}
	}
	return place{file: file.name, line: line - file.from + 1}
}
