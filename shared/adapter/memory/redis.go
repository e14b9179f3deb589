package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"

	"github.com/your-org/seckill/shared/adapter/redisstock"
)

// Redis is a Redis inside the process, as far as the stock's scripts need one: it runs Redis Lua scripts
// (redisstock.Runner) over the commands of redisCommands. What it does not know is an error, never a guess. It has no
// expiry, no databases, no persistence. All methods may be called at once; they take turns, as on a Redis server.
//
// It behaves as a cluster with Redis 7.0 would, and is stricter in that a script reaches only keys declared in KEYS.
// Fields of a hash come in the order in which they were added, where Redis promises none.
//
// A script that never ends blocks it for good: the scripts are ours, not a stranger's.
type Redis struct {
	mu      sync.Mutex
	db      redisDB
	lua     *redisLua
	scripts map[string]*lua.LFunction // compiled, by SHA
}

var _ redisstock.Runner = (*Redis)(nil)

// NewRedis makes an empty Redis.
func NewRedis() *Redis {
	r := &Redis{db: redisDB{}, scripts: map[string]*lua.LFunction{}}
	r.lua = newRedisLua(r.command)
	return r
}

// Run runs a script. An error reply, or a script that fails, is a RedisError; what was written before stays, as in
// Redis. A cancelled context is reported before the script starts; once started, a script runs to its end.
func (r *Redis) Run(ctx context.Context, s *redisstock.Script, keys, args []string) (any, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	fn, err := r.compiled(s)
	if err != nil {
		return nil, err
	}
	if err := redisOneSlot(keys); err != nil {
		return nil, err
	}
	v, err := r.lua.run(fn, keys, args)
	if err != nil {
		return nil, fmt.Errorf("script %s: %w", s.Name, err)
	}
	return v, nil
}

func (r *Redis) compiled(s *redisstock.Script) (*lua.LFunction, error) {
	if fn, ok := r.scripts[s.SHA]; ok {
		return fn, nil
	}
	fn, err := r.lua.compile(s.Name, s.Source)
	if err != nil {
		return nil, RedisError("ERR Error compiling script: " + err.Error())
	}
	r.scripts[s.SHA] = fn
	return fn, nil
}

// Do runs one command outside a script. The reply is as Run's, a status reply is a string; the error is a RedisError.
func (r *Redis) Do(cmd string, args ...string) (any, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, keys, err := redisLookup(cmd, args)
	if err != nil {
		return nil, err
	}
	if err := redisOneSlot(keys); err != nil {
		return nil, err
	}
	reply, err := c.run(r.db, args)
	if err != nil {
		return nil, err
	}
	return reply.value(), nil
}

// command runs one command of a script that declared these keys.
func (r *Redis) command(declared []string, name string, args []string) (redisReply, error) {
	c, keys, err := redisLookup(name, args)
	if err != nil {
		return redisReply{}, err
	}
	for _, key := range keys {
		if !slices.Contains(declared, key) {
			return redisReply{}, RedisError(fmt.Sprintf("ERR key '%.128s' of %s is not in the script's KEYS", key,
				name))
		}
	}
	return c.run(r.db, args)
}

// Flush forgets everything, as a cache node that was replaced.
func (r *Redis) Flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.db = redisDB{}
}

// Snapshot is a Redis's whole content at one time.
type Snapshot struct{ db redisDB }

// Snapshot copies the content; later changes do not reach the copy.
func (r *Redis) Snapshot() *Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &Snapshot{r.db.clone()}
}

// Restore puts the content back to a snapshot's, as a failover does that forgets the latest writes. A snapshot can be
// restored any number of times.
func (r *Redis) Restore(s *Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.db = s.db.clone()
}

// Dump returns every key's value: a string, a hash as map[string]string, a sorted set as map[string]float64 (member to
// score). Two Redises with equal dumps answer alike, but for the order of a hash's fields.
func (r *Redis) Dump() map[string]any {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make(map[string]any, len(r.db))
	for key, v := range r.db {
		switch v := v.(type) {
		case *redisHash:
			fields := make(map[string]string, v.len())
			v.each(0, func(f *redisField) bool {
				fields[f.name] = f.value
				return true
			})
			out[key] = fields
		case *redisZSet:
			out[key] = maps.Clone(v.scores)
		default:
			out[key] = v
		}
	}
	return out
}

// redisOneSlot refuses keys that do not share one hash tag: a cluster might keep them on different shards. (Two tags
// may happen to lie in one slot; that is refused too, for it is luck.)
func redisOneSlot(keys []string) error {
	for i := 1; i < len(keys); i++ {
		if redisTag(keys[i]) != redisTag(keys[0]) {
			return errRedisSlot
		}
	}
	return nil
}

// redisTag is the part of a key that decides its slot: what stands between the first { and the next }, or, when that is
// nothing, the whole key (Redis cluster specification, "Hash tags").
func redisTag(key string) string {
	if _, rest, ok := strings.Cut(key, "{"); ok {
		if tag, _, ok := strings.Cut(rest, "}"); ok && tag != "" {
			return tag
		}
	}
	return key
}
