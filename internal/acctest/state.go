package acctest

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const stateFile = "terraform.tfstate"

// state returns the content of the state file; empty if no state was written. A lock creates an empty file.
func (w *Workspace) state() []byte {
	w.t.Helper()
	content, err := os.ReadFile(filepath.Join(w.folder, stateFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.t.Fatal(err)
	}
	return content
}

// Saved is a resource instance in a state, with the attributes that T has.
type Saved[T any] struct {
	Attributes T
	Tainted    bool
	// Deposed reports whether another object has replaced it, with create_before_destroy.
	Deposed bool
}

// SavedIn returns the instances of a resource type in the state of a workspace, including deposed ones. It returns none
// if no state was written.
func SavedIn[T any](w *Workspace, kind string) []Saved[T] {
	w.t.Helper()
	content := w.state()
	if len(content) == 0 {
		return nil
	}
	var state struct {
		Resources []struct {
			Mode, Type string
			Instances  []json.RawMessage
		}
	}
	if err := json.Unmarshal(content, &state); err != nil {
		w.t.Fatalf("%v in the state:\n%s", err, content)
	}
	var all []Saved[T]
	for _, r := range state.Resources {
		if r.Mode != "managed" || r.Type != kind {
			continue
		}
		for _, instance := range r.Instances {
			var object struct {
				Status     string // "tainted", or empty
				Deposed    string // the key of a deposed object, or empty
				Attributes T
			}
			if err := json.Unmarshal(instance, &object); err != nil {
				w.t.Fatalf("%v in the state:\n%s", err, instance)
			}
			all = append(all, Saved[T]{object.Attributes, object.Status == "tainted", object.Deposed != ""})
		}
	}
	return all
}

// RestoreTruncatedState replaces an incomplete state file by its backup, and reports whether the file was incomplete. A
// CLI writes its state in place, so a killed one can leave an incomplete file, which the next command rejects, or an
// empty one, which counts as a state without resources. Without a backup, an empty file comes from a lock.
func (w *Workspace) RestoreTruncatedState() bool {
	w.t.Helper()
	content := w.state()
	path := filepath.Join(w.folder, stateFile)
	_, err := os.Stat(path + ".backup")
	hasBackup := err == nil
	if json.Valid(content) || len(content) == 0 && !hasBackup {
		return false
	}
	if err := os.Rename(path, path+".truncated"); err != nil {
		w.t.Fatal(err)
	}
	if !hasBackup {
		return true
	}
	if err := os.Rename(path+".backup", path); err != nil {
		w.t.Fatal(err)
	}
	return true
}

// Unpacked returns the content of all files in a zip archive of a workspace, such as a saved plan.
func (w *Workspace) Unpacked(name string) string {
	w.t.Helper()
	archive, err := zip.OpenReader(filepath.Join(w.folder, name))
	if err != nil {
		w.t.Fatal(err)
	}
	defer archive.Close()
	var all []byte
	for _, file := range archive.File {
		content, err := fs.ReadFile(archive, file.Name)
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, content...)
	}
	return string(all)
}

// traceLog is the log file of a workspace with Traced.
const traceLog = "trace.log"

// Traced returns the variables for a workspace whose commands log at level TRACE.
func Traced() []string { return []string{"TF_LOG=TRACE", "TF_LOG_PATH=" + traceLog} }

// Trace returns the log of a workspace with Traced. A log without requests fails the test, because a search for secrets
// in it would prove nothing.
func (w *Workspace) Trace() string {
	w.t.Helper()
	log := w.Read(traceLog)
	if !strings.Contains(log, "API request") {
		w.t.Error("the log has no API request")
	}
	return log
}

// WithoutFrame removes the line that the CLI draws beside errors and warnings, and returns the text on one line.
func WithoutFrame(output string) string {
	return Words(strings.NewReplacer("│", " ", "╷", " ", "╵", " ").Replace(output))
}

// Words returns text on one line with single spaces. A CLI wraps long lines of its output.
func Words(text string) string { return strings.Join(strings.Fields(text), " ") }
