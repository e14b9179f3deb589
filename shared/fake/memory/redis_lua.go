package memory

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// Limits of scripts.
const (
	redisStack    = 16 << 10 // initial stack, in Lua values of 16 bytes
	redisMaxStack = 64 << 10
	redisMaxDepth = 100 // largest nesting of a script's result; a table may contain itself
)

// redisLua is a reused Lua interpreter that imitates Redis's: the same harmless libraries, the same refusals. It is
// not safe for concurrent use.
type redisLua struct {
	state   *lua.LState
	globals *lua.LTable // globals of all scripts; compile keeps scripts from writing to it
	command redisCall

	keys []string // KEYS of the running script
	argv []string // arguments of the running command; reused
}

// redisCall runs a command of a script with these declared keys. It must not retain args.
type redisCall func(declared []string, name string, args []string) (redisReply, error)

// redisGlobals lists what scripts may use of Lua, by library; "" has the global functions. It has only what our scripts
// use, and omits the functions that redis_lualib.go replaces because gopher-lua's differ too much.
var redisGlobals = map[string][]string{
	"":       {"ipairs", "tostring"},
	"string": {"find", "gmatch", "gsub", "match"},
	"table":  {"sort"},
	"math":   {"abs", "max", "min"},
}

func newRedisLua(command redisCall) *redisLua {
	l := lua.NewState(lua.Options{SkipOpenLibs: true, RegistrySize: redisStack, RegistryMaxSize: redisMaxStack,
		RegistryGrowStep: redisStack})
	for _, open := range []lua.LGFunction{lua.OpenBase, lua.OpenString, lua.OpenTable, lua.OpenMath} {
		l.Push(l.NewFunction(open))
		l.Call(0, 0)
	}
	r := &redisLua{state: l, command: command, globals: l.NewTable()}
	added := map[string]map[string]lua.LGFunction{
		"":       {"tonumber": luaToNumber},
		"string": {"format": luaFormat},
		"table":  {"concat": luaConcat},
		"redis":  {"call": r.call},
	}
	for library, names := range redisGlobals {
		from, to := l.G.Global, r.globals
		if library != "" {
			from, to = l.GetGlobal(library).(*lua.LTable), l.NewTable()
			r.globals.RawSetString(library, luaReadonly(l, to))
		}
		for _, name := range names {
			to.RawSetString(name, from.RawGetString(name))
		}
		l.SetFuncs(to, added[library])
		if library == "string" {
			luaStringMetatable(l)
		}
	}
	r.globals.RawSetString("redis", luaReadonly(l, l.SetFuncs(l.NewTable(), added["redis"])))
	l.SetMetatable(r.globals, l.SetFuncs(l.NewTable(), map[string]lua.LGFunction{"__index": func(l *lua.LState) int {
		l.RaiseError("Script attempted to access nonexistent global variable '%s'", l.Get(2).String())
		return 0
	}}))
	return r
}

// luaReadonly wraps a table so that scripts can read but not change it.
func luaReadonly(l *lua.LState, table *lua.LTable) *lua.LTable {
	mt := l.SetFuncs(l.NewTable(), map[string]lua.LGFunction{"__newindex": func(l *lua.LState) int {
		l.RaiseError("Attempt to modify a readonly table (name '%s')", l.Get(2).String())
		return 0
	}})
	mt.RawSetString("__index", table)
	mt.RawSetString("__metatable", lua.LFalse)
	wrapper := l.NewTable()
	l.SetMetatable(wrapper, mt)
	return wrapper
}

// luaProtos caches compiled scripts, by name and source, for every Redis of the process: a simulation makes thousands
// of them, and compiling costs a hundred times as much as running. Nothing writes to a compiled script.
var luaProtos sync.Map

// compile compiles a script. It refuses a script that sets a global; Redis would run it up to that statement.
func (r *redisLua) compile(name, source string) (*lua.LFunction, error) {
	key := name + "\n" + source
	known, ok := luaProtos.Load(key)
	if !ok {
		chunk, err := parse.Parse(strings.NewReader(source), name)
		if err != nil {
			return nil, err
		}
		proto, err := lua.Compile(chunk, name)
		if err != nil {
			return nil, err
		}
		if err := luaSetsGlobal(proto); err != nil {
			return nil, err
		}
		// a script gets no arguments; this avoids a table "arg" of 3 kB for each run
		proto.IsVarArg &^= lua.VarArgNeedsArg
		known, _ = luaProtos.LoadOrStore(key, proto)
	}
	fn := r.state.NewFunctionFromProto(known.(*lua.FunctionProto))
	fn.Env = r.globals
	return fn, nil
}

// luaSetsGlobal looks for an instruction that sets a global. With this check at compile time every read stays a plain
// lookup; a metatable on the globals would cost the busiest scripts a tenth of their time.
func luaSetsGlobal(p *lua.FunctionProto) error {
	for i, instruction := range p.Code {
		if int(instruction>>26) == lua.OP_SETGLOBAL {
			name := p.Constants[instruction&(1<<18-1)]
			return fmt.Errorf("%s:%d: Attempt to modify a readonly table (global '%s')", p.SourceName,
				p.DbgSourcePositions[i], name)
		}
	}
	for _, inner := range p.FunctionPrototypes {
		if err := luaSetsGlobal(inner); err != nil {
			return err
		}
	}
	return nil
}

// run runs a compiled script; its error is a RedisError.
func (r *redisLua) run(fn *lua.LFunction, keys, args []string) (any, error) {
	l := r.state
	r.keys = keys
	r.globals.RawSetString("KEYS", luaStrings(l, keys))
	r.globals.RawSetString("ARGV", luaStrings(l, args))
	defer l.SetTop(0)
	l.Push(fn)
	if err := l.PCall(0, 1, nil); err != nil {
		return nil, redisScriptError(err)
	}
	return redisFromLua(l.Get(-1), 0)
}

// redisScriptError converts an error thrown by a script into an error reply.
func redisScriptError(err error) RedisError {
	var thrown *lua.ApiError
	if !errors.As(err, &thrown) {
		return RedisError("ERR " + err.Error())
	}
	if text, ok := luaErrorText(thrown.Object); ok {
		return RedisError(text)
	}
	switch v := thrown.Object.(type) {
	case lua.LString, lua.LNumber:
		return RedisError("ERR " + v.String())
	}
	return RedisError("ERR unknown error")
}

func luaStrings(l *lua.LState, list []string) *lua.LTable {
	t := l.CreateTable(len(list), 0)
	for _, s := range list {
		t.Append(lua.LString(s))
	}
	return t
}

// call is redis.call: a command's error ends the script.
func (r *redisLua) call(l *lua.LState) int {
	reply, err := r.do(l)
	if err != nil {
		l.Error(luaError(l, err), 0)
	}
	l.Push(redisToLua(l, reply))
	return 1
}

func (r *redisLua) do(l *lua.LState) (redisReply, error) {
	top := l.GetTop()
	if top == 0 {
		return redisReply{}, RedisError("ERR Please specify at least one argument for this redis lib call")
	}
	r.argv = r.argv[:0]
	for i := 1; i <= top; i++ {
		switch v := l.Get(i).(type) {
		case lua.LString:
			r.argv = append(r.argv, string(v))
		case lua.LNumber:
			r.argv = append(r.argv, redisNumber(float64(v)))
		default:
			return redisReply{}, RedisError("ERR Lua redis lib command arguments must be strings or integers")
		}
	}
	return r.command(r.keys, r.argv[0], r.argv[1:])
}

func luaError(l *lua.LState, err error) *lua.LTable { return luaField(l, "err", err.Error()) }

func luaField(l *lua.LState, name, value string) *lua.LTable {
	t := l.CreateTable(0, 1)
	t.RawSetString(name, lua.LString(value))
	return t
}

// redisToLua converts a command's reply (Redis manual, "Redis Lua API reference", "RESP2 to Lua type conversion").
func redisToLua(l *lua.LState, r redisReply) lua.LValue {
	switch r.kind {
	case redisInteger:
		return lua.LNumber(r.n)
	case redisBulk:
		return lua.LString(r.s)
	case redisStatus:
		return luaField(l, "ok", r.s)
	case redisArray:
		t := l.CreateTable(len(r.list), 0)
		for i := range r.list {
			t.Append(redisToLua(l, r.list[i]))
		}
		return t
	default:
		return lua.LFalse
	}
}

// redisFromLua converts a script's result (the same page, "Lua to RESP2 type conversion"). An error reply inside an
// array becomes the error of the whole result, because a Runner cannot represent it otherwise.
func redisFromLua(v lua.LValue, depth int) (any, error) {
	switch v := v.(type) {
	case lua.LString:
		return string(v), nil
	case lua.LNumber:
		return int64(v), nil
	case lua.LBool:
		if v {
			return int64(1), nil
		}
		return nil, nil
	case *lua.LTable:
		return redisFromTable(v, depth)
	default:
		return nil, nil
	}
}

func redisFromTable(t *lua.LTable, depth int) (any, error) {
	if depth == redisMaxDepth {
		return nil, RedisError("ERR reached lua stack limit")
	}
	if text, ok := luaErrorText(t); ok {
		return nil, RedisError(text)
	}
	if text, ok := t.RawGetString("ok").(lua.LString); ok {
		return string(text), nil
	}
	list := make([]any, 0, t.Len())
	for i := 1; ; i++ {
		e := t.RawGetInt(i)
		if e == lua.LNil {
			return list, nil
		}
		v, err := redisFromLua(e, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
}
