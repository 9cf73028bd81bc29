package cli_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

const config = `
provider "gpurent" {
  poll_interval = "1ms"
}

data "gpurent_offers" "cheapest" {
  gpu      = ["rtx_4090"]
  num_gpus = [1]
}

resource "gpurent_api_key" "ci" {
  name   = "ci"
  scopes = ["instances:read"]
}

resource "gpurent_instance" "server" {
  offer_id = data.gpurent_offers.cheapest.ids[0]
  template = "pytorch"
  disk_gb  = 60
}
`

// Logs of all levels, the output and saved plans contain no secret. Only the state contains the secret of a key that
// Terraform issued, and so do later saved plans, which contain the state.
func TestAccBinary_secretsStayOutOfLogsAndPlans(t *testing.T) {
	env := acctest.Start(t)
	workspace := env.Workspace(config, acctest.Traced()...)
	printed := workspace.Run("plan", "-no-color", "-out=saved.plan")
	printed += workspace.Run("show", "-json", "saved.plan")
	printed += workspace.Run("apply", "-no-color", "saved.plan")
	printed += workspace.Run("plan", "-no-color")

	texts := map[string]string{"log": workspace.Trace(), "output": printed}
	issued := acctest.SavedIn[struct{ Secret string }](workspace, "gpurent_api_key")
	if len(issued) != 1 || issued[0].Attributes.Secret == "" {
		t.Fatal("the state has no issued key")
	}
	for name, secret := range map[string]string{"provider's key": env.APIKey, "issued key": issued[0].Attributes.Secret,
		"Authorization header": "Bearer "} {
		if err := acctest.Leak(secret, texts); err != nil {
			t.Errorf("the %s: %v", name, err)
		}
	}
	if strings.Contains(workspace.Read("terraform.tfstate"), env.APIKey) {
		t.Error("the provider's own key is in the state")
	}
}

// verboseGRPC makes gRPC, the protocol between CLI and provider, log with the highest verbosity.
var verboseGRPC = []string{"GRPC_GO_LOG_VERBOSITY_LEVEL=99", "GRPC_GO_LOG_SEVERITY_LEVEL=info",
	"GRPC_BINARY_LOG_FILTER=*"}

// withAPIKey adds the key to the provider block of a configuration. The CLI sends it to the provider.
func withAPIKey(config, key string) string {
	return strings.Replace(config, "{", "{\n  api_key = \""+key+"\"", 1)
}

// Logs contain no secret over TLS with HTTP/2 either, with the debug variables of the Go standard library, gRPC and
// plugin-go.
func TestAccBinary_debugVariablesWriteNoSecret(t *testing.T) {
	env := acctest.Start(t)
	service := newTLSService(t, env)
	protocolData := t.TempDir()
	variables := slices.Concat(acctest.Traced(), service.environment("http2debug=1"), verboseGRPC,
		[]string{"TF_LOG_SDK_PROTO_DATA_DIR=" + protocolData})
	workspace := env.Workspace(withAPIKey(config, env.APIKey), variables...)
	printed := workspace.Run("apply", "-auto-approve", "-no-color")
	plan := workspace.Run("plan", "-no-color")
	trace := workspace.Trace()
	service.leaks(t, 2, map[string]string{"log": trace, "output": printed + plan})
	if files, err := os.ReadDir(protocolData); err != nil || len(files) > 0 {
		t.Errorf("files with protocol data: %v, %v", files, err)
	}
}

// http2debug=2 makes the CLI log its messages to the provider, so the run ends before the CLI sends the key.
func TestAccBinary_frameDumpsAreRefused(t *testing.T) {
	env := acctest.Start(t)
	workspace := env.Workspace(withAPIKey(config, env.APIKey), append(acctest.Traced(), "GODEBUG=http2debug=2")...)
	printed, err := workspace.Try("plan", "-no-color")
	if err == nil || !strings.Contains(acctest.Words(printed), "GODEBUG contains http2debug=2") {
		t.Errorf("%v; the error does not name GODEBUG:\n%s", err, printed)
	}
	trace := workspace.Read("trace.log")
	if !strings.Contains(trace, "http2: Framer") {
		t.Error("the log has no frame")
	}
	if err := acctest.Leak(env.APIKey, map[string]string{"log": trace, "output": printed}); err != nil {
		t.Error(err)
	}
}
