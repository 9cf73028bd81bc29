package acctest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Some things only the real binary under a real CLI can show: signals, logs,
// what ends up in files.

// built is the executable that all tests which run at the same time share.
var built struct {
	sync.Mutex
	binary string
	users  int
}

// builtBefore names a provider that was built from this tree for all packages that
// are tested together.
const builtBefore = "GPURENT_TEST_BINARY"

// Binary builds the provider and returns the path of the executable. It is
// there until the test ends; a test that asks meanwhile gets the same one.
func Binary(t testing.TB) string {
	t.Helper()
	if binary := os.Getenv(builtBefore); binary != "" {
		return binary
	}
	built.Lock()
	defer built.Unlock()
	if built.users == 0 {
		built.binary = build(t)
	}
	built.users++
	t.Cleanup(func() {
		built.Lock()
		defer built.Unlock()
		if built.users--; built.users > 0 {
			return
		}
		if err := os.RemoveAll(filepath.Dir(built.binary)); err != nil {
			t.Error(err)
		}
	})
	return built.binary
}

func build(t testing.TB) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "gpurent-binary-") //nolint:usetesting // it may outlive the test that asked first
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(folder, "terraform-provider-gpurent")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".")
	build.Dir = Root()
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return binary
}

// NoPluginTLS is the environment variable with which the CLIs' own tests keep the CLI and its providers from making a
// certificate for every process: more than half of the CPU time of a plan. make demo runs with certificates.
const NoPluginTLS = "TF_DISABLE_PLUGIN_TLS"

// Workspace is a folder with a configuration, and a CLI that uses the real
// binary there.
type Workspace struct {
	t      testing.TB
	cli    string
	binary string
	folder string
	env    []string
}

// Workspace makes one for a configuration. The test is skipped, as all
// acceptance tests are, where no CLI is given.
func (e *Env) Workspace(config string, extraEnv ...string) *Workspace {
	e.t.Helper()
	w := e.newWorkspace(extraEnv)
	w.Configure(config)
	return w
}

// ExampleWorkspace makes one for an example that is a whole configuration.
func (e *Env) ExampleWorkspace(example string, extraEnv ...string) *Workspace {
	e.t.Helper()
	w := e.newWorkspace(extraEnv)
	folder := filepath.Join(Root(), "examples", example)
	if err := os.CopyFS(w.folder, os.DirFS(folder)); err != nil {
		e.t.Fatal(err)
	}
	return w
}

// cli is the CLI that is given. The test is skipped where none is.
func cli(t testing.TB) string {
	t.Helper()
	cli := os.Getenv("TF_ACC_TERRAFORM_PATH")
	if os.Getenv("TF_ACC") == "" || cli == "" {
		t.Skip("acceptance tests run with TF_ACC=1 and TF_ACC_TERRAFORM_PATH, as make test sets them")
	}
	return cli
}

func (e *Env) newWorkspace(extraEnv []string) *Workspace {
	e.t.Helper()
	w := &Workspace{t: e.t, cli: cli(e.t), binary: Binary(e.t), folder: e.t.TempDir()}
	rc := fmt.Sprintf("provider_installation {\n  dev_overrides {\n    %q = %q\n  }\n  direct {}\n}\n", "gpurent/gpurent", filepath.Dir(w.binary))
	e.t.Cleanup(func() {
		for _, key := range SavedIn[struct{ ID string }](w, "gpurent_api_key") {
			e.known[key.Attributes.ID] = true
		}
	})
	w.Write("cli.tfrc", rc)
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "TF_") && !strings.HasPrefix(pair, "GPURENT_") {
			w.env = append(w.env, pair)
		}
	}
	w.env = append(w.env, "TF_CLI_CONFIG_FILE="+filepath.Join(w.folder, "cli.tfrc"), "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1", NoPluginTLS+"=1",
		"GPURENT_BASE_URL="+e.BaseURL, "GPURENT_API_KEY="+e.APIKey)
	w.env = append(w.env, extraEnv...)
	return w
}

// Configure replaces the configuration.
func (w *Workspace) Configure(config string) {
	w.t.Helper()
	w.Write("main.tf", "terraform {\n  required_providers {\n    gpurent = { source = \"gpurent/gpurent\" }\n  }\n}\n"+config)
}

// Write puts a file into the workspace, such as main.tfquery.hcl.
func (w *Workspace) Write(name, content string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.folder, name), []byte(content), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// Read returns a file of the workspace, such as terraform.tfstate.
func (w *Workspace) Read(name string) string {
	w.t.Helper()
	content, err := os.ReadFile(filepath.Join(w.folder, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(content)
}

// Command is a CLI command in the workspace that is still to be started.
func (w *Workspace) Command(ctx context.Context, output *bytes.Buffer, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, w.cli, arguments...)
	command.Dir, command.Env = w.folder, w.env
	command.Stdout, command.Stderr = output, output
	return command
}

// Run runs a CLI command to its end and returns what it printed; it must
// succeed.
func (w *Workspace) Run(arguments ...string) string {
	w.t.Helper()
	var output bytes.Buffer
	if err := w.Command(w.t.Context(), &output, arguments...).Run(); err != nil {
		w.t.Fatalf("%s: %v\n%s", strings.Join(arguments, " "), err, &output)
	}
	return output.String()
}

// Try runs a CLI command that may fail, and returns how it ended and what it printed.
func (w *Workspace) Try(arguments ...string) (output string, err error) {
	w.t.Helper()
	var printed bytes.Buffer
	err = w.Command(w.t.Context(), &printed, arguments...).Run()
	return printed.String(), err
}
