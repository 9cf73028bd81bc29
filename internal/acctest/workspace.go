package acctest

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/clis"
)

// Binary returns the path of the provider that make has built for all tests, or else builds it for this test.
func Binary(t testing.TB) string {
	t.Helper()
	if binary := os.Getenv("GPURENT_TEST_BINARY"); binary != "" {
		return binary
	}
	installed, err := clis.Install(t.Context(), Root(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return installed.Binary
}

// NoPluginTLS is the environment variable that turns off TLS between the CLI and the provider. A certificate per
// process takes more than half of the CPU time of a plan. make demo runs with TLS.
const NoPluginTLS = "TF_DISABLE_PLUGIN_TLS"

// Workspace is a folder with a configuration in which a real CLI runs with the provider as a separate process, against
// the simulator of an Env. It is for what only the CLI does: the state file, saved plans, queries, generated
// configurations, actions, signals and logs.
//
//	env := acctest.Start(t)
//	w := env.Workspace(env.Provider() + `resource "gpurent_ssh_key" "me" { ... }`)
//	w.Run("apply", "-auto-approve")                   // must succeed; Try may fail
//	keys := acctest.SavedIn[attributes](w, "gpurent_ssh_key")
//	w.Configure(other)                                // a changed configuration
//	run := w.Start(ctx, "apply", "-auto-approve")     // Kill…, Interrupt, Terminate, Wait
//
// Without a need for files and processes, resource.ParallelTest with Factories and Env.Config runs steps with checks of
// plan and state, in which the provider is part of the test's process. TestAccSSHKey_createImportReplace is an example
// of it. The tests are named TestAcc…, and "make testacc" runs them. FirstCLIOnly is for tests for which the CLI makes
// no difference.
type Workspace struct {
	t      testing.TB
	cli    string
	binary string
	folder string
	env    []string
}

// Workspace returns a workspace with a configuration. It skips the test without a CLI.
func (e *Env) Workspace(config string, extraEnv ...string) *Workspace {
	e.t.Helper()
	w := &Workspace{t: e.t, cli: CLIPath(e.t), binary: Binary(e.t), folder: e.t.TempDir()}
	e.t.Cleanup(func() {
		for _, key := range SavedIn[struct{ ID string }](w, "gpurent_api_key") {
			e.known[key.Attributes.ID] = true
		}
	})
	w.Write("cli.tfrc", clis.DevOverrides(filepath.Dir(w.binary)))
	w.env = append(clis.Environ("TF_CLI_CONFIG_FILE="+filepath.Join(w.folder, "cli.tfrc"), NoPluginTLS+"=1",
		"GPURENT_BASE_URL="+e.BaseURL, "GPURENT_API_KEY="+e.APIKey), extraEnv...)
	w.Configure(config)
	return w
}

// CLIPath returns the path of the CLI. It skips the test without a CLI.
func CLIPath(t testing.TB) string {
	t.Helper()
	cli := os.Getenv("TF_ACC_TERRAFORM_PATH")
	if os.Getenv("TF_ACC") == "" || cli == "" {
		t.Skip("acceptance tests need TF_ACC=1 and TF_ACC_TERRAFORM_PATH; make test sets both")
	}
	return cli
}

// Configure replaces the configuration of the workspace.
func (w *Workspace) Configure(config string) {
	w.t.Helper()
	const terraform = "terraform {\n  required_providers {\n    gpurent = { source = \"gpurent/gpurent\" }\n  }\n}\n"
	w.Write("main.tf", terraform+config)
}

// Write writes a file of the workspace, such as main.tfquery.hcl.
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

// Command returns a CLI command in the workspace, which the caller starts. Stdout and stderr go to output.
func (w *Workspace) Command(ctx context.Context, output io.Writer, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, w.cli, arguments...)
	command.Dir, command.Env = w.folder, w.env
	command.Stdout, command.Stderr = output, output
	return command
}

// Run runs a CLI command, which must succeed, and returns its output.
func (w *Workspace) Run(arguments ...string) string {
	w.t.Helper()
	output, err := w.Try(arguments...)
	if err != nil {
		w.t.Fatalf("%s: %v\n%s", strings.Join(arguments, " "), err, output)
	}
	return output
}

// Try runs a CLI command that may fail. It returns its output and its error.
func (w *Workspace) Try(arguments ...string) (output string, err error) {
	w.t.Helper()
	var buffer bytes.Buffer
	err = w.Command(w.t.Context(), &buffer, arguments...).Run()
	return buffer.String(), err
}

// Invoke runs the action at the given address of a configuration with apply -invoke. It returns the output on one line
// and whether the command succeeded.
func (w *Workspace) Invoke(config, address string) (output string, ok bool) {
	w.t.Helper()
	w.Configure(config)
	output, err := w.Try("apply", "-invoke="+address, "-auto-approve", "-no-color")
	return WithoutFrame(output), err == nil
}
