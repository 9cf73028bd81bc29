package acctest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-version"
)

// Needs skips the test where the CLI at hand is older than what the test needs. An
// empty version: no version of that CLI can do it.
func Needs(t testing.TB, terraform, opentofu string) {
	t.Helper()
	cli(t)
	at, err := CLI()
	if err != nil {
		t.Fatal(err)
	}
	oldest := terraform
	if at.Name == "OpenTofu" {
		oldest = opentofu
	}
	if at.Has(oldest) {
		return
	}
	t.Skipf("%s cannot do this; Terraform can from %q on, OpenTofu from %q (empty: no version)", at, terraform, opentofu)
}

// CLI is the one at hand: "Terraform" or "OpenTofu", and its version.
var CLI = sync.OnceValues(func() (CLIVersion, error) {
	told, err := exec.CommandContext(context.Background(), os.Getenv("TF_ACC_TERRAFORM_PATH"), "version").Output()
	if err != nil {
		return CLIVersion{}, err
	}
	first, _, _ := strings.Cut(string(told), "\n")
	name, number, _ := strings.Cut(strings.TrimSpace(first), " v")
	at, err := version.NewVersion(number)
	if err != nil {
		return CLIVersion{}, err
	}
	return CLIVersion{name, at.Core()}, nil
})

// CLIVersion is a version of a CLI.
type CLIVersion struct {
	Name string
	*version.Version
}

// Has says whether it has what came with this version; no version has what came
// with "".
func (c CLIVersion) Has(oldest string) bool {
	return oldest != "" && c.GreaterThanOrEqual(version.Must(version.NewVersion(oldest)))
}

func (c CLIVersion) String() string { return c.Name + " " + c.Version.String() }

// whole is for long runs: make test has each CLI take its share.
var whole = flag.Bool("acctest.whole", false, "have each CLI do all of what the CLIs that are tested in turn would share")

// Shared skips the n-th of what the CLIs share, unless it falls to this one. What they
// share is about the shell, the service or the client more than about the CLI.
func Shared(t testing.TB, n int) {
	t.Helper()
	if !*whole && !OwnShare(n) {
		t.Skip("another CLI does this in the same run; make soak has each of them do it")
	}
}

// OwnShare says whether the n-th of what several CLIs share falls to this one. A CLI
// that is tested alone has all.
func OwnShare(n int) bool {
	var share, of int
	if _, err := fmt.Sscanf(os.Getenv("GPURENT_TEST_SHARE"), "%d/%d", &share, &of); err != nil {
		return true
	}
	return n%of == share%of
}
