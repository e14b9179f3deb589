package memory

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// This file has the library functions in which gopher-lua differs from the Lua 5.1 in Redis in ways that scripts
// notice: in gopher-lua tonumber("1e3") is nil, "010"+1 is 9, tostring(1e15) has no exponent, table.concat({5}) is a
// number, and %g and %s are Go's.
//
// Two differences remain, because they are inside gopher-lua's virtual machine: a number joined with .. has all its
// digits (Lua writes 14: scripts join only integers below 1e14, or use tostring), and pairs has a fixed order.

// luaMaxUnpack is the largest number of values that unpack returns (LUAI_MAXCSTACK of Redis's Lua).
const luaMaxUnpack = 8000

// luaDigits is the number of digits in Lua's number format (LUAI_NUMFFORMAT, "%.14g").
const luaDigits = 14

const luaSpaces = " \t\n\v\f\r"

// luaParseNumber parses a number as Lua 5.1 does: decimal with surrounding blanks, or a hexadecimal integer.
func luaParseNumber(s string) (float64, bool) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n != 0 { // the usual case; excludes "-0", which is not 0
		return float64(n), true
	}
	s = strings.Trim(s, luaSpaces)
	sign, digits := 1.0, strings.ToLower(s)
	if strings.HasPrefix(digits, "-") {
		sign, digits = -1, digits[1:]
	}
	if hex, ok := strings.CutPrefix(digits, "0x"); ok {
		n, err := strconv.ParseUint(hex, 16, 64)
		return sign * float64(n), err == nil
	}
	if strings.ContainsAny(digits, "x_") { // notations that only Go accepts
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil || errors.Is(err, strconv.ErrRange) // out of range is an infinity in C
}

func luaToNumber(l *lua.LState) int {
	if l.GetTop() > 1 && l.CheckInt(2) != 10 {
		l.ArgError(2, "the embedded tonumber knows base 10 only")
	}
	switch v := l.CheckAny(1).(type) {
	case lua.LNumber:
		l.Push(v)
		return 1
	case lua.LString:
		if f, ok := luaParseNumber(string(v)); ok {
			l.Push(lua.LNumber(f))
			return 1
		}
	}
	l.Push(lua.LNil)
	return 1
}

func luaToString(l *lua.LState) int {
	v := l.CheckAny(1)
	if n, ok := v.(lua.LNumber); ok {
		v = lua.LString(formatG(float64(n), luaDigits))
	}
	l.Push(l.ToStringMeta(v))
	return 1
}

func luaConcat(l *lua.LState) int {
	t := l.CheckTable(1)
	separator := l.OptString(2, "")
	from := l.OptInt(3, 1)
	to := l.OptInt(4, t.Len())
	var out strings.Builder
	for i := from; i <= to; i++ {
		switch v := t.RawGetInt(i).(type) {
		case lua.LString:
			out.WriteString(string(v))
		case lua.LNumber:
			out.WriteString(formatG(float64(v), luaDigits))
		default:
			l.RaiseError("invalid value (at index %d) in table for 'concat'", i)
		}
		if i < to {
			out.WriteString(separator)
		}
	}
	l.Push(lua.LString(out.String()))
	return 1
}

// luaPCall is Lua's pcall as in Redis 7: it returns a caught error table, such as redis.call throws, as its text.
func luaPCall(l *lua.LState) int {
	l.CheckAny(1)
	err := l.PCall(l.GetTop()-1, lua.MultRet, nil)
	if err == nil {
		l.Insert(lua.LTrue, 1)
		return l.GetTop()
	}
	l.Push(lua.LFalse)
	var thrown *lua.ApiError
	if !errors.As(err, &thrown) {
		l.Push(lua.LString(err.Error()))
	} else if text, ok := luaErrorText(thrown.Object); ok {
		l.Push(text)
	} else {
		l.Push(thrown.Object)
	}
	return 2
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

func luaUnpack(l *lua.LState) int {
	t := l.CheckTable(1)
	from := l.OptInt(2, 1)
	to := l.OptInt(3, t.Len())
	if from > to {
		return 0
	}
	if to-from >= luaMaxUnpack-l.GetTop() {
		l.RaiseError("too many results to unpack")
	}
	for i := from; i <= to; i++ {
		l.Push(t.RawGetInt(i))
	}
	return to - from + 1
}

// luaStringMetatable makes "2"*3 parse its strings with luaParseNumber and ("x"):upper() find the library, and hides
// the metatable from scripts.
func luaStringMetatable(l *lua.LState, library *lua.LTable) {
	mt := l.GetMetatable(lua.LString("")).(*lua.LTable)
	operations := map[string]func(a, b float64) float64{
		"__add": func(a, b float64) float64 { return a + b },
		"__sub": func(a, b float64) float64 { return a - b },
		"__mul": func(a, b float64) float64 { return a * b },
		"__div": func(a, b float64) float64 { return a / b },
		"__mod": func(a, b float64) float64 { return a - math.Floor(a/b)*b },
		"__pow": math.Pow,
	}
	for event, operation := range operations {
		mt.RawSetString(event, l.NewFunction(func(l *lua.LState) int {
			l.Push(lua.LNumber(operation(luaOperand(l, 1), luaOperand(l, 2))))
			return 1
		}))
	}
	mt.RawSetString("__unm", l.NewFunction(func(l *lua.LState) int {
		l.Push(lua.LNumber(-luaOperand(l, 1)))
		return 1
	}))
	mt.RawSetString("__index", library)
	mt.RawSetString("__metatable", lua.LFalse)
}

func luaOperand(l *lua.LState, i int) float64 {
	switch v := l.Get(i).(type) {
	case lua.LNumber:
		return float64(v)
	case lua.LString:
		if f, ok := luaParseNumber(string(v)); ok {
			return f
		}
	}
	l.RaiseError("attempt to perform arithmetic on a %s value", l.Get(i).Type().String())
	return 0
}

// luaFormat is string.format with Lua 5.1's meaning of %d %i %u %x %X %o %e %E %f %g %G %c %s %%, with widths,
// precisions and flags for numbers only. %q and flags of %s are errors.
func luaFormat(l *lua.LState) int {
	format := l.CheckString(1)
	var out strings.Builder
	for arg := 2; ; arg++ {
		text, rest, found := strings.Cut(format, "%")
		out.WriteString(text)
		if !found {
			break
		}
		if strings.HasPrefix(rest, "%") {
			out.WriteByte('%')
			format = rest[1:]
			arg--
			continue
		}
		flags := len(rest) - len(strings.TrimLeft(rest, "+- 0123456789."))
		if flags == len(rest) {
			l.RaiseError("invalid option '%%%s' to 'format'", rest)
		}
		out.WriteString(luaFormatOne(l, arg, rest[:flags], rest[flags]))
		format = rest[flags+1:]
	}
	l.Push(lua.LString(out.String()))
	return 1
}

func luaFormatOne(l *lua.LState, arg int, flags string, verb byte) string {
	if arg > l.GetTop() {
		l.ArgError(arg, "no value")
	}
	switch verb {
	case 'd', 'i':
		return fmt.Sprintf("%"+flags+"d", int64(luaFormatNumber(l, arg)))
	case 'u':
		return fmt.Sprintf("%"+flags+"d", uint64(int64(luaFormatNumber(l, arg))))
	case 'x', 'X', 'o':
		return fmt.Sprintf("%"+flags+string(verb), uint64(int64(luaFormatNumber(l, arg))))
	case 'e', 'E', 'f', 'g', 'G':
		f := luaFormatNumber(l, arg)
		if math.IsInf(f, 0) || math.IsNaN(f) {
			return formatG(f, luaDigits)
		}
		if !strings.Contains(flags, ".") {
			flags += ".6" // C's default; Go's default is the shortest form
		}
		return fmt.Sprintf("%"+flags+string(verb), f)
	case 'c':
		if flags == "" {
			return string([]byte{byte(int64(luaFormatNumber(l, arg)))})
		}
	case 's':
		if flags == "" {
			return luaFormatString(l, arg)
		}
	}
	l.RaiseError("invalid option '%%%s%c' to 'format'", flags, verb)
	return ""
}

func luaFormatNumber(l *lua.LState, arg int) float64 {
	switch v := l.Get(arg).(type) {
	case lua.LNumber:
		return float64(v)
	case lua.LString:
		if f, ok := luaParseNumber(string(v)); ok {
			return f
		}
	}
	l.TypeError(arg, lua.LTNumber)
	return 0
}

func luaFormatString(l *lua.LState, arg int) string {
	switch v := l.Get(arg).(type) {
	case lua.LNumber:
		return formatG(float64(v), luaDigits)
	case lua.LString:
		return string(v)
	}
	l.TypeError(arg, lua.LTString)
	return ""
}
