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

const redisArityOf = "ERR wrong number of arguments for '"

// redisCommandCases are sequences of commands, each on an empty Redis.
var redisCommandCases = map[string][]redisStep{
	"EXISTS counts every naming of a key": {
		{"EXISTS {a}x", int64(0)},
		{"SET {a}x 1", "OK"},
		{"EXISTS {a}x {a}y {a}x", int64(2)},
		{"EXISTS", RedisError(redisArityOf + "exists' command")},
	},
	"DEL counts the keys that were there": {
		{"SET {a}x 1", "OK"},
		{"HSET {a}y f 1", int64(1)},
		{"DEL {a}x {a}x {a}y {a}z", int64(2)},
		{"HSET {a}x f 1", int64(1)},
		{"UNLINK {a}x {a}y", int64(1)},
		{"EXISTS {a}x", int64(0)},
		{"EXISTS {a}x {a}y", int64(0)},
		{"DEL", RedisError(redisArityOf + "del' command")},
		{"UNLINK", RedisError(redisArityOf + "unlink' command")},
	},
	"RENAME moves any type over any type": {
		{"RENAME {a}x {a}y", RedisError("ERR no such key")},
		{"HSET {a}x f 1", int64(1)},
		{"SET {a}y old", "OK"},
		{"RENAME {a}x {a}y", "OK"},
		{"EXISTS {a}x", int64(0)},
		{"HGET {a}y f", "1"},
		{"RENAME {a}y {a}y", "OK"},
		{"HLEN {a}y", int64(1)},
		{"RENAME {a}y", RedisError(redisArityOf + "rename' command")},
	},
	"TYPE names each type": {
		{"SET s 1", "OK"}, {"HSET h f 1", int64(1)}, {"ZADD z 1 m", int64(1)},
		{"TYPE s", "string"}, {"TYPE h", "hash"}, {"TYPE z", "zset"}, {"TYPE none", "none"},
		{"TYPE s h", RedisError(redisArityOf + "type' command")},
	},
	"SET and GET": {
		{"GET s", nil},
		{"SET s 1", "OK"}, {"GET s", "1"},
		{"HSET h f 1", int64(1)},
		{"GET h", errRedisType},
		{"SET h x", "OK"}, {"GET h", "x"},
		{"SET s", RedisError(redisArityOf + "set' command")},
		{"GET s s", RedisError(redisArityOf + "get' command")},
	},
	"INCR": {
		{"INCR n", int64(1)}, {"INCR n", int64(2)}, {"GET n", "2"},
		{"SET n 9223372036854775807", "OK"}, {"INCR n", RedisError("ERR increment or decrement would overflow")},
		{"SET n -1", "OK"}, {"INCR n", int64(0)},
		{"SET n 01", "OK"}, {"INCR n", errRedisInteger},
		{"SET n +1", "OK"}, {"INCR n", errRedisInteger},
		{"SET n -0", "OK"}, {"INCR n", errRedisInteger},
		{"SET n 1.5", "OK"}, {"INCR n", errRedisInteger},
		{"HSET h f 1", int64(1)}, {"INCR h", errRedisType},
		{"INCR n 1", RedisError(redisArityOf + "incr' command")},
	},
	"HSET counts new fields and takes pairs only": {
		{"HSET h a 1 b 2", int64(2)},
		{"HSET h a 3 c 4 c 5", int64(1)},
		{"HGET h a", "3"}, {"HGET h c", "5"}, {"HGET h none", nil}, {"HGET none a", nil},
		{"HGETALL h", redisWords("a", "3", "b", "2", "c", "5")},
		{"HGETALL none", redisWords()},
		{"HMGET h c none a", redisWords("5", nil, "3")}, {"HMGET none a", redisWords(nil)},
		{"HLEN h", int64(3)}, {"HLEN none", int64(0)},
		{"HEXISTS h a", int64(1)}, {"HEXISTS h none", int64(0)}, {"HEXISTS none a", int64(0)},
		{"HSET h a", RedisError(redisArityOf + "hset' command")},
		{"HSET h a 1 b", RedisError(redisArityOf + "hset' command")},
		{"HGET h", RedisError(redisArityOf + "hget' command")},
		{"HMGET h", RedisError(redisArityOf + "hmget' command")},
		{"HGETALL h h", RedisError(redisArityOf + "hgetall' command")},
		{"HLEN h h", RedisError(redisArityOf + "hlen' command")},
		{"HEXISTS h", RedisError(redisArityOf + "hexists' command")},
	},
	"HSETNX writes once": {
		{"HSETNX h a 1", int64(1)}, {"HSETNX h a 2", int64(0)}, {"HGET h a", "1"},
		{"HSETNX h a", RedisError(redisArityOf + "hsetnx' command")},
	},
	"HDEL counts, and an empty hash vanishes": {
		{"HSET h a 1 b 2", int64(2)},
		{"HDEL h a none a", int64(1)}, {"EXISTS h", int64(1)},
		{"HDEL h b", int64(1)}, {"EXISTS h", int64(0)}, {"TYPE h", "none"},
		{"HDEL h b", int64(0)},
		{"HDEL h", RedisError(redisArityOf + "hdel' command")},
	},
	"HINCRBY": {
		{"HINCRBY h n 5", int64(5)}, {"HINCRBY h n -7", int64(-2)}, {"HGET h n", "-2"},
		{"HSET h s x m 9223372036854775807 k -9223372036854775808", int64(3)},
		{"HINCRBY h s 1", RedisError("ERR hash value is not an integer")},
		{"HINCRBY h m 1", RedisError("ERR increment or decrement would overflow")},
		{"HINCRBY h k -1", RedisError("ERR increment or decrement would overflow")},
		{"HINCRBY h n 1.0", errRedisInteger},
		{"HINCRBY h n", RedisError(redisArityOf + "hincrby' command")},
		{"HINCRBY fresh n x", errRedisInteger}, {"EXISTS fresh", int64(0)},
		{"HINCRBY fresh n -9223372036854775808", int64(-9223372036854775808)},
	},
	"HSCAN errors and the empty hash": {
		{"HSCAN none 0", redisWords("0", redisWords())},
		{"HSET h a 1 b 2", int64(2)},
		{"HSCAN h 0", redisWords("0", redisWords("a", "1", "b", "2"))},
		{"HSCAN h 0 count 100", redisWords("0", redisWords("a", "1", "b", "2"))},
		{"HSCAN h x", RedisError("ERR invalid cursor")},
		{"HSCAN h 0 COUNT", errRedisSyntax},
		{"HSCAN h 0 COUNT 0", errRedisSyntax},
		{"HSCAN h 0 COUNT x", errRedisInteger},
		{"HSCAN h", RedisError(redisArityOf + "hscan' command")},
	},
	"ZADD adds and moves, in order of score, then bytes": {
		{"ZADD z 2 b 1 a 2 B", int64(3)},
		{"ZRANGE z 0 -1", redisWords("a", "B", "b")},
		{"ZADD z 0.5 b 3 c", int64(1)},
		{"ZRANGE z 0 -1", redisWords("b", "a", "B", "c")},
		{"ZSCORE z b", "0.5"}, {"ZSCORE z none", nil}, {"ZSCORE none a", nil},
		{"ZCARD z", int64(4)}, {"ZCARD none", int64(0)},
		{"ZADD z 1 a 1 x 2 x", int64(1)}, {"ZSCORE z x", "2"},
		{"ZSCORE z", RedisError(redisArityOf + "zscore' command")},
		{"ZCARD z z", RedisError(redisArityOf + "zcard' command")},
	},
	"ZADD refuses before it writes": {
		{"ZADD z 1 a x b", errRedisFloat}, {"ZADD z nan a", errRedisFloat}, {"ZADD z 1_0 a", errRedisFloat},
		{"EXISTS z", int64(0)},
		{"ZADD z 1 a 2", errRedisSyntax}, {"ZADD z NX 1", errRedisSyntax}, {"ZADD z NX XX", errRedisSyntax},
		{"ZADD z 1", RedisError(redisArityOf + "zadd' command")},
		{"ZADD z NX XX 1 a", RedisError("ERR XX and NX options at the same time are not compatible")},
	},
	"ZADD NX only adds, XX only moves": {
		{"ZADD z XX 1 a", int64(0)}, {"EXISTS z", int64(0)},
		{"ZADD z nx 1 a 2 b", int64(2)},
		{"ZADD z NX 9 a 3 c", int64(1)}, {"ZSCORE z a", "1"},
		{"ZADD z xx 9 a 4 d", int64(0)}, {"ZSCORE z a", "9"}, {"ZSCORE z d", nil},
	},
	"scores print without an exponent": {
		{"ZADD z 1700000000000 t 9007199254740992 max -3 neg 1e3 k inf i -inf j 1.25 q 0 o 100000000000000 e",
			int64(9)},
		{"ZSCORE z t", "1700000000000"}, {"ZSCORE z max", "9007199254740992"}, {"ZSCORE z neg", "-3"},
		{"ZSCORE z k", "1000"}, {"ZSCORE z i", "inf"}, {"ZSCORE z j", "-inf"}, {"ZSCORE z q", "1.25"},
		{"ZSCORE z o", "0"}, {"ZSCORE z e", "100000000000000"},
		{"ZADD z 0.1 f 123456.75 g 1e300 h 1e-7 l", int64(4)},
		{"ZSCORE z f", "0.10000000000000001"}, {"ZSCORE z g", "123456.75"},
		{"ZSCORE z h", "1.0000000000000001e+300"}, {"ZSCORE z l", "9.9999999999999995e-08"},
	},
	"ZREM counts, and an empty set vanishes": {
		{"ZADD z 1 a 2 b", int64(2)},
		{"ZREM z a a none", int64(1)}, {"ZREM z b", int64(1)}, {"EXISTS z", int64(0)}, {"ZREM z b", int64(0)},
		{"ZREM z", RedisError(redisArityOf + "zrem' command")},
	},
	"ZPOPMIN takes the lowest": {
		{"ZPOPMIN z", redisWords()},
		{"ZADD z 3 c 1 a 2 b 2 bb", int64(4)},
		{"ZPOPMIN z 0", redisWords()},
		{"ZPOPMIN z", redisWords("a", "1")},
		{"ZPOPMIN z 2", redisWords("b", "2", "bb", "2")},
		{"ZPOPMIN z 9", redisWords("c", "3")},
		{"EXISTS z", int64(0)},
		{"ZPOPMIN z -1", errRedisCount}, {"ZPOPMIN z x", errRedisCount},
		{"ZPOPMIN", RedisError(redisArityOf + "zpopmin' command")},
	},
	"ZRANGE by index": {
		{"ZADD z 1 a 2 b 3 c", int64(3)},
		{"ZRANGE z 0 0", redisWords("a")}, {"ZRANGE z 1 99", redisWords("b", "c")},
		{"ZRANGE z -2 -1", redisWords("b", "c")},
		{"ZRANGE z -99 1", redisWords("a", "b")}, {"ZRANGE z 2 1", redisWords()}, {"ZRANGE z 3 5", redisWords()},
		{"ZRANGE z 0 -4", redisWords()},
		{"ZRANGE none 0 -1", redisWords()},
		{"ZRANGE z a 1", errRedisInteger}, {"ZRANGE z 0 1.5", errRedisInteger},
		{"ZRANGE z 0", RedisError(redisArityOf + "zrange' command")},
	},
	"ZRANGEBYSCORE": {
		{"ZADD z 1 a 2 b 2 c 3 d", int64(4)},
		{"ZRANGEBYSCORE z -inf +inf", redisWords("a", "b", "c", "d")},
		{"ZRANGEBYSCORE z 2 3", redisWords("b", "c", "d")}, {"ZRANGEBYSCORE z (1 (3", redisWords("b", "c")},
		{"ZRANGEBYSCORE z (2 inf", redisWords("d")}, {"ZRANGEBYSCORE z 3 2", redisWords()},
		{"ZRANGEBYSCORE z (2 (2", redisWords()},
		{"ZRANGEBYSCORE z -inf inf LIMIT 1 2", redisWords("b", "c")},
		{"ZRANGEBYSCORE z -inf inf limit 0 0", redisWords()}, {"ZRANGEBYSCORE z -inf inf LIMIT 3 -1", redisWords("d")},
		{"ZRANGEBYSCORE z -inf inf LIMIT 9 1", redisWords()}, {"ZRANGEBYSCORE z -inf inf LIMIT -1 2", redisWords()},
		{"ZRANGEBYSCORE none 0 1", redisWords()},
		{"ZRANGEBYSCORE z x 1", errRedisRange},
		{"ZRANGEBYSCORE z 0 1 LIMIT 1", errRedisSyntax},
		{"ZRANGEBYSCORE z 0 1 LIMIT a 1", errRedisInteger},
		{"ZRANGEBYSCORE z 0", RedisError(redisArityOf + "zrangebyscore' command")},
	},
	"every command refuses another type's key": {
		{"SET s 1", "OK"}, {"HSET h f 1", int64(1)}, {"ZADD z 1 m", int64(1)},
		{"HGET s f", errRedisType}, {"HSET z f 1", errRedisType}, {"HSETNX s f 1", errRedisType},
		{"HMGET s f", errRedisType}, {"HGETALL z", errRedisType}, {"HDEL s f", errRedisType},
		{"HLEN s", errRedisType}, {"HEXISTS z f", errRedisType}, {"HINCRBY s f 1", errRedisType},
		{"HSCAN z 0", errRedisType}, {"ZADD h 1 m", errRedisType}, {"ZREM s m", errRedisType},
		{"ZSCORE h m", errRedisType}, {"ZCARD s", errRedisType}, {"ZPOPMIN h", errRedisType},
		{"ZRANGE s 0 1", errRedisType}, {"ZRANGEBYSCORE h 0 1", errRedisType}, {"GET z", errRedisType},
		{"GET s", "1"}, {"HGETALL h", redisWords("f", "1")}, {"ZRANGE z 0 -1", redisWords("m")},
	},
	"names of commands have no case": {{"hset h f 1", int64(1)}, {"HGet h f", "1"}},
}

func TestRedisCommands(t *testing.T) {
	for name, steps := range redisCommandCases {
		t.Run(name, func(t *testing.T) {
			r := NewRedis()
			for _, s := range steps {
				checkRedis(t, r, s)
			}
		})
	}
}

// Options that Redis has and the table lacks are refused by name, and nothing is written.
func TestRedisRefusesWhatItDoesNotKnow(t *testing.T) {
	for cmd, word := range map[string]string{
		"EXPIRE s 1":                         "EXPIRE",
		"FLUSHALL":                           "FLUSHALL",
		"SET s 2 EX 1":                       "EX",
		"SET s 2 NX":                         "NX",
		"HSCAN h 0 MATCH x*":                 "MATCH",
		"HSCAN h 0 NOVALUES":                 "NOVALUES",
		"ZADD z CH 2 m":                      "CH",
		"ZADD z GT 2 m":                      "GT",
		"ZADD z NX INCR 2 m":                 "INCR",
		"ZPOPMIN z 1 x":                      "x",
		"ZRANGE z 0 1 WITHSCORES":            "WITHSCORES",
		"ZRANGE z 0 1 BYSCORE":               "BYSCORE",
		"ZRANGEBYSCORE z 0 1 WITHSCORES":     "WITHSCORES",
		"ZRANGEBYSCORE z 0 1 LIMIT 0 1 what": "what",
	} {
		t.Run(cmd, func(t *testing.T) {
			r := NewRedis()
			for _, s := range []redisStep{{"SET s 1", "OK"}, {"HSET h f 1", int64(1)}, {"ZADD z 1 m", int64(1)}} {
				checkRedis(t, r, s)
			}
			before := r.Dump()
			words := strings.Fields(cmd)
			got, err := r.Do(words[0], words[1:]...)
			if err == nil || !strings.Contains(err.Error(), "'"+word+"'") {
				t.Errorf("%s: got %v, %v; want an error that names '%s'", cmd, got, err, word)
			}
			if diff := cmp.Diff(before, r.Dump()); diff != "" {
				t.Errorf("%s wrote (-before +after):\n%s", cmd, diff)
			}
		})
	}
}

func checkRedis(t *testing.T, r *Redis, s redisStep) {
	t.Helper()
	words := strings.Fields(s.cmd)
	var got any
	got, err := r.Do(words[0], words[1:]...)
	if err != nil {
		got = err
	}
	if diff := cmp.Diff(s.want, got); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", s.cmd, diff)
	}
}
