package handbook_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// What the guides and the example tell users to run, is run.
func TestAccTryWithoutSpending(t *testing.T) {
	tr := newTrial(t)
	for name, test := range map[string]func(*testing.T, *trial){
		"guide":      testTryGuide,
		"bad module": testTroubleFindsABadModule,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, tr)
		})
	}
}

// The pipelines of the example run every step of their files.
func TestNightlyTryWithoutSpending(t *testing.T) {
	tr := newTrial(t)
	for name, test := range map[string]func(*testing.T, *trial){"GitHub Actions": testGitHubActions, "GitLab CI": testGitLabCI} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, tr)
		})
	}
}

// A module that looks away from what happened to its server does not survive, and the script must say so.
func testTroubleFindsABadModule(t *testing.T, tr *trial) {
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
		t.Fatalf("the module is not bad: %v", err)
	}
	output, err := script{
		text:   "$TF get\n./with-simulator.sh --time-scale 60 --market still -- ./trouble.sh\n",
		folder: folder, shell: []string{"sh", "-e"}, env: tr.environ(tr.installed(t)),
	}.run(t)
	for _, want := range []string{"the plan ended with 0, not 2", "simulator is listening"} {
		if err == nil || !strings.Contains(output, want) {
			t.Errorf("it ended with %v and does not say %q:\n%s", err, want, output)
		}
	}
}

// The guide is followed from its first command to its last, with the scripts of the example in the folder.
func testTryGuide(t *testing.T, tr *trial) {
	acctest.FirstCLIOnly(t)
	folder := t.TempDir()
	for _, name := range []string{"with-simulator.sh", "trouble.sh"} {
		content, err := os.ReadFile(example(exampleFolder, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	installed := tr.installed(t)
	reader := guideRun{cli: tr.cli, folder: folder, env: tr.environ(map[string]string{"PATH": installed["PATH"]})}
	reader.follow(t, readGuide(t, "try-without-spending.md.tmpl"))
	check := script{text: "$TF fmt -check -diff -recursive", folder: folder, shell: []string{"sh", "-e"}, env: tr.environ(installed)}
	if output, err := check.run(t); err != nil {
		t.Errorf("the files of the guide are not in the standard format: %v\n%s", err, output)
	}
}
