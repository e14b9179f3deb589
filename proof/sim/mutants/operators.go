package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strconv"
	"strings"
)

// goMutants lists what the operators can do to the functions of a Go file, in the order of the source. A name
// consists of file, function, operator and a count, so that it survives changes elsewhere.
//
// It leaves out what a simulator in one goroutine cannot notice: counting a metric, locking and unlocking.
func goMutants(file string, src []byte) ([]Mutant, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	v := &goVisitor{file: file, src: src, fset: fset}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && callable(fn) {
			v.fn, v.count = fn, map[string]int{}
			ast.Inspect(fn.Body, v.visit)
		}
	}
	return v.out, nil
}

type goVisitor struct {
	file  string
	src   []byte
	fset  *token.FileSet
	fn    *ast.FuncDecl
	count map[string]int // by operator, in this function
	out   []Mutant
}

func (v *goVisitor) offset(p token.Pos) int { return v.fset.Position(p).Offset }

func (v *goVisitor) text(n ast.Node) string {
	return string(v.src[v.offset(n.Pos()):v.offset(n.End())])
}

func (v *goVisitor) add(operator string, n ast.Node, text string) {
	v.addAt(operator, v.offset(n.Pos()), v.offset(n.End()), text)
}

func (v *goVisitor) addAt(operator string, from, to int, text string) {
	v.count[operator]++
	name := fmt.Sprintf("%s:%s:%s:%d", short(v.file), v.fn.Name.Name, operator, v.count[operator])
	v.out = append(v.out, drawnMutant(name, operator, v.file, v.src, from, to, text))
}

// drawnMutant describes a mutant by its line and its operator.
func drawnMutant(name, operator, file string, src []byte, from, to int, text string) Mutant {
	line := 1 + strings.Count(string(src[:from]), "\n")
	return Mutant{Name: name, File: file, From: from, To: to, New: text, Drawn: true,
		Breaks: fmt.Sprintf("line %d: %s in %s", line, strings.ReplaceAll(operator, "-", " "), brief(src, from, to))}
}

// brief returns the replaced source on one line, with some context if it is too short to recognise.
func brief(src []byte, from, to int) string {
	if to-from < 12 {
		from = strings.LastIndexByte(string(src[:from]), '\n') + 1
		if n := strings.IndexByte(string(src[to:]), '\n'); n >= 0 {
			to += n
		}
	}
	s := strings.Join(strings.Fields(string(src[from:to])), " ")
	if len(s) > 90 {
		s = strings.ToValidUTF8(s[:90], "") + "…"
	}
	return "`" + s + "`"
}

func short(file string) string {
	return path.Join(path.Base(path.Dir(file)), path.Base(file))
}

// boundary maps a comparison to the one that differs only for equal operands.
var boundary = map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}

var junction = map[token.Token]string{token.LAND: "||", token.LOR: "&&"}

func (v *goVisitor) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt:
		if swallows(n.Cond) {
			v.add("swallow-error", n.Cond, "false && "+v.text(n.Cond))
		} else {
			v.add("negate-condition", n.Cond, "!("+v.text(n.Cond)+")")
		}
	case *ast.SwitchStmt:
		if n.Tag == nil {
			for _, c := range n.Body.List {
				for _, cond := range c.(*ast.CaseClause).List {
					v.add("negate-condition", cond, "!("+v.text(cond)+")")
				}
			}
		}
	case *ast.BinaryExpr:
		from := v.offset(n.OpPos)
		if op, ok := boundary[n.Op]; ok {
			v.addAt("boundary", from, from+len(n.Op.String()), op)
		}
		if op, ok := junction[n.Op]; ok {
			v.add("junction", n, "("+v.text(n.X)+") "+op+" ("+v.text(n.Y)+")")
		}
	case *ast.ExprStmt:
		if call, ok := n.X.(*ast.CallExpr); ok {
			if !seen(call) {
				return false
			}
			v.add("drop-call", n, "")
		}
	case *ast.AssignStmt:
		if len(n.Lhs) == 1 && n.Tok == token.ASSIGN && blank(n.Lhs[0]) {
			if _, ok := n.Rhs[0].(*ast.CallExpr); ok {
				v.add("drop-call", n, "")
			}
		}
	case *ast.ReturnStmt:
		if len(n.Results) > 0 {
			if last := n.Results[len(n.Results)-1]; isIdent(last, "err") {
				v.add("return-no-error", last, "nil")
			}
		}
	case *ast.CallExpr:
		if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "min" || id.Name == "max") {
			v.add("swap-min-max", id, map[string]string{"min": "max", "max": "min"}[id.Name])
		}
	case *ast.BasicLit:
		if n.Kind == token.INT {
			if i, err := strconv.Atoi(n.Value); err == nil {
				v.add("off-by-one", n, strconv.Itoa(i+1))
			}
		}
	}
	return true
}

// swallows reports whether the condition is err != nil.
func swallows(cond ast.Expr) bool {
	b, ok := cond.(*ast.BinaryExpr)
	return ok && b.Op == token.NEQ && isIdent(b.X, "err") && isIdent(b.Y, "nil")
}

func isIdent(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

func blank(e ast.Expr) bool { return isIdent(e, "_") }

// seen reports whether a simulator can notice that the call is missing.
func seen(call *ast.CallExpr) bool {
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return true
	}
	switch s.Sel.Name {
	case "Count", "Lock", "Unlock", "RLock", "RUnlock":
		return false
	}
	return true
}

// callable reports whether a copy of the function can be called instead: all its parameters have names.
func callable(fn *ast.FuncDecl) bool {
	fields := fn.Type.Params.List
	if fn.Recv != nil {
		fields = append(fields[:len(fields):len(fields)], fn.Recv.List...)
	}
	for _, f := range fields {
		if len(f.Names) == 0 {
			return false
		}
		for _, n := range f.Names {
			if n.Name == "_" {
				return false
			}
		}
	}
	return fn.Name.Name != "init"
}
