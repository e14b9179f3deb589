//go:build real

package redisstock_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/fake/redistest"
)

// itemKeys lists all keys that the scripts use.
var itemKeys = []string{"item", "free", "held", "res", "awaiting", "users", "buyers", "new", "new:free",
	"new:held", "new:users", "new:buyers"}

// batch is the number of histories per round trip.
const batch = 50

// real replays histories on one database of a real redis-server.
type real struct {
	client *redis.Client
	loaded map[string]bool
}

// replayed holds the pipelined commands of one history.
type replayed struct {
	calls []*redis.Cmd
	keys  map[string]*redis.Cmd
}

// outcomes replays histories one after another, each on an empty database.
func (r *real) outcomes(histories [][]Call) ([]Outcome, error) {
	ctx := context.Background()
	p := r.client.Pipeline()
	sent := make([]replayed, len(histories))
	for i, calls := range histories {
		p.FlushDB(ctx)
		for _, c := range calls {
			if !r.loaded[c.Script.SHA] {
				if err := r.client.ScriptLoad(ctx, c.Script.Source).Err(); err != nil {
					return nil, err
				}
				r.loaded[c.Script.SHA] = true
			}
			args := make([]any, len(c.Args))
			for k, a := range c.Args {
				args[k] = a
			}
			sent[i].calls = append(sent[i].calls, p.EvalSha(ctx, c.Script.SHA, c.Keys, args...))
		}
		sent[i].keys = map[string]*redis.Cmd{}
		for _, k := range itemKeys {
			key := "{" + item + "}:" + k
			switch k {
			case "free", "awaiting", "new:free":
				sent[i].keys[key] = p.Do(ctx, "ZRANGE", key, 0, -1, "WITHSCORES")
			case "buyers", "new:buyers":
				sent[i].keys[key] = p.Do(ctx, "GET", key)
			default:
				sent[i].keys[key] = p.Do(ctx, "HGETALL", key)
			}
		}
	}
	_, _ = p.Exec(ctx) // each command has its own error
	out := make([]Outcome, len(histories))
	for i, s := range sent {
		for _, c := range s.calls {
			v, err := c.Result()
			out[i].Replies, out[i].Errs = append(out[i].Replies, v), append(out[i].Errs, err)
		}
		out[i].Keys = map[string]any{}
		for key, c := range s.keys {
			if c.Args()[0] == "GET" {
				if text, err := c.Text(); err == nil {
					out[i].Keys[key] = text
				} else if !errors.Is(err, redis.Nil) {
					return nil, err
				}
				continue
			}
			list, err := c.Slice()
			if err != nil {
				return nil, err
			}
			if len(list) > 0 {
				out[i].Keys[key] = content(c.Args()[0] == "ZRANGE", list)
			}
		}
	}
	return out, nil
}

// content returns a key's value in the form of memory.Redis.Dump.
func content(scored bool, list []any) any {
	hash, set := map[string]string{}, map[string]float64{}
	for i := 0; i < len(list); i += 2 {
		name, value := list[i].(string), list[i+1].(string)
		hash[name] = value
		set[name], _ = strconv.ParseFloat(value, 64)
	}
	if scored {
		return set
	}
	return hash
}

func (r *real) one(calls []Call) (Outcome, error) {
	o, err := r.outcomes([][]Call{calls})
	if err != nil {
		return Outcome{}, err
	}
	return o[0], nil
}

// setting returns a number from the environment.
func setting(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatalf("%s=%q: want a number", name, s)
	}
	return n
}

// TestRealDifference checks that the embedded Redis and redis-server give the same answers and the same keys for
// random histories. HISTORIES sets their number (20,000), SEED the first one (1).
func TestRealDifference(t *testing.T) {
	count, first := setting(t, "HISTORIES", 20_000), setting(t, "SEED", 1)
	s := redistest.Start(t, "--databases", "64")
	begin := time.Now()
	var next, calls atomic.Uint64
	next.Store(first)
	var wg sync.WaitGroup
	for worker := range runtime.GOMAXPROCS(0) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r := &real{redis.NewClient(&redis.Options{Addr: s.Addr, DB: worker % 64, Protocol: 2, PoolSize: 1,
				ReadTimeout: time.Minute}), map[string]bool{}}
			defer r.client.Close()
			m := memory.NewRedis()
			for !t.Failed() {
				from := next.Add(batch) - batch
				if from >= first+count {
					return
				}
				histories, keys := make([][]Call, 0, batch), make([]map[string]any, 0, batch)
				for seed := from; seed < min(from+batch, first+count); seed++ {
					c, k := Play(m, History(seed))
					histories, keys = append(histories, c), append(keys, k)
					calls.Add(uint64(len(c)))
				}
				outcomes, err := r.outcomes(histories)
				if err != nil {
					t.Error(err)
					return
				}
				for i, o := range outcomes {
					if Difference(histories[i], keys[i], o) != "" {
						seed := from + uint64(i)
						h, d := Shrink(History(seed), r.one)
						t.Error(Report(seed, h, d))
						return
					}
				}
			}
		}()
	}
	wg.Wait()
	t.Logf("%d histories from seed %d, %d script calls, in %s", count, first, calls.Load(),
		time.Since(begin).Round(time.Second))
}
