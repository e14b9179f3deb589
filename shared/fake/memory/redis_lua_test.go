package memory

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/driver/redisstock"
)

// redisScriptCase is a script, run with KEYS {a}h, {a}z, {a}s and ARGV 7, 1700000000000, "x y".
type redisScriptCase struct {
	source string
	want   any    // the reply
	fails  string // or a part of the error
}

var (
	redisScriptKeys = []string{"{a}h", "{a}z", "{a}s"}
	redisScriptArgs = []string{"7", "1700000000000", "x y"}
)

// redisScriptCases have the same results on Redis 7.0, except for the error texts.
var redisScriptCases = map[string]redisScriptCase{
	// replies to Lua
	"an integer reply is a number": {`return redis.call('HSET', KEYS[1], 'a', 1) + 1`, int64(2), ""},
	"a bulk reply is a string": {
		`redis.call('HSET', KEYS[1], 'a', 1) return type(redis.call('HGET', KEYS[1], 'a'))`, "string", ""},
	"a nil reply is false":      {`return tostring(redis.call('HGET', KEYS[1], 'a'))`, "false", ""},
	"a status reply is a table": {`return redis.call('SET', KEYS[3], 'v').ok`, "OK", ""},
	"an array reply has false for nil": {`redis.call('HSET', KEYS[1], 'a', 1)
		local t = redis.call('HMGET', KEYS[1], 'none', 'a') return #t .. tostring(t[1]) .. t[2]`, "2false1", ""},
	"a nested array reply": {
		`redis.call('HSET', KEYS[1], 'a', 1) local t = redis.call('HSCAN', KEYS[1], '0') return t[2][1] .. t[1]`, "a0",
		""},
	"an error is caught by redis.pcall": {
		`redis.call('SET', KEYS[3], 'v') return redis.pcall('HGET', KEYS[3], 'a').err`, string(errRedisType), ""},
	"an error is caught by pcall": {`redis.call('SET', KEYS[3], 'v')
		local ok, e = pcall(redis.call, 'HGET', KEYS[3], 'a') return tostring(ok) .. e`, "false" + string(errRedisType),
		""},

	"pcall gives what the function gives": {`return {pcall(function(a, b) return b, a end, 1, 2)}`,
		[]any{int64(1), int64(2), int64(1)}, ""},
	"pcall catches a thrown string": {`local ok, e = pcall(error, 'odd', 0) return {ok, e}`, []any{nil, "odd"},
		""},
	"pcall catches a fault": {
		`local ok, e = pcall(function() return nil .. 'x' end) return {ok, type(e)}`, []any{nil, "string"}, ""},
	"pcall of no function": {`local ok, e = pcall(5) return {ok, type(e)}`, []any{nil, "string"}, ""},

	// replies from Lua
	"a number loses its fraction":  {`return 3.99`, int64(3), ""},
	"a negative number too":        {`return -3.99`, int64(-3), ""},
	"milliseconds come back whole": {`return tonumber(ARGV[2])`, int64(1700000000000), ""},
	"true is 1":                    {`return true`, int64(1), ""},
	"false is nil":                 {`return false`, nil, ""},
	"nothing is nil":               {`return`, nil, ""},
	"an array stops at nil":        {`return {1, 'a', nil, 'b'}`, []any{int64(1), "a"}, ""},
	"an array keeps false as nil": {`return {1, false, {'x', true}}`,
		[]any{int64(1), nil, []any{"x", int64(1)}}, ""},
	"an empty array":                      {`return {}`, []any{}, ""},
	"a table with names only is an empty": {`return {a = 1}`, []any{}, ""},
	"a status":                            {`return {ok = 'FINE'}`, "FINE", ""},
	"redis.status_reply":                  {`return redis.status_reply('FINE')`, "FINE", ""},
	"an error table":                      {`return {err = 'BUSY wait'}`, nil, "BUSY wait"},
	"redis.error_reply":                   {`return redis.error_reply('BUSY wait')`, nil, "BUSY wait"},
	"redis.error_reply with a dash":       {`return redis.error_reply('-BUSY wait')`, nil, "BUSY wait"},
	"a function is nil":                   {`return type`, nil, ""},
	"bytes pass unchanged":                {`return string.char(0, 255, 128) .. '秒'`, "\x00\xff\x80秒", ""},

	// arguments
	"KEYS and ARGV": {`return {#KEYS, KEYS[1], #ARGV, ARGV[3]}`, []any{int64(3), "{a}h", int64(3), "x y"}, ""},
	"numbers as integers": {`redis.call('SET', KEYS[3], 1700000000000) return redis.call('GET', KEYS[3])`,
		"1700000000000", ""},
	"2^53 as an integer": {`redis.call('SET', KEYS[3], 2^53) return redis.call('GET', KEYS[3])`, "9007199254740992",
		""},
	"a fraction":         {`redis.call('SET', KEYS[3], 0.5) return redis.call('GET', KEYS[3])`, "0.5", ""},
	"a table is refused": {`return redis.call('SET', KEYS[3], {})`, nil, "must be strings or integers"},
	"nil is refused":     {`return redis.call('SET', KEYS[3], nil)`, nil, "must be strings or integers"},
	"false is refused":   {`return redis.call('SET', KEYS[3], false)`, nil, "must be strings or integers"},
	"no command":         {`return redis.call()`, nil, "at least one argument"},
	"wrong type": {`redis.call('SET', KEYS[3], 'v') return redis.call('HGET', KEYS[3], 'a')`, nil,
		string(errRedisType)},
	"wrong arity":     {`return redis.call('HGET', KEYS[1])`, nil, "rong number of arg"},
	"unknown command": {`return redis.call('NONSENSE', KEYS[1])`, nil, "nknown"},
	"many members at once": {`local t = {} for i = 1, 3900 do t[2*i-1] = i t[2*i] = 'm' .. i end
		return redis.call('ZADD', KEYS[2], unpack(t))`, int64(3900), ""},
	"too many to unpack": {`local t = {} for i = 1, 9000 do t[i] = i end return select('#', unpack(t))`, nil,
		"too many results"},
	"part of a table": {`return {unpack({1, 2, 3, 4}, 2, 3)}`, []any{int64(2), int64(3)}, ""},

	// the sandbox
	"reading an unknown global":  {`return lost`, nil, "nonexistent global variable 'lost'"},
	"setting a global":           {`found = 1`, nil, "readonly table"},
	"replacing a function":       {`tostring = 1`, nil, "readonly table"},
	"defining a global function": {`function f() end`, nil, "readonly table"},
	"changing a library":         {`string.match = 1`, nil, "readonly table"},
	"extending a library":        {`redis.extra = 1`, nil, "readonly table"},
	"a thrown string":            {`error('out of luck')`, nil, "out of luck"},
	"a thrown error table":       {`error({err = 'BUSY thrown'})`, nil, "BUSY thrown"},
	"a fault":                    {`return nil + 1`, nil, "nil"},
	"local functions": {
		`local function f(n) if n < 2 then return n end return f(n-1) + f(n-2) end return f(10)`, int64(55), ""},

	// Lua 5.1's numbers and strings
	"tostring of an integer": {`return tostring(1700000000000)`, "1700000000000", ""},
	"tostring rounds to 14 digits": {
		`return tostring(1e15) .. ' ' .. tostring(1/3) .. ' ' .. tostring(123456789012345)`,
		"1e+15 0.33333333333333 1.2345678901234e+14", ""},
	"tostring of the odd ones": {
		`return tostring(1/0) .. tostring(-1/0) .. tostring(-2.50) .. tostring(nil) .. tostring(true)`,
		"inf-inf-2.5niltrue", ""},
	"concatenation of integers":   {`return 1 .. ':' .. 1700000000000 .. ':' .. -5`, "1:1700000000000:-5", ""},
	"concatenation of a fraction": {`return 1.5 .. ''`, "1.5", ""},
	"table.concat":                {`return table.concat({1, 'a', 1700000000000}, ',')`, "1,a,1700000000000", ""},
	"table.concat of one number":  {`return table.concat({5})`, "5", ""},
	"table.concat of a part": {
		`return table.concat({1, 2, 3, 4}, '-', 2, 3) .. table.concat({}, ',') .. table.concat({1e15})`, "2-31e+15",
		""},
	"table.concat of a table": {`return table.concat({1, {}})`, nil, "invalid value"},
	"literals": {`return {010, 0x1F, 1e3, 5.9}`, []any{int64(10), int64(31), int64(1000), int64(5)},
		""},
	"tonumber reads": {
		`return {tonumber('12'), tonumber(' 12 '), tonumber('010'), tonumber('1e3'), tonumber('0x1F'), tonumber('-7'), tonumber(5),
		tonumber('2.50') * 2, tonumber('+3'), tonumber('1700000000000'), tonumber('77', 10)}`,
		[]any{int64(12), int64(12), int64(10), int64(1000), int64(31), int64(-7), int64(5), int64(5), int64(3),
			int64(1700000000000), int64(77)}, ""},
	"tonumber refuses": {`for _, s in ipairs({'', ' ', 'x', '1 2', '1_000', '12x', '0x', '0b1', '--1', '1e'}) do
		if tonumber(s) ~= nil then return s end end return tostring(tonumber(false))`, "nil", ""},
	"arithmetic on strings": {`return {'10' + 1, '010' + 1, 3 * '2', '7' % 4, '9' - '2', -'3', '8' / 2, 2 ^ '3'}`,
		[]any{int64(11), int64(11), int64(6), int64(3), int64(7), int64(-3), int64(4), int64(8)}, ""},
	"arithmetic on words":           {`return 'x' + 1`, nil, "arithmetic"},
	"modulo has the divisor's sign": {`return {-5 % 3, 5 % -3, 5 % 3}`, []any{int64(1), int64(-1), int64(2)}, ""},
	"format %d": {`return string.format('%d|%5d|%-5d|%05d|%i|%d|%d', 7, 7, 7, 7, 7, 3.99, '12')`,
		"7|    7|7    |00007|7|3|12", ""},
	"format %d of milliseconds": {`return string.format('%d %.0f', 1700000000000, 2^53)`,
		"1700000000000 9007199254740992", ""},
	"format of fractions": {
		`return string.format('%g|%.3g|%f|%.2f|%e|%.14g|%g|%g', 0.1, 1234.5, 1.5, 2.345, 12345.678, 1/3, 1e20, 100000)`,
		"0.1|1.23e+03|1.500000|2.35|1.234568e+04|0.33333333333333|1e+20|100000", ""},
	"format of strings":        {`return string.format('%s=%s %s%%', 'a', 1, 1e15)`, "a=1 1e+15%", ""},
	"format of bytes":          {`return string.format('%c%c %x %X %o', 72, 105, 255, 255, 8)`, "Hi ff FF 10", ""},
	"format without its value": {`return string.format('%d')`, nil, "#2"},
	"format of a wrong value":  {`return string.format('%d', 'x')`, nil, "number expected"},
	"match with captures": {`local a, b = string.match('o12:34,5', '^o(%d+):(.*)$') return {a, b}`,
		[]any{"12", "34,5"}, ""},
	"match of any byte": {`return {string.match('q|\0\n\255秒|', '^(%a)|(.*)$')}`,
		[]any{"q", "\x00\n\xff秒|"}, ""},
	"character classes are ASCII": {`local counts = {}
		for class in string.gmatch('adluspwxc', '.') do local n = 0
			for b = 1, 255 do if string.find(string.char(b), '%' .. class) then n = n + 1 end end counts[#counts+1] = class .. n end
		return table.concat(counts, ' ')`, "a52 d10 l26 u26 s6 p32 w62 x22 c32", ""},
	"gsub with a function": {
		`return string.gsub('o1:2,o2:3', '(o2):(%d+)', function(o, c) return o .. ':' .. (tonumber(c) + 1) end)`,
		"o1:2,o2:4", ""},
	"a class that excludes": {`return {string.match('a|b|c', '^([^|]*)|([^|]*)|(.*)$')}`, []any{"a", "b", "c"}, ""},
	"an empty capture":      {`return {string.match('a||c', '^(%w*)|(%w*)|(.*)$')}`, []any{"a", "", "c"}, ""},
	"gmatch": {`local t = {} for n in string.gmatch('1,22,333', '%d+') do t[#t+1] = n end return t`,
		[]any{"1", "22", "333"}, ""},
	"gsub": {`return {string.gsub('a.b.c', '%.', '-')}`, []any{"a-b-c", int64(2)}, ""},
	"methods of strings": {`return ('abc'):upper() .. ('x'):rep(3) .. ('hello'):sub(2, -2) .. #'abc'`,
		"ABCxxxell3", ""},
	"format as a method": {`return ('%d'):format(7)`, "7", ""},
	"find plain":         {`return {string.find('a.b', '.', 1, true)}`, []any{int64(2), int64(2)}, ""},
	"strings compare by bytes": {`return {'a' < 'b', 'B' < 'a', '10' < '9', 'a' < 'a'}`,
		[]any{int64(1), int64(1), int64(1), nil}, ""},
	"sort": {`local t = {3, 1, 2} table.sort(t, function(a, b) return a > b end) return t`,
		[]any{int64(3), int64(2), int64(1)}, ""},
	"table.remove and insert": {
		`local t = {1, 2, 3} table.remove(t, 1) table.insert(t, 9) table.insert(t, 1, 8) return t`,
		[]any{int64(8), int64(2), int64(3), int64(9)}, ""},
	"math": {
		`return {math.floor(-1.5), math.ceil(1.2), math.max(1, 5, 3), math.min(4, 2), math.abs(-3), math.fmod(7, 4)}`,
		[]any{int64(-2), int64(2), int64(5), int64(2), int64(3), int64(3)}, ""},
}

func TestRedisScripts(t *testing.T) {
	for name, c := range redisScriptCases {
		t.Run(name, func(t *testing.T) { checkRedisScript(t, c) })
	}
}

// Cases in which the embedded Redis refuses what a Redis server accepts, or whose result differs between servers.
func TestRedisIsStricter(t *testing.T) {
	cases := map[string]redisScriptCase{
		"setting a global in a function that is never called": {
			`local function f() local function g() KEYS = nil end end return 1`, nil,
			"case:1: Attempt to modify a readonly table (global 'KEYS')"},
		"a key that is not declared": {`return redis.call('GET', '{a}other')`, nil,
			"key '{a}other' of GET is not in the script's KEYS"},
		"the second key of RENAME": {
			`redis.call('SET', KEYS[3], 1) return redis.call('RENAME', KEYS[3], '{a}other')`, nil, "'{a}other'"},
		"any key of DEL": {`return redis.call('DEL', KEYS[1], '{a}other')`, nil,
			"'{a}other'"},
		"an unknown command by name": {`return redis.call('HSTRLEN', KEYS[1], 'a')`, nil,
			"unknown command 'HSTRLEN'"},
		"an unknown option by name": {`return redis.call('SET', KEYS[3], 1, 'EX', 5)`, nil,
			"'EX'"},
		"the metatable of strings": {`return getmetatable('')`, nil, "'getmetatable'"},
		"rawset":                   {`rawset(string, 'x', 1)`, nil, "'rawset'"},
		"setmetatable":             {`setmetatable({}, {})`, nil, "'setmetatable'"},
		"random":                   {`return math.random()`, nil, "call a non-function"},
		"loadstring":               {`return loadstring('return 1')()`, nil, "'loadstring'"},
		"dofile":                   {`return dofile('x')`, nil, "'dofile'"},
		"require":                  {`return require('x')`, nil, "'require'"},
		"io":                       {`return io`, nil, "'io'"},
		"os":                       {`return os.time()`, nil, "'os'"},
		"print":                    {`print(1)`, nil, "'print'"},
		"_G":                       {`return _G.x`, nil, "'_G'"},
		"cjson":                    {`return cjson.encode({})`, nil, "'cjson'"},
		"a format that is not known": {`return string.format('%q', 'a')`, nil,
			"invalid option '%q'"},
		"a width of %s": {`return string.format('%5s', 'a')`, nil,
			"invalid option '%5s'"},
		"a format cut short":         {`return string.format('%5')`, nil, "invalid option"},
		"tonumber with another base": {`return tonumber('ff', 16)`, nil, "base 10 only"},
		"an error inside an array": {`return {1, {err = 'BUSY inside'}}`, nil,
			"BUSY inside"},
		"a table inside itself": {`local t = {} t[1] = t return t`, nil,
			"reached lua stack limit"},
		"a thrown table that says nothing": {`error({})`, nil, "ERR unknown error"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { checkRedisScript(t, c) })
	}
}

// Known differences from the Lua in Redis, inside gopher-lua. Our scripts must not depend on either behaviour; if a
// new gopher-lua fixes one, this test fails.
func TestRedisLuaDiffersHere(t *testing.T) {
	for name, c := range map[string]redisScriptCase{
		"a joined number keeps all its digits; Lua: 1e+15": {`return 1e15 .. ''`, "1000000000000000", ""},
		"so does a joined fraction; Lua: 0.33333333333333": {`return 1/3 .. ''`, "0.3333333333333333", ""},
		"pairs gives names in the order of writing; Lua: any order": {
			`local s = '' for k in pairs({b = 1, a = 2, c = 3}) do s = s .. k end return s`, "bac", ""},
	} {
		t.Run(name, func(t *testing.T) { checkRedisScript(t, c) })
	}
}

func checkRedisScript(t *testing.T, c redisScriptCase) {
	t.Helper()
	r := NewRedis()
	got, err := r.Run(t.Context(), redisstock.NewScript("case", c.source), redisScriptKeys, redisScriptArgs)
	if c.fails != "" {
		var reply RedisError
		if !errors.As(err, &reply) || !strings.Contains(err.Error(), c.fails) {
			t.Fatalf("%s: got %v, %v; want a RedisError with %q", c.source, got, err, c.fails)
		}
		return
	}
	if err != nil {
		t.Fatalf("%s: %v", c.source, err)
	}
	if diff := cmp.Diff(c.want, got); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", c.source, diff)
	}
}

func TestRedisFormatsNumbersAsC(t *testing.T) {
	for _, c := range []struct {
		f                   float64
		fourteen, seventeen string
	}{
		{0, "0", "0"}, {math.Copysign(0, -1), "-0", "-0"}, {1, "1", "1"}, {-1.5, "-1.5", "-1.5"},
		{99999999999999, "99999999999999", "99999999999999"},
		{100000000000000, "1e+14", "100000000000000"},
		{123456789012345678, "1.2345678901235e+17", "1.2345678901234568e+17"},
		{1e17, "1e+17", "1e+17"}, {9007199254740993, "9.007199254741e+15", "9007199254740992"},
		{0.0001, "0.0001", "0.0001"}, {0.00001, "1e-05", "1.0000000000000001e-05"},
		{1e100, "1e+100", "1e+100"}, {math.Inf(1), "inf", "inf"}, {math.Inf(-1), "-inf", "-inf"},
		{math.NaN(), "nan", "nan"},
	} {
		if got := formatG(c.f, 14); got != c.fourteen {
			t.Errorf("%%.14g of %v: got %s, want %s", c.f, got, c.fourteen)
		}
		if got := formatG(c.f, 17); got != c.seventeen {
			t.Errorf("%%.17g of %v: got %s, want %s", c.f, got, c.seventeen)
		}
	}
}
