package memory

import (
	"math"
	"strconv"
)

func redisHGet(db redisDB, args []string) (redisReply, error) {
	h, err := db.hash(args[0])
	if err != nil {
		return redisReply{}, err
	}
	return redisFieldReply(h, args[1]), nil
}

// redisFieldReply returns a field's value, or the nil reply.
func redisFieldReply(h *redisHash, name string) redisReply {
	v, ok := h.get(name)
	if !ok {
		return redisReply{}
	}
	return redisString(v)
}

func redisHSet(db redisDB, args []string) (redisReply, error) {
	if len(args)%2 == 0 {
		return redisReply{}, redisArity("HSET")
	}
	h, err := db.hashToWrite(args[0])
	if err != nil {
		return redisReply{}, err
	}
	added := 0
	for i := 1; i < len(args); i += 2 {
		if h.set(args[i], args[i+1]) {
			added++
		}
	}
	return redisInt(added), nil
}

func redisHSetNX(db redisDB, args []string) (redisReply, error) {
	h, err := db.hashToWrite(args[0])
	if err != nil {
		return redisReply{}, err
	}
	if _, ok := h.get(args[1]); ok {
		return redisInt(0), nil
	}
	h.set(args[1], args[2])
	return redisInt(1), nil
}

func redisHMGet(db redisDB, args []string) (redisReply, error) {
	h, err := db.hash(args[0])
	if err != nil {
		return redisReply{}, err
	}
	list := make([]redisReply, len(args)-1)
	for i, name := range args[1:] {
		list[i] = redisFieldReply(h, name)
	}
	return redisList(list), nil
}

func redisHGetAll(db redisDB, args []string) (redisReply, error) {
	h, err := db.hash(args[0])
	if err != nil {
		return redisReply{}, err
	}
	list := make([]redisReply, 0, 2*h.len())
	h.each(0, func(f *redisField) bool {
		list = append(list, redisString(f.name), redisString(f.value))
		return true
	})
	return redisList(list), nil
}

func redisHDel(db redisDB, args []string) (redisReply, error) {
	h, err := db.hash(args[0])
	if h == nil {
		return redisInt(0), err
	}
	before := h.len()
	for _, name := range args[1:] {
		h.delete(name)
	}
	db.dropEmpty(args[0], h.len())
	return redisInt(before - h.len()), nil
}

func redisHLen(db redisDB, args []string) (redisReply, error) {
	h, err := db.hash(args[0])
	return redisInt(h.len()), err
}

func redisHExists(db redisDB, args []string) (redisReply, error) {
	h, err := db.hash(args[0])
	_, ok := h.get(args[1])
	return redisBool(ok), err
}

func redisHIncrBy(db redisDB, args []string) (redisReply, error) {
	by, ok := redisParseInt(args[2])
	if !ok {
		return redisReply{}, errRedisInteger
	}
	h, err := db.hashToWrite(args[0])
	if err != nil {
		return redisReply{}, err
	}
	n := int64(0)
	if v, exists := h.get(args[1]); exists {
		if n, ok = redisParseInt(v); !ok {
			return redisReply{}, errRedisHashInt
		}
	}
	if by > 0 && n > math.MaxInt64-by || by < 0 && n < math.MinInt64-by {
		return redisReply{}, errRedisAdd
	}
	n += by
	h.set(args[1], strconv.FormatInt(n, 10))
	return redisReply{kind: redisInteger, n: n}, nil
}

// redisHScan returns the next cursor and at most COUNT fields with their values, oldest first. Redis guarantees less:
// it may return more than COUNT, in any order, and a field twice.
func redisHScan(db redisDB, args []string) (redisReply, error) {
	cursor, err := strconv.ParseUint(args[1], 10, 64)
	if err != nil {
		return redisReply{}, errRedisCursor
	}
	if args[2] != "COUNT" {
		return redisReply{}, redisUnknownOption("HSCAN", args[2])
	}
	count, ok := redisParseInt(args[3])
	if !ok || count < 1 {
		return redisReply{}, errRedisInteger
	}
	h, err := db.hash(args[0])
	if err != nil {
		return redisReply{}, err
	}
	page, next := []redisReply{}, uint64(0)
	h.each(cursor, func(f *redisField) bool {
		if int64(len(page)) == 2*count {
			next = f.number
			return false
		}
		page = append(page, redisString(f.name), redisString(f.value))
		return true
	})
	return redisList([]redisReply{redisString(strconv.FormatUint(next, 10)), redisList(page)}), nil
}
