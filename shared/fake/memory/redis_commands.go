package memory

import (
	"fmt"
	"strconv"
	"strings"
)

// RedisError is an error reply in Redis's format: a code in capitals, then a sentence.
type RedisError string

func (e RedisError) Error() string { return string(e) }

// Errors whose text is the same for all commands.
const (
	errRedisType    RedisError = "WRONGTYPE Operation against a key holding the wrong kind of value"
	errRedisInteger RedisError = "ERR value is not an integer or out of range"
	errRedisSyntax  RedisError = "ERR syntax error"
	errRedisNoKey   RedisError = "ERR no such key"
	errRedisCursor  RedisError = "ERR invalid cursor"
	errRedisHashInt RedisError = "ERR hash value is not an integer"
	errRedisAdd     RedisError = "ERR increment or decrement would overflow"
	errRedisOffset  RedisError = "ERR bit offset is not an integer or out of range"
	errRedisBit     RedisError = "ERR bit is not an integer or out of range"
	errRedisSlot    RedisError = "CROSSSLOT Keys in request don't hash to the same slot"
)

type redisKind uint8

const (
	redisNil redisKind = iota
	redisInteger
	redisBulk
	redisStatus
	redisArray
)

// redisReply is a command's reply; the zero value is the nil reply.
type redisReply struct {
	kind redisKind
	n    int64
	s    string
	list []redisReply
}

func redisInt(n int) redisReply { return redisReply{kind: redisInteger, n: int64(n)} }

func redisBool(b bool) redisReply {
	if b {
		return redisInt(1)
	}
	return redisInt(0)
}

func redisString(s string) redisReply { return redisReply{kind: redisBulk, s: s} }

func redisList(list []redisReply) redisReply { return redisReply{kind: redisArray, list: list} }

// value returns the reply in a Runner's types: nil, int64, string or []any of these.
func (r redisReply) value() any {
	switch r.kind {
	case redisInteger:
		return r.n
	case redisBulk, redisStatus:
		return r.s
	case redisArray:
		list := make([]any, len(r.list))
		for i := range r.list {
			list[i] = r.list[i].value()
		}
		return list
	default:
		return nil
	}
}

// redisDB is the keyspace: each key has a *redisHash or a *redisZSet that is not empty, or a string.
type redisDB map[string]any

// hash returns the hash at a key, or nil if the key does not exist.
func (db redisDB) hash(key string) (*redisHash, error) {
	switch v := db[key].(type) {
	case nil:
		return nil, nil
	case *redisHash:
		return v, nil
	default:
		return nil, errRedisType
	}
}

// hashToWrite returns the hash at a key and creates a missing hash.
func (db redisDB) hashToWrite(key string) (*redisHash, error) {
	h, err := db.hash(key)
	if h == nil && err == nil {
		h = newRedisHash()
		db[key] = h
	}
	return h, err
}

// zset returns the sorted set at a key, or nil if the key does not exist.
func (db redisDB) zset(key string) (*redisZSet, error) {
	switch v := db[key].(type) {
	case nil:
		return nil, nil
	case *redisZSet:
		return v, nil
	default:
		return nil, errRedisType
	}
}

// dropEmpty removes a key whose value has become empty.
func (db redisDB) dropEmpty(key string, left int) {
	if left == 0 {
		delete(db, key)
	}
}

func (db redisDB) clone() redisDB {
	c := make(redisDB, len(db))
	for key, v := range db {
		switch v := v.(type) {
		case *redisHash:
			c[key] = v.clone()
		case *redisZSet:
			c[key] = v.clone()
		default:
			c[key] = v
		}
	}
	return c
}

// redisCommand is one entry of the command table. Counts do not include the command's name.
type redisCommand struct {
	run      func(db redisDB, args []string) (redisReply, error)
	min, max int // number of arguments; max 0: unlimited
	keys     int // how many of the first arguments are keys; 0 means all
}

// redisCommands lists every command of the embedded Redis.
var redisCommands = map[string]redisCommand{
	"EXISTS": {run: redisExists, min: 1},
	"DEL":    {run: redisDel, min: 1},
	"UNLINK": {run: redisDel, min: 1},
	"RENAME": {run: redisRename, min: 2, max: 2, keys: 2},
	"TYPE":   {run: redisType, min: 1, max: 1, keys: 1},

	"GET":    {run: redisGet, min: 1, max: 1, keys: 1},
	"SETBIT": {run: redisSetBit, min: 3, max: 3, keys: 1},

	"HGET":    {run: redisHGet, min: 2, max: 2, keys: 1},
	"HSET":    {run: redisHSet, min: 3, keys: 1},
	"HSETNX":  {run: redisHSetNX, min: 3, max: 3, keys: 1},
	"HMGET":   {run: redisHMGet, min: 2, keys: 1},
	"HGETALL": {run: redisHGetAll, min: 1, max: 1, keys: 1},
	"HDEL":    {run: redisHDel, min: 2, keys: 1},
	"HLEN":    {run: redisHLen, min: 1, max: 1, keys: 1},
	"HEXISTS": {run: redisHExists, min: 2, max: 2, keys: 1},
	"HINCRBY": {run: redisHIncrBy, min: 3, max: 3, keys: 1},
	"HSCAN":   {run: redisHScan, min: 4, max: 4, keys: 1},

	"ZADD":          {run: redisZAdd, min: 3, keys: 1},
	"ZREM":          {run: redisZRem, min: 2, keys: 1},
	"ZSCORE":        {run: redisZScore, min: 2, max: 2, keys: 1},
	"ZCARD":         {run: redisZCard, min: 1, max: 1, keys: 1},
	"ZPOPMIN":       {run: redisZPopMin, min: 2, max: 2, keys: 1},
	"ZRANGE":        {run: redisZRange, min: 3, max: 3, keys: 1},
	"ZRANGEBYSCORE": {run: redisZRangeByScore, min: 6, max: 6, keys: 1},
}

// redisLookup finds a command and checks its number of arguments; it also returns the arguments that are keys.
func redisLookup(name string, args []string) (cmd redisCommand, keys []string, err error) {
	cmd, ok := redisCommands[name]
	if !ok {
		if cmd, ok = redisCommands[strings.ToUpper(name)]; !ok {
			return cmd, nil, RedisError(fmt.Sprintf("ERR unknown command '%.128s'", name))
		}
	}
	if len(args) < cmd.min || cmd.max > 0 && len(args) > cmd.max {
		return cmd, nil, redisArity(name)
	}
	if cmd.keys == 0 {
		return cmd, args, nil
	}
	return cmd, args[:cmd.keys], nil
}

func redisArity(name string) RedisError {
	return RedisError("ERR wrong number of arguments for '" + strings.ToLower(name) + "' command")
}

// redisUnknownOption returns the error for an option that this table lacks, even if Redis has it.
func redisUnknownOption(command, option string) RedisError {
	return RedisError(fmt.Sprintf("%s: the embedded %s does not know '%.128s'", errRedisSyntax, command, option))
}

// redisParseInt parses an integer as Redis does: decimal digits, no plus sign, no leading zero.
func redisParseInt(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || s[0] == '+' || s[0] == '0' && s != "0" || strings.HasPrefix(s, "-0") {
		return 0, false
	}
	return n, true
}

// redisNumber formats a score or a number of a script. Scripts use whole numbers below 2^53 only; Redis prints others
// differently.
func redisNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func redisExists(db redisDB, args []string) (redisReply, error) {
	n := 0
	for _, key := range args {
		if _, ok := db[key]; ok {
			n++
		}
	}
	return redisInt(n), nil
}

func redisDel(db redisDB, args []string) (redisReply, error) {
	before := len(db)
	for _, key := range args {
		delete(db, key)
	}
	return redisInt(before - len(db)), nil
}

func redisRename(db redisDB, args []string) (redisReply, error) {
	v, ok := db[args[0]]
	if !ok {
		return redisReply{}, errRedisNoKey
	}
	delete(db, args[0])
	db[args[1]] = v
	return redisReply{kind: redisStatus, s: "OK"}, nil
}

func redisType(db redisDB, args []string) (redisReply, error) {
	name := "none"
	switch db[args[0]].(type) {
	case *redisHash:
		name = "hash"
	case *redisZSet:
		name = "zset"
	case string:
		name = "string"
	}
	return redisReply{kind: redisStatus, s: name}, nil
}

// text returns the string at a key; ok is false if the key does not exist.
func (db redisDB) text(key string) (s string, ok bool, err error) {
	switch v := db[key].(type) {
	case nil:
		return "", false, nil
	case string:
		return v, true, nil
	default:
		return "", false, errRedisType
	}
}

func redisGet(db redisDB, args []string) (redisReply, error) {
	s, ok, err := db.text(args[0])
	if err != nil || !ok {
		return redisReply{}, err
	}
	return redisString(s), nil
}

func redisSetBit(db redisDB, args []string) (redisReply, error) {
	n, ok := redisParseInt(args[1])
	if !ok || n < 0 || n > 1<<32-1 {
		return redisReply{}, errRedisOffset
	}
	if args[2] != "0" && args[2] != "1" {
		return redisReply{}, errRedisBit
	}
	s, _, err := db.text(args[0])
	if err != nil {
		return redisReply{}, err
	}
	if want := args[2] == "1"; int(n/8) < len(s) && (s[n/8]>>(7-n%8)&1 == 1) == want {
		return redisBool(want), nil
	}
	b := append([]byte(s), make([]byte, max(int(n/8)+1-len(s), 0))...)
	was, mask := b[n/8], byte(1)<<(7-n%8)
	b[n/8] = was &^ mask
	if args[2] == "1" {
		b[n/8] |= mask
	}
	db[args[0]] = string(b)
	return redisBool(was&mask != 0), nil
}
