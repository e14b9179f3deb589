package memory

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// redisStep is one command, its words separated by blanks, and its reply: nil, int64, string, []any, or a RedisError.
type redisStep struct {
	cmd  string
	want any
}

func redisWords(words ...any) []any { return append([]any{}, words...) }

const (
	redisMost  = "9007199254740992" // 2^53
	redisArgs  = RedisError("ERR wrong number of arguments for 'hset' command")
	redisOver  = RedisError("ERR increment or decrement would overflow")
	redisMixed = "{a}h {a}h {a}z {a}none"
)

// redisCommandCases are sequences of commands, each on an empty Redis.
var redisCommandCases = map[string][]redisStep{
	"keys": {
		{"HSET {a}h f 1", int64(1)}, {"ZADD {a}z 1 m", int64(1)},
		{"EXISTS " + redisMixed, int64(3)}, {"UNLINK " + redisMixed, int64(2)}, {"EXISTS " + redisMixed, int64(0)},
	},
	"RENAME moves any type over any type": {
		{"RENAME {a}x {a}y", RedisError("ERR no such key")},
		{"HSET {a}x f 1", int64(1)}, {"ZADD {a}y 1 m", int64(1)},
		{"RENAME {a}x {a}y", "OK"}, {"EXISTS {a}x", int64(0)}, {"HGET {a}y f", "1"},
		{"RENAME {a}y {a}y", "OK"}, {"HLEN {a}y", int64(1)},
	},
	"TYPE names each type": {
		{"HSET h f 1", int64(1)}, {"ZADD z 1 m", int64(1)},
		{"TYPE h", "hash"}, {"TYPE z", "zset"}, {"TYPE none", "none"},
	},
	"hashes": {
		{"HSET h a 1 b 2", int64(2)},
		{"HSET h a 3 c 4 c 5", int64(1)},
		{"HGET h a", "3"}, {"HGET h c", "5"}, {"HGET h none", nil}, {"HGET none a", nil},
		{"HGETALL h", redisWords("a", "3", "b", "2", "c", "5")}, {"HGETALL none", redisWords()},
		{"HMGET h c none a", redisWords("5", nil, "3")}, {"HMGET none a", redisWords(nil)},
		{"HLEN h", int64(3)}, {"HLEN none", int64(0)},
		{"HEXISTS h a", int64(1)}, {"HEXISTS h none", int64(0)}, {"HEXISTS none a", int64(0)},
		{"HSETNX h d 1", int64(1)}, {"HSETNX h d 2", int64(0)}, {"HGET h d", "1"},
		{"HDEL h a none a", int64(1)}, {"HDEL h b c d", int64(3)}, {"EXISTS h", int64(0)}, {"HDEL h b", int64(0)},
		{"HSET h a", redisArgs}, {"HSET h a 1 b", redisArgs}, {"hset h a 1", int64(1)},
	},
	"bits": {
		{"SETBIT b 9 1", int64(0)}, {"SETBIT b 9 1", int64(1)}, {"GET b", "\x00@"}, {"SETBIT b 0 1", int64(0)},
		{"GET b", "\x80@"}, {"SETBIT b 9 0", int64(1)}, {"GET b", "\x80\x00"}, {"GET none", nil},
		{"SETBIT b -1 1", RedisError("ERR bit offset is not an integer or out of range")},
		{"SETBIT b 4294967296 1", RedisError("ERR bit offset is not an integer or out of range")},
		{"SETBIT b 1 2", RedisError("ERR bit is not an integer or out of range")},
		{"HSET h f 1", int64(1)}, {"GET h", errRedisType}, {"SETBIT h 1 1", errRedisType},
		{"HGET b f", errRedisType}, {"TYPE b", "string"},
	},
	"HINCRBY": {
		{"HINCRBY h n 5", int64(5)}, {"HINCRBY h n -7", int64(-2)}, {"HGET h n", "-2"},
		{"HSET h s 01 m 9223372036854775807 k -9223372036854775808", int64(3)},
		{"HINCRBY h s 1", RedisError("ERR hash value is not an integer")},
		{"HINCRBY h m 1", redisOver}, {"HINCRBY h k -1", redisOver},
		{"HINCRBY fresh n 1.0", errRedisInteger}, {"EXISTS fresh", int64(0)},
	},
	"HSCAN": {
		{"HSCAN none 0 COUNT 1", redisWords("0", redisWords())},
		{"HSET h a 1 b 2", int64(2)},
		{"HSCAN h 0 COUNT 100", redisWords("0", redisWords("a", "1", "b", "2"))},
		{"HSCAN h x COUNT 1", RedisError("ERR invalid cursor")}, {"HSCAN h 0 COUNT 0", errRedisInteger},
	},
	"sorted sets are in order of score, then bytes": {
		{"ZADD z 2 b 1 a 2 B", int64(3)}, {"ZRANGE z 0 -1", redisWords("a", "B", "b")},
		{"ZADD z 0 b 3 c", int64(1)}, {"ZRANGE z 0 -1", redisWords("b", "a", "B", "c")},
		{"ZRANGE none 0 -1", redisWords()},
		{"ZSCORE z b", "0"}, {"ZSCORE z none", nil}, {"ZSCORE none a", nil},
		{"ZCARD z", int64(4)}, {"ZCARD none", int64(0)},
		{"ZADD z 1 a 1 x 2 x", int64(1)}, {"ZSCORE z x", "2"},
		{"ZADD z 1 a 2", errRedisSyntax}, {"ZADD z 1 d x e", errRedisInteger}, {"ZSCORE z d", nil},
		{"ZADD z " + redisMost + " max -3 neg", int64(2)}, {"ZSCORE z max", redisMost}, {"ZSCORE z neg", "-3"},
		{"ZREM z a a none", int64(1)}, {"ZREM z b B c x max neg", int64(6)}, {"EXISTS z", int64(0)},
		{"ZREM z b", int64(0)},
	},
	"ZPOPMIN takes the lowest": {
		{"ZPOPMIN z 1", redisWords()},
		{"ZADD z 3 c 1 a 2 b 2 bb", int64(4)},
		{"ZPOPMIN z 0", redisWords()}, {"ZPOPMIN z 2", redisWords("a", "1", "b", "2")},
		{"ZPOPMIN z 9", redisWords("bb", "2", "c", "3")}, {"EXISTS z", int64(0)},
		{"ZPOPMIN z -1", errRedisInteger}, {"ZPOPMIN z x", errRedisInteger},
	},
	"ZRANGEBYSCORE": {
		{"ZADD z 1 a 2 b 2 c 3 d", int64(4)},
		{"ZRANGEBYSCORE z -inf 2 LIMIT 0 9", redisWords("a", "b", "c")},
		{"ZRANGEBYSCORE z -inf 3 LIMIT 0 2", redisWords("a", "b")}, {"ZRANGEBYSCORE z -inf 0 LIMIT 0 2", redisWords()},
		{"ZRANGEBYSCORE none -inf 1 LIMIT 0 1", redisWords()}, {"ZRANGEBYSCORE z -inf x LIMIT 0 1", errRedisInteger},
	},
	"every command refuses another type's key": {
		{"HSET h f 1", int64(1)}, {"ZADD z 1 m", int64(1)},
		{"HGET z f", errRedisType}, {"HSET z f 1", errRedisType}, {"HSETNX z f 1", errRedisType},
		{"HMGET z f", errRedisType}, {"HGETALL z", errRedisType}, {"HDEL z f", errRedisType},
		{"HLEN z", errRedisType}, {"HEXISTS z f", errRedisType}, {"HINCRBY z f 1", errRedisType},
		{"HSCAN z 0 COUNT 1", errRedisType}, {"ZADD h 1 m", errRedisType}, {"ZREM h m", errRedisType},
		{"ZSCORE h m", errRedisType}, {"ZCARD h", errRedisType}, {"ZPOPMIN h 1", errRedisType},
		{"ZRANGE h 0 -1", errRedisType}, {"ZRANGEBYSCORE h -inf 1 LIMIT 0 1", errRedisType},
		{"HGETALL h", redisWords("f", "1")}, {"ZRANGE z 0 -1", redisWords("m")},
	},
}

func TestRedisCommands(t *testing.T) {
	for name, steps := range redisCommandCases {
		t.Run(name, func(t *testing.T) { checkRedis(t, NewRedis(), steps...) })
	}
}

// What Redis has and the table lacks is refused by name, and nothing is written; so is a wrong number of arguments.
func TestRedisRefusesWhatItDoesNotKnow(t *testing.T) {
	r := NewRedis()
	checkRedis(t, r, redisStep{"HSET h f 1", int64(1)}, redisStep{"ZADD z 1 m", int64(1)})
	before := r.Dump()
	refused := map[string]string{"EXPIRE h 1": "EXPIRE", "SET h 2": "SET", "HSCAN h 0 MATCH x*": "MATCH",
		"ZADD z CH 2 m": "syntax", "ZADD z NX 2": "integer", "ZRANGE z 0 1": "0 1",
		"ZRANGEBYSCORE z 0 1 LIMIT 0 1": "0 1 LIMIT", "ZRANGEBYSCORE z -inf 1 LIMIT 1 1": "LIMIT 1"}
	for name, c := range redisCommands {
		refused[name+strings.Repeat(" x", c.min-1)] = "wrong number"
		if c.max > 0 {
			refused[name+strings.Repeat(" x", c.max+1)] = "wrong number"
		}
	}
	for cmd, want := range refused {
		words := strings.Fields(cmd)
		if got, err := r.Do(words[0], words[1:]...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, %v; want an error that names %s", cmd, got, err, want)
		}
	}
	if diff := cmp.Diff(before, r.Dump()); diff != "" {
		t.Errorf("they wrote (-before +after):\n%s", diff)
	}
}

func checkRedis(t *testing.T, r *Redis, steps ...redisStep) {
	t.Helper()
	for _, s := range steps {
		words := strings.Fields(s.cmd)
		got, err := r.Do(words[0], words[1:]...)
		if err != nil {
			got = err
		}
		if diff := cmp.Diff(s.want, got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", s.cmd, diff)
		}
	}
}
