package memory

import (
	"fmt"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// This file has the library functions in which gopher-lua differs from the Lua 5.1 in Redis in ways that scripts
// notice: in gopher-lua tonumber("1e3") is nil, "010"+1 is 9, table.concat({5}) is a number, and %f is Go's. They know
// only what scripts use: whole numbers in strings, no arithmetic on strings, the format %.0f.
//
// One difference remains, because it is inside gopher-lua's virtual machine: a number joined with .. has all its
// digits. Lua writes 14; scripts join only integers below 1e14.

// luaToNumber is tonumber of a number, a whole number in decimal digits, or of what Redis gives for nothing.
func luaToNumber(l *lua.LState) int {
	v := l.CheckAny(1)
	if s, ok := v.(lua.LString); ok && s != "" {
		n, err := strconv.ParseInt(string(s), 10, 64)
		if err != nil || l.GetTop() > 1 {
			l.ArgError(1, fmt.Sprintf("the embedded tonumber knows whole numbers only, not '%s'", s))
		}
		v = lua.LNumber(n)
	}
	if v.Type() != lua.LTNumber {
		v = lua.LNil
	}
	l.Push(v)
	return 1
}

func luaConcat(l *lua.LState) int {
	t := l.CheckTable(1)
	list := make([]string, t.Len())
	for i := range list {
		switch v := t.RawGetInt(i + 1).(type) {
		case lua.LString, lua.LNumber:
			list[i] = v.String()
		default:
			l.RaiseError("invalid value (at index %d) in table for 'concat'", i+1)
		}
	}
	l.Push(lua.LString(strings.Join(list, l.CheckString(2))))
	return 1
}

// luaErrorText returns the text of an error table.
func luaErrorText(v lua.LValue) (lua.LString, bool) {
	t, ok := v.(*lua.LTable)
	if !ok {
		return "", false
	}
	text, ok := t.RawGetString("err").(lua.LString)
	return text, ok
}

// luaStringMetatable refuses "2"*3 and ("x"):upper().
func luaStringMetatable(l *lua.LState) {
	mt := l.GetMetatable(lua.LString("")).(*lua.LTable)
	for _, event := range []string{"__add", "__sub", "__mul", "__div", "__mod", "__pow", "__unm", "__index"} {
		mt.RawSetString(event, l.NewFunction(func(l *lua.LState) int {
			l.RaiseError("attempt to use a string as a number or an object")
			return 0
		}))
	}
}

func luaFormat(l *lua.LState) int {
	const whole = "%.0f"
	if l.CheckString(1) != whole {
		l.RaiseError("the embedded string.format knows %s only", whole)
	}
	l.Push(lua.LString(fmt.Sprintf(whole, float64(l.CheckNumber(2)))))
	return 1
}
