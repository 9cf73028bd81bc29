package handbook_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

const errorReference = "errors.md"

// Headings of the error reference.
const (
	sectionCodes     = "API errors"
	sectionNoCode    = "Failed requests without a code"
	sectionArguments = "Arguments"
	sectionTerraform = "Terraform and OpenTofu"
	entryLogin       = "Login codes"
)

// loginCodes have one entry.
var loginCodes = []string{
	rental.CodeAuthorizationPending, rental.CodeSlowDown, rental.CodeAccessDenied, rental.CodeExpiredToken,
}

var (
	sectionPattern = regexp.MustCompile(`(?m)^## (.+)$`)
	entryPattern   = regexp.MustCompile(`(?m)^### (.+)$`)
	// bulletPattern matches the messages of a list item: code spans at its begin, up to a colon.
	bulletPattern = regexp.MustCompile("(?m)^- ((?:`[^`]+`,?\\s+)*`[^`]+`):")
	// paragraphPattern matches a message at the begin of a paragraph. It has spaces, unlike the name of an argument.
	paragraphPattern = regexp.MustCompile("(?m)^(`[^`\\n]+ [^`]+`)")
	quotePattern     = regexp.MustCompile("`([^`]+)`")
	formatVerb       = regexp.MustCompile(`%(\[\d+\])?[a-z]`)
)

// errorSections returns the sections of the error reference by their heading.
func errorSections(t *testing.T) map[string]string {
	t.Helper()
	page := readGuide(t, errorReference)
	sections := map[string]string{}
	headings := sectionPattern.FindAllStringSubmatchIndex(page, -1)
	for n, at := range headings {
		end := len(page)
		if n+1 < len(headings) {
			end = headings[n+1][0]
		}
		sections[page[at[2]:at[3]]] = page[at[1]:end]
	}
	return sections
}

// entriesOf returns the headings of the entries in a section.
func entriesOf(section string) (entries []string) {
	for _, heading := range entryPattern.FindAllStringSubmatch(section, -1) {
		entries = append(entries, heading[1])
	}
	return entries
}

// The error reference has an entry for each summary, and no other entries in the sections about diagnostics.
func TestErrors_HaveAnEntryForEachSummary(t *testing.T) {
	var summaries, entries []string
	all := anchors(readGuide(t, errorReference))
	for _, folder := range []string{"internal/service", "internal/tfinstance", "internal/tfkit", "internal/provider"} {
		for name, source := range goFiles(t, folder) {
			declared, problems := summariesIn(t, name, source)
			for _, problem := range problems {
				t.Error(problem)
			}
			for _, summary := range declared {
				if summary == "Cannot %s" { // links to the entry of the error code
					continue
				}
				summaries = append(summaries, formatVerb.ReplaceAllString(summary, "…"))
				var diags diag.Diagnostics
				tfkit.AddError(&diags, tfkit.Summaryf(summary, make([]any, strings.Count(summary, "%"))...), "")
				if _, anchor, _ := strings.Cut(diags[0].Detail(), "#"); !slices.Contains(all, anchor) {
					t.Errorf("%q links to #%s, which is no anchor of %s", summary, anchor, errorReference)
				}
			}
		}
	}
	for heading, section := range errorSections(t) {
		if heading != sectionCodes && heading != sectionNoCode {
			entries = append(entries, entriesOf(section)...)
		}
	}
	compareEntries(t, summaries, entries)
}

// The error reference has an entry for each error code of the API and each other kind of failure.
func TestErrors_HaveAnEntryForEachFailure(t *testing.T) {
	want := []string{entryLogin}
	for folder, prefix := range map[string]string{"internal/rental": "Code", "internal/tfkit": "entry"} {
		for name, source := range goFiles(t, folder) {
			for _, value := range constantsIn(t, name, source, prefix) {
				if !slices.Contains(loginCodes, value) && value != sectionCodes {
					want = append(want, value)
				}
			}
		}
	}
	sections := errorSections(t)
	compareEntries(t, want, append(entriesOf(sections[sectionCodes]), entriesOf(sections[sectionNoCode])...))
}

func constantsIn(t *testing.T, name, source, prefix string) (values []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, declaration := range file.Decls {
		if declaration, ok := declaration.(*ast.GenDecl); ok && declaration.Tok == token.CONST {
			values = append(values, constants(declaration, prefix)...)
		}
	}
	return values
}

// compareEntries compares the wanted headings with those of the page, each once.
func compareEntries(t *testing.T, want, got []string) {
	t.Helper()
	slices.Sort(want)
	want = slices.Compact(want)
	slices.Sort(got)
	for _, heading := range want {
		if !slices.Contains(got, heading) {
			t.Errorf("%s has no entry %q", errorReference, heading)
		}
	}
	for n, heading := range got {
		if !slices.Contains(want, heading) || n > 0 && got[n-1] == heading {
			t.Errorf("%s has the entry %q, which nothing links to, or twice", errorReference, heading)
		}
	}
	if len(want) < 10 {
		t.Errorf("only %d entries are wanted", len(want))
	}
}

// messagesIn returns the messages that the list items of a section quote, and those at the begin of its paragraphs.
func messagesIn(section string) (messages []string) {
	items := bulletPattern.FindAllStringSubmatch(section, -1)
	for _, item := range append(items, paragraphPattern.FindAllStringSubmatch(section, -1)...) {
		for _, quote := range quotePattern.FindAllStringSubmatch(item[1], -1) {
			messages = append(messages, strings.Join(strings.Fields(quote[1]), " "))
		}
	}
	return messages
}

// The messages that the error reference quotes are in the program.
func TestErrors_QuoteExistingMessages(t *testing.T) {
	program := literals(t, "internal")
	total := 0
	for heading, section := range errorSections(t) {
		texts := program
		if heading == sectionArguments {
			texts += validators(t)
		}
		for _, message := range messagesIn(section) {
			total++
			if heading == sectionTerraform || strings.HasPrefix(message, "Cannot ") {
				continue
			}
			message = strings.TrimPrefix(message, "Warning: ")
			// The framework adds the value to the texts of validators.
			expectParts(t, texts, heading, strings.ReplaceAll(message, ", got:", "…, got:"))
		}
	}
	if total < 120 {
		t.Errorf("only %d messages were found", total)
	}
}

// The messages of the CLI that the error reference quotes are in the CLI.
func TestAccErrors_quoteTheCLI(t *testing.T) {
	t.Parallel()
	newCLISetup(t)
	program, err := os.ReadFile(os.Getenv("TF_ACC_TERRAFORM_PATH"))
	if err != nil {
		t.Fatal(err)
	}
	items := bulletPattern.FindAllStringSubmatch(errorSections(t)[sectionTerraform], -1)
	for _, item := range items {
		quotes := quotePattern.FindAllStringSubmatch(item[1], -1)
		if !slices.ContainsFunc(quotes, func(quote []string) bool { return bytes.Contains(program, []byte(quote[1])) }) {
			t.Errorf("this CLI prints none of %s", item[1])
		}
	}
	if len(items) < 10 {
		t.Errorf("only %d messages were found", len(items))
	}
}
