package handbook_test

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Diagnostics follow a convention, so that the error reference can be compared with them: every summary is a string
// constant with the prefix "summary", and only tfkit calls the functions of the framework that create diagnostics,
// which the linter forbidigo checks. tfkit links to the entry of the summary, or of the error code of the API.

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
	entryPattern = regexp.MustCompile(`(?m)^### (.+)$`)
	// bulletPattern matches the messages of a list item: code spans at its begin, up to a colon.
	bulletPattern = regexp.MustCompile("(?m)^- ((?:`[^`]+`,?\\s+)*`[^`]+`):")
	// paragraphPattern matches a message at the begin of a paragraph. It has spaces, unlike the name of an argument.
	paragraphPattern = regexp.MustCompile("(?m)^(`[^`\\n]+ [^`]+`)")
	quotePattern     = regexp.MustCompile("`([^`]+)`")
	formatVerb       = regexp.MustCompile(`%(\[\d+\])?[a-z]`)

	comment       = regexp.MustCompile(`(?m)^\s*//.*$`)
	concatenation = regexp.MustCompile("[\"`]\\s*\\+\\s*[\"`]")
	summaryCall   = regexp.MustCompile(`Summaryf\(\s*([^\s,)]*)`)
)

// errorSections returns the sections of the error reference by their heading.
func errorSections(t *testing.T) map[string]string {
	t.Helper()
	sections := map[string]string{}
	for _, section := range strings.Split(readGuide(t, errorReference), "\n## ")[1:] {
		heading, text, _ := strings.Cut(section, "\n")
		sections[heading] = text
	}
	return sections
}

// source returns the Go code below folders, without tests and comments, and with concatenated literals as one.
func source(t *testing.T, folders ...string) string {
	t.Helper()
	var all strings.Builder
	for _, folder := range folders {
		for _, name := range filesIn(t, folder, ".go") {
			if !strings.HasSuffix(name, "_test.go") {
				all.WriteString(comment.ReplaceAllString(textOf(t, name), ""))
			}
		}
	}
	return concatenation.ReplaceAllString(all.String(), "")
}

// constants returns the values of the string constants whose names have the prefix.
func constants(source, prefix string) (values []string) {
	constant := regexp.MustCompile(`(?m)^\s*(?:const )?` + prefix + `\w*\s*=\s*"([^"]*)"`)
	for _, found := range constant.FindAllStringSubmatch(source, -1) {
		values = append(values, found[1])
	}
	return values
}

// The error reference has an entry for each summary, to which tfkit links, and no other entries in the sections about
// diagnostics.
func TestErrors_HaveAnEntryForEachSummary(t *testing.T) {
	var summaries []string
	all := anchors(readGuide(t, errorReference))
	folders := []string{"internal/service", "internal/tfinstance", "internal/tfkit", "internal/provider"}
	for n := range folders {
		folders[n] = inProject(folders[n])
	}
	code := source(t, folders...)
	for _, call := range summaryCall.FindAllStringSubmatch(code, -1) {
		if !strings.HasPrefix(call[1], "summary") && call[1] != "format" { // the parameter of Summaryf itself
			t.Errorf("Summaryf(%s, …): want a constant with the prefix summary", call[1])
		}
	}
	for _, summary := range constants(code, "summary") {
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
	sections := errorSections(t)
	delete(sections, sectionCodes)
	delete(sections, sectionNoCode)
	compareEntries(t, summaries, sections)
}

// The error reference has an entry for each error code of the API and each other kind of failure.
func TestErrors_HaveAnEntryForEachFailure(t *testing.T) {
	want := append(constants(source(t, inProject("internal/rental")), "Code"),
		constants(source(t, inProject("internal/tfkit")), "entry")...)
	want = slices.DeleteFunc(want, func(entry string) bool {
		return slices.Contains(loginCodes, entry) || entry == sectionCodes
	})
	sections := errorSections(t)
	compareEntries(t, append(want, entryLogin), map[string]string{
		sectionCodes: sections[sectionCodes], sectionNoCode: sections[sectionNoCode],
	})
}

// compareEntries compares the wanted entries with those of the sections, which have each of them once.
func compareEntries(t *testing.T, want []string, sections map[string]string) {
	t.Helper()
	var got []string
	for _, section := range sections {
		for _, heading := range entryPattern.FindAllStringSubmatch(section, -1) {
			got = append(got, heading[1])
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if difference := cmp.Diff(slices.Compact(want), got); difference != "" {
		t.Errorf("the program (-) and the entries of %s (+) differ:\n%s", errorReference, difference)
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
	program := messages(source(t, inProject("internal")))
	for heading, section := range errorSections(t) {
		texts := program
		if heading == sectionArguments {
			texts += validators(t)
		}
		for _, message := range messagesIn(section) {
			if heading == sectionTerraform || strings.HasPrefix(message, "Cannot ") {
				continue
			}
			message = strings.TrimPrefix(message, "Warning: ")
			// The framework adds the value to the texts of validators.
			expectParts(t, texts, heading, strings.ReplaceAll(message, ", got:", "…, got:"))
		}
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
	for _, item := range bulletPattern.FindAllStringSubmatch(errorSections(t)[sectionTerraform], -1) {
		quotes := quotePattern.FindAllStringSubmatch(item[1], -1)
		if !slices.ContainsFunc(quotes, func(quote []string) bool { return bytes.Contains(program, []byte(quote[1])) }) {
			t.Errorf("this CLI prints none of %s", item[1])
		}
	}
}

// messages returns the texts in Go code, with an ellipsis for the verbs of formats.
func messages(code string) string {
	code = strings.NewReplacer(`\n`, " ", `\"`, `"`, "%q", `"%s"`).Replace(code)
	return strings.Join(strings.Fields(formatVerb.ReplaceAllString(code, "…")), " ")
}

// inserted matches the parts of a message that the code has in constants or arguments.
var inserted = regexp.MustCompile(`GPURENT_[A-Z_]+|/api/v1|\d+|"…"`)

// expectParts reports a quote whose parts between ellipses are not in the texts.
func expectParts(t *testing.T, texts, where, quote string) {
	t.Helper()
	for part := range strings.SplitSeq(inserted.ReplaceAllString(quote, "…"), "…") {
		if part = strings.Trim(part, ". "); !strings.Contains(texts, part) {
			t.Errorf("%s quotes %q: the program has no text %q", where, quote, part)
		}
	}
}

// validators returns the messages of the modules that validate arguments.
func validators(t *testing.T) string {
	t.Helper()
	const framework = "github.com/hashicorp/terraform-plugin-framework"
	command := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}",
		framework+"-validators", framework+"-timeouts")
	command.Dir = acctest.Root()
	output, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	return messages(source(t, strings.Fields(string(output))...))
}
