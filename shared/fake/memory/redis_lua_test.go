package memory

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/driver/redisstock"
)

// redisScriptCases are scripts, run with KEYS {a}h, {a}z and ARGV 7, 1700000000000, "x y", and their replies. Redis 7.0
// gives the same, except for the refusals.
var redisScriptCases = []struct {
	source string
	want   any
}{
	// replies to Lua
	{`return redis.call('HSET', KEYS[1], 'a', 1) + 1`, int64(2)},
	{`redis.call('HSET', KEYS[1], 'a', 1) return redis.call('HGET', KEYS[1], 'a') == '1'`, int64(1)},
	{`return redis.call('HGET', KEYS[1], 'a') == false`, int64(1)},
	{`redis.call('HSET', KEYS[1], 'a', 1) return redis.call('RENAME', KEYS[1], KEYS[2]).ok`, "OK"},
	{`redis.call('HSET', KEYS[1], 'a', 1) local t = redis.call('HMGET', KEYS[1], 'none', 'a')
		return #t .. tostring(t[1]) .. t[2]`, "2false1"},
	{`redis.call('HSET', KEYS[1], 'a', 1) local t = redis.call('HSCAN', KEYS[1], '0', 'COUNT', 9)
		return t[2][1] .. t[1]`, "a0"},

	// replies from Lua
	{`return 3.99`, int64(3)},
	{`return -3.99`, int64(-3)},
	{`return tonumber(ARGV[2])`, int64(1700000000000)},
	{`return true`, int64(1)},
	{`return false`, nil},
	{`return`, nil},
	{`return {1, 'a', nil, 'b'}`, []any{int64(1), "a"}},
	{`return {1, false, {'x', true}}`, []any{int64(1), nil, []any{"x", int64(1)}}},
	{`return {}`, []any{}},
	{`return {a = 1}`, []any{}},
	{`return {ok = 'FINE'}`, "FINE"},
	{`return tostring`, nil},
	{`return '\0\255\128' .. '秒'`, "\x00\xff\x80秒"},
	{`return {#KEYS, KEYS[1], #ARGV, ARGV[3]}`, []any{int64(2), "{a}h", int64(3), "x y"}},

	// numbers and strings
	{`redis.call('HSET', KEYS[1], 'a', 1700000000000, 'b', 2^53, 'c', 0.5)
		return redis.call('HMGET', KEYS[1], 'a', 'b', 'c')`,
		[]any{"1700000000000", "9007199254740992", "0.5"}},
	{`return 1 .. ':' .. 1700000000000 .. ':' .. -5 .. tostring(1700000000000) .. tostring(nil)`,
		"1:1700000000000:-51700000000000nil"},
	{`return {table.concat({1, 'a', 1700000000000}, ','), table.concat({5}, ','), table.concat({}, ',')}`,
		[]any{"1,a,1700000000000", "5", ""}},
	{`return {tonumber('010'), tonumber('-7'), tonumber(5), tonumber(''), 1}`, []any{int64(10), int64(-7), int64(5)}},
	{`return string.format('%.0f', 1700000000000) .. string.format('%.0f', 2^53)`, "17000000000009007199254740992"},
	{`local a, b = string.match('o12:34,5', '^o(%d+):(.*)$') return {a, b}`, []any{"12", "34,5"}},
	{`return {string.match('q|\0\n\255秒|', '^(%a)|(.*)$')}`, []any{"q", "\x00\n\xff秒|"}},
	{`return {string.match('a||c', '^([^|]*)|([^|]*)|(.*)$')}`, []any{"a", "", "c"}},
	{`return string.gsub('o1:2,o2:3', '(o2):(%d+)', function(o, c) return o .. ':' .. (tonumber(c) + 1) end)`,
		"o1:2,o2:4"},
	{`local t = {} for n in string.gmatch('1,22,333', '%d+') do t[#t+1] = n end return t`, []any{"1", "22", "333"}},
	{`return {string.find('a.b', '.', 1, true)}`, []any{int64(2), int64(2)}},
	{`return {'a' < 'b', 'B' < 'a', '10' < '9', 'a' < 'a'}`, []any{int64(1), int64(1), int64(1), nil}},
	{`local t = {3, 1, 2} table.sort(t) return t`, []any{int64(1), int64(2), int64(3)}},
	{`return {math.max(1, 5, 3), math.min(4, 2), math.abs(-3), -5 % 3}`,
		[]any{int64(5), int64(2), int64(3), int64(1)}},

	// Refusals: a part of the error. A Redis server accepts some of these.
	{`return {err = 'BUSY wait'}`, RedisError("BUSY wait")},
	{`return {1, {err = 'BUSY inside'}}`, RedisError("BUSY inside")},
	{`return redis.call('HSET', KEYS[1], {}, 1)`, RedisError("must be strings or integers")},
	{`return redis.call('HSET', KEYS[1], false, 1)`, RedisError("must be strings or integers")},
	{`return redis.call()`, RedisError("at least one argument")},
	{`return redis.call('HGET', KEYS[1])`, RedisError("rong number of arg")},
	{`return redis.call('HSTRLEN', KEYS[1], 'a')`, RedisError("unknown command 'HSTRLEN'")},
	{`return redis.call('HGET', '{a}other', 'f')`, RedisError("key '{a}other' of HGET is not in the script's KEYS")},
	{`redis.call('HSET', KEYS[1], 'a', 1) redis.call('RENAME', KEYS[1], '{a}other')`, RedisError("'{a}other'")},
	{`return redis.call('UNLINK', KEYS[1], '{a}other')`, RedisError("'{a}other'")},
	{`return lost`, RedisError("nonexistent global variable 'lost'")},
	{`found = 1`, RedisError("readonly table")},
	{`function f() end`, RedisError("readonly table")},
	{`string.match = 1`, RedisError("readonly table")},
	{`redis.extra = 1`, RedisError("readonly table")},
	{`local function f() local function g() KEYS = nil end end return 1`,
		RedisError("case:1: Attempt to modify a readonly table (global 'KEYS')")},
	{`return nil + 1`, RedisError("nil")},
	{`return '10' + 1`, RedisError("a string as a number")},
	{`return -'3'`, RedisError("a string as a number")},
	{`return ('abc'):upper()`, RedisError("a string as a number or an object")},
	{`return tonumber('1e3')`, RedisError("whole numbers only, not '1e3'")},
	{`return tonumber('7', 8)`, RedisError("whole numbers only")},
	{`return string.format('%d', 1)`, RedisError("%.0f only")},
	{`return table.concat({1, {}}, ',')`, RedisError("invalid value")},
	{`local t = {} t[1] = t return t`, RedisError("reached lua stack limit")},
	{`return math.random()`, RedisError("call a non-function")},
	{`return os.time()`, RedisError("'os'")},
	{`return _G.x`, RedisError("'_G'")},
}

func TestRedisScripts(t *testing.T) {
	for _, c := range redisScriptCases {
		got, err := NewRedis().Run(t.Context(), redisstock.NewScript("case", c.source), []string{"{a}h", "{a}z"},
			[]string{"7", "1700000000000", "x y"})
		if fails, ok := c.want.(RedisError); ok {
			var reply RedisError
			if !errors.As(err, &reply) || !strings.Contains(err.Error(), string(fails)) {
				t.Errorf("%s: got %v, %v; want a RedisError with %q", c.source, got, err, fails)
			}
		} else if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", c.source, err, diff)
		}
	}
}
