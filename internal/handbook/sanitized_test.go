package handbook_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// Messages of the provider must not take over a text of the service as it came: it could hold line breaks, terminal
// sequences, or megabytes. This follows every text of a message through variables, parameters and functions to where it
// comes from. That has to be a constant, a number, an error, or one of the functions that make a text safe.

// messagePackages are the packages whose errors and diagnostics users see in Terraform.
var messagePackages = []string{"/internal/provider", "/internal/tfkit", "/internal/service/"}

// sanitizers return one bounded line whatever they are given.
var sanitizers = []string{
	"/internal/rental.Printable", "/internal/tfkit.OneLine", "/internal/tfkit.OneLines", "/internal/tfkit.ImportBlock",
	"/internal/tfkit.quote", "/internal/tfkit.Rubles", "/internal/tfkit.HourlyRubles",
}

// harmlessTexts are sources of texts that are not the service's, or that the client has made safe, and why.
var harmlessTexts = map[string]string{
	"path/filepath.Join":                                                 "a place in the user's configuration",
	"(" + diagPackage + ".Diagnostic).Detail":                            "of a diagnostic that was checked where it was added",
	"(" + diagPackage + ".Diagnostic).Summary":                           "the same",
	"(github.com/hashicorp/terraform-plugin-framework/path.Path).String": "of an attribute in the configuration",
}

// safeFields are fields of structs that hold no text of the service as it came, and why.
var safeFields = map[string]string{
	"/internal/rental.Error.Code":      "one of the documented codes",
	"/internal/rental.Error.Message":   "the client makes it safe",
	"/internal/rental.Error.Method":    "ours",
	"/internal/rental.Error.Path":      "the client makes it safe",
	"/internal/rental.Error.RequestID": "the client makes it safe",
	"/internal/rental.Error.Scope":     "ours",
}

// tracing follows the texts of messages.
type tracing struct {
	*program
	seen map[any]bool    // what was followed already: an expression, or the result of a function
	raw  map[string]bool // places where a text comes in as it came
	// declared are the variables that begin empty: those without a value, and named results.
	declared map[types.Object]bool
}

func (p *program) rawTexts() []string {
	t := &tracing{program: p, seen: map[any]bool{}, raw: map[string]bool{}, declared: map[types.Object]bool{}}
	for _, u := range p.units {
		for _, file := range u.files {
			ast.Inspect(file, func(n ast.Node) bool { t.declare(u, n); return true })
		}
	}
	for _, u := range p.units {
		if !slices.ContainsFunc(messagePackages, func(name string) bool { return strings.HasPrefix(u.path+"/", ourModule+name) }) {
			continue
		}
		for _, file := range u.files {
			for _, declaration := range file.Decls {
				if f, ok := declaration.(*ast.FuncDecl); !ok || !isSilent(u.path, f.Name.Name) {
					ast.Inspect(declaration, func(n ast.Node) bool { t.message(u, n); return true })
				}
			}
		}
	}
	var places []string
	for place := range t.raw {
		places = append(places, place)
	}
	slices.Sort(places)
	return places
}

func (t *tracing) declare(u *unit, n ast.Node) {
	var names []*ast.Ident
	switch n := n.(type) {
	case *ast.ValueSpec:
		if len(n.Values) == 0 {
			names = n.Names
		}
	case *ast.FuncType:
		if n.Results != nil {
			for _, result := range n.Results.List {
				names = append(names, result.Names...)
			}
		}
	}
	for _, name := range names {
		t.declared[u.info.Defs[name]] = true
	}
}

// message follows the texts of a message, if the node makes one.
func (t *tracing) message(u *unit, n ast.Node) {
	switch n := n.(type) {
	case *ast.FuncDecl:
		name := n.Name.Name
		if n.Recv != nil && n.Type.Params.NumFields() == 0 && (name == "Error" || name == "String") {
			t.returned(u, n, 0)
		}
	case *ast.CallExpr:
		callee := u.callee(n)
		if callee == nil {
			return
		}
		s, speaks := speakers[nameOf(callee)]
		_, logs, _ := strings.Cut(nameOf(callee), "hclog.")
		if !speaks || logs != "" || strings.Contains(nameOf(callee), "tflog.") {
			return
		}
		if formats[nameOf(callee)] {
			t.formatted(u, n)
			return
		}
		for _, argument := range n.Args[min(s.argument, len(n.Args)):] {
			t.follow(u, argument)
		}
	case *ast.CompositeLit:
		if strings.HasSuffix(structName(u.info.TypeOf(n)), ".InvokeProgressEvent") {
			t.follow(u, literal{u, n}.field("Message"))
		}
	}
}

// follow looks where a text, or the texts of a list, come from.
func (t *tracing) follow(u *unit, e ast.Expr) {
	known := u.info.Types[e]
	if known.Value != nil || known.IsNil() || t.isHarmless(known.Type) {
		return
	}
	if t.seen[e] {
		return
	}
	t.seen[e] = true
	switch e := e.(type) {
	case *ast.ParenExpr:
		t.follow(u, e.X)
	case *ast.BinaryExpr:
		t.follow(u, e.X)
		t.follow(u, e.Y)
	case *ast.SliceExpr:
		t.follow(u, e.X)
	case *ast.IndexExpr:
		t.follow(u, e.X)
	case *ast.CompositeLit:
		for _, element := range e.Elts {
			t.follow(u, element)
		}
	case *ast.Ident:
		t.variable(u, e)
	case *ast.SelectorExpr:
		t.field(u, e)
	case *ast.CallExpr:
		t.call(u, e, 0)
	default:
		t.found(e)
	}
}

func (t *tracing) found(e ast.Expr) {
	t.raw[fmt.Sprintf("%s: %s", t.place(e), types.ExprString(e))] = true
}

// isHarmless reports whether no value of a type can hold a text as it came: numbers, errors, which are followed where they
// are made, and what writes itself.
func (t *tracing) isHarmless(of types.Type) bool {
	if of == nil {
		return true
	}
	if isText(of) || of.String() == "[]string" {
		return false
	}
	if basic, ok := of.Underlying().(*types.Basic); ok && basic.Info()&(types.IsNumeric|types.IsBoolean) != 0 {
		return true
	}
	for _, method := range []string{"Error", "String"} {
		for _, either := range []types.Type{of, types.NewPointer(of)} {
			if found, _, _ := types.LookupFieldOrMethod(either, true, nil, method); found != nil {
				_, isMethod := found.(*types.Func)
				return isMethod && !strings.Contains(of.String(), "basetypes.") && !strings.Contains(of.String(), "strings.Builder")
			}
		}
	}
	return false
}

func (t *tracing) variable(u *unit, name *ast.Ident) {
	object := u.info.Uses[name]
	if object == nil {
		object = u.info.Defs[name]
	}
	if p, ok := t.parameters[object]; ok {
		t.parameter(p, name)
		return
	}
	values := t.given[object]
	if len(values) == 0 && !t.declared[object] {
		t.found(name)
	}
	for _, v := range values {
		switch call, ok := v.expr.(*ast.CallExpr); {
		case v.expr == nil && v.unit == nil:
		case v.expr == nil:
			t.found(name)
		case ok:
			t.call(v.unit, call, v.result)
		default:
			t.follow(v.unit, v.expr)
		}
	}
}

// parameter follows what the callers pass. A closure, and a method that fulfils an interface, have callers that are not known.
func (t *tracing) parameter(p parameter, name *ast.Ident) {
	if len(t.calls[p.of]) == 0 || t.handedOn[p.of] {
		t.found(name)
		return
	}
	for _, s := range t.calls[p.of] {
		if p.index >= len(s.call.Args) {
			if !p.rest {
				t.found(s.call)
			}
			continue
		}
		arguments := s.call.Args[p.index : p.index+1]
		if p.rest {
			arguments = s.call.Args[p.index:]
		}
		for _, argument := range arguments {
			t.follow(s.unit, argument)
		}
	}
}

// field follows what the literals of a struct of ours give a field.
func (t *tracing) field(u *unit, e *ast.SelectorExpr) {
	if u.info.Selections[e] == nil {
		t.variable(u, e.Sel)
		return
	}
	selection := u.info.Selections[e]
	of := structName(selection.Recv())
	name := of + "." + e.Sel.Name
	if safeFields[strings.TrimPrefix(name, ourModule)] != "" {
		return
	}
	promoted := len(selection.Index()) > 1
	if promoted || !strings.HasPrefix(of, ourModule) || strings.Contains(of, "/rental.") || t.fields[name] {
		t.found(e)
		return
	}
	known := false
	for _, lit := range t.literals[of] {
		given := lit.field(e.Sel.Name)
		if given == nil && len(lit.lit.Elts) > 0 {
			if _, keyed := lit.lit.Elts[0].(*ast.KeyValueExpr); !keyed {
				given = positional(lit, e.Sel.Name)
			}
		}
		if given != nil {
			known = true
			t.follow(lit.unit, given)
		}
	}
	if !known { // it is read from JSON, for example
		t.found(e)
	}
}

// positional is what a literal without field names gives a field.
func positional(l literal, name string) ast.Expr {
	of, ok := l.unit.info.TypeOf(l.lit).Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	for i := range of.NumFields() {
		if of.Field(i).Name() == name && i < len(l.lit.Elts) {
			return l.lit.Elts[i]
		}
	}
	return nil
}

// call follows one of the results of a call.
func (t *tracing) call(u *unit, call *ast.CallExpr, result int) {
	if u.info.Types[call.Fun].IsType() {
		t.follow(u, call.Args[0])
		return
	}
	callee := u.callee(call)
	if callee == nil {
		if name := nameIn(call.Fun); name != nil && name.Name == "append" {
			for _, argument := range call.Args {
				t.follow(u, argument)
			}
			return
		}
		t.closure(u, call)
		return
	}
	name := nameOf(callee)
	switch {
	case slices.Contains(sanitizers, strings.TrimPrefix(name, ourModule)), harmlessTexts[name] != "", callee.Name() == "Error" && len(call.Args) == 0:
	case formats[name]:
		t.formatted(u, call)
	case strings.HasSuffix(name, ".ValueString"):
		t.value(u, call)
	case strings.HasPrefix(name, "fmt."), strings.HasPrefix(name, "strings."), name == "cmp.Or", name == "strconv.Quote":
		for _, argument := range call.Args {
			t.follow(u, argument)
		}
	case name == "(*strings.Builder).String":
		t.builder(u, call)
	case name == "(time.Time).Format", name == "(*math/big.Float).Text", name == "crypto/rand.Text", name == "strconv.Itoa":
	case callee.Name() == "String" && len(call.Args) == 0 && t.functions[name].decl != nil:
	case t.functions[name].decl != nil:
		t.returned(t.functions[name].unit, t.functions[name].decl, result)
	default:
		t.found(call)
	}
}

// formatted follows the arguments of a format, except types (%T) and quoted texts of a bounded length (%.80q).
func (t *tracing) formatted(u *unit, call *ast.CallExpr) {
	t.follow(u, call.Args[0])
	bounded := map[int]bool{}
	if format := u.info.Types[call.Args[0]].Value; format != nil {
		for i, at := range verbPattern.FindAllStringSubmatch(strings.ReplaceAll(constant.StringVal(format), "%%", ""), -1) {
			bounded[i+1] = at[1] == "" && (at[2] == "T" || at[2] == "q" && strings.Contains(at[0], "."))
		}
	}
	for i, argument := range call.Args[1:] {
		if !bounded[i+1] {
			t.follow(u, argument)
		}
	}
}

// value refuses values of attributes, except times, which the provider has written itself.
func (t *tracing) value(u *unit, call *ast.CallExpr) {
	if selector, ok := call.Fun.(*ast.SelectorExpr); ok {
		if made, ok := selector.X.(*ast.CallExpr); ok && nameOf(u.callee(made)) == ourModule+"/internal/tfkit.Time" {
			return
		}
	}
	t.found(call)
}

type functionResult struct {
	of     *ast.FuncDecl
	result int
}

// returned follows one result of a function.
func (t *tracing) returned(u *unit, decl *ast.FuncDecl, result int) {
	at := functionResult{decl, result}
	if t.seen[at] {
		return
	}
	t.seen[at] = true
	t.returns(u, decl.Body, decl.Type, result)
}

func (t *tracing) returns(u *unit, body *ast.BlockStmt, of *ast.FuncType, result int) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			switch {
			case len(n.Results) > result:
				t.follow(u, n.Results[result])
			case len(n.Results) == 1:
				if call, ok := n.Results[0].(*ast.CallExpr); ok {
					t.call(u, call, result)
				}
			case len(n.Results) == 0:
				t.follow(u, of.Results.List[result].Names[0])
			}
		}
		return true
	})
}

// closure follows what a function without a name returns that a variable has.
func (t *tracing) closure(u *unit, call *ast.CallExpr) {
	name, ok := call.Fun.(*ast.Ident)
	if ok {
		values := t.given[u.info.Uses[name]]
		if len(values) == 1 {
			if lit, ok := values[0].expr.(*ast.FuncLit); ok {
				for _, argument := range call.Args {
					t.follow(u, argument)
				}
				t.returns(u, lit.Body, lit.Type, 0)
				return
			}
		}
	}
	t.found(call)
}

// builder follows what is written into a strings.Builder.
func (t *tracing) builder(u *unit, call *ast.CallExpr) {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	variable, ok := selector.X.(*ast.Ident)
	if !ok {
		t.found(call)
		return
	}
	object := u.info.Uses[variable]
	is := func(e ast.Expr) bool {
		if address, ok := e.(*ast.UnaryExpr); ok && address.Op == token.AND {
			e = address.X
		}
		name, ok := e.(*ast.Ident)
		return ok && u.info.Uses[name] == object
	}
	for _, file := range u.files {
		ast.Inspect(file, func(n ast.Node) bool {
			written, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			arguments := written.Args
			method, ok := written.Fun.(*ast.SelectorExpr)
			switch {
			case ok && is(method.X) && method.Sel.Name != "String":
			case len(arguments) > 0 && is(arguments[0]):
				arguments = arguments[1:]
			default:
				return true
			}
			for _, argument := range arguments {
				t.follow(u, argument)
			}
			return true
		})
	}
}

func TestMessages_TakeNoTextOfTheServiceAsItCame(t *testing.T) {
	t.Parallel()
	for _, place := range shipped(t).rawTexts() {
		t.Errorf("%s goes into a message as it is: pass it through tfkit.OneLine", place)
	}
}
