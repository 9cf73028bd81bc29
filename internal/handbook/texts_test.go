package handbook_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"regexp"
	"strings"
)

// variable stands for what differs from one message to the next.
const variable = "…"

const (
	// deepest bounds how far a text is followed through calls, and widest how many texts may come out.
	deepest = 12
	widest  = 300
)

// reading works out which texts an expression can be.
type reading struct {
	*program
	// trouble is why it cannot be told.
	trouble string
}

// thread is one text, and the choices that lead to it.
type thread struct {
	text    string
	choices *choice
}

// choice is which call of a function, or which literal of a struct, a text comes from: what is read of both later belongs
// to the same one.
type choice struct {
	of     string
	site   site
	lit    literal
	before *choice
}

func (c *choice) find(of string) *choice {
	for ; c != nil; c = c.before {
		if c.of == of {
			return c
		}
	}
	return nil
}

// textsOf are the texts that an expression can be, with variable in place of what the code does not tell, and where each
// comes from.
func (p *program) textsOf(u *unit, e ast.Expr) (map[string]string, error) {
	r := &reading{program: p}
	return r.texts(e, r.read(u, e, nil, 0))
}

// formatted are the texts of a call whose first argument is a format.
func (p *program) formatted(u *unit, call *ast.CallExpr) (map[string]string, error) {
	r := &reading{program: p}
	return r.texts(call, r.readFormat(u, call, nil, 0))
}

func (r *reading) texts(n ast.Node, threads []thread) (map[string]string, error) {
	if r.trouble != "" {
		return nil, errors.New(r.trouble)
	}
	texts := map[string]string{}
	for _, t := range threads {
		place := r.place(n)
		if t.choices != nil && t.choices.site.call != nil {
			place = r.place(t.choices.site.call)
		}
		texts[squeeze(t.text)] = place
	}
	return texts, nil
}

// someVariables are several next to each other.
var someVariables = regexp.MustCompile(variable + "+")

// squeeze writes a text on one line.
func squeeze(text string) string {
	return strings.Join(strings.Fields(someVariables.ReplaceAllString(text, variable)), " ")
}

func (r *reading) read(u *unit, e ast.Expr, c *choice, depth int) []thread {
	unknown := []thread{{variable, c}}
	if depth > deepest {
		return unknown
	}
	if text := constantly(u.info.Types[e]); text != "" {
		return []thread{{text, c}}
	}
	if !isText(u.info.TypeOf(e)) {
		return unknown
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return r.read(u, e.X, c, depth)
	case *ast.BinaryExpr:
		var both []thread
		for _, left := range r.read(u, e.X, c, depth) {
			for _, right := range r.read(u, e.Y, left.choices, depth) {
				both = append(both, thread{left.text + right.text, right.choices})
			}
		}
		return r.bounded(both)
	case *ast.Ident:
		return r.readVariable(u, e, c, depth)
	case *ast.SelectorExpr:
		if u.info.Selections[e] == nil {
			return r.readVariable(u, e.Sel, c, depth)
		}
		return r.readField(u, e, c, depth)
	case *ast.CallExpr:
		return r.readCall(u, e, 0, c, depth)
	}
	return unknown
}

// constantly is what a constant is written as; empty for all else, and for what fmt would write in another way.
func constantly(known types.TypeAndValue) string {
	basic, ok := known.Type.(*types.Basic)
	switch {
	case known.Value == nil:
		return ""
	case known.Value.Kind() == constant.String:
		return constant.StringVal(known.Value)
	case ok && basic.Info()&types.IsInteger != 0:
		return known.Value.ExactString()
	}
	return ""
}

func (r *reading) bounded(threads []thread) []thread {
	if len(threads) > widest {
		r.trouble = fmt.Sprintf("more than %d texts come out: write it more plainly", widest)
		return nil
	}
	return threads
}

func (r *reading) readVariable(u *unit, name *ast.Ident, c *choice, depth int) []thread {
	object := u.info.Uses[name]
	if object == nil {
		object = u.info.Defs[name]
	}
	if p, ok := r.parameters[object]; ok {
		return r.readParameter(p, c, depth)
	}
	values := r.given[object]
	var threads []thread
	for _, v := range values {
		switch call, ok := v.expr.(*ast.CallExpr); {
		case v.expr == nil, v.added:
			return []thread{{variable, c}}
		case ok:
			threads = append(threads, r.readCall(v.unit, call, v.result, c, depth+1)...)
		default:
			threads = append(threads, r.read(v.unit, v.expr, c, depth+1)...)
		}
	}
	if len(threads) == 0 {
		return []thread{{variable, c}}
	}
	return r.bounded(threads)
}

// readParameter reads what the callers pass.
func (r *reading) readParameter(p parameter, c *choice, depth int) []thread {
	if p.rest {
		return []thread{{variable, c}}
	}
	if chosen := c.find(p.of); chosen != nil {
		return r.read(chosen.site.unit, chosen.site.call.Args[p.index], c, depth+1)
	}
	if len(r.calls[p.of]) == 0 || r.handedOn[p.of] {
		r.trouble = p.of + " is not only called by its name, so that nothing tells what it is passed"
		return nil
	}
	var threads []thread
	for _, s := range r.calls[p.of] {
		if p.index >= len(s.call.Args) {
			r.trouble = p.of + " is called with the results of another call: name them first"
			return nil
		}
		threads = append(threads, r.read(s.unit, s.call.Args[p.index], &choice{of: p.of, site: s, before: c}, depth+1)...)
	}
	return r.bounded(threads)
}

// readField reads what the literals of a struct of ours give a field that is given nothing else.
func (r *reading) readField(u *unit, e *ast.SelectorExpr, c *choice, depth int) []thread {
	unknown := []thread{{variable, c}}
	of := structName(u.info.TypeOf(e.X))
	if of == "" || r.fields[of+"."+e.Sel.Name] || strings.Contains(of, "/rental.") {
		return unknown
	}
	if chosen := c.find(of); chosen != nil {
		if given := chosen.lit.field(e.Sel.Name); given != nil {
			return r.read(chosen.lit.unit, given, c, depth+1)
		}
		return unknown
	}
	var threads []thread
	for _, lit := range r.literals[of] {
		if given := lit.field(e.Sel.Name); given != nil {
			threads = append(threads, r.read(lit.unit, given, &choice{of: of, lit: lit, before: c}, depth+1)...)
		}
	}
	if len(threads) == 0 {
		return unknown
	}
	return r.bounded(threads)
}

func (l literal) field(name string) ast.Expr {
	for _, element := range l.lit.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.Ident); ok && key.Name == name {
				return pair.Value
			}
		}
	}
	return nil
}

// readCall reads one of the results of a call.
func (r *reading) readCall(u *unit, call *ast.CallExpr, result int, c *choice, depth int) []thread {
	unknown := []thread{{variable, c}}
	if u.info.Types[call.Fun].IsType() {
		return r.read(u, call.Args[0], c, depth)
	}
	callee := u.callee(call)
	if callee == nil {
		return unknown
	}
	name := nameOf(callee)
	if formats[name] {
		return r.readFormat(u, call, c, depth)
	}
	if name == ourModule+"/internal/rental.Printable" { // it changes nothing about a constant text
		return r.read(u, call.Args[0], c, depth)
	}
	f, ours := r.functions[name]
	if !ours || depth >= deepest || c.find(name) != nil || !isText(callee.Signature().Results().At(result).Type()) {
		return unknown
	}
	chosen := &choice{of: name, site: site{u, call}, before: c}
	var threads []thread
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(n.Results) == callee.Signature().Results().Len() {
				threads = append(threads, r.read(f.unit, n.Results[result], chosen, depth+1)...)
			} else {
				threads = append(threads, thread{variable, c})
			}
		}
		return true
	})
	return r.bounded(threads)
}

func isText(t types.Type) bool {
	if t == nil {
		return false
	}
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsString != 0
}
