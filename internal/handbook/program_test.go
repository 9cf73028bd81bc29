package handbook_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// program is what is known of several packages: who calls whom with what, and what variables and structs are given.
type program struct {
	fset  *token.FileSet
	units []*unit
	// functions are those with a body, by their full names.
	functions map[string]function
	// parameters say whose they are, and which.
	parameters map[types.Object]parameter
	// calls are those of a function, by its full name.
	calls map[string][]site
	// given is what a variable is given anywhere.
	given map[types.Object][]value
	// literals are those of a struct, by its full name; fields are those that are also set one by one.
	literals map[string][]literal
	fields   map[string]bool
	// handedOn are the functions that are not only called by their names.
	handedOn map[string]bool
	called   map[*ast.Ident]bool
}

type function struct {
	unit *unit
	decl *ast.FuncDecl
}

type parameter struct {
	of    string // full name of its function
	index int
	rest  bool // the last one of a variadic function
}

// site is a call, and where it stands.
type site struct {
	unit *unit
	call *ast.CallExpr
}

// value is an expression, or one of several results of a call. A nil expression is something that the code does not tell.
type value struct {
	unit   *unit
	expr   ast.Expr
	result int
	added  bool // to what was there before
}

type literal struct {
	unit *unit
	lit  *ast.CompositeLit
}

func newProgram(fset *token.FileSet, units []*unit) *program {
	p := &program{
		fset: fset, units: units, functions: map[string]function{}, parameters: map[types.Object]parameter{}, calls: map[string][]site{},
		given: map[types.Object][]value{}, literals: map[string][]literal{}, fields: map[string]bool{},
		handedOn: map[string]bool{}, called: map[*ast.Ident]bool{},
	}
	for _, u := range units {
		for _, file := range u.files {
			ast.Inspect(file, func(n ast.Node) bool { p.note(u, n); return true })
		}
	}
	return p
}

func (p *program) note(u *unit, n ast.Node) {
	switch n := n.(type) {
	case *ast.FuncDecl:
		p.noteFunction(u, n)
	case *ast.CallExpr:
		if callee := u.callee(n); callee != nil {
			p.called[nameIn(n.Fun)] = true
			p.calls[nameOf(callee)] = append(p.calls[nameOf(callee)], site{u, n})
		}
	case *ast.Ident:
		if f, ok := u.info.Uses[n].(*types.Func); ok && !p.called[n] {
			p.handedOn[nameOf(f)] = true
		}
	case *ast.IncDecStmt:
		p.give(u, n.X, value{unit: u})
	case *ast.CompositeLit:
		if name := structName(u.info.TypeOf(n)); name != "" {
			p.literals[name] = append(p.literals[name], literal{u, n})
		}
	case *ast.ValueSpec:
		for i, name := range n.Names {
			if len(n.Values) > 0 {
				p.give(u, name, pick(u, n.Values, i, len(n.Names)))
			}
		}
	case *ast.AssignStmt:
		for i, to := range n.Lhs {
			v := pick(u, n.Rhs, i, len(n.Lhs))
			v.added = n.Tok != token.ASSIGN && n.Tok != token.DEFINE
			p.give(u, to, v)
		}
	case *ast.RangeStmt:
		for _, to := range []ast.Expr{n.Key, n.Value} {
			if to != nil {
				p.give(u, to, value{unit: u})
			}
		}
	}
}

func (p *program) noteFunction(u *unit, decl *ast.FuncDecl) {
	callee, ok := u.info.Defs[decl.Name].(*types.Func)
	if !ok {
		return
	}
	name := nameOf(callee)
	if decl.Body != nil {
		p.functions[name] = function{u, decl}
	}
	signature := callee.Signature()
	for i := range signature.Params().Len() {
		p.parameters[signature.Params().At(i)] = parameter{name, i, signature.Variadic() && i == signature.Params().Len()-1}
	}
}

// pick is the i-th of so many values, which may all come from one call.
func pick(u *unit, from []ast.Expr, i, all int) value {
	switch {
	case len(from) == all:
		return value{unit: u, expr: from[i]}
	case len(from) == 1:
		return value{unit: u, expr: from[0], result: i}
	}
	return value{unit: u}
}

func (p *program) give(u *unit, to ast.Expr, v value) {
	switch to := to.(type) {
	case *ast.Ident:
		object := u.info.Defs[to]
		if object == nil {
			object = u.info.Uses[to]
		}
		if object != nil {
			p.given[object] = append(p.given[object], v)
		}
	case *ast.SelectorExpr:
		if selection := u.info.Selections[to]; selection != nil {
			p.fields[structName(selection.Recv())+"."+to.Sel.Name] = true
		}
	}
}

// callee is the function that is called, where the code tells.
func (u *unit) callee(call *ast.CallExpr) *types.Func {
	name := nameIn(call.Fun)
	if name == nil {
		return nil
	}
	callee, _ := u.info.Uses[name].(*types.Func)
	return callee
}

// nameIn is the name that a call calls; nil where it calls something without one.
func nameIn(called ast.Expr) *ast.Ident {
	switch called := ast.Unparen(called).(type) {
	case *ast.Ident:
		return called
	case *ast.SelectorExpr:
		return called.Sel
	case *ast.IndexExpr:
		return nameIn(called.X)
	case *ast.IndexListExpr:
		return nameIn(called.X)
	}
	return nil
}

// nameOf is the full name of a function, the same from whichever package it is seen.
func nameOf(f *types.Func) string { return f.Origin().FullName() }

// structName is the full name of a struct of ours; empty for all else.
func structName(t types.Type) string {
	if t == nil {
		return ""
	}
	if pointer, ok := t.Underlying().(*types.Pointer); ok {
		t = pointer.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return ""
	}
	if _, ok := named.Underlying().(*types.Struct); !ok {
		return ""
	}
	return named.Obj().Pkg().Path() + "." + named.Obj().Name()
}

// place is where something stands, for people.
func (p *program) place(n ast.Node) string {
	at := p.fset.Position(n.Pos())
	_, inside, ok := strings.Cut(at.Filename, "/internal/")
	if ok {
		at.Filename = "internal/" + inside
	}
	return at.String()
}
