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
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/clis"
)

const (
	// shortName is the name of the provider and the prefix of its types.
	shortName = "gpurent"
	// toolModule requires a version of the generator.
	toolModule = "internal/tools/docs/go.mod"
	docs       = "docs"
	images     = "images"
	fileMode   = 0o600
)

// sources are the folders that the generator reads.
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
		if err := os.CopyFS(filepath.Join(project, name), os.DirFS(filepath.Join(root, name))); err != nil {
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
	fresh := filepath.Join(project, docs)
	if err := tidy(fresh); err != nil {
		return "", err
	}
	// The pictures are not generated here: see make images.
	return fresh, os.CopyFS(filepath.Join(fresh, images), os.DirFS(filepath.Join(root, docs, images)))
}

var (
	// note matches a note for the tests of internal/handbook. Comments of the generator stay.
	note = regexp.MustCompile(`(?m)^ *<!-- (?:run |check |fails|shown only: |other terminal|approved in a browser).*\n+`)
	// anchor matches an anchor of the generator without an empty line before the heading.
	anchor     = regexp.MustCompile(`(?m)^(<a id=".*"></a>)\n#`)
	blankLines = regexp.MustCompile(`\n{3,}`)
)

// tidy removes the notes for tests, and formats what the generator writes like the rest.
func tidy(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	err = fs.WalkDir(root.FS(), ".", func(page string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := root.ReadFile(page)
		if err != nil {
			return err
		}
		text := note.ReplaceAllString(string(content), "")
		text = anchor.ReplaceAllString(withoutRepeats(text), "$1\n\n#")
		text = strings.TrimRight(blankLines.ReplaceAllString(text, "\n\n"), "\n") + "\n"
		return root.WriteFile(page, []byte(text), fileMode)
	})
	return errors.Join(err, root.Close())
}

// nestedSchema matches the beginning of a nested schema: its anchor, its heading and the empty line below.
var nestedSchema = regexp.MustCompile("<a id=\"(nestedatt--.*)\"></a>\n### Nested Schema for (`.*`)\n\n")

// withoutRepeats replaces the attributes of a nested schema that has the same ones as a later one by a link to that.
func withoutRepeats(page string) string {
	begins := nestedSchema.FindAllStringSubmatchIndex(page, -1)
	links, end := map[string]string{}, len(page)
	for _, begin := range slices.Backward(begins) {
		body := begin[1]
		attributes, after := page[body:end], page[end:]
		if next := strings.Index(attributes, "\n#"); next >= 0 {
			attributes, after = attributes[:next], attributes[next:]+after
		}
		key := strings.TrimSpace(attributes)
		if link, repeated := links[key]; repeated {
			page = page[:body] + "The same attributes as " + link + ".\n\n" + after
		} else {
			links[key] = fmt.Sprintf("[%s](#%s)", page[begin[4]:begin[5]], page[begin[2]:begin[3]])
		}
		end = begin[0]
	}
	return page
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
