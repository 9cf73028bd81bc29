package handbook_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// guide is a page that is followed from its first command to its last.
type guide struct {
	name   string
	follow func(*testing.T, *trial, string)
}

var guides = []guide{
	// The first page works as it is, for whoever has the program.
	{"index.md", followFirstPage},
	// Who has nothing but the program gets to a server. It says itself how the provider is found.
	{"getting-started.md", followBare},
	// Logins, keys and scopes. At the pace of other guides a code would expire before anybody can approve it.
	{"authentication.md", followAlone},
	// Keys are where it says, and nowhere else.
	{"secrets.md", followTrial},
	// The market moves, and what it says is rented, is.
	{"picking-offers.md", followTrial},
	{"interruptible-servers.md", followTrial},
	// All that is about money, to the kopeck.
	{"cost-control.md", followTrial},
	// Runs are killed, cancelled and too slow: servers must boot slowly enough to be caught at it.
	{"crash-safe-pipelines.md", followAlone},
	// Several states, runs at the same time, a limit that is spent and a lock that is held. In the simulator of other guides
	// a minute is too short to be waited for.
	{"at-scale.md", followAlone},
	// What is there already comes under Terraform, moves, and leaves it, unharmed.
	{"migrating-by-import.md", followTrial},
	// Keys are missing and wrong, an answer is lost, the money is out. All is stopped and destroyed in it.
	{"troubleshooting.md", followAlone},
}

// What the guides say, happens, and what they say to do helps.
func TestAccGuides(t *testing.T) {
	tr := newTrial(t)
	for _, g := range guides {
		t.Run(g.name, func(t *testing.T) {
			acctest.FirstCLIOnly(t)
			t.Parallel()
			g.follow(t, tr, g.name)
		})
	}
}

// followFirstPage does what the provider's own page says.
func followFirstPage(t *testing.T, tr *trial, name string) {
	t.Helper()
	tr.follow(t, guideRun{cli: tr.cli, folder: t.TempDir(), least: 6, env: tr.found(t)}, textOf(t, filepath.Join(acctest.Root(), "docs", name)))
}

// followBare does what a guide says that begins with the program alone.
func followBare(t *testing.T, tr *trial, name string) {
	t.Helper()
	tr.follow(t, guideRun{cli: tr.cli, folder: t.TempDir(), env: tr.environ(map[string]string{"PATH": tr.installed(t)["PATH"]})}, readGuide(t, name))
}

// followTrial does what a guide says that begins where the first steps of another one end: with a simulator that the
// provider has been pointed at.
func followTrial(t *testing.T, tr *trial, name string) {
	t.Helper()
	_, first, begins := strings.Cut(readGuide(t, "try-without-spending.md.tmpl"), "\n## 1. ")
	first, _, ends := strings.Cut(first, "\nSave this as `main.tf`:")
	if !begins || !ends {
		t.Fatal("the guide that this one builds on has no such steps any more")
	}
	reader := guideRun{
		cli: tr.cli, folder: t.TempDir(), env: tr.environ(map[string]string{"PATH": tr.installed(t)["PATH"]}), pipeline: tr.mirror(t),
		before: blocks(t, first),
	}
	tr.follow(t, reader, readGuide(t, name))
}

// followAlone does what a guide says that starts a simulator of its own.
func followAlone(t *testing.T, tr *trial, name string) {
	t.Helper()
	tr.follow(t, guideRun{cli: tr.cli, folder: t.TempDir(), env: tr.found(t)}, readGuide(t, name))
}

// found is the environment in which both a shell and the CLI find the provider.
func (tr *trial) found(t *testing.T) []string {
	t.Helper()
	installed := tr.installed(t)
	return tr.environ(map[string]string{"PATH": installed["PATH"], "TF_CLI_CONFIG_FILE": installed["TF_CLI_CONFIG_FILE"]})
}

// follow does what a guide says, and looks whether its configurations are in the standard format.
func (tr *trial) follow(t *testing.T, reader guideRun, guide string) {
	t.Helper()
	reader.follow(t, guide)
	script{
		name: "the standard format", text: "$TF fmt -check -diff -recursive", folder: reader.folder, shell: []string{"sh", "-e"},
		env: tr.environ(tr.installed(t)),
	}.must(t)
}
