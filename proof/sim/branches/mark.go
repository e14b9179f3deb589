package branches

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// site is the position of a condition in the script's text.
type site struct {
	line int
	text string
}

// Names that a marked script has in addition to its own.
const (
	nameTrace = "__trace" // list of outcomes: n if the nth condition was true, -n if false
	nameMark  = "__mark"  // function(n, value): records and returns the value
	nameRan   = "__ran"   // whether the body of the surrounding for has run
	nameReply = "__reply"
)

// mark rewrites a script so that it answers {trace, original answer}.
func mark(name, source string) (string, []site, error) {
	if strings.Contains(source, "__") {
		return "", nil, errors.New("uses names with __, which belong to the marks")
	}
	chunk, err := parse.Parse(strings.NewReader(source), name)
	if err != nil {
		return "", nil, err
	}
	m := &marker{}
	p := &printer{}
	p.block(m.block(chunk))
	if err := errors.Join(m.err, p.err); err != nil {
		return "", nil, err
	}
	text := fmt.Sprintf("local %[1]s = {}\n"+
		"local function %[2]s(n, v)\n%[1]s[#%[1]s + 1] = v and n or -n;\nreturn v;\nend;\n"+
		"local %[3]s = (function()\n%[4]send)();\n"+
		"return {%[1]s, %[3]s};\n", nameTrace, nameMark, nameReply, p.out.String())
	return text, m.sites, nil
}

// marker walks a script and wraps each condition in a mark. A mark returns its value unchanged, and exactly one
// value, which is all that and, or and a statement use.
type marker struct {
	sites []site
	err   error
}

// note adds a site and returns its number.
func (m *marker) note(line int, text string) int {
	m.sites = append(m.sites, site{line, text})
	return len(m.sites)
}

func marking(n int, v ast.Expr) ast.Expr {
	return &ast.FuncCallExpr{Func: &ast.IdentExpr{Value: nameMark},
		Args: []ast.Expr{&ast.NumberExpr{Value: strconv.Itoa(n)}, v}}
}

func (m *marker) block(list []ast.Stmt) []ast.Stmt {
	out := make([]ast.Stmt, len(list))
	for i, s := range list {
		out[i] = m.stmt(s)
	}
	return out
}

func (m *marker) stmt(s ast.Stmt) ast.Stmt {
	switch s := s.(type) {
	case *ast.AssignStmt:
		m.exprs(s.Lhs)
		m.exprs(s.Rhs)
	case *ast.LocalAssignStmt:
		m.exprs(s.Exprs)
	case *ast.FuncCallStmt:
		s.Expr = m.expr(s.Expr)
	case *ast.DoBlockStmt:
		s.Stmts = m.block(s.Stmts)
	case *ast.WhileStmt:
		s.Condition = m.cond(s.Condition)
		s.Stmts = m.block(s.Stmts)
	case *ast.RepeatStmt:
		s.Stmts = m.block(s.Stmts)
		s.Condition = m.cond(s.Condition)
	case *ast.IfStmt:
		s.Condition = m.cond(s.Condition)
		s.Then = m.block(s.Then)
		s.Else = m.block(s.Else)
	case *ast.NumberForStmt:
		n := m.note(s.Line(), firstLine(s))
		s.Init, s.Limit = m.expr(s.Init), m.expr(s.Limit)
		if s.Step != nil {
			s.Step = m.expr(s.Step)
		}
		return ran(n, s, &s.Stmts, m.block(s.Stmts))
	case *ast.GenericForStmt:
		n := m.note(s.Line(), firstLine(s))
		m.exprs(s.Exprs)
		return ran(n, s, &s.Stmts, m.block(s.Stmts))
	case *ast.FuncDefStmt:
		s.Func.Stmts = m.block(s.Func.Stmts)
	case *ast.ReturnStmt:
		m.exprs(s.Exprs)
	case *ast.BreakStmt:
	default:
		m.err = errors.Join(m.err, fmt.Errorf("line %d: a %T", s.Line(), s))
	}
	return s
}

// ran records that a for's body runs, at its first iteration, and after the loop that it did not.
func ran(n int, loop ast.Stmt, body *[]ast.Stmt, marked []ast.Stmt) ast.Stmt {
	name := func() ast.Expr { return &ast.IdentExpr{Value: nameRan} }
	note := func(v ast.Expr) ast.Stmt {
		return &ast.AssignStmt{Lhs: []ast.Expr{name()}, Rhs: []ast.Expr{&ast.LogicalOpExpr{Operator: "or", Lhs: name(),
			Rhs: marking(n, v)}}}
	}
	*body = append([]ast.Stmt{note(&ast.TrueExpr{})}, marked...)
	return &ast.DoBlockStmt{Stmts: []ast.Stmt{&ast.LocalAssignStmt{Names: []string{nameRan}}, loop,
		note(&ast.FalseExpr{})}}
}

// firstLine returns the first line of a for statement.
func firstLine(s ast.Stmt) string {
	p := &printer{}
	p.stmt(s)
	line, _, _ := strings.Cut(p.out.String(), "\n")
	return strings.TrimSuffix(line, " do")
}

func (m *marker) exprs(list []ast.Expr) {
	for i, e := range list {
		list[i] = m.expr(e)
	}
}

// expr marks the conditions inside an expression that is used for its value.
func (m *marker) expr(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.LogicalOpExpr:
		e.Lhs, e.Rhs = m.cond(e.Lhs), m.expr(e.Rhs)
	case *ast.AttrGetExpr:
		e.Object, e.Key = m.expr(e.Object), m.expr(e.Key)
	case *ast.TableExpr:
		for _, f := range e.Fields {
			if f.Key != nil {
				f.Key = m.expr(f.Key)
			}
			f.Value = m.expr(f.Value)
		}
	case *ast.FuncCallExpr:
		if e.Receiver != nil {
			e.Receiver = m.expr(e.Receiver)
		} else {
			e.Func = m.expr(e.Func)
		}
		m.exprs(e.Args)
	case *ast.RelationalOpExpr:
		e.Lhs, e.Rhs = m.expr(e.Lhs), m.expr(e.Rhs)
	case *ast.StringConcatOpExpr:
		e.Lhs, e.Rhs = m.expr(e.Lhs), m.expr(e.Rhs)
	case *ast.ArithmeticOpExpr:
		e.Lhs, e.Rhs = m.expr(e.Lhs), m.expr(e.Rhs)
	case *ast.UnaryMinusOpExpr:
		e.Expr = m.expr(e.Expr)
	case *ast.UnaryNotOpExpr:
		e.Expr = m.expr(e.Expr)
	case *ast.UnaryLenOpExpr:
		e.Expr = m.expr(e.Expr)
	case *ast.FunctionExpr:
		e.Stmts = m.block(e.Stmts)
	}
	return e
}

// cond marks an expression whose truth decides what happens next: the expression, or its parts if it consists of and,
// or, not. Both outcomes of every part imply both outcomes of the whole.
func (m *marker) cond(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.LogicalOpExpr:
		e.Lhs, e.Rhs = m.cond(e.Lhs), m.cond(e.Rhs)
		return e
	case *ast.UnaryNotOpExpr:
		if _, ok := e.Expr.(*ast.LogicalOpExpr); ok {
			e.Expr = m.cond(e.Expr)
			return e
		}
	case *ast.NilExpr, *ast.FalseExpr, *ast.TrueExpr, *ast.NumberExpr, *ast.StringExpr, *ast.TableExpr,
		*ast.FunctionExpr,
		*ast.StringConcatOpExpr, *ast.ArithmeticOpExpr, *ast.UnaryMinusOpExpr, *ast.UnaryLenOpExpr:
		return m.expr(e) // constant: everything except nil and false is true in Lua
	}
	n := m.note(e.Line(), text(e))
	return marking(n, m.expr(e))
}
