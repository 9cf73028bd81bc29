package acctest

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const stateFile = "terraform.tfstate"

// state is what the state file holds: nothing when it was never written. The lock
// alone makes an empty file.
func (w *Workspace) state() []byte {
	w.t.Helper()
	content, err := os.ReadFile(filepath.Join(w.folder, stateFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.t.Fatal(err)
	}
	return content
}

// Saved is one thing of a state, with as many of its attributes as T has.
type Saved[T any] struct {
	Attributes T
	Tainted    bool
}

// SavedIn returns what the state of a workspace holds of a resource type, what
// is to be destroyed yet included. A state that was never written holds nothing.
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
			var one struct {
				Status     string // "tainted", or empty
				Attributes T
			}
			if err := json.Unmarshal(instance, &one); err != nil {
				w.t.Fatalf("%v in the state:\n%s", err, instance)
			}
			all = append(all, Saved[T]{one.Attributes, one.Status == "tainted"})
		}
	}
	return all
}

// PutAsideTorn renames the state of a workspace when it is no whole file, and
// puts its backup, if there is one, in its place: a CLI writes its state in place,
// so one that is killed while it does can leave half of it, and refuses to go on
// with that. It returns whether there was one.
func (w *Workspace) PutAsideTorn() bool {
	w.t.Helper()
	content := w.state()
	if len(content) == 0 || json.Valid(content) {
		return false
	}
	path := filepath.Join(w.folder, stateFile)
	if err := os.Rename(path, path+".torn"); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Rename(path+".backup", path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.t.Fatal(err)
	}
	return true
}

// Tear cuts the state of a workspace off in the middle.
func (w *Workspace) Tear() {
	w.t.Helper()
	content := w.Read(stateFile)
	w.Write(stateFile, content[:len(content)/2])
}

// Unpacked is all that is in an archive of a workspace, as a saved plan is one.
func (w *Workspace) Unpacked(name string) string {
	w.t.Helper()
	archive, err := zip.OpenReader(filepath.Join(w.folder, name))
	if err != nil {
		w.t.Fatal(err)
	}
	defer archive.Close()
	var all strings.Builder
	for _, file := range archive.File {
		content, err := file.Open()
		if err == nil {
			_, err = io.Copy(&all, content)
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
	return all.String()
}

// traceLog is the file that Traced makes the CLI write.
const traceLog = "trace.log"

// Traced is the environment of a workspace whose commands log all they can.
func Traced() []string { return []string{"TF_LOG=TRACE", "TF_LOG_PATH=" + traceLog} }

// Trace is what the commands of a Traced workspace have logged. A log in which
// the client says nothing is not one to look for secrets in.
func (w *Workspace) Trace() string {
	w.t.Helper()
	log := w.Read(traceLog)
	if !strings.Contains(log, "API request") {
		w.t.Error("the log has no line of the client: the search for secrets is in the wrong place")
	}
	return log
}

// Leak is an error when a secret is in one of the texts, which are named by
// where they were found.
func Leak(secret string, texts map[string]string) error {
	for place, text := range texts {
		if at := strings.Index(text, secret); at >= 0 {
			return fmt.Errorf("a secret is in the %s: …%s", place, text[max(0, at-100):at])
		}
	}
	return nil
}

// Words is a text on one line, with single spaces: where lines break in what a
// CLI prints depends on how long they are.
func Words(text string) string { return strings.Join(strings.Fields(text), " ") }
