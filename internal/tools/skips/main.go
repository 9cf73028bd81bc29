// Command skips checks the events of a test run that gotestsum has written to files with --jsonfile, one file for each
// CLI. It fails if no test ran. With the variable CI set, it also fails if a test was skipped in all files and the
// reason is not in the list of allowed skips.
//
//	skips [FILE...]
//
// Without arguments it reads the file in GOTESTSUM_JSONFILE, which gotestsum sets for its --post-run-command.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

const module = "github.com/gpurent/terraform-provider-gpurent/"

func main() {
	files := os.Args[1:]
	if len(files) == 0 {
		files = []string{os.Getenv("GOTESTSUM_JSONFILE")}
	}
	if err := check(files, os.Getenv("CI") != ""); err != nil {
		fmt.Fprintln(os.Stderr, "skips:", err)
		os.Exit(1)
	}
}

func check(files []string, ci bool) error {
	r := results{ran: map[string]bool{}, skipped: map[string]string{}, output: map[string]string{}}
	for _, name := range files {
		file, err := os.Open(name) //nolint:gosec // the caller names the file
		if err != nil {
			return err
		}
		if err := errors.Join(r.read(file), file.Close()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if len(r.ran) == 0 {
		return errors.New("no test ran")
	}
	if !ci {
		return nil
	}
	return r.unlisted(len(files) == 1)
}

// results are the outcomes of tests and subtests, by a name such as "internal/rental.TestList/empty".
type results struct {
	ran     map[string]bool   // passed or failed in at least one file
	skipped map[string]string // the output of skipped tests
	output  map[string]string // the output of unfinished tests
}

// read adds the events of a file. See "go doc test2json" for the format.
func (r *results) read(events io.Reader) error {
	decoder := json.NewDecoder(events)
	for {
		var event struct{ Action, Package, Test, Output string }
		if err := decoder.Decode(&event); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if event.Test == "" {
			continue
		}
		name := strings.TrimPrefix(event.Package, module) + "." + event.Test
		switch event.Action {
		case "output":
			r.output[name] += event.Output
			continue
		case "pass", "fail":
			r.ran[name] = true
		case "skip":
			r.skipped[name] = r.output[name]
		default:
			continue
		}
		delete(r.output, name)
	}
}

// unlisted returns an error for each test that did not run at all and whose skip is not allowed.
func (r *results) unlisted(oneCLI bool) (problems error) {
	for _, name := range slices.Sorted(maps.Keys(r.skipped)) {
		if text := name + ": " + r.skipped[name]; !r.ran[name] && !isAllowed(text, oneCLI) {
			problems = errors.Join(problems, fmt.Errorf(
				"a skipped test is not in the list of internal/tools/skips/allowed.go: %s", text))
		}
	}
	return problems
}
