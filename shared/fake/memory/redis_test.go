package memory

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/drivertest/must"
)

func TestRedisRunKeepsWritesBeforeAnError(t *testing.T) {
	r := NewRedis()
	s := redisstock.NewScript("half",
		`redis.call('HSET', KEYS[1], 'f', 1) redis.call('ZCARD', KEYS[1]) redis.call('HSET', KEYS[1], 'f', 2)`)
	_, err := r.Run(t.Context(), s, []string{"k"}, nil)
	if !errors.Is(err, errRedisType) || !strings.Contains(err.Error(), "half") {
		t.Errorf("got %v; want WRONGTYPE from script half", err)
	}
	checkRedis(t, r, redisStep{"HGET k f", "1"})
}

func TestRedisRunRefuses(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	write := `redis.call('HSET', KEYS[1], 'f', 1) return 1`
	for name, c := range map[string]struct {
		ctx    context.Context
		source string
		keys   []string
		want   error
		text   string
	}{
		"a cancelled context": {cancelled, write, []string{"k"}, context.Canceled, ""},
		"keys of two tags":    {t.Context(), write, []string{"{a}k", "{b}k"}, errRedisSlot, ""},
		"keys without a tag":  {t.Context(), write, []string{"k", "l"}, errRedisSlot, ""},
		"an empty tag":        {t.Context(), write, []string{"{}k", "{}l"}, errRedisSlot, ""},
		"a broken script":     {t.Context(), `redis.call('HSET', KEYS[1], 'f', 1`, []string{"k"}, nil, "broken"},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewRedis()
			_, err := r.Run(c.ctx, redisstock.NewScript("broken", c.source), c.keys, nil)
			if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %v; want %v %s", err, c.want, c.text)
			}
			must.Equal(t, 0, len(r.Dump()), "it wrote")
		})
	}
	r := NewRedis()
	for _, keys := range [][]string{{"{a}k", "{a}l", "x{a}{b}"}, {"k", "k"}, {"k"}} {
		if _, err := r.Run(t.Context(), redisstock.NewScript("fine", write), keys, nil); err != nil {
			t.Errorf("keys %q: %v", keys, err)
		}
	}
	must.Is(t, errRedisSlot, must.Err(r.Do("DEL", "{a}k", "{b}k")), "DEL over two tags")
}

// The next script does not see a script's locals or its changes to KEYS and ARGV.
func TestRedisScriptsDoNotSeeEachOther(t *testing.T) {
	r := NewRedis()
	s := redisstock.NewScript("dirty", `local n = #ARGV ARGV[1] = 'dirt' ARGV[9] = 'dirt' KEYS[2] = 'k' return n`)
	for _, args := range [][]string{{"a", "b"}, {}, {"c"}} {
		got, err := r.Run(t.Context(), s, []string{"k"}, args)
		if err != nil || got != int64(len(args)) {
			t.Errorf("with %q: got %v, %v; want %d", args, got, err, len(args))
		}
	}
	got, err := r.Run(t.Context(), redisstock.NewScript("clean", `return {ARGV[1], KEYS[2]}`), []string{"k"}, nil)
	if diff := cmp.Diff([]any{}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	sneaky := redisstock.NewScript("sneaky", `KEYS[2] = 'x' return redis.call('HLEN', 'x')`)
	if _, err := r.Run(t.Context(), sneaky, []string{"k"}, nil); err == nil {
		t.Error("a key that the script itself wrote into KEYS was let through")
	}
}

func TestRedisSnapshotIsACopy(t *testing.T) {
	r := NewRedis()
	checkRedis(t, r, redisStep{"HSET h a 1 b 2", int64(2)}, redisStep{"ZADD z 1 m 2 n", int64(2)})
	want := map[string]any{"h": map[string]string{"a": "1", "b": "2"}, "z": map[string]float64{"m": 1, "n": 2}}
	if diff := cmp.Diff(want, r.Dump()); diff != "" {
		t.Fatalf("Dump (-want +got):\n%s", diff)
	}
	snapshot := r.Snapshot()
	change := func() {
		checkRedis(t, r, []redisStep{{"HSET h a 9", int64(0)}, {"HDEL h b", int64(1)}, {"ZADD z 9 m", int64(0)},
			{"ZPOPMIN z 1", redisWords("n", "2")}, {"HSET new f 1", int64(1)}}...)
	}
	for range 2 { // the second time shows that Restore did not hand out the snapshot itself
		change()
		r.Restore(snapshot)
		if diff := cmp.Diff(want, r.Dump()); diff != "" {
			t.Fatalf("after Restore (-want +got):\n%s", diff)
		}
	}
	dump := r.Dump()
	dump["h"].(map[string]string)["a"], dump["z"].(map[string]float64)["m"] = "9", 9
	must.Equal(t, want, r.Dump(), "after a dump was changed")
	r.Flush()
	must.Equal(t, 0, len(r.Dump()), "after Flush")
}

// Scripts take turns: no script sees another's partial writes.
func TestRedisScriptsAreAtomic(t *testing.T) {
	r := NewRedis()
	s := redisstock.NewScript("count",
		`local n = tonumber(redis.call('HGET', KEYS[1], 'n') or 0) redis.call('HSET', KEYS[1], 'n', n + 1)`)
	const callers, each = 8, 200
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range each {
				if _, err := r.Run(t.Context(), s, []string{"k"}, nil); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	checkRedis(t, r, redisStep{"HGET k n", strconv.Itoa(callers * each)})
}
