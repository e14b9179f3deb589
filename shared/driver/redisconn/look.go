package redisconn

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/your-org/seckill/shared/seckill"
)

// Look asks the server about itself; in cluster mode each master. It takes at most Options.Timeout.
func (r *Runner) Look(ctx context.Context) []seckill.CacheNode {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	if c, ok := r.client.(*redis.ClusterClient); ok {
		var mu sync.Mutex
		var out []seckill.CacheNode
		err := c.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
			n := look(ctx, node)
			mu.Lock()
			defer mu.Unlock()
			out = append(out, n)
			return nil
		})
		if err != nil {
			out = append(out, seckill.CacheNode{Fault: err.Error()})
		}
		slices.SortFunc(out, func(a, b seckill.CacheNode) int { return strings.Compare(a.Address, b.Address) })
		return out
	}
	return []seckill.CacheNode{look(ctx, r.client.(*redis.Client))} // newRunner makes no other kind
}

func look(ctx context.Context, c *redis.Client) seckill.CacheNode {
	n := seckill.CacheNode{Address: c.Options().Addr}
	began := time.Now()
	at, err := c.Time(ctx).Result()
	if err != nil {
		n.Fault = err.Error()
		return n
	}
	n.Time, n.TookMS = at.UTC(), time.Since(began).Milliseconds()
	text, err := c.Info(ctx).Result()
	if err != nil {
		n.Refused = err.Error()
		return n
	}
	says := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			says[name] = value
		}
	}
	number := func(name string) int64 {
		v, _ := strconv.ParseInt(says[name], 10, 64) // 0 if missing
		return v
	}
	n.Version, n.Role, n.Policy = says["redis_version"], says["role"], says["maxmemory_policy"]
	n.Limit, n.Used, n.Evictions = number("maxmemory"), number("used_memory"), number("evicted_keys")
	return n
}
