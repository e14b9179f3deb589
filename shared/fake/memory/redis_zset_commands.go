package memory

import (
	"math"
	"strings"
)

func redisZAdd(db redisDB, args []string) (redisReply, error) {
	key, rest := args[0], args[1:]
	onlyNew, onlyOld := false, false
options:
	for len(rest) > 0 {
		switch strings.ToUpper(rest[0]) {
		case "NX":
			onlyNew = true
		case "XX":
			onlyOld = true
		case "GT", "LT", "CH", "INCR":
			return redisReply{}, redisUnknownOption("ZADD", rest[0])
		default:
			break options
		}
		rest = rest[1:]
	}
	if len(rest) == 0 || len(rest)%2 != 0 {
		return redisReply{}, errRedisSyntax
	}
	if onlyNew && onlyOld {
		return redisReply{}, RedisError("ERR XX and NX options at the same time are not compatible")
	}
	// Read all scores before writing the first member: an invalid one changes nothing.
	var few [8]float64 // avoids an allocation in the usual case
	scores := few[:0]
	for i := 0; i < len(rest); i += 2 {
		score, ok := redisParseFloat(rest[i])
		if !ok {
			return redisReply{}, errRedisFloat
		}
		scores = append(scores, score)
	}
	z, err := db.zset(key)
	if err != nil {
		return redisReply{}, err
	}
	if z == nil {
		if onlyOld {
			return redisInt(0), nil
		}
		z = newRedisZSet()
		db[key] = z
	}
	before := z.len()
	for i, score := range scores {
		member := rest[2*i+1]
		_, exists := z.score(member)
		if exists && onlyNew || !exists && onlyOld {
			continue
		}
		z.add(member, score)
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
	return redisString(redisFormatFloat(score)), nil
}

func redisZCard(db redisDB, args []string) (redisReply, error) {
	z, err := db.zset(args[0])
	return redisInt(z.len()), err
}

func redisZPopMin(db redisDB, args []string) (redisReply, error) {
	count := int64(1)
	if len(args) > 2 {
		return redisReply{}, redisUnknownOption("ZPOPMIN", args[2])
	}
	if len(args) == 2 {
		var ok bool
		if count, ok = redisParseInt(args[1]); !ok || count < 0 {
			return redisReply{}, errRedisCount
		}
	}
	z, err := db.zset(args[0])
	if err != nil {
		return redisReply{}, err
	}
	count = min(count, int64(z.len()))
	list := make([]redisReply, 0, 2*count)
	for range count {
		e := z.popMin()
		list = append(list, redisString(e.member), redisString(redisFormatFloat(e.score)))
	}
	if z != nil {
		db.dropEmpty(args[0], z.len())
	}
	return redisList(list), nil
}

func redisZRange(db redisDB, args []string) (redisReply, error) {
	if len(args) > 3 {
		return redisReply{}, redisUnknownOption("ZRANGE", args[3])
	}
	start, ok1 := redisParseInt(args[1])
	stop, ok2 := redisParseInt(args[2])
	if !ok1 || !ok2 {
		return redisReply{}, errRedisInteger
	}
	z, err := db.zset(args[0])
	if err != nil {
		return redisReply{}, err
	}
	n := int64(z.len())
	if start < 0 {
		start = max(start+n, 0)
	}
	if stop < 0 {
		stop += n
	}
	stop = min(stop, n-1)
	if start > stop {
		return redisList([]redisReply{}), nil
	}
	list := make([]redisReply, 0, stop-start+1)
	run, i := z.at(int(start))
	z.each(run, i, func(e redisScored) bool {
		list = append(list, redisString(e.member))
		return len(list) < cap(list)
	})
	return redisList(list), nil
}

// redisBound is one end of a range of scores.
type redisBound struct {
	score float64
	open  bool // excludes the score itself
}

func redisParseBound(s string) (redisBound, bool) {
	rest, open := strings.CutPrefix(s, "(")
	score, ok := redisParseFloat(rest)
	return redisBound{score, open}, ok
}

func redisZRangeByScore(db redisDB, args []string) (redisReply, error) {
	low, ok1 := redisParseBound(args[1])
	high, ok2 := redisParseBound(args[2])
	if !ok1 || !ok2 {
		return redisReply{}, errRedisRange
	}
	offset, limit := int64(0), int64(-1)
	for i := 3; i < len(args); i += 3 {
		if !strings.EqualFold(args[i], "LIMIT") {
			return redisReply{}, redisUnknownOption("ZRANGEBYSCORE", args[i])
		}
		if i+2 >= len(args) {
			return redisReply{}, errRedisSyntax
		}
		var okOffset, okLimit bool
		offset, okOffset = redisParseInt(args[i+1])
		limit, okLimit = redisParseInt(args[i+2])
		if !okOffset || !okLimit {
			return redisReply{}, errRedisInteger
		}
	}
	if limit < 0 {
		limit = math.MaxInt64
	}
	z, err := db.zset(args[0])
	if err != nil {
		return redisReply{}, err
	}
	list := []redisReply{}
	if z == nil || offset < 0 || limit == 0 {
		return redisList(list), nil
	}
	run, i := z.find(func(e redisScored) bool { return e.score < low.score || low.open && e.score == low.score })
	z.each(run, i, func(e redisScored) bool {
		if e.score > high.score || high.open && e.score == high.score {
			return false
		}
		if offset > 0 {
			offset--
			return true
		}
		list = append(list, redisString(e.member))
		return int64(len(list)) < limit
	})
	return redisList(list), nil
}
