package branches

import (
	"fmt"
	"strings"

	"github.com/yuin/gopher-lua/ast"
)

// printer prints a syntax tree as Lua 5.1. Parsing its output yields the same tree.
type printer struct {
	out strings.Builder
	err error
}

func text(e ast.Expr) string {
	p := &printer{}
	p.expr(e)
	return p.out.String()
}

func (p *printer) put(parts ...string) {
	for _, s := range parts {
		p.out.WriteString(s)
	}
}

// block ends every statement with a semicolon; otherwise a bracket at the start of a line would continue the previous
// line.
func (p *printer) block(list []ast.Stmt) {
	for _, s := range list {
		p.stmt(s)
		p.put(";\n")
	}
}

func (p *printer) stmt(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		p.list(s.Lhs)
		p.put(" = ")
		p.list(s.Rhs)
	case *ast.LocalAssignStmt:
		p.local(s)
	case *ast.FuncCallStmt:
		p.expr(s.Expr)
	case *ast.DoBlockStmt:
		p.put("do\n")
		p.block(s.Stmts)
		p.put("end")
	case *ast.WhileStmt:
		p.put("while ")
		p.expr(s.Condition)
		p.put(" do\n")
		p.block(s.Stmts)
		p.put("end")
	case *ast.RepeatStmt:
		p.put("repeat\n")
		p.block(s.Stmts)
		p.put("until ")
		p.expr(s.Condition)
	case *ast.IfStmt:
		p.put("if ")
		p.expr(s.Condition)
		p.put(" then\n")
		p.block(s.Then)
		if len(s.Else) > 0 {
			p.put("else\n")
			p.block(s.Else)
		}
		p.put("end")
	case *ast.NumberForStmt:
		p.put("for ", s.Name, " = ")
		p.list([]ast.Expr{s.Init, s.Limit})
		if s.Step != nil {
			p.put(", ")
			p.expr(s.Step)
		}
		p.loop(s.Stmts)
	case *ast.GenericForStmt:
		p.put("for ", strings.Join(s.Names, ", "), " in ")
		p.list(s.Exprs)
		p.loop(s.Stmts)
	case *ast.FuncDefStmt:
		p.put("function ")
		if s.Name.Func != nil {
			p.expr(s.Name.Func)
		} else {
			p.expr(s.Name.Receiver)
			p.put(":", s.Name.Method)
		}
		p.function(s.Func)
	case *ast.ReturnStmt:
		p.put("return")
		if len(s.Exprs) > 0 {
			p.put(" ")
			p.list(s.Exprs)
		}
	case *ast.BreakStmt:
		p.put("break")
	default:
		p.err = fmt.Errorf("a %T", s)
	}
}

func (p *printer) loop(body []ast.Stmt) {
	p.put(" do\n")
	p.block(body)
	p.put("end")
}

// local prints a function in the form that knows its own name; the tree does not distinguish the forms.
func (p *printer) local(s *ast.LocalAssignStmt) {
	if len(s.Names) == 1 && len(s.Exprs) == 1 {
		if f, ok := s.Exprs[0].(*ast.FunctionExpr); ok {
			p.put("local function ", s.Names[0])
			p.function(f)
			return
		}
	}
	p.put("local ", strings.Join(s.Names, ", "))
	if len(s.Exprs) > 0 {
		p.put(" = ")
		p.list(s.Exprs)
	}
}

func (p *printer) function(f *ast.FunctionExpr) {
	names := f.ParList.Names
	if f.ParList.HasVargs {
		names = append(names[:len(names):len(names)], "...")
	}
	p.put("(", strings.Join(names, ", "), ")\n")
	p.block(f.Stmts)
	p.put("end")
}

func (p *printer) list(list []ast.Expr) {
	for i, e := range list {
		if i > 0 {
			p.put(", ")
		}
		p.expr(e)
	}
}

// Precedence of operators (Lua 5.1 manual, "Precedence"); everything else binds strongest.
const (
	bindsNot  = 7
	bindsMost = 9
)

var binds = map[string]int{"or": 1, "and": 2, "<": 3, ">": 3, "<=": 3, ">=": 3, "~=": 3, "==": 3, "..": 4, "+": 5,
	"-": 5, "*": 6, "/": 6,
	"%": 6, "^": 8}

// binary returns the parts of a binary operation; the operator is empty for other expressions.
func binary(e ast.Expr) (left ast.Expr, operator string, right ast.Expr) {
	switch e := e.(type) {
	case *ast.LogicalOpExpr:
		return e.Lhs, e.Operator, e.Rhs
	case *ast.RelationalOpExpr:
		return e.Lhs, e.Operator, e.Rhs
	case *ast.StringConcatOpExpr:
		return e.Lhs, "..", e.Rhs
	case *ast.ArithmeticOpExpr:
		return e.Lhs, e.Operator, e.Rhs
	}
	return nil, "", nil
}

// unary returns the parts of a unary operation.
func unary(e ast.Expr) (operator string, of ast.Expr) {
	switch e := e.(type) {
	case *ast.UnaryMinusOpExpr:
		return "-", e.Expr
	case *ast.UnaryNotOpExpr:
		return "not ", e.Expr
	case *ast.UnaryLenOpExpr:
		return "#", e.Expr
	}
	return "", nil
}

func strength(e ast.Expr) int {
	if _, operator, _ := binary(e); operator != "" {
		return binds[operator]
	}
	if operator, _ := unary(e); operator != "" {
		return bindsNot
	}
	return bindsMost
}

// operand prints an operand, in brackets unless its precedence is at least this high.
func (p *printer) operand(e ast.Expr, least int) {
	if strength(e) < least {
		p.put("(")
		defer p.put(")")
	}
	p.expr(e)
}

func (p *printer) expr(e ast.Expr) {
	if left, operator, right := binary(e); operator != "" {
		least := binds[operator]
		if operator == ".." || operator == "^" { // right associative
			p.operand(left, least+1)
			p.put(" ", operator, " ")
			p.operand(right, least)
			return
		}
		p.operand(left, least)
		p.put(" ", operator, " ")
		p.operand(right, least+1)
		return
	}
	if operator, of := unary(e); operator != "" {
		p.put(operator)
		p.operand(of, bindsNot+1) // - -x is not a comment
		return
	}
	switch e := e.(type) {
	case *ast.NilExpr:
		p.put("nil")
	case *ast.FalseExpr:
		p.put("false")
	case *ast.TrueExpr:
		p.put("true")
	case *ast.NumberExpr:
		p.put(e.Value)
	case *ast.StringExpr:
		p.put(quoted(e.Value))
	case *ast.Comma3Expr:
		p.one(e.AdjustRet, func() { p.put("...") })
	case *ast.IdentExpr:
		p.put(e.Value)
	case *ast.AttrGetExpr:
		p.prefix(e.Object)
		if key, ok := e.Key.(*ast.StringExpr); ok && isName(key.Value) {
			p.put(".", key.Value)
		} else {
			p.put("[")
			p.expr(e.Key)
			p.put("]")
		}
	case *ast.FuncCallExpr:
		p.one(e.AdjustRet, func() { p.call(e) })
	case *ast.FunctionExpr:
		p.put("function")
		p.function(e)
	case *ast.TableExpr:
		p.table(e)
	default:
		p.err = fmt.Errorf("a %T", e)
	}
}

// one prints brackets around a call where the script has them, which reduce its results to one.
func (p *printer) one(only bool, write func()) {
	if only {
		p.put("(")
		defer p.put(")")
	}
	write()
}

func (p *printer) call(e *ast.FuncCallExpr) {
	if e.Receiver != nil {
		p.prefix(e.Receiver)
		p.put(":", e.Method)
	} else {
		p.prefix(e.Func)
	}
	p.put("(")
	p.list(e.Args)
	p.put(")")
}

// prefix prints the callee of a call or the object of an index.
func (p *printer) prefix(e ast.Expr) {
	switch e.(type) {
	case *ast.IdentExpr, *ast.AttrGetExpr, *ast.FuncCallExpr:
		p.expr(e)
	default:
		p.put("(")
		p.expr(e)
		p.put(")")
	}
}

func (p *printer) table(e *ast.TableExpr) {
	p.put("{")
	for i, f := range e.Fields {
		if i > 0 {
			p.put(", ")
		}
		if f.Key != nil {
			if key, ok := f.Key.(*ast.StringExpr); ok && isName(key.Value) {
				p.put(key.Value)
			} else {
				p.put("[")
				p.expr(f.Key)
				p.put("]")
			}
			p.put(" = ")
		}
		p.expr(f.Value)
	}
	p.put("}")
}

// reserved lists the words that cannot be names (Lua 5.1 manual, "Lexical Conventions"; goto is from the embedded
// parser).
const reserved = " and break do else elseif end false for function goto if in local nil not or repeat return then " +
	"true until while "

func isName(s string) bool {
	for i, r := range s {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != "" && !strings.Contains(reserved, " "+s+" ")
}

func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, "\\%03d", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('\'')
	return b.String()
}
