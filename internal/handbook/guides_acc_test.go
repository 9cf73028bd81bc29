package handbook_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// The first page works as it is, for whoever has the program.
func TestAccIndex(t *testing.T) {
	acctest.Shared(t, 1)
	t.Parallel()
	tr := newTrial(t)
	installed := tr.installed(t)
	tr.follow(t, guideRun{
		cli: tr.cli, folder: t.TempDir(), least: 6,
		env: tr.environ(map[string]string{"PATH": installed["PATH"], "TF_CLI_CONFIG_FILE": installed["TF_CLI_CONFIG_FILE"]}),
	}, textOf(t, filepath.Join(acctest.Root(), "docs", "index.md")))
}

// The market moves as the guide says, and what it says is rented, is.
func TestAccPickingOffers(t *testing.T) {
	acctest.Shared(t, 2)
	followTrial(t, "picking-offers.md")
}

// What the guide says about interruptible servers, happens.
func TestAccInterruptibleGuide(t *testing.T) {
	acctest.Shared(t, 2)
	followTrial(t, "interruptible-servers.md")
}

// What the guide says about money, is so to the kopeck, and what it says to do helps.
func TestAccCostGuide(t *testing.T) {
	acctest.Shared(t, 1)
	followTrial(t, "cost-control.md")
}

// Runs are killed, cancelled and too slow as the guide says, and what it says to do heals them. Its simulator is one of
// its own, because servers must boot slowly enough to be caught at it.
func TestAccCrashSafePipelines(t *testing.T) {
	acctest.Shared(t, 2)
	followAlone(t, "crash-safe-pipelines.md")
}

// Several states, runs at the same time, a limit that is spent and a lock that is held: as the guide says. Its simulator
// is one of its own, because in that of the other guides a minute is too short to be waited for.
func TestAccAtScaleGuide(t *testing.T) {
	acctest.Shared(t, 1)
	followAlone(t, "at-scale.md")
}

// Keys are where the guide says, and nowhere else.
func TestAccSecretsGuide(t *testing.T) {
	acctest.Shared(t, 1)
	followTrial(t, "secrets.md")
}

// Who has nothing but the program gets to a server, and what the first guide shows, is shown.
func TestAccGettingStarted(t *testing.T) {
	acctest.Shared(t, 1)
	t.Parallel()
	tr := newTrial(t)
	// It says itself how the provider is found.
	tr.follow(t, guideRun{cli: tr.cli, folder: t.TempDir(), env: tr.environ(map[string]string{"PATH": tr.installed(t)["PATH"]})}, readGuide(t, "getting-started.md"))
}

// Logins, keys and scopes are as the guide says. Its simulators have the pace of the service: at that of the other guides
// a code expires before anybody can approve it.
func TestAccAuthenticationGuide(t *testing.T) {
	acctest.Shared(t, 2)
	followAlone(t, "authentication.md")
}

// What is there already comes under Terraform, moves, and leaves it, unharmed.
func TestAccMigratingGuide(t *testing.T) {
	acctest.Shared(t, 1)
	followTrial(t, "migrating-by-import.md")
}

// Keys are missing and wrong, an answer is lost, the money is out: the provider says what the guide shows, and what it says
// to do helps. All is stopped and destroyed in it, so that its simulator is one of its own.
func TestAccTroubleshooting(t *testing.T) {
	acctest.Shared(t, 2)
	followAlone(t, "troubleshooting.md")
}

// followTrial does what a guide says that begins where the first steps of another one end: with a simulator that the
// provider has been pointed at.
func followTrial(t *testing.T, name string) {
	t.Helper()
	t.Parallel()
	tr := newTrial(t)
	_, first, begins := strings.Cut(readGuide(t, "try-without-spending.md.tmpl"), "\n## 1. ")
	first, _, ends := strings.Cut(first, "\nSave this as `main.tf`:")
	if !begins || !ends {
		t.Fatal("the guide that this one builds on has no such steps any more")
	}
	installed := tr.installed(t)
	reader := guideRun{
		cli: tr.cli, folder: t.TempDir(), env: tr.environ(map[string]string{"PATH": installed["PATH"]}), pipeline: tr.mirror(t),
		before: blocks(t, first),
	}
	tr.follow(t, reader, readGuide(t, name))
}

// followAlone does what a guide says that starts a simulator of its own.
func followAlone(t *testing.T, name string) {
	t.Helper()
	t.Parallel()
	tr := newTrial(t)
	installed := tr.installed(t)
	tr.follow(t, guideRun{
		cli: tr.cli, folder: t.TempDir(),
		env: tr.environ(map[string]string{"PATH": installed["PATH"], "TF_CLI_CONFIG_FILE": installed["TF_CLI_CONFIG_FILE"]}),
	}, readGuide(t, name))
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
