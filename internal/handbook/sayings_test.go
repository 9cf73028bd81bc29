package handbook_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strings"
	"unicode"
)

const (
	diagPackage     = "github.com/hashicorp/terraform-plugin-framework/diag"
	functionPackage = "github.com/hashicorp/terraform-plugin-framework/function"
	protocolPackage = "github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// saying is one thing that users can be told.
type saying struct {
	// text is as they see it, with variable in place of what differs.
	text string
	// whole: it is the headline of a message, and nothing stands around it. Else it is a part of one.
	whole bool
	place string
}

// speaker is a function that tells users something.
type speaker struct {
	argument int    // which is what they see first
	before   string // what the CLI or the program writes before it
	part     bool   // it is a part of a message
}

// speakers are all there are. What looks like one and is not here fails the test.
var speakers = map[string]speaker{
	"(*" + diagPackage + ".Diagnostics).AddError":            {before: "Error: "},
	"(*" + diagPackage + ".Diagnostics).AddWarning":          {before: "Warning: "},
	"(*" + diagPackage + ".Diagnostics).AddAttributeError":   {argument: 1, before: "Error: "},
	"(*" + diagPackage + ".Diagnostics).AddAttributeWarning": {argument: 1, before: "Warning: "},
	diagPackage + ".NewErrorDiagnostic":                      {before: "Error: "},
	diagPackage + ".NewWarningDiagnostic":                    {before: "Warning: "},
	diagPackage + ".NewAttributeErrorDiagnostic":             {argument: 1, before: "Error: "},
	diagPackage + ".NewAttributeWarningDiagnostic":           {argument: 1, before: "Warning: "},
	functionPackage + ".NewFuncError":                        {part: true},
	functionPackage + ".NewArgumentFuncError":                {argument: 1, part: true},
	"errors.New": {part: true},
	"fmt.Errorf": {part: true},
	"(*" + ourModule + "/internal/cli.screen).warn":         {before: "Warning: "},
	"(*" + ourModule + "/internal/cli.screen).say":          {},
	"(github.com/hashicorp/go-hclog.Logger).Warn":           {part: true},
	"(github.com/hashicorp/go-hclog.Logger).Error":          {part: true},
	"github.com/hashicorp/terraform-plugin-log/tflog.Warn":  {argument: 1, part: true},
	"github.com/hashicorp/terraform-plugin-log/tflog.Error": {argument: 1, part: true},
}

// makers are the structs behind messages. Whoever writes one down goes past the speakers.
var makers = []string{diagPackage + ".ErrorDiagnostic", diagPackage + ".WarningDiagnostic", functionPackage + ".FuncError", protocolPackage + ".Diagnostic"}

// silent are functions and errors that say nothing of their own to users, and why.
var silent = map[string]string{
	"contract.parseOperations":             "a mistake in the document that is a part of the program",
	"provider.newServer":                   "a mistake in the program, which would never start",
	"rental.errNotBuffered":                "a mistake in the client, which its tests would find",
	"rental.failure":                       "it is told within the error of the attempt that came after",
	"service/instance.errGone":             "it is told by its own headline",
	"service/instance.errInterrupted":      "it is told by its own headline",
	"service/instance.errKeysUsedUp":       "it is told by its own headline",
	"service/instance.errNeedsReplacement": "it is told by its own headline",
	"service/instance.errTurnedBack":       "it is told by its own headline",
	"simulator.Simulator.recoverPanic":     "it stands in the log as an internal error",
	"simulator.Simulator.restore":          "it stands behind what says that the file is damaged",
	"simulator.engine.restoreInstances":    "it stands behind what says that the file is damaged",
	"tfkit.MakePlain":                      "it passes on what others say",
	"tfkit.fieldsOf":                       "a mistake in the provider, below a headline of its own",
	"tfkit.fill":                           "a mistake in the provider, below a headline of its own",
}

// isSilent says whether something of a package, such as "engine.restoreInstances", is among them.
func isSilent(path, name string) bool {
	return silent[strings.TrimPrefix(path, ourModule+"/internal/")+"."+name] != ""
}

// fewest is how many letters of a message must be fixed, so that people can look for it.
const fewest = 8

// sayings are all that the packages of a program can tell users, and what keeps the program from telling.
func (p *program) sayings() (all []saying, problems []error) {
	for _, u := range p.units {
		problems = append(problems, u.ownDiagnostics()...)
		for _, file := range u.files {
			w := &listener{program: p, unit: u, heard: map[*ast.Ident]bool{}}
			for _, declaration := range file.Decls {
				w.within(declaration)
			}
			all, problems = append(all, w.all...), append(problems, w.problems...)
		}
	}
	return all, problems
}

// ownDiagnostics refuses types that are diagnostics of their own making.
func (u *unit) ownDiagnostics() (problems []error) {
	for _, name := range u.types.Scope().Names() {
		declared, ok := u.types.Scope().Lookup(name).(*types.TypeName)
		if !ok {
			continue
		}
		methods := types.NewMethodSet(types.NewPointer(declared.Type()))
		if methods.Lookup(u.types, "Severity") != nil && methods.Lookup(u.types, "Summary") != nil {
			problems = append(problems, fmt.Errorf("%s.%s is a diagnostic: nothing tells what it says. Say it with a function that speakers knows", u.path, name))
		}
	}
	return problems
}

// listener hears what a file says.
type listener struct {
	*program
	unit     *unit
	heard    map[*ast.Ident]bool
	all      []saying
	problems []error
}

// within hears what a declaration says, unless it is one of the silent.
func (l *listener) within(declaration ast.Decl) {
	switch declaration := declaration.(type) {
	case *ast.FuncDecl:
		name := declaration.Name.Name
		if declaration.Recv != nil {
			of := structName(l.unit.info.TypeOf(declaration.Recv.List[0].Type))
			name = of[strings.LastIndex(of, ".")+1:] + "." + name
		}
		if isSilent(l.unit.path, name) {
			return
		}
		l.hear(declaration)
	case *ast.GenDecl:
		for _, spec := range declaration.Specs {
			if of, ok := spec.(*ast.ValueSpec); ok && isSilent(l.unit.path, of.Names[0].Name) {
				continue
			}
			l.hear(spec)
		}
	}
}

func (l *listener) hear(in ast.Node) {
	ast.Inspect(in, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if callee := l.unit.callee(n); callee != nil {
				if s, speaks := speakers[nameOf(callee)]; speaks {
					l.heard[nameIn(n.Fun)] = true
					l.listen(s, n)
				}
			}
		case *ast.CompositeLit:
			if slices.Contains(makers, structName(l.unit.info.TypeOf(n))) {
				l.problem(n, errors.New("this writes a message down by itself: say it with a function that speakers knows"))
			}
		case *ast.Ident:
			l.recognise(n)
		}
		return true
	})
}

// recognise refuses a speaker that is not called but handed on, and one that nobody knows.
func (l *listener) recognise(name *ast.Ident) {
	f, ok := l.unit.info.Uses[name].(*types.Func)
	if !ok || l.heard[name] {
		return
	}
	_, known := speakers[nameOf(f)]
	adds, makes := strings.HasPrefix(f.Name(), "Add"), strings.HasPrefix(f.Name(), "New")
	made := f.Pkg() != nil && f.Pkg().Path() == diagPackage && (adds || makes)
	alike := f.Signature().Recv() != nil && adds && (strings.HasSuffix(f.Name(), "Error") || strings.HasSuffix(f.Name(), "Warning"))
	if known || made || alike {
		l.problem(name, fmt.Errorf("%s is used, and not as a call of something that speakers knows: nothing tells what is said here", nameOf(f)))
	}
}

func (l *listener) problem(at ast.Node, err error) {
	l.problems = append(l.problems, fmt.Errorf("%s: %w", l.place(at), err))
}

func (l *listener) listen(s speaker, call *ast.CallExpr) {
	if s.argument >= len(call.Args) {
		l.problem(call, errors.New("it says the results of another call: name them first"))
		return
	}
	said := call.Args[s.argument]
	// Of an error that is passed on whole, its own words are heard where it is made.
	if inner, ok := ast.Unparen(said).(*ast.CallExpr); ok && s.part {
		if callee := l.unit.callee(inner); callee != nil && callee.Name() == "Error" && len(inner.Args) == 0 {
			return
		}
	}
	texts, err := l.textsOf(l.unit, said)
	if name := nameOf(l.unit.callee(call)); formats[name] || strings.Contains(name, ".screen).") {
		texts, err = l.formatted(l.unit, call)
	}
	if err != nil {
		l.problem(call, err)
	}
	for text, place := range texts {
		if lettersIn(text) < fewest {
			l.problem(call, fmt.Errorf("it says %q: the code does not tell what. Pass the words as constants, or through parameters of functions that are called by name", text))
			continue
		}
		l.all = append(l.all, saying{text: s.before + text, whole: !s.part, place: place})
	}
}

func lettersIn(text string) (n int) {
	for _, r := range text {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

// constants are all constant texts of a program, on one line each.
func (p *program) constants() []string {
	var all []string
	for _, u := range p.units {
		for _, known := range u.info.Types {
			if known.Value != nil && known.Value.Kind() == constant.String {
				all = append(all, strings.ReplaceAll(constant.StringVal(known.Value), "\n", " "))
			}
		}
	}
	return all
}
