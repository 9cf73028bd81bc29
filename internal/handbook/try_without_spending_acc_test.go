package handbook_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// The commands of the guide work, and trouble.sh fails for a module that ignores an outbid.
func TestAccTryWithoutSpending(t *testing.T) {
	setup := newCLISetup(t)
	for name, test := range map[string]func(*testing.T, *cliSetup){
		"guide":      testTryGuide,
		"bad module": testTroubleFailsForABadModule,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, setup)
		})
	}
}

// tryCommands are the commands that both pipelines of the example run.
var tryCommands = []string{
	`$TF init`,
	`$TF validate`,
	`$SIMULATOR --state service.json -- "$TF" plan -out=saved.plan`,
	`$SIMULATOR --state service.json -- "$TF" apply saved.plan`,
	`$SIMULATOR --state service.json -- "$TF" plan -detailed-exitcode`,
	`$SIMULATOR --state service.json -- "$TF" destroy -auto-approve`,
	`$TF -chdir=module init`,
	`$SIMULATOR -- "$TF" -chdir=module test`,
	`$SIMULATOR -- ./trouble.sh`,
}

// The commands of the example's pipelines succeed. The state file carries the service from one command to the next.
func TestAccTryWithoutSpending_pipelineCommands(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	needs(t, "curl")
	setup := newCLISetup(t)
	const simulator = "./with-simulator.sh --time-scale 60 --market still"
	for _, file := range []string{"github-actions.yml", "gitlab-ci.yml"} {
		text := textOf(t, example(exampleFolder, file))
		for _, command := range append([]string{"SIMULATOR: " + simulator + "\n"}, tryCommands...) {
			if !strings.Contains(text, command) {
				t.Errorf("%s does not run %q", file, command)
			}
		}
	}
	folder := filepath.Join(t.TempDir(), "repository")
	checkout(t, example(exampleFolder), folder)
	env := setup.withProgram()
	env["SIMULATOR"], env["TF_INPUT"] = simulator, "0"
	output := acctest.Words(stripColors.Replace(script{
		name:   "the pipeline",
		text:   strings.Join(tryCommands, "\n"),
		folder: folder,
		shell:  []string{"sh", "-e"},
		env:    setup.environ(env),
	}.must(t)))
	for _, want := range []string{
		"Plan: 1 to add, 0 to change, 0 to destroy.", "No changes.", "Resources: 1 destroyed.",
		"5 passed, 0 failed.", "All faults were recovered",
	} {
		if !strings.Contains(output, want) {
			t.Errorf("the output has no %q:\n%s", want, output)
		}
	}
}

// trouble.sh fails for a module that keeps an outbid server as it is.
func testTroubleFailsForABadModule(t *testing.T, setup *cliSetup) {
	acctest.FirstCLIOnly(t)
	needs(t, "curl")
	folder := filepath.Join(t.TempDir(), "repository")
	checkout(t, example(exampleFolder), folder)
	file := filepath.Join(folder, "module", "main.tf")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	bad := strings.Replace(string(content), "  desired_state ", "  on_outbid       = \"keep\"\n  desired_state ", 1)
	if err := os.WriteFile(file, []byte(bad), 0o600); err != nil || bad == string(content) {
		t.Fatalf("the module is unchanged: %v", err)
	}
	output, err := script{
		text:   "$TF get\n./with-simulator.sh --time-scale 60 --market still -- ./trouble.sh\n",
		folder: folder, shell: []string{"sh", "-e"}, env: setup.environ(setup.withDevOverrides(t)),
	}.run(t)
	for _, want := range []string{"the plan ended with exit code 0, expected 2", "simulator is listening"} {
		if err == nil || !strings.Contains(output, want) {
			t.Errorf("the script ended with %v, and its output has no %q:\n%s", err, want, output)
		}
	}
}

// All commands of the guide work, with the script of the example in the folder.
func testTryGuide(t *testing.T, setup *cliSetup) {
	acctest.FirstCLIOnly(t)
	folder := t.TempDir()
	content, err := os.ReadFile(example(exampleFolder, "with-simulator.sh"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "with-simulator.sh"), content, 0o700); err != nil {
		t.Fatal(err)
	}
	reader := guideRun{cli: setup.cli, folder: folder, fast: true, env: setup.environ(setup.guideVariables(nil))}
	reader.follow(t, readGuide(t, "try-without-spending.md"))
}
