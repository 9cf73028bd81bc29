package cli_test

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// A CLI attaches to a plugin in debug mode, which ends on a signal. Only that plugin has the address of the service.
func TestAccDebug_attachAndStop(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no signals")
	}
	env := acctest.Start(t)
	plugin := newUser(t, "GPURENT_BASE_URL="+env.BaseURL, "GPURENT_API_KEY="+env.APIKey).start("--debug")
	const assignment = "export TF_REATTACH_PROVIDERS="
	line := plugin.line()
	for !strings.HasPrefix(line, assignment) {
		line = plugin.line()
	}
	value := strings.Trim(strings.TrimPrefix(line, assignment), "'\n")
	workspace := env.Workspace("data \"gpurent_gpus\" \"all\" {}\n", "TF_REATTACH_PROVIDERS="+value,
		"GPURENT_BASE_URL=", "GPURENT_API_KEY=")
	workspace.Run("apply", "-auto-approve", "-no-color")
	if err := plugin.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := plugin.wait(); code != 0 {
		t.Errorf("exit %d, %s", code, stderr)
	}
}
