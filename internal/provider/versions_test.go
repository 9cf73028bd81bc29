package provider_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// Rows of the table on the index page.
const (
	rowResources = "resources and data sources"
	rowImport    = "`import` blocks by id"
	rowGenerate  = "`-generate-config-out`"
	rowFunctions = "provider functions"
	rowEphemeral = "ephemeral resources"
	rowIdentity  = "import by identity"
	rowLists     = "list resources (`terraform query`)"
	rowActions   = "actions"
)

// The pages of the documentation have the versions of the index page.
func TestVersions_PagesAgreeWithReadme(t *testing.T) {
	rows := versions(t)
	for template, row := range map[string]string{
		"resources.md.tmpl":           rowIdentity,
		"resources/instance.md.tmpl":  rowIdentity,
		"functions.md.tmpl":           rowFunctions,
		"ephemeral-resources.md.tmpl": rowEphemeral,
		"list-resources.md.tmpl":      rowLists,
		"actions.md.tmpl":             rowActions,
	} {
		since := rows[row]
		want := fmt.Sprintf("Terraform %s, OpenTofu %s or later", since["Terraform"], since["OpenTofu"])
		if since["OpenTofu"] == "" {
			want = fmt.Sprintf("Terraform %s or later; OpenTofu has no", since["Terraform"])
		}
		if !strings.Contains(readFiles(t, "templates", template), want) {
			t.Errorf("templates/%s does not contain %q", template, want)
		}
	}
}

// versionPattern matches a version in the table.
var versionPattern = regexp.MustCompile(`^\d+\.\d+$`)

// versions returns the table on the index page: for each row, the first version of each CLI, and "" for none.
func versions(t *testing.T) map[string]map[string]string {
	t.Helper()
	_, after, ok := strings.Cut(readFiles(t, "docs/index.md"), "\n## Requirements\n")
	section, _, _ := strings.Cut(after, "\n## ")
	rows := map[string]map[string]string{}
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(line, "|\n"), "|")
		if len(cells) != 3 || strings.Contains(line, "---") {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if cells[0] == "feature" {
			if cells[1] != "Terraform from" || cells[2] != "OpenTofu from" {
				t.Fatalf("unexpected columns of the table: %q", cells)
			}
			continue
		}
		row := map[string]string{"Terraform": cells[1], "OpenTofu": strings.TrimSuffix(cells[2], "–")}
		for name, since := range row {
			if since != "" && !versionPattern.MatchString(since) {
				t.Fatalf("%s: %q is not a version of %s", cells[0], since, name)
			}
		}
		rows[cells[0]] = row
	}
	if !ok || len(rows) < 8 {
		t.Fatalf("the table on the index page has %d rows", len(rows))
	}
	return rows
}
