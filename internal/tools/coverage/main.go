// Command coverage runs the unit tests, and the acceptance tests with one CLI, and
// tells how much of each package's statements they have executed, in the tests'
// processes and in the provider that a CLI started. It fails when a package that
// ships has less than it should.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/clis"
)

// measured are the flags with which everything of ours counts what is executed.
var measured = []string{"-cover", "-coverpkg=./..."}

// driven are the packages whose acceptance tests are counted. What guides and long
// runs do besides is the same once more.
var driven = []string{"./internal/cli", "./internal/provider", "./internal/service/..."}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "coverage:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) (failed error) {
	root, err := clis.Root(ctx)
	if err != nil {
		return err
	}
	cli, err := clis.First(ctx, out) // with lists and actions, which older CLIs lack
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "gpurent-coverage-")
	if err != nil {
		return err
	}
	defer func() { failed = errors.Join(failed, os.RemoveAll(folder)) }()
	counts := filepath.Join(folder, "counts")
	if err := os.Mkdir(counts, 0o700); err != nil {
		return err
	}
	provider, err := clis.Install(ctx, root, folder, measured...)
	if err != nil {
		return err
	}
	if err := test(ctx, out, root, counts, nil, []string{"-skip=^" + clis.CLITests}, "./..."); err != nil {
		return err
	}
	if err := test(ctx, out, root, counts, cli.AcceptanceEnv(provider), clis.AcceptanceFlags(), driven...); err != nil {
		return err
	}
	said, err := goTool(ctx, root, "tool", "covdata", "percent", "-i="+counts)
	if err != nil {
		return err
	}
	shipped, err := goTool(ctx, root, "list", "-deps", "-f", "{{if .Module}}{{if .Module.Main}}{{.ImportPath}}{{end}}{{end}}", ".")
	if err != nil {
		return err
	}
	return report(out, said, strings.Fields(shipped))
}

// test runs tests, whose counts and those of the programs they start go to a folder: go test would have the latter
// somewhere else, hence env. What they print is shown when they fail.
func test(ctx context.Context, out io.Writer, root, counts string, env, flags []string, packages ...string) error {
	arguments := slices.Concat([]string{"test", "-count=1", "-exec=env GOCOVERDIR=" + counts}, flags, measured, packages, []string{"-args", "-test.gocoverdir=" + counts})
	cmd := exec.CommandContext(ctx, "go", arguments...) //nolint:gosec // every argument is ours
	cmd.Dir, cmd.Env = root, clis.Environ(env...)
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go test %s: %w\n%s", strings.Join(flags, " "), err, said)
	}
	_, err := fmt.Fprintf(out, "go test %s: ok\n", strings.Join(flags, " "))
	return err
}

func goTool(ctx context.Context, root string, arguments ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", arguments...) //nolint:gosec // every argument is ours
	cmd.Dir, cmd.Stderr = root, os.Stderr
	said, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(arguments, " "), err)
	}
	return string(said), nil
}
