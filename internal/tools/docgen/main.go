// Command docgen writes the documents into a folder, from the provider's schema, templates/ and examples/.
//
//	docgen FOLDER
//
// tfplugindocs generates the pages. It reads the schema of the provider in this process, and needs no CLI.
package main

import (
	"context"
	"errors"
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
	fileMode   = 0o600
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := errors.New("usage: docgen FOLDER")
	if len(os.Args) == 2 {
		err = run(ctx, os.Args[1])
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "docgen:", err)
		os.Exit(1)
	}
}

// run generates in a temporary copy, so that a failure does not change the target.
func run(ctx context.Context, target string) (err error) {
	root, err := clis.Root(ctx)
	if err != nil {
		return err
	}
	project, err := os.MkdirTemp("", "gpurent-docs-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(project)) }()
	if err := generate(ctx, root, project); err != nil {
		return err
	}
	// The pictures are not generated here: see make images.
	generated, images := filepath.Join(project, "docs"), filepath.Join("docs", "images")
	if err := copyFolder(project, root, images); err != nil {
		return err
	}
	if err := os.RemoveAll(target); err != nil { //nolint:gosec // the caller chooses the folder
		return err
	}
	return os.CopyFS(target, os.DirFS(generated))
}

// generate generates the pages into the folder docs of a project.
func generate(ctx context.Context, root, project string) error {
	schema, err := schemaFile(ctx)
	if err != nil {
		return err
	}
	file := filepath.Join(project, "schema.json")
	err = errors.Join(os.WriteFile(file, schema, fileMode),
		copyFolder(project, root, "examples"), copyFolder(project, root, "templates"))
	if err != nil {
		return err
	}
	//nolint:gosec // constants and own paths
	cmd := exec.CommandContext(ctx, "go", "tool", "-modfile="+toolModule, "tfplugindocs", "generate",
		"--provider-dir="+project, "--provider-name="+shortName, "--providers-schema="+file)
	cmd.Dir = root
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("tfplugindocs: %w\n%s", err, output)
	}
	return tidy(filepath.Join(project, "docs"))
}

// copyFolder copies a folder of the repository.
func copyFolder(to, from, name string) error {
	return os.CopyFS(filepath.Join(to, name), os.DirFS(filepath.Join(from, name)))
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
