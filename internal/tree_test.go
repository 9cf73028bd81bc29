package internal_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	xmodule "golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// repositoryFile is a file of the repository as golang.org/x/mod/zip reads it.
type repositoryFile struct {
	path string // slash-separated, relative to the root
}

func (f repositoryFile) Path() string { return f.path }

func (f repositoryFile) local() string { return filepath.Join("..", filepath.FromSlash(f.path)) }

func (f repositoryFile) Lstat() (os.FileInfo, error) { return os.Lstat(f.local()) }

func (f repositoryFile) Open() (io.ReadCloser, error) { return os.Open(f.local()) }

// repositoryFiles returns the tracked files and the new files that git does not ignore. Git ignores build products,
// which are in no checkout and in no module zip.
func repositoryFiles(t *testing.T) (files []zip.File) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	command.Dir = ".."
	out, err := command.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		file := repositoryFile{name}
		if _, err := file.Lstat(); errors.Is(err, fs.ErrNotExist) {
			continue // deleted, but not yet committed
		}
		files = append(files, file)
	}
	if len(files) < 500 {
		t.Fatalf("git lists only %d files", len(files))
	}
	return files
}

// "go install MODULE@VERSION" downloads the module as a zip. One bad file name makes the download fail on every system.
func TestModule_CanBeDownloaded(t *testing.T) {
	checked, err := zip.CheckFiles(repositoryFiles(t))
	if err == nil {
		err = checked.Err()
	}
	if err != nil {
		t.Error(err)
	}
	if len(checked.Valid) < 500 {
		t.Errorf("the module zip has only %d files", len(checked.Valid))
	}
}

// Nested modules are in a checkout, but not in a module zip.
func TestRepository_CanBeCheckedOutOnWindows(t *testing.T) {
	var names []string
	for _, file := range repositoryFiles(t) {
		names = append(names, file.Path())
		if info, err := file.Lstat(); err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s is not a regular file: %v", file.Path(), err)
		}
	}
	for _, problem := range windowsProblems(names) {
		t.Error(problem)
	}
}

// Tests compare files byte for byte, and core.autocrlf is on by default in Git for Windows.
func TestRepository_KeepsLineEndings(t *testing.T) {
	for _, file := range []string{"README.md", "go.mod", "internal/tree_test.go", "new.unknown"} {
		out, err := exec.CommandContext(t.Context(), "git", "-C", "..", "check-attr", "text", "--", file).Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != file+": text: unset" {
			t.Errorf("git check-attr: %q, %v; want the attribute text to be unset", got, err)
		}
	}
}

// windowsProblems returns the names that git cannot check out on Windows: those with reserved characters or device
// names, with a dot or a space at the end, and names that differ only in case.
func windowsProblems(names []string) (problems []string) {
	lower := map[string]string{} // by the name in lower case
	for _, name := range names {
		if err := xmodule.CheckFilePath(name); err != nil {
			problems = append(problems, err.Error())
		}
		for at := 0; at < len(name); {
			end := len(name)
			if slash := strings.IndexByte(name[at:], '/'); slash >= 0 {
				end = at + slash
			}
			if element := name[at:end]; strings.HasSuffix(element, " ") {
				problems = append(problems, name+": a name ends with a space")
			}
			// Folders count too: A/b and a/c are in one folder on Windows, and in two elsewhere.
			path := name[:end]
			if other, ok := lower[strings.ToLower(path)]; ok && other != path {
				problems = append(problems, other+" and "+path+" differ only in case")
			}
			lower[strings.ToLower(path)] = path
			at = end + 1
		}
	}
	return problems
}

func TestWindowsProblems(t *testing.T) {
	for name, files := range map[string][]string{
		"device":          {"a/nul"},
		"device with dot": {"a/Con.txt"},
		"numbered device": {"COM1/a"},
		"colon":           {"a:b"},
		"less than":       {"a<b"},
		"question mark":   {"a/b?"},
		"star":            {"*"},
		"bar":             {"a|b"},
		"quote":           {`a"b`},
		"backslash":       {`a\b`},
		"trailing dot":    {"a./b"},
		"trailing space":  {"a /b"},
		"case of files":   {"a/README", "a/readme"},
		"case of folders": {"a/Docs/x", "a/docs/y"},
	} {
		if problems := windowsProblems(files); len(problems) != 1 {
			t.Errorf("%s: problems %q, want one", name, problems)
		}
	}
	if problems := windowsProblems([]string{"a/nul-character", "console", "a/b.c", "a/d", "A1/b"}); len(problems) > 0 {
		t.Errorf("good names have the problems %q", problems)
	}
}
