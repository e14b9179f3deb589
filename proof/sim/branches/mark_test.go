package branches

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/fake/memory"
)

// noLines ignores line numbers in a syntax tree, which a printed script changes.
var noLines = cmpopts.IgnoreTypes(ast.ExprBase{}, ast.StmtBase{}, ast.ConstExprBase{})

// reparse prints a parsed source, parses the output, and returns the difference of the two trees.
func reparse(t *testing.T, source string) string {
	t.Helper()
	before, err := parse.Parse(strings.NewReader(source), "before")
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	p := &printer{}
	p.block(before)
	if p.err != nil {
		t.Fatalf("%s: %v", source, p.err)
	}
	after, err := parse.Parse(strings.NewReader(p.out.String()), "after")
	if err != nil {
		t.Fatalf("%s\nprinted as\n%s\n%v", source, p.out.String(), err)
	}
	return cmp.Diff(before, after, noLines)
}

func TestPrint(t *testing.T) {
	plain, err := scripts()
	if err != nil {
		t.Fatal(err)
	}
	sources := []string{
		"return", "local a, b",
		"a.b['c d'][1].x:y(1, ...):z{1, 2; k = 3, ['end'] = 4, [5] = f()}",
		"function a.b.c(x, ...) return ..., (...), (f(x)) end function a.b:d() end",
		"local function f() return f end local g = function(...) end",
		"repeat local x = 1; if x then break end until x while true do break end do end",
		"if a then elseif b then c() else d() end for i = 1, 2 do end for i = 3, 1, -1 do end for k, v in pairs(t), " +
			"2 do end",
		`x = 'it\'s' .. "\0\1\255\n\\" .. [[long
string]] y = ("x"):rep(2) ;(f or g)(1) z = #t ^ - -2 ^ not not a`,
		"return a .. b .. c, (a .. b) .. c, a ^ b ^ c, (a ^ b) ^ c, a - b - c, a - (b - c), -a ^ b, (-a) ^ b, not (a " +
			"== b), not a == b",
	}
	for _, s := range plain {
		sources = append(sources, s.Source)
	}
	for _, source := range sources {
		if d := reparse(t, source); d != "" {
			t.Errorf("%s\nprinted and parsed again is another (-before +after):\n%s", source, d)
		}
	}
}

// randomExpr returns a random expression that uses all operators.
func randomExpr(r *rand.Rand, depth int) ast.Expr {
	one := func() ast.Expr { return randomExpr(r, depth-1) }
	if depth == 0 || r.IntN(8) == 0 {
		return []ast.Expr{&ast.IdentExpr{Value: "x"}, &ast.NumberExpr{Value: "7"}, &ast.NilExpr{},
			&ast.StringExpr{Value: "s"}}[r.IntN(4)]
	}
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	switch r.IntN(8) {
	case 0:
		return &ast.LogicalOpExpr{Operator: pick("and", "or"), Lhs: one(), Rhs: one()}
	case 1:
		return &ast.RelationalOpExpr{Operator: pick("<", ">", "<=", ">=", "==", "~="), Lhs: one(), Rhs: one()}
	case 2:
		return &ast.StringConcatOpExpr{Lhs: one(), Rhs: one()}
	case 3:
		return &ast.ArithmeticOpExpr{Operator: pick("+", "-", "*", "/", "%", "^"), Lhs: one(), Rhs: one()}
	case 4:
		return []ast.Expr{&ast.UnaryMinusOpExpr{Expr: one()}, &ast.UnaryNotOpExpr{Expr: one()},
			&ast.UnaryLenOpExpr{Expr: one()}}[r.IntN(3)]
	case 5:
		return &ast.FuncCallExpr{Func: one(), Args: []ast.Expr{one(), one()}}
	case 6:
		return &ast.AttrGetExpr{Object: one(), Key: one()}
	default:
		return &ast.TableExpr{Fields: []*ast.Field{{Key: one(), Value: one()}, {Value: one()}}}
	}
}

func TestPrintRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		before := randomExpr(r, 5)
		source := "return " + text(before)
		chunk, err := parse.Parse(strings.NewReader(source), "random")
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		if after := chunk[0].(*ast.ReturnStmt).Exprs[0]; !cmp.Equal(before, after, noLines) {
			t.Fatalf("%s parses to another (-printed +parsed):\n%s", source, cmp.Diff(before, after, noLines))
		}
	}
}

// TestMark checks that a marked script has the same answer, and that its trace has each condition's outcome.
func TestMark(t *testing.T) {
	for _, x := range []struct {
		source string
		want   any
		counts string // line, text and true/false of each condition
	}{
		{"return 1", int64(1), ""},
		{"return", nil, ""},
		{"return false", nil, ""},
		{"return {1, false, nil, 2}", []any{int64(1), nil}, ""},
		{"local function two() return 1, 2 end return {two(), two(), (two())}", []any{int64(1), int64(1), int64(1)},
			""},
		{"local function two() return nil, 2 end return {two() or 'none', 1 and two(), 5}", []any{"none"},
			"1 two() 0/1"},
		{"local s = 0 for i = 1, 3 do if i == 2 then s = s + i else s = s + 10 end end return s", int64(22),
			"1 for i = 1, 3 1/0, 1 i == 2 1/2"},
		{"for i = 1, 0 do return 5 end return 6", int64(6), "1 for i = 1, 0 0/1"},
		{"for i = 1, 9 do\nfor _, v in ipairs({}) do end\nif i > 1 then return i end end", int64(2),
			"1 for i = 1, 9 1/0, 2 for _, v in ipairs({}) 0/2, 3 i > 1 1/1"},
		{"local n = 0 while n < 3 do n = n + 1 if n == 2 then break end end return n", int64(2),
			"1 n < 3 2/0, 1 n == 2 1/1"},
		{"local n = 0 repeat n = n + 1 local last = n == 3 until last or n > 5 return n", int64(3),
			"1 last 1/2, 1 n > 5 0/2"},
		{
			"local function f(a, b) return a and b and 'both' or not (a or b) and 'none' or 'one' end return {f(1, " +
				"2), f(), f(nil, 1)}", []any{"both", "none", "one"},
			"1 a 1/2, 1 b 1/0, 1 a 0/2, 1 b 1/1"},
		{"if not (#KEYS > 0 or nil) then return 'no keys' end return 'keys'", "no keys", "1 #KEYS > 0 0/1"},
		{
			"local t = {x = false} local function g(k) return t[k] == nil and 'new' or t[k] end return {g('x') and 1 " +
				"or 2, g('y')}", []any{int64(2), "new"},
			"1 t[k] == nil 1/1, 1 g('x') 0/1"},
		{"if KEYS[1] then return 1 elseif ARGV[1] == 'a' then return 2 elseif true then return 3 end", int64(2),
			"1 KEYS[1] 0/1, 1 ARGV[1] == 'a' 1/0"},
	} {
		m := memory.NewRedis()
		ctx := context.Background()
		plain, err := m.Run(ctx, redisstock.NewScript("plain", x.source), nil, []string{"a"})
		if err != nil || !reflect.DeepEqual(plain, x.want) {
			t.Errorf("%s\nplain: %v, %v; want %v", x.source, plain, err, x.want)
			continue
		}
		text, sites, err := mark("snippet", x.source)
		if err != nil {
			t.Errorf("%s\n%v", x.source, err)
			continue
		}
		v, err := m.Run(ctx, redisstock.NewScript("marked", text), nil, []string{"a"})
		if err != nil {
			t.Errorf("%s\nmarked as\n%s\n%v", x.source, text, err)
			continue
		}
		s := &marked{script: redisstock.NewScript("marked", text)}
		for _, spot := range sites {
			s.sites = append(s.sites, &Branch{Line: spot.line, Text: spot.text})
		}
		v, err = (&Counter{}).take(s, v)
		if err != nil || !reflect.DeepEqual(v, x.want) {
			t.Errorf("%s\nmarked as\n%s\n%v, %v; want %v", x.source, text, v, err, x.want)
		}
		var counts []string
		for _, b := range s.sites {
			counts = append(counts, fmt.Sprintf("%d %s %d/%d", b.Line, b.Text, b.True, b.False))
		}
		if got := strings.Join(counts, ", "); got != x.counts {
			t.Errorf("%s\ncounted %q, want %q", x.source, got, x.counts)
		}
	}
}

func TestMarkRefuses(t *testing.T) {
	for source, want := range map[string]string{
		"local __ran = 1":  "uses names with __",
		"if":               "syntax error",
		"goto a ::a::":     "a *ast.GotoStmt",
		"return 1 return2": "syntax error",
	} {
		if _, _, err := mark("snippet", source); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", source, err, want)
		}
	}
}
