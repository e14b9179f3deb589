package main

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
)

// luaToken is a name, keyword, number, string or operator of a script.
type luaToken struct {
	text     string
	from, to int
	newline  bool // the first token of its line
}

func (t luaToken) name() bool { return luaName.MatchString(t.text) && !luaKeyword[t.text] }

var (
	luaName = regexp.MustCompile(`^[A-Za-z_]\w*$`)
	// In this order: space, comment, string, number, name, operators longest first.
	luaLexeme = regexp.MustCompile(
		`^(?:(\s+)|(--[^\n]*)|('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")|(\d+(?:\.\d+)?)|([A-Za-z_]\w*)|(\.\.\.|\.\.|==|~=|<=|>=|[-+*/%^#<>=(){}\[\];:,.]))`)
	luaKeyword = map[string]bool{}
)

func init() {
	for _, k := range []string{"and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in",
		"local", "nil", "not", "or",
		"repeat", "return", "then", "true", "until", "while"} {
		luaKeyword[k] = true
	}
}

// luaTokens tokenizes a script. Long strings and long comments, which our scripts do not have, are errors.
func luaTokens(src []byte) ([]luaToken, error) {
	var out []luaToken
	newline := true
	for at := 0; at < len(src); {
		m := luaLexeme.FindSubmatchIndex(src[at:])
		if m == nil {
			return nil, fmt.Errorf("byte %d: not a token: %.20q", at, src[at:])
		}
		from, to := at, at+m[1]
		switch {
		case m[2] >= 0: // space
			for _, c := range src[from:to] {
				newline = newline || c == '\n'
			}
		case m[4] >= 0: // comment
		default:
			out = append(out, luaToken{string(src[from:to]), from, to, newline})
			newline = false
		}
		at = to
	}
	return out, nil
}

// luaMutants lists what the operators can do to a script, in the order of the source. A name consists of file,
// operator and a count. Numbers in brackets (ARGV[3]) are left alone: another index breaks every call.
func luaMutants(file string, src []byte) ([]Mutant, error) {
	tokens, err := luaTokens(src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	v := &luaVisitor{file: file, src: src, tokens: tokens, count: map[string]int{}}
	for i := range tokens {
		v.visit(i)
	}
	return v.out, nil
}

type luaVisitor struct {
	file   string
	src    []byte
	tokens []luaToken
	count  map[string]int
	out    []Mutant
	alone  int // the token that ends a condition with a single comparison
}

func (v *luaVisitor) add(operator string, from, to int, text string) {
	v.count[operator]++
	name := fmt.Sprintf("%s:%s:%d", path.Base(v.file), operator, v.count[operator])
	v.out = append(v.out, drawnMutant(name, operator, v.file, v.src, from, to, text))
}

func (v *luaVisitor) replace(operator string, i int, text string) {
	v.add(operator, v.tokens[i].from, v.tokens[i].to, text)
}

var luaSwap = map[string][2]string{
	"<": {"boundary", "<="}, "<=": {"boundary", "<"}, ">": {"boundary", ">="}, ">=": {"boundary", ">"},
	"==": {"equality", "~="}, "~=": {"equality", "=="}, "and": {"junction", "or"}, "or": {"junction", "and"},
}

func (v *luaVisitor) visit(i int) {
	t := v.tokens[i]
	switch swap, ok := luaSwap[t.text]; {
	case t.text == "if" || t.text == "elseif":
		v.condition(i)
	case ok && (swap[0] != "equality" || i > v.alone): // a single comparison would just be its condition negated
		v.replace(swap[0], i, swap[1])
	case t.text == "min" && v.at(i-2) == "math":
		v.replace("swap-min-max", i, "max")
	case t.text == "max" && v.at(i-2) == "math":
		v.replace("swap-min-max", i, "min")
	case v.statementCall(i):
		v.add("drop-call", t.from, v.tokens[v.closing(i)].to, "")
	default:
		if n, err := strconv.Atoi(t.text); err == nil && v.at(i-1) != "[" {
			v.replace("off-by-one", i, strconv.Itoa(n+1))
		}
	}
}

func (v *luaVisitor) at(i int) string {
	if i < 0 || i >= len(v.tokens) {
		return ""
	}
	return v.tokens[i].text
}

func (v *luaVisitor) condition(i int) {
	end, joined := i, false
	for v.at(end) != "then" {
		end++
		joined = joined || v.at(end) == "and" || v.at(end) == "or"
	}
	from, to := v.tokens[i+1].from, v.tokens[end-1].to
	v.add("negate-condition", from, to, "not ("+string(v.src[from:to])+")")
	if !joined {
		v.alone = end
	}
}

// statementCall reports whether a call is a statement whose result is unused.
func (v *luaVisitor) statementCall(i int) bool {
	if !v.tokens[i].newline || !v.tokens[i].name() {
		return false
	}
	switch p := v.at(i - 1); p {
	case "", "then", "do", "else", "end", ")", "}", "]":
	default:
		if luaKeyword[p] || !luaName.MatchString(p) && !luaString(p) && !luaNumber(p) {
			return false // continues the previous line
		}
	}
	return v.closing(i) > i
}

func luaString(s string) bool { return s[0] == '\'' || s[0] == '"' }

func luaNumber(s string) bool { return s[0] >= '0' && s[0] <= '9' }

// closing returns the token that ends the call beginning here, or 0 if none does.
func (v *luaVisitor) closing(i int) int {
	for v.at(i+1) == "." {
		i += 2
	}
	if v.at(i+1) != "(" {
		return 0
	}
	for depth := 0; i < len(v.tokens); i++ {
		switch v.at(i) {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return 0
}
