package memory

import (
	"math"
	"strings"
)

func redisZAdd(db redisDB, args []string) (redisReply, error) {
	key, rest := args[0], args[1:]
	if len(rest)%2 != 0 {
		return redisReply{}, errRedisSyntax
	}
	// Read all scores before writing the first member: an invalid one changes nothing.
	var few [8]float64 // avoids an allocation in the usual case
	scores := few[:0]
	for i := 0; i < len(rest); i += 2 {
		score, ok := redisParseInt(rest[i])
		if !ok {
			return redisReply{}, errRedisInteger
		}
		scores = append(scores, float64(score))
	}
	z, err := db.zset(key)
	if err != nil {
		return redisReply{}, err
	}
	if z == nil {
		z = newRedisZSet()
		db[key] = z
	}
	before := z.len()
	for i, score := range scores {
		z.add(rest[2*i+1], score)
	}
	return redisInt(z.len() - before), nil
}

func redisZRem(db redisDB, args []string) (redisReply, error) {
	z, err := db.zset(args[0])
	if z == nil {
		return redisInt(0), err
	}
	before := z.len()
	for _, member := range args[1:] {
		z.remove(member)
	}
	db.dropEmpty(args[0], z.len())
	return redisInt(before - z.len()), nil
}

func redisZScore(db redisDB, args []string) (redisReply, error) {
	z, err := db.zset(args[0])
	if err != nil {
		return redisReply{}, err
	}
	score, ok := z.score(args[1])
	if !ok {
		return redisReply{}, nil
	}
	return redisString(redisNumber(score)), nil
}

func redisZCard(db redisDB, args []string) (redisReply, error) {
	z, err := db.zset(args[0])
	return redisInt(z.len()), err
}

func redisZPopMin(db redisDB, args []string) (redisReply, error) {
	count, ok := redisParseInt(args[1])
	if !ok || count < 0 {
		return redisReply{}, errRedisInteger
	}
	z, err := db.zset(args[0])
	if err != nil {
		return redisReply{}, err
	}
	count = min(count, int64(z.len()))
	list := make([]redisReply, 0, 2*count)
	for range count {
		e := z.popMin()
		list = append(list, redisString(e.member), redisString(redisNumber(e.score)))
	}
	if z != nil {
		db.dropEmpty(args[0], z.len())
	}
	return redisList(list), nil
}

// redisZRange gives the whole set.
func redisZRange(db redisDB, args []string) (redisReply, error) {
	if args[1] != "0" || args[2] != "-1" {
		return redisReply{}, redisUnknownOption("ZRANGE", args[1]+" "+args[2])
	}
	return redisRange(db, args[0], math.Inf(1), math.MaxInt64)
}

// redisZRangeByScore gives the first members up to a score.
func redisZRangeByScore(db redisDB, args []string) (redisReply, error) {
	if args[1] != "-inf" || args[3] != "LIMIT" || args[4] != "0" {
		return redisReply{}, redisUnknownOption("ZRANGEBYSCORE", strings.Join(args[1:], " "))
	}
	high, ok1 := redisParseInt(args[2])
	limit, ok2 := redisParseInt(args[5])
	if !ok1 || !ok2 || limit < 0 {
		return redisReply{}, errRedisInteger
	}
	return redisRange(db, args[0], float64(high), limit)
}

func redisRange(db redisDB, key string, high float64, limit int64) (redisReply, error) {
	z, err := db.zset(key)
	list := []redisReply{}
	z.each(func(e redisScored) bool {
		if e.score > high || int64(len(list)) == limit {
			return false
		}
		list = append(list, redisString(e.member))
		return true
	})
	return redisList(list), err
}
