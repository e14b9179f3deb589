package audit

import (
	"strconv"
)

// stock is the item's state in Redis.
type stock struct {
	head     map[string]string // the hash `item`
	held     []string          // by unit number: the order that holds it; "" if there is none
	free     map[int32]bool
	beyond   []int32          // unit numbers above the stock
	odd      []string         // members that are not numbers
	entries  []entry          // entries of users for orders that are not theirs
	awaiting map[string]int64 // when an order's message is sent again, by order id
	res      map[string]reservation
	keys     [6]string
}

// reservation is a queued reservation. The audit does not keep confirmed ones.
type reservation struct {
	units   int
	created int64
}

// entry is what Redis counts against a user for an order that is not theirs.
type entry struct{ user, text, order string }

// The item's keys.
const (
	keyItem = iota
	keyFree
	keyHeld
	keyRes
	keyAwaiting
	keyUsers
)

func newStock(id string) stock {
	return stock{head: map[string]string{}, free: map[int32]bool{}, awaiting: map[string]int64{},
		res: map[string]reservation{}, keys: Keys(id)}
}

// Keys returns an item's keys in Redis: item, free, held, res, awaiting, users.
func Keys(id string) (keys [6]string) {
	for i, name := range []string{"item", "free", "held", "res", "awaiting", "users"} {
		keys[i] = "{" + id + "}:" + name
	}
	return keys
}

// highWater returns the high-water mark, or -1.
func (s *stock) highWater() int {
	n, err := strconv.Atoi(s.head["hw"])
	if err != nil {
		return -1
	}
	return n
}
