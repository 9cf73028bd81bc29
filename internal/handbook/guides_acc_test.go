package handbook_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// guides maps each guide to the function that prepares and follows it.
var guides = map[string]func(*testing.T, *cliSetup, string){
	"index.md":                 followIndex,
	"getting-started.md":       followWithProgram,
	"authentication.md":        followWithProvider, // in the simulator of other guides, codes expire too fast
	"secrets.md":               followWithSimulator,
	"picking-offers.md":        followWithSimulator,
	"interruptible-servers.md": followWithSimulator,
	"cost-control.md":          followWithSimulator,
	"crash-safe-pipelines.md":  followWithProvider, // servers must boot slowly enough to interrupt an apply
	"at-scale.md":              followWithProvider, // the request limit must last longer than in other guides
	"migrating-by-import.md":   followWithSimulator,
	"troubleshooting.md":       followWithProvider, // it ends without any server
}

// The commands of the guides work, and print what the guides show.
func TestAccGuides(t *testing.T) {
	setup := newCLISetup(t)
	for name, follow := range guides {
		t.Run(name, func(t *testing.T) {
			acctest.FirstCLIOnly(t)
			t.Parallel()
			follow(t, setup, name)
		})
	}
}

// followIndex follows the index page of the provider.
func followIndex(t *testing.T, setup *cliSetup, name string) {
	t.Helper()
	run := guideRun{folder: t.TempDir(), minSnippets: 6, env: setup.providerEnv(t)}
	setup.follow(t, run, textOf(t, filepath.Join(acctest.Root(), "docs", name)))
}

// followWithProgram follows a guide with the program on the PATH. The guide configures the CLI.
func followWithProgram(t *testing.T, setup *cliSetup, name string) {
	t.Helper()
	setup.follow(t, guideRun{folder: t.TempDir(), env: setup.programEnv(t)}, readGuide(t, name))
}

// followWithSimulator follows a guide that continues from the first steps of "Try without spending": a simulator runs,
// and the provider has its address.
func followWithSimulator(t *testing.T, setup *cliSetup, name string) {
	t.Helper()
	_, first, begins := strings.Cut(readGuide(t, "try-without-spending.md.tmpl"), "\n## 1. ")
	first, _, ends := strings.Cut(first, "\nSave this as `main.tf`:")
	if !begins || !ends {
		t.Fatal("the guide \"Try without spending\" has no first steps")
	}
	run := guideRun{
		folder: t.TempDir(), env: setup.programEnv(t), cliConfig: setup.withMirror(t), before: parseSnippets(t, first),
	}
	setup.follow(t, run, readGuide(t, name))
}

// followWithProvider follows a guide that starts its own simulator. The CLI is configured to use the provider.
func followWithProvider(t *testing.T, setup *cliSetup, name string) {
	t.Helper()
	setup.follow(t, guideRun{folder: t.TempDir(), env: setup.providerEnv(t)}, readGuide(t, name))
}

// programEnv returns the environment of a shell with the provider's program on the PATH.
func (setup *cliSetup) programEnv(t *testing.T) []string {
	t.Helper()
	return setup.environ(map[string]string{"PATH": setup.withDevOverrides(t)["PATH"]})
}

// providerEnv is programEnv with a CLI configuration that uses the provider.
func (setup *cliSetup) providerEnv(t *testing.T) []string {
	t.Helper()
	variables := setup.withDevOverrides(t)
	return setup.environ(map[string]string{
		"PATH": variables["PATH"], "TF_CLI_CONFIG_FILE": variables["TF_CLI_CONFIG_FILE"],
	})
}

// follow follows a guide and checks the format of its configurations.
func (setup *cliSetup) follow(t *testing.T, run guideRun, guide string) {
	t.Helper()
	run.cli = setup.cli
	run.follow(t, guide)
	script{
		name: "the standard format", text: "$TF fmt -check -diff -recursive", folder: run.folder, shell: []string{"sh", "-e"},
		env: setup.environ(setup.withDevOverrides(t)),
	}.must(t)
}
