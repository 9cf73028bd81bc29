package handbook_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

const troubleshooting = "troubleshooting.md"

// The headings of the first columns of the tables in the guide.
const (
	tableOfMessages   = "what you see"
	tableOfCodes      = "the service's code"
	tableOfAdvice     = "the message goes on"
	tableOfValidators = "what you see below the headline"
	tableOfCLI        = "what Terraform or OpenTofu prints"
	tableOfLog        = "what the log contains"
)

// row is a row of a table.
type row struct {
	line   int
	cells  []string
	quotes []string // of the first cell
}

var (
	quotePattern = regexp.MustCompile("`([^`]+)`")
	tableBorder  = regexp.MustCompile(`^\|(?:-+\|)+$`)
)

func quotesIn(cell string) (quotes []string) {
	for _, quote := range quotePattern.FindAllStringSubmatch(cell, -1) {
		quotes = append(quotes, quote[1])
	}
	return quotes
}

// tables returns the rows of the tables of a guide by the heading of the first column.
func tables(guide string) map[string][]row {
	found := map[string][]row{}
	lines := strings.Split(guide, "\n")
	heading := ""
	for n, line := range lines {
		switch {
		case !strings.HasPrefix(line, "|"):
			heading = ""
		case heading == "" && n+1 < len(lines) && tableBorder.MatchString(lines[n+1]):
			heading = cellsOf(line)[0]
		case heading != "" && !tableBorder.MatchString(line):
			cells := cellsOf(line)
			found[heading] = append(found[heading], row{n + 1, cells, quotesIn(cells[0])})
		}
	}
	return found
}

func cellsOf(line string) []string {
	cells := strings.Split(strings.Trim(line, "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

// Every row of the guide has a quote, a meaning and an advice.
func TestTroubleshooting_RowsAreComplete(t *testing.T) {
	all := tables(readGuide(t, troubleshooting))
	for heading, least := range map[string]int{
		tableOfMessages: 150, tableOfCodes: 10, tableOfAdvice: 15, tableOfValidators: 8, tableOfCLI: 10, tableOfLog: 3,
	} {
		rows := all[heading]
		for _, r := range rows {
			if len(r.cells) != 3 || slices.Contains(r.cells, "") || len(r.quotes) == 0 {
				t.Errorf("line %d, below %q: want a quote and three cells that are not empty: %q", r.line, heading, r.cells)
			}
		}
		if len(rows) < least {
			t.Errorf("only %d rows below %q were found", len(rows), heading)
		}
	}
}

// The messages that the guide quotes are in the program. TestDiagnostics_HaveRows checks the summaries of diagnostics.
func TestTroubleshooting_QuotesExistingMessages(t *testing.T) {
	_, commands := diagnosticsAndCommands(t)
	for _, quote := range inQuotes.FindAllStringSubmatch(commands, -1) {
		expectParts(t, literals(t, "internal/cli"), troubleshooting, quote[1])
	}
	all := tables(readGuide(t, troubleshooting))
	program := literals(t, "internal")
	texts := map[string]string{
		tableOfMessages: program, tableOfAdvice: program, tableOfLog: program, tableOfValidators: program + validators(t),
	}
	for heading, texts := range texts {
		for _, r := range all[heading] {
			for _, quote := range r.quotes {
				if !inQuotes.MatchString("`" + quote + "`") {
					// The framework adds the value to the texts of validators.
					quote = strings.ReplaceAll(quote, ", got:", "…, got:")
					expectParts(t, texts, fmt.Sprintf("line %d", r.line), quote)
				}
			}
		}
	}
}

// statuses returns the HTTP status of each error code in the contract.
func statuses(t *testing.T) map[string]int {
	t.Helper()
	var document struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct {
			Responses map[string]struct{ Description string }
		}
	}
	if err := json.Unmarshal(contract.Document(), &document); err != nil {
		t.Fatal(err)
	}
	of := map[string]int{}
	for _, path := range document.Paths {
		for method, raw := range path {
			var operation struct {
				Responses map[string]struct {
					Ref         string `json:"$ref"`
					Description string
				}
			}
			if method == "parameters" {
				continue
			}
			if err := json.Unmarshal(raw, &operation); err != nil {
				t.Fatal(err)
			}
			for status, response := range operation.Responses {
				name := strings.TrimPrefix(response.Ref, "#/components/responses/")
				number, err := strconv.Atoi(status)
				if err != nil || number < 400 {
					continue
				}
				for _, code := range quotesIn(response.Description + document.Components.Responses[name].Description) {
					of[code] = number
				}
			}
		}
	}
	return of
}

// Every error code has a row with its status, and the diagnostic for it has the text of the row.
func TestTroubleshooting_HasEveryCode(t *testing.T) {
	status, rows := statuses(t), tables(readGuide(t, troubleshooting))[tableOfCodes]
	codes := map[string]bool{}
	for _, source := range goFiles(t, "internal/rental") {
		file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range file.Decls {
			if declaration, ok := declaration.(*ast.GenDecl); ok && declaration.Tok == token.CONST {
				for _, code := range constants(declaration, "Code") {
					codes[code] = true
				}
			}
		}
	}
	for _, r := range rows {
		code, number, _ := strings.Cut(r.quotes[0], ", HTTP ")
		if !codes[code] || strconv.Itoa(status[code]) != number {
			t.Errorf("line %d: %q has the status %d", r.line, r.quotes[0], status[code])
			continue
		}
		delete(codes, code)
		var diags diag.Diagnostics
		tfkit.AddAPIError(&diags, "do it", &rental.Error{
			Method: "GET", Path: "/instances", Scope: rental.ScopeInstancesRead, Status: status[code], Code: code,
			Message: "Message.",
		})
		for _, quote := range append(quotesIn(r.cells[1]), r.quotes...) {
			if !strings.Contains(diags[0].Detail(), quote) {
				t.Errorf("line %d: %q is not in: %s", r.line, quote, diags[0].Detail())
			}
		}
	}
	if len(codes) > 0 {
		t.Errorf("no row has the codes %v", codes)
	}
}

// The messages of the CLI that the guide quotes are in the CLI.
func TestAccTroubleshooting_QuotesTheCLI(t *testing.T) {
	t.Parallel()
	newCLISetup(t)
	program, err := os.ReadFile(os.Getenv("TF_ACC_TERRAFORM_PATH"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range tables(readGuide(t, troubleshooting))[tableOfCLI] {
		if !slices.ContainsFunc(r.quotes, func(quote string) bool { return bytes.Contains(program, []byte(quote)) }) {
			t.Errorf("line %d: this CLI prints none of %q", r.line, r.quotes)
		}
	}
}
