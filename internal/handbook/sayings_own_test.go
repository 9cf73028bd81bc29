package handbook_test

import (
	"go/ast"
	"go/parser"
	"slices"
	"testing"
)

// listenTo returns what a file of a package would say to users, and why it cannot be told.
func listenTo(t *testing.T, source string) (said []string, problems []error) {
	t.Helper()
	shipped(t) // it skips where there is no Go command
	c, err := goCompiler()
	if err != nil {
		t.Fatal(err)
	}
	const head = "package fake\nimport (\"errors\"; \"fmt\"; \"github.com/hashicorp/terraform-plugin-framework/diag\")\nvar _, _ = errors.Is, fmt.Sprint\nvar diags diag.Diagnostics\n"
	file, err := parser.ParseFile(c.fset, "fake.go", head+source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	u, err := c.check("fake", []*ast.File{file})
	if err != nil {
		t.Fatal(err)
	}
	all, problems := newProgram(c.fset, []*unit{u}).sayings()
	for _, s := range all {
		said = append(said, s.text)
	}
	slices.Sort(said)
	return slices.Compact(said), problems
}

// What a new message says is found however it is put together.
func TestSayingsAreHeard(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		source string
		want   []string
	}{
		"a constant": {
			`const summary = "A constant one"; func f() { diags.AddWarning(summary, "") }`, []string{"Warning: A constant one"},
		},
		"with an id": {
			`func f(id string) { diags.AddError("Instance "+id+" is lost", "") }; func g() { f(fmt.Sprint()) }`, []string{"Error: Instance … is lost"},
		},
		"through three calls": {
			`func add(action string) { summary := "Cannot " + action; diags.AddError(summary, "") }
			func two(verb, what string) { add(verb + " a " + what) }
			func f() { two("open", "door"); two("close", "window") }`, []string{"Error: Cannot close a window", "Error: Cannot open a door"},
		},
		"with a field": {
			`type kind struct{ verb, noun string }
			var kinds = []kind{{verb: "start", noun: "engine"}, {verb: "stop", noun: "train"}}
			func f(k kind) { diags.AddError(fmt.Sprintf("Cannot %s the %s %q", k.verb, k.noun, k), "") }`,
			[]string{`Error: Cannot start the engine "…"`, `Error: Cannot stop the train "…"`},
		},
		"with what a function returns": {
			`func mood(ok bool) string { if ok { return "well" }; return "ill" }
			func f() { diags.AddError("All is "+mood(true)+" with it", "") }`, []string{"Error: All is ill with it", "Error: All is well with it"},
		},
		"an error": {
			`func f(err error) error { return fmt.Errorf("reading %.3q, line %[2]d: %[3]w", "x", 3, err) }`, []string{`reading "…", line 3: …`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said, problems := listenTo(t, test.source)
			if !slices.Equal(said, test.want) || len(problems) > 0 {
				t.Errorf("it hears %q and %v, want %q", said, problems, test.want)
			}
		})
	}
}

// Nothing can be said past the test: where the code does not tell what is said, it says so.
func TestSayingsThatAreUnclearAreRefused(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{
		"only a variable":           `func f(err error) { diags.AddError(err.Error(), "") }`,
		"too little":                `func f(id string) { diags.AddError("It: "+id, "") }; func g() { f(fmt.Sprint()) }`,
		"a method handed on":        `var add = diags.AddError`,
		"a function handed on":      `func report(what string) { diags.AddError("There is trouble: "+what, "") }; var Report = report`,
		"a function nobody calls":   `func Report(what string) { diags.AddError("There is trouble: "+what, "") }`,
		"a closure":                 `func f() { add := func(what string) { diags.AddError(what, "") }; add("Some trouble there is") }`,
		"a constructor handed on":   `var make = diag.NewErrorDiagnostic`,
		"a method of that name":     `func f(to interface{ AddError(summary, detail string) }) { to.AddError("Some trouble there is", "") }`,
		"a diagnostic written down": `var _ = diag.ErrorDiagnostic{}`,
		"a diagnostic of its own":   `type own struct{ diag.Diagnostic }`,
		"results of another call":   `func both() (string, string) { return "Such trouble", "" }; func f() { diags.AddError(both()) }`,
		"an error that is variable": `func f(text string) error { return errors.New(text) }; func g() { f(fmt.Sprint()) }`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if said, problems := listenTo(t, source); len(problems) == 0 {
				t.Errorf("it hears %q, and no trouble", said)
			}
		})
	}
}

// A message without a row, a row without a message and a message with two rows are noticed, and so is every row of the guide
// that is taken out.
func TestTroubleshootingMissesARow(t *testing.T) {
	t.Parallel()
	all, _ := shipped(t).sayings()
	rows := tables(readGuide(t, troubleshooting))[tableOfSayings]
	if problems := compareSayings(append(slices.Clone(all), saying{text: "Error: Something new", whole: true}), rows); len(problems) != 1 {
		t.Errorf("of a new message it says %v", problems)
	}
	if problems := compareSayings(all, append(slices.Clone(rows), row{quotes: []string{"Error: Something old"}})); len(problems) != 1 {
		t.Errorf("of an old message it says %v", problems)
	}
	if problems := compareSayings(all, append(slices.Clone(rows), row{quotes: []string{"Error: Missing API key"}})); len(problems) != 1 {
		t.Errorf("of two rows for one message it says %v", problems)
	}
	for i, r := range rows {
		if len(compareSayings(all, slices.Delete(slices.Clone(rows), i, i+1))) == 0 {
			t.Errorf("line %d can be taken out, and nobody notices: %q", r.line, r.quotes)
		}
	}
}
