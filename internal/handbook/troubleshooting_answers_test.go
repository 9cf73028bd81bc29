package handbook_test

import (
	"bytes"
	"go/ast"
	"go/constant"
	"go/types"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// find returns a package of the program.
func (p *program) find(t *testing.T, path string) *unit {
	t.Helper()
	at := slices.IndexFunc(p.units, func(u *unit) bool { return u.path == ourModule+"/internal/"+path })
	if at < 0 {
		t.Fatalf("there is no package %s", path)
	}
	return p.units[at]
}

// statuses are the HTTP statuses of the service's codes, as the simulator has them from the API document.
func statuses(t *testing.T, p *program) map[string]int {
	t.Helper()
	of := map[string]int{}
	u := p.find(t, "simulator")
	for _, v := range p.given[u.types.Scope().Lookup("errorTable")] {
		table, ok := v.expr.(*ast.CompositeLit)
		if !ok {
			continue
		}
		for _, element := range table.Elts {
			entry, ok := element.(*ast.CompositeLit)
			if !ok {
				t.Fatalf("%s: a row of another form", p.place(element))
			}
			status, _ := constant.Int64Val(u.info.Types[entry.Elts[1]].Value)
			of[constant.StringVal(u.info.Types[entry.Elts[0]].Value)] = int(status)
		}
	}
	return of
}

// Every code that the client knows has a row, with its status; and the message for it goes on as the row says.
func TestTroubleshootingHasEveryCode(t *testing.T) {
	t.Parallel()
	p := shipped(t)
	status, rows := statuses(t, p), tables(readGuide(t, troubleshooting))[tableOfCodes]
	scope := p.find(t, "rental").types.Scope()
	codes := map[string]bool{}
	for _, name := range scope.Names() {
		if code, ok := scope.Lookup(name).(*types.Const); ok && strings.HasPrefix(name, "Code") {
			codes[constant.StringVal(code.Val())] = true
		}
	}
	for _, r := range rows {
		code, number, _ := strings.Cut(r.quotes[0], ", HTTP ")
		got, err := strconv.Atoi(number)
		if !codes[code] || status[code] != got || err != nil {
			t.Errorf("line %d: %q is no code with its status: that of the code is %d", r.line, r.quotes[0], status[code])
			continue
		}
		delete(codes, code)
		var diags diag.Diagnostics
		tfkit.AddError(&diags, "do it", &rental.Error{Method: "GET", Path: "/instances", Scope: rental.ScopeInstancesRead, Status: got, Code: code, Message: "Message."})
		for _, quote := range append(quotesIn(r.cells[1]), r.quotes...) {
			if !strings.Contains(diags[0].Detail(), quote) {
				t.Errorf("line %d: %q is not in: %s", r.line, quote, diags[0].Detail())
			}
		}
	}
	if len(codes) > 0 || len(rows) < 10 {
		t.Errorf("no row for %v", codes)
	}
}

// Each thing that a message can advise is explained: what comes after the service's words, and why a server was stopped.
func TestTroubleshootingHasEveryAdvice(t *testing.T) {
	t.Parallel()
	p := shipped(t)
	all := tables(readGuide(t, troubleshooting))
	rows := all[tableOfAdvice]
	var quotes []string
	for _, r := range rows {
		quotes = append(quotes, r.quotes...)
	}
	advised := map[string]string{}
	for _, name := range []string{"tfkit.advice", "tfkit.plainDetail", "service/instance.stopAdvice", "service/instance.refusedText"} {
		for text, place := range p.returned(t, name) {
			advised[text] = place
		}
	}
	for _, r := range all[tableOfCodes] {
		quotes = append(quotes, quotesIn(r.cells[1])...)
	}
	for text, place := range advised {
		if lettersIn(text) >= fewest && !slices.ContainsFunc(quotes, func(quote string) bool { return strings.Contains(text, quote) }) {
			t.Errorf("%s: %q is explained nowhere", place, text)
		}
	}
	for _, quote := range quotes {
		told := false
		for text := range advised {
			told = told || strings.Contains(text, quote)
		}
		if !told {
			t.Errorf("%q is advised nowhere", quote)
		}
	}
	if len(advised) < 15 {
		t.Errorf("only %d pieces of advice were found: this test looks in the wrong place", len(advised))
	}
}

// returned are the texts that a function returns.
func (p *program) returned(t *testing.T, name string) map[string]string {
	t.Helper()
	f, ok := p.functions[ourModule+"/internal/"+name]
	if !ok {
		t.Fatalf("there is no function %s", name)
	}
	all := map[string]string{}
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		if end, ok := n.(*ast.ReturnStmt); ok {
			texts, err := p.textsOf(f.unit, end.Results[0])
			if err != nil {
				t.Error(err)
			}
			for text, place := range texts {
				all[text] = place
			}
		}
		return true
	})
	return all
}

// What is quoted from the log stands in the program.
func TestTroubleshootingQuotesTheLog(t *testing.T) {
	t.Parallel()
	constants := shipped(t).constants()
	rows := tables(readGuide(t, troubleshooting))[tableOfLog]
	for _, r := range rows {
		for _, quote := range r.quotes {
			if !slices.Contains(constants, quote) {
				t.Errorf("line %d: %q is written nowhere", r.line, quote)
			}
		}
	}
	if len(rows) < 3 {
		t.Error("so few rows: this test looks in the wrong place")
	}
}

// What is quoted from the CLI stands in the CLI.
func TestAccTroubleshootingQuotesTheCLI(t *testing.T) {
	t.Parallel()
	newCLISetup(t)
	program, err := os.ReadFile(os.Getenv("TF_ACC_TERRAFORM_PATH"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range tables(readGuide(t, troubleshooting))[tableOfCLI] {
		said := func(quote string) bool { return bytes.Contains(program, []byte(quote)) }
		if !slices.ContainsFunc(r.quotes, said) {
			t.Errorf("line %d: this CLI says none of %q", r.line, r.quotes)
		}
	}
}
