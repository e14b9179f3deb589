//go:build sam

package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/your-org/seckill/shared/seckill"
)

// source reads the flows with the type checker, to find which methods of which ports a step can reach. Of the flows'
// imports only package seckill matters; every other package is empty, and errors about it are ignored.
type source struct {
	root     string
	files    *token.FileSet
	packages map[string]*types.Package
	info     *types.Info
	bodies   map[*types.Func]*ast.FuncDecl
}

const (
	nounsPath = "github.com/your-org/seckill/shared/seckill"
	flowPath  = "github.com/your-org/seckill/shared/flow/"
)

// ports are the interfaces of package seckill whose calls leave the process for AWS. Flows call them through the
// smaller interfaces that these embed.
var ports = []string{"Ledger", "Items", "Queue", "Bus", "Connections", "Wire", "StaffSessions"}

// port returns the port among ports that an interface of package seckill is, or is embedded in, or "".
func (s *source) port(name string) string {
	for _, port := range ports {
		if name == port {
			return port
		}
		if embeds(s.packages[nounsPath].Scope().Lookup(port).Type(), name) {
			return port
		}
	}
	return ""
}

// embeds reports whether an interface embeds another interface, directly or through others.
func embeds(whole types.Type, name string) bool {
	for part := range whole.Underlying().(*types.Interface).EmbeddedTypes() {
		if named, ok := part.(*types.Named); ok && (named.Obj().Name() == name || embeds(named, name)) {
			return true
		}
	}
	return false
}

func newSource(root string) *source {
	return &source{root, token.NewFileSet(), map[string]*types.Package{},
		&types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}},
		map[*types.Func]*ast.FuncDecl{}}
}

// Import implements types.Importer.
func (s *source) Import(path string) (*types.Package, error) {
	if p, ok := s.packages[path]; ok {
		return p, nil
	}
	if path != nounsPath && !strings.HasPrefix(path, flowPath) {
		p := types.NewPackage(path, path[strings.LastIndexByte(path, '/')+1:])
		p.MarkComplete()
		s.packages[path] = p
		return p, nil
	}
	files, err := s.parse(strings.TrimPrefix(path, "github.com/your-org/seckill/"))
	if err != nil {
		return nil, err
	}
	config := types.Config{Importer: s, Error: func(error) {}}
	p, _ := config.Check(path, s.files, files, s.info) // errors are about what is left out
	s.packages[path] = p
	for _, f := range files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				if obj, ok := s.info.Defs[fn.Name].(*types.Func); ok {
					s.bodies[obj] = fn
				}
			}
		}
	}
	return p, nil
}

// parse parses a folder's files except its tests.
func (s *source) parse(folder string) (out []*ast.File, err error) {
	entries, err := os.ReadDir(filepath.Join(s.root, folder))
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".go") && !strings.HasSuffix(e.Name(), "_test.go") {
			f, err := parser.ParseFile(s.files, filepath.Join(s.root, folder, e.Name()), nil,
				parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			out = append(out, f)
		}
	}
	return out, err
}

// call is a port's method that a step can reach; for a queue, field says which queue.
type call struct{ port, method, field string }

// reach returns the calls of ports that a step's flow can make. flows are the packages that its main combines: if a
// flow calls one of its own interfaces, that means the method of this name in another of them.
func (s *source) reach(step string, flows []string) ([]call, error) {
	w, err := s.walk(step, flows)
	if err != nil {
		return nil, err
	}
	return slices.Collect(maps.Keys(w.calls)), nil
}

// counts returns the events that a step's flow can count.
func (s *source) counts(step string, flows []string) ([]seckill.Event, error) {
	w, err := s.walk(step, flows)
	if err != nil {
		return nil, err
	}
	return slices.Collect(maps.Keys(w.events)), nil
}

func (s *source) walk(step string, flows []string) (*walk, error) {
	main, err := s.main(step)
	if err != nil {
		return nil, err
	}
	w := &walk{source: s, flows: flows, seen: map[*types.Func]bool{}, calls: map[call]bool{},
		events: map[seckill.Event]bool{}}
	own, all := []string{step}, func(string) bool { return true }
	if s.flow(step) == step {
		own = nil
		for _, name := range main.flows { // it has another name, and main calls it
			if err := w.start(name, func(m string) bool { return main.names[m] }); err != nil {
				return nil, err
			}
		}
	}
	for _, name := range append(own, main.handlers...) {
		if err := w.start(name, all); err != nil {
			return nil, err
		}
	}
	if main.sessions {
		nouns, err := w.Import(nounsPath)
		if err != nil {
			return nil, err
		}
		w.visit(nouns.Scope().Lookup("CheckSession").(*types.Func))
	}
	for _, name := range main.streams {
		if err := w.start(name, func(m string) bool { return m == "Changes" || m == "Unreadable" }); err != nil {
			return nil, err
		}
	}
	return w, errors.Join(w.errs...)
}

// flow returns a flow's folder below shared/flow by its last part: sale/buy of buy. It returns what has none as it is.
func (s *source) flow(name string) string {
	if found, err := filepath.Glob(filepath.Join(s.root, "shared", "flow", "*", name)); err == nil && len(found) == 1 {
		return filepath.Base(filepath.Dir(found[0])) + "/" + name
	}
	return name
}

// start visits the chosen methods of a flow.
func (w *walk) start(name string, chosen func(method string) bool) error {
	p, err := w.Import(flowPath + w.flow(name))
	if err != nil {
		return err
	}
	flow, ok := p.Scope().Lookup("Flow").(*types.TypeName)
	if !ok {
		return fmt.Errorf("flow %s has no type Flow", name)
	}
	methods := types.NewMethodSet(types.NewPointer(flow.Type()))
	for i := range methods.Len() {
		if m := methods.At(i).Obj().(*types.Func); m.Exported() && m.Pkg() == p && chosen(m.Name()) {
			w.visit(m)
		}
	}
	return nil
}

type walk struct {
	*source
	flows  []string
	seen   map[*types.Func]bool
	calls  map[call]bool
	events map[seckill.Event]bool
	errs   []error
	// shallow: look only at the first function, not at what it calls.
	shallow bool
}

func (w *walk) visit(fn *types.Func) {
	if w.seen[fn] || w.shallow && len(w.seen) > 0 {
		return
	}
	w.seen[fn] = true
	body := w.bodies[fn]
	if body == nil {
		return
	}
	holders := map[*ast.Ident]ast.Expr{} // of a selected name: the expression before the dot
	ast.Inspect(body, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			holders[sel.Sel] = sel.X
		}
		return true
	})
	ast.Inspect(body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		if c, ok := w.info.Uses[id].(*types.Const); ok && c.Pkg() == w.packages[nounsPath] &&
			strings.HasPrefix(c.Name(), "Event") {
			w.events[seckill.Event(constant.StringVal(c.Val()))] = true
		}
		if callee, ok := w.info.Uses[id].(*types.Func); ok {
			w.use(callee.Origin(), holders[id])
		} else if fn.Pkg().Path() != nounsPath && // which knows its own ports
			w.info.Uses[id] == nil && w.info.Defs[id] == nil && holders[id] != nil &&
			w.suspicious(id.Name, holders[id]) {
			w.errs = append(w.errs, fmt.Errorf("%s: what %s means here is not known", w.files.Position(id.Pos()),
				id.Name))
		}
		return true
	})
}

// use follows a function wherever it is named, because a reference may be called.
func (w *walk) use(callee *types.Func, holder ast.Expr) {
	if callee.Pkg() == nil {
		return
	}
	path := callee.Pkg().Path()
	port := ""
	if path == nounsPath {
		port = w.port(receiver(callee))
	}
	switch {
	case port != "":
		c := call{port: port, method: callee.Name()}
		if port == "Queue" {
			sel, ok := holder.(*ast.SelectorExpr)
			if !ok {
				w.errs = append(w.errs, fmt.Errorf("%s: of which queue?", w.files.Position(holder.Pos())))
				return
			}
			c.field = sel.Sel.Name
		}
		w.calls[c] = true
	case strings.HasPrefix(path, flowPath) && w.bodies[callee] == nil: // an interface of a flow's own
		for _, f := range w.flows {
			p, err := w.Import(flowPath + f)
			if err != nil {
				w.errs = append(w.errs, err)
				continue
			}
			for fn := range w.bodies {
				if fn.Pkg() == p && fn.Name() == callee.Name() {
					w.visit(fn)
				}
			}
		}
	case path == nounsPath, strings.HasPrefix(path, flowPath):
		w.visit(callee)
	}
}

// suspicious reports whether a name that the type checker could not resolve might be a port's method: then the result
// would be incomplete.
func (w *walk) suspicious(name string, holder ast.Expr) bool {
	if id, ok := holder.(*ast.Ident); ok {
		if _, isPackage := w.info.Uses[id].(*types.PkgName); isPackage {
			return false
		}
	}
	for _, port := range ports {
		iface, ok := w.packages[nounsPath].Scope().Lookup(port).Type().Underlying().(*types.Interface)
		if !ok {
			continue
		}
		for m := range iface.Methods() {
			if m.Name() == name {
				return true
			}
		}
	}
	return false
}

// receiver returns the name of a method's type; "" for a function.
func receiver(fn *types.Func) string {
	recv := fn.Type().(*types.Signature).Recv()
	if recv == nil {
		return ""
	}
	t := recv.Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if named, ok := t.(*types.Named); ok {
		return named.Obj().Name()
	}
	return ""
}

// parts is what a function's main combines.
type parts struct {
	flows    []string        // packages of flows
	handlers []string        // flows that it passes to an operator's handler or recorder, beside the step's own
	sessions bool            // httpapi asks for it whether a session has ended
	streams  []string        // flows that it passes to package stream, which calls only a step's methods
	names    map[string]bool // what it selects of anything
	queues   []opened
	settings []string // types of package config
}

// opened is a queue that a step uses: "Orders" with "Dead" if it receives from it.
type opened struct{ queue, dead string }

// drivers has the driver methods that open a queue.
var drivers = map[string]opened{"Orders": {"Orders", ""}, "OrdersWork": {"Orders", "Dead"},
	"OrdersOperated": {"Orders", "Dead"}, "Closings": {"Closings", ""}, "ClosingsWork": {"Closings", "Dead"},
	"ClosingsOperated": {"Closings", "Dead"}}

// composition is what the functions of shared/app and functions/internal ("app.Buy"), and the methods of aws.Drivers
// ("d.Stock"), name: flows that they make, drivers and functions that they use, and settings that they read.
type composition map[string]*used

type used struct{ flows, names, settings []string }

func (s *source) composition() (composition, error) {
	out := composition{}
	for _, folder := range []string{"shared/app", "functions/internal/aws", "functions/internal/office"} {
		files, err := s.parse(folder)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Body == nil {
					continue
				}
				name := f.Name.Name + "." + fn.Name.Name
				if fn.Recv != nil {
					name = types.ExprString(fn.Recv.List[0].Names[0]) + "." + fn.Name.Name
				}
				out[name] = uses(f.Name.Name, fn.Body)
			}
		}
	}
	return out, nil
}

// uses returns what a piece of a package's code names.
func uses(in string, code ast.Node) *used {
	u := &used{}
	ast.Inspect(code, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			if name, ok := strings.CutPrefix(types.ExprString(n.Index), "config."); ok {
				u.settings = append(u.settings, name)
			}
		case *ast.CallExpr:
			if flow, ok := strings.CutSuffix(types.ExprString(n.Fun), ".New"); ok {
				u.flows = append(u.flows, flow)
			}
			if id, ok := n.Fun.(*ast.Ident); ok {
				u.names = append(u.names, in+"."+id.Name)
			}
		case *ast.SelectorExpr:
			u.names = append(u.names, types.ExprString(n))
		}
		return true
	})
	return u
}

// all adds what u names leads to.
func (c composition) all(u *used, seen map[string]bool, out *used) {
	out.flows, out.settings = append(out.flows, u.flows...), append(out.settings, u.settings...)
	for _, name := range u.names {
		if next := c[name]; next != nil && !seen[name] {
			seen[name] = true
			out.names = append(out.names, name)
			c.all(next, seen, out)
		}
	}
}

func (s *source) main(step string) (p parts, err error) {
	p.names = map[string]bool{}
	files, err := s.parse("functions/" + step)
	if err != nil {
		return p, err
	}
	made, err := s.composition()
	if err != nil {
		return p, err
	}
	whole := &used{}
	for _, f := range files {
		p.combine(f, made)
		made.all(uses("main", f), map[string]bool{}, whole)
	}
	for _, flow := range whole.flows {
		if name := s.flow(flow); name != flow && !slices.Contains(p.flows, name) {
			p.flows = append(p.flows, name)
		}
	}
	for _, name := range whole.names {
		if q, ok := drivers[strings.TrimPrefix(name, "d.")]; ok {
			p.queues = append(p.queues, q)
		}
	}
	p.settings = append(whole.settings, "Base")
	return p, nil
}

// combine finds what a main does with its flows.
func (p *parts) combine(f *ast.File, c composition) {
	made := map[string]ast.Expr{} // by variable
	ast.Inspect(f, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == len(a.Rhs) {
			for i := range a.Lhs {
				made[types.ExprString(a.Lhs[i])] = a.Rhs[i]
			}
		}
		if sel, ok := n.(*ast.SelectorExpr); ok {
			p.names[sel.Sel.Name] = true
		}
		// of an operator.Recorder and an operator.Office
		if pair, ok := n.(*ast.KeyValueExpr); ok && (types.ExprString(pair.Key) == "Log" ||
			types.ExprString(pair.Key) == "Sessions") {
			p.handlers = append(p.handlers, c.made(made, pair.Value)...)
		}
		if pair, ok := n.(*ast.KeyValueExpr); ok && types.ExprString(pair.Key) == "Sessions" {
			p.sessions = p.sessions || types.ExprString(pair.Value) == "d.Ledger()"
		}
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
			switch of := types.ExprString(sel.X); {
			case of == "operator" && strings.HasSuffix(sel.Sel.Name, "Handler") && len(call.Args) > 0:
				p.handlers = append(p.handlers, c.made(made, call.Args[0])...)
			case of == "stream":
				p.streams = append(p.streams, c.made(made, call.Args...)...)
			}
		}
		return true
	})
}

// made returns the packages of the flows among a call's arguments: the flows that X.New or app.X made.
func (c composition) made(variables map[string]ast.Expr, args ...ast.Expr) (names []string) {
	for _, arg := range args {
		call, ok := cmp.Or(variables[types.ExprString(arg)], arg).(*ast.CallExpr)
		if !ok {
			continue
		}
		by := types.ExprString(call.Fun)
		if name, isNew := strings.CutSuffix(by, ".New"); isNew {
			names = append(names, name)
		} else if u := c[by]; u != nil && strings.HasPrefix(by, "app.") {
			names = append(names, u.flows[0])
		}
	}
	return names
}
