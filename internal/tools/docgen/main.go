// Command docgen writes docs/ from the provider's schema, templates/ and examples/. With -check it writes nothing, and
// fails with the difference if docs/ is not current.
//
// It reads the schema from the provider in this process and needs no Terraform or OpenTofu.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/clis"
)

const (
	// shortName is the name of the provider and the prefix of its types.
	shortName = "gpurent"
	// toolModule requires a version of the generator.
	toolModule = "internal/tools/docs/go.mod"
	docs       = "docs"
	fileMode   = 0o600
)

// sources are the folders that the generator reads. A folder that does not exist counts as empty.
var sources = []string{"examples", "templates"}

func main() {
	check := flag.Bool("check", false, "fail with the difference if docs/ is not current, and write nothing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *check)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "docgen:", err)
		os.Exit(1)
	}
}

// run generates in a temporary copy, so that a failure does not change docs/.
func run(ctx context.Context, check bool) (err error) {
	root, err := clis.Root(ctx)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "gpurent-docs-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	fresh, err := generate(ctx, root, folder)
	if err != nil {
		return err
	}
	committed := filepath.Join(root, docs)
	if check {
		return compare(ctx, committed, fresh)
	}
	if err := os.RemoveAll(committed); err != nil {
		return err
	}
	return os.CopyFS(committed, os.DirFS(fresh))
}

// generate generates the documents and returns their folder, which is below the given folder.
func generate(ctx context.Context, root, folder string) (string, error) {
	schema, err := writeSchema(ctx, folder)
	if err != nil {
		return "", err
	}
	project := filepath.Join(folder, "project")
	for _, name := range sources {
		from := filepath.Join(root, name)
		if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := os.CopyFS(filepath.Join(project, name), os.DirFS(from)); err != nil {
			return "", err
		}
	}
	//nolint:gosec // constants and own paths
	cmd := exec.CommandContext(ctx, "go", "tool", "-modfile="+toolModule, "tfplugindocs", "generate",
		"--provider-dir="+project, "--provider-name="+shortName, "--providers-schema="+schema)
	cmd.Dir = root
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("tfplugindocs: %w\n%s", err, output)
	}
	return filepath.Join(project, docs), nil
}

// compare returns an error with the difference between the committed and the fresh documents.
func compare(ctx context.Context, committed, fresh string) error {
	if _, err := os.Stat(committed); err != nil {
		return fmt.Errorf("%s does not exist: run make docs", docs)
	}
	var difference bytes.Buffer
	//nolint:gosec // constants and own paths
	cmd := exec.CommandContext(ctx, "git", "diff", "--no-index", "--no-color", "--", committed, fresh)
	cmd.Stdout, cmd.Stderr = &difference, os.Stderr
	err := cmd.Run()
	if err == nil {
		_, err = fmt.Fprintln(os.Stdout, docs+"/ is current.")
		return err
	}
	// git diff ends with 1 for a difference, and with a higher code for an error.
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return fmt.Errorf("%s is not current: run make docs and commit the result\n%s", docs, difference.Bytes())
	}
	return err
}
