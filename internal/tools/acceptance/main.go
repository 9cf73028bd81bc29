// Command acceptance runs the acceptance tests (the tests named TestAcc...) with one, all or a certain CLI: see
// clis.Find. The tests need no network: each test starts a simulator.
//
//	acceptance one|all|terraform|tofu [PACKAGE...] [FLAG...]
//
// The other arguments are those of go test. The default is all packages that have acceptance tests, and
// -run=^TestAcc[A-Z].
//
// Without other arguments, the tests run with the first CLI against the plain simulator and with the second against a
// simulator with all quirks: a sample of each combination. "make guides" and "make quirks" run all combinations.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/clis"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := errors.New("usage: acceptance one|all|terraform|tofu [PACKAGE...] [FLAG...]")
	if len(os.Args) > 1 {
		err = run(ctx, os.Args[1], os.Args[2:])
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "acceptance:", err)
		os.Exit(1)
	}
}

// run tests with one CLI after the other, because the tests of one CLI keep all cores busy. A failure with the first
// CLI does not keep run from testing with the second.
func run(ctx context.Context, selection string, arguments []string) (err error) {
	root, err := clis.Root(ctx)
	if err != nil {
		return err
	}
	found, err := clis.Find(ctx, selection, os.Stdout)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "gpurent-acceptance-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	buildFlags := []string{"-ldflags=-s -w"}
	if slices.Contains(arguments, "-cover") {
		buildFlags = []string{"-cover", "-coverpkg=./..."} // a provider that counts the statements it executes
	}
	provider, err := clis.Install(ctx, root, folder, buildFlags...)
	if err != nil {
		return err
	}
	sample := len(arguments) == 0
	if sample || strings.HasPrefix(arguments[0], "-") {
		packages, err := packagesWithTests(root)
		if err != nil {
			return err
		}
		arguments = append(packages, arguments...)
	}
	var failed error
	for n, cli := range found {
		fmt.Println("\nAcceptance tests with", cli)
		flags := slices.Clone(arguments)
		if sample && n > 0 {
			flags = append(flags, "-acctest.quirks=all")
		}
		// With the share, a test that does not depend on the CLI runs with the first CLI only: see internal/acctest.
		share := fmt.Sprintf("GPURENT_TEST_SHARE=%d/%d", n+1, len(found))
		if err := test(ctx, root, flags, append(environ(cli, provider), share)); err != nil {
			failed = errors.Join(failed, fmt.Errorf("with %s: %w", cli, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return failed
}

// packagesWithTests returns the packages that have acceptance tests, as "./folder", so that go test links no others.
func packagesWithTests(root string) (packages []string, err error) {
	declaration := regexp.MustCompile(`(?m)^func TestAcc[A-Z]`) // and not TestAccount
	for _, pattern := range []string{"internal/*/*_test.go", "internal/*/*/*_test.go"} {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			if declaration.Match(content) {
				packages = append(packages, "."+filepath.ToSlash(strings.TrimPrefix(filepath.Dir(file), root)))
			}
		}
	}
	return slices.Compact(packages), nil
}

// test runs go test. The caller's arguments come after the default flags and override them. The end of ctx interrupts
// the tests, so that each of them can stop its CLI.
func test(ctx context.Context, root string, arguments, environ []string) error {
	cmd := exec.CommandContext(ctx, "go", slices.Concat([]string{ //nolint:gosec // the caller may run any command
		"test", "-count=1", "-run=^TestAcc[A-Z]",
		"-timeout=30m",                           // the default is too short for a busy machine
		"-p=" + strconv.Itoa(runtime.NumCPU()+1), // packages at once: some of them mostly wait
		"-parallel=8",                            // tests of a package at once: they mostly wait for processes to start
		"-ldflags=-s -w",                         // halves the time to link the test binaries
		"-vet=off",                               // make unit runs go vet
	}, arguments)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = root, clis.Environ(environ...), os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd.Run()
}

// environ returns the variables of acceptance tests with the CLI and a provider that all packages share.
func environ(cli clis.CLI, provider clis.Installed) []string {
	// Hundreds of CLI processes live for a second each: with the default GOGC, a quarter of their work is collecting
	// garbage.
	env := []string{
		"TF_ACC=1", "TF_ACC_TERRAFORM_PATH=" + cli.Path, "GOGC=400", "GPURENT_TEST_BINARY=" + provider.Binary,
		"TF_CLI_CONFIG_FILE=" + provider.Config, // not ~/.terraformrc
	}
	if cli.Name == "tofu" {
		// The library of the acceptance tests assumes Terraform's host, with which OpenTofu finds no provider. Nothing is
		// downloaded from it.
		env = append(env, "TF_ACC_PROVIDER_HOST=registry.opentofu.org")
	}
	return env
}
