package sim

import (
	"hash/fnv"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/stream"
)

// streamShards is the number of shards of the stream.
const streamShards = 3

// orderStream is the stream of the orders table. A shard has the writes of its orders, oldest first; nothing orders
// the writes of two shards.
type orderStream struct {
	shards [streamShards][]stream.Write
	next   [streamShards]int // the first write that tell and count have not done
	posted [streamShards]int // the first write that deliver has not done
}

func (o *orderStream) add(id string, was, is ledger.Row) {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	n := h.Sum32() % streamShards
	o.shards[n] = append(o.shards[n], stream.Write{Before: was, After: is})
}
