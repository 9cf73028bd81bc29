package handbook_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// poolFolder is the folder of the module that other examples use.
const poolFolder = "modules/gpu-pool"

// declared returns the blocks of one type in a file of the module, in order.
func declared(t *testing.T, file, blockType string) (source []byte, found []*hclsyntax.Block) {
	t.Helper()
	source, err := os.ReadFile(example(poolFolder, file))
	if err != nil {
		t.Fatal(err)
	}
	parsed, problems := hclsyntax.ParseConfig(source, file, hcl.InitialPos)
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	for _, b := range parsed.Body.(*hclsyntax.Body).Blocks {
		if b.Type == blockType {
			found = append(found, b)
		}
	}
	return source, found
}

// The tables of the module's README list its variables and outputs with their descriptions.
func TestPoolReadme_TablesMatchTheModule(t *testing.T) {
	content, err := os.ReadFile(example(poolFolder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := func(source []byte, b *hclsyntax.Block, attribute, otherwise string) string {
		a := b.Body.Attributes[attribute]
		if a == nil {
			return otherwise
		}
		return strings.Trim(string(a.Expr.Range().SliceBytes(source)), `"`)
	}
	inputs := "| name | type | default | |\n|---|---|---|---|\n"
	source, variables := declared(t, "variables.tf", "variable")
	for _, v := range variables {
		kind, _, _ := strings.Cut(text(source, v, "type", ""), "({")
		value := text(source, v, "default", "required")
		inputs += fmt.Sprintf("| `%s` | %s | %s | %s |\n", v.Labels[0], kind, value, text(source, v, "description", "?"))
	}
	outputs := "| name | |\n|---|---|\n"
	source, values := declared(t, "outputs.tf", "output")
	for _, o := range values {
		outputs += fmt.Sprintf("| `%s` | %s |\n", o.Labels[0], text(source, o, "description", "?"))
	}
	for _, table := range []string{inputs, outputs} {
		if !strings.Contains(string(content), "\n\n"+table+"\n") {
			t.Errorf("the README lacks this table:\n%s", table)
		}
	}
	if len(variables) < 10 || len(values) < 3 {
		t.Error("too few variables or outputs were found")
	}
}

// The command of the README runs the module's tests.
func TestAccPool_moduleTests(t *testing.T) {
	t.Parallel()
	setup := newCLISetup(t)
	root := t.TempDir()
	for _, folder := range []string{poolFolder, exampleFolder} {
		checkout(t, example(folder), filepath.Join(root, folder))
	}
	content, err := os.ReadFile(filepath.Join(root, poolFolder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	snippets := slices.DeleteFunc(parseSnippets(t, string(content)), func(b snippet) bool { return b.language != "sh" })
	if len(snippets) != 1 {
		t.Fatalf("%d snippets of shell, want one", len(snippets))
	}
	output := script{
		name: "the README", text: "set -e\n" + withCLI(setup.cli, snippets[0].text) + setup.cli + " fmt -check -recursive\n",
		folder: filepath.Join(root, poolFolder), shell: []string{"sh"}, env: setup.environ(setup.withProgram()),
	}.must(t)
	if want := "14 passed, 0 failed."; !strings.Contains(output, want) {
		t.Errorf("the output has no %q:\n%s", want, output)
	}
}
