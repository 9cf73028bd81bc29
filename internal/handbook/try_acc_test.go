package handbook_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// tryExample is the example that users copy to test their own modules, and withSimulator its script.
const (
	tryExample    = "try-without-spending"
	withSimulator = "with-simulator.sh"
)

// The steps of the workflow succeed, and GitLab's jobs run the same commands. The state file carries the service from
// one step to the next.
func TestAccTryWithoutSpending(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	setup := newCLISetup(t)
	github := textOf(t, example(tryExample, "github-actions.yml"))
	for line := range strings.Lines(textOf(t, example(tryExample, "gitlab-ci.yml"))) {
		command, ok := strings.CutPrefix(strings.TrimSpace(line), "- $")
		if ok && !strings.Contains(github, "$"+command+"\n") {
			t.Errorf("only GitLab runs $%s", command)
		}
	}
	file := parseWorkflow(t, github)
	text := exports(map[string]string{"SIMULATOR": file.Env["SIMULATOR"], "TF_INPUT": file.Env["TF_INPUT"]})
	for _, step := range file.Jobs["simulator"].Steps {
		if strings.HasPrefix(step.Run, "$") { // the others install the CLI and the provider
			text += step.Run + "\n"
		}
	}
	folder := filepath.Join(t.TempDir(), "repository")
	checkout(t, example(tryExample), folder)
	output := script{text: text, folder: folder, env: setup.environ(setup.newHome(t), nil)}.must(t)
	expectWords(t, output, "Plan: 2 to add, 0 to change, 0 to destroy.", "No changes.", "Resources: 2 destroyed.",
		"5 passed, 0 failed.", "All faults were recovered")
}

// trouble.sh fails for a module that keeps an outbid server as it is.
func TestAccTryWithoutSpending_badModule(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	setup := newCLISetup(t)
	folder := filepath.Join(t.TempDir(), "repository")
	checkout(t, example(tryExample), folder)
	module := textOf(t, filepath.Join(folder, "module", "main.tf"))
	write(t, strings.Replace(module, "  desired_state ", "  on_outbid       = \"keep\"\n  desired_state ", 1),
		folder, "module", "main.tf")
	output, status := script{
		text:   "$TF get\n./with-simulator.sh --time-scale 60 --market still -- ./trouble.sh\n",
		folder: folder, env: setup.environ("", map[string]string{"TF_CLI_CONFIG_FILE": setup.devOverrides(t)}),
	}.run(t)
	if status == 0 {
		t.Error("the script succeeds")
	}
	expectWords(t, output, "the plan ended with exit code 0, expected 2", "simulator is listening")
}
