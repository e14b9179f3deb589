package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"

	"github.com/your-org/seckill/shared/driver/redisstock"
)

// Redis is an embedded Redis, as complete as the stock's scripts need: it runs Redis Lua scripts (redisstock.Runner)
// with the commands in redisCommands. Anything unknown is an error, never a guess. It has no expiry, no databases, no
// persistence. It is safe for concurrent use; calls take turns, as on a Redis server.
//
// It behaves as a Redis 7.0 cluster would, and is stricter: a script may use only keys declared in KEYS. Fields of a
// hash keep the order in which they were added; Redis guarantees none.
//
// A script that never ends blocks it forever: all scripts are our own.
type Redis struct {
	mu      sync.Mutex
	db      redisDB
	lua     *redisLua
	scripts map[string]*lua.LFunction // compiled, by SHA
}

var _ redisstock.Runner = (*Redis)(nil)

// NewRedis returns an empty Redis.
func NewRedis() *Redis {
	r := &Redis{db: redisDB{}, scripts: map[string]*lua.LFunction{}}
	r.lua = newRedisLua(r.command)
	return r
}

// Run runs a script. An error reply, or a script that fails, returns a RedisError; earlier writes of the script stay,
// as in Redis. A cancelled context is reported before the script starts; a started script runs to its end.
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

// Do runs one command outside a script. The reply has the types of Run's, with status replies as strings; the error
// is a RedisError.
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

// command runs one command of a script with these declared keys.
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

// Flush removes everything, as if the cache node had been replaced.
func (r *Redis) Flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.db = redisDB{}
}

// Snapshot is the whole content of a Redis at one moment.
type Snapshot struct{ db redisDB }

// Snapshot returns a copy of the content.
func (r *Redis) Snapshot() *Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &Snapshot{r.db.clone()}
}

// Restore replaces the content by a snapshot's, like a failover that loses the latest writes. A snapshot can be
// restored any number of times.
func (r *Redis) Restore(s *Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.db = s.db.clone()
}

// Dump returns every key's value: a hash as map[string]string, a sorted set as map[string]float64 (member to score),
// a string as itself.
// Two Redises with equal dumps give equal answers, except for the order of a hash's fields.
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
		case string:
			out[key] = v
		}
	}
	return out
}

// redisOneSlot returns an error for keys that do not share one hash tag: a cluster might keep them on different
// shards. It also refuses different tags that share a slot by chance.
func redisOneSlot(keys []string) error {
	for i := 1; i < len(keys); i++ {
		if redisTag(keys[i]) != redisTag(keys[0]) {
			return errRedisSlot
		}
	}
	return nil
}

// redisTag returns the part of a key that determines its slot: the text between the first { and the next }, or the
// whole key if that is empty (Redis cluster specification, "Hash tags").
func redisTag(key string) string {
	if _, rest, ok := strings.Cut(key, "{"); ok {
		if tag, _, ok := strings.Cut(rest, "}"); ok && tag != "" {
			return tag
		}
	}
	return key
}
