package cli_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

const fleet = `
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

// eventually waits for something another process is about to do.
func eventually(t *testing.T, what string, there func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if there() {
			return
		}
	}
	t.Fatalf("waited a minute for: %s", what)
}

// Ctrl-C while a server boots: the server is kept, untainted, and the next
// apply goes on waiting for it instead of renting another.
func TestAccBinary_interruptedApplyIsResumed(t *testing.T) {
	// The test asserts the status creating and counts the requests that rent. An interruption ends the repetition of a
	// request, so that an error follows a lost answer.
	env := acctest.Start(t, acctest.WithoutQuirks("unknown-enums", "status-after-work", "gateway-errors"),
		func(c *simulator.Config) { c.Boot = 30 * time.Minute })
	workspace := env.Workspace(fleet)
	var output bytes.Buffer
	apply := workspace.Command(t.Context(), &output, "apply", "-auto-approve", "-no-color")
	if err := apply.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the provider polls the new server", func() bool { return env.CountRequests("GET", "/instances") > 3 })
	if err := apply.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := apply.Wait(); err == nil {
		t.Errorf("the interrupted apply ended well:\n%s", &output)
	}
	before := theServer(t, workspace)
	if before.Tainted || before.Attributes.ID == "" || before.Attributes.Status != "creating" {
		t.Fatalf("after the interruption the state holds %+v\n%s", before, &output)
	}

	env.Advance(time.Hour)
	workspace.Run("apply", "-auto-approve", "-no-color")
	if after := theServer(t, workspace); after.Attributes.ID != before.Attributes.ID || after.Attributes.Status != "running" {
		t.Errorf("before %+v, after %+v: want the same server, running", before, after)
	}
	if n := env.CountRequests("POST", "/instances"); n != 1 {
		t.Errorf("%d POST requests, want the one that rented", n)
	}
	if plan := workspace.Run("plan", "-no-color"); !strings.Contains(plan, "No changes") {
		t.Errorf("the plan after the apply has changes:\n%s", plan)
	}
	workspace.Run("destroy", "-auto-approve", "-no-color")
	if err := env.NothingLeft("instances"); err != nil {
		t.Error(err)
	}
}

// Ctrl-C in the middle of the request that rents: cutting it off would lose the
// server, so its answer is waited for and saved.
func TestAccBinary_interruptionInsideTheRentalLosesNothing(t *testing.T) {
	env := acctest.Start(t, func(c *simulator.Config) { c.Boot = 30 * time.Minute })
	if err := env.AddFault(simulator.Fault{Method: "POST", Path: "/instances", DelayMS: 1000, Times: 1}); err != nil {
		t.Fatal(err)
	}
	workspace := env.Workspace(fleet)
	var output bytes.Buffer
	apply := workspace.Command(t.Context(), &output, "apply", "-auto-approve", "-no-color")
	if err := apply.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the rental is on its way", func() bool { return env.CountRequests("POST", "/instances") == 1 })
	if err := apply.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := apply.Wait(); err == nil {
		t.Errorf("the interrupted apply ended well:\n%s", &output)
	}
	if server := theServer(t, workspace); server.Tainted || server.Attributes.ID == "" {
		t.Errorf("the state holds %+v\n%s", server, &output)
	}
	if err := env.Left("instances", 1); err != nil {
		t.Error(err)
	}
}

type savedServer struct{ ID, Status string }

func theServer(t *testing.T, w *acctest.Workspace) acctest.Saved[savedServer] {
	t.Helper()
	servers := acctest.SavedIn[savedServer](w, "gpurent_instance")
	if len(servers) == 0 {
		t.Fatal("the state has no server")
	}
	return servers[0]
}

// No secret may be in a log at any level, in the output, or in a saved plan.
// Only the state holds the secret of a key that Terraform issued, and with it
// any plan saved after that, which contains the state.
func TestAccBinary_secretsStayOutOfLogsAndPlans(t *testing.T) {
	env := acctest.Start(t)
	workspace := env.Workspace(fleet, acctest.Traced()...)
	printed := workspace.Run("plan", "-no-color", "-out=saved.plan")
	printed += workspace.Run("show", "-json", "saved.plan")
	printed += workspace.Run("apply", "-no-color", "saved.plan")
	printed += workspace.Run("plan", "-no-color")

	texts := map[string]string{"log": workspace.Trace(), "output": printed}
	for name, secret := range map[string]string{"provider's key": env.APIKey, "issued key": issuedSecret(t, workspace), "Authorization header": "Bearer "} {
		if err := acctest.Leak(secret, texts); err != nil {
			t.Errorf("the %s: %v", name, err)
		}
	}
	if strings.Contains(workspace.Read("terraform.tfstate"), env.APIKey) {
		t.Error("the provider's own key is in the state")
	}
}

// verbose makes gRPC, the protocol between CLI and provider, log all it can.
var verbose = []string{"GRPC_GO_LOG_VERBOSITY_LEVEL=99", "GRPC_GO_LOG_SEVERITY_LEVEL=info", "GRPC_BINARY_LOG_FILTER=*"}

// withKey is the configuration with the key as an argument, which the CLI sends to the provider.
func withKey(config, key string) string {
	return strings.Replace(config, "{", "{\n  api_key = \""+key+"\"", 1)
}

// The same over TLS with HTTP/2, while the Go standard library, gRPC and plugin-go write all they can.
func TestAccBinary_debugVariablesWriteNoSecret(t *testing.T) {
	env := acctest.Start(t)
	service := newTLSService(t, env)
	protocolData := t.TempDir()
	variables := slices.Concat(acctest.Traced(), service.environment("http2debug=1"), verbose,
		[]string{"TF_LOG_SDK_PROTO_DATA_DIR=" + protocolData})
	workspace := env.Workspace(withKey(fleet, env.APIKey), variables...)
	printed := workspace.Run("apply", "-auto-approve", "-no-color")
	plan := workspace.Run("plan", "-no-color")
	trace := workspace.Trace()
	for text, why := range map[string]string{
		trace:               "discards what Go libraries",
		acctest.Words(plan): "TF_LOG_SDK_PROTO_DATA_DIR is set. The provider ignores it",
	} {
		if !strings.Contains(text, why) {
			t.Errorf("the user does not learn that the provider %q", why)
		}
	}
	service.leaks(t, 2, map[string]string{"log": trace, "output": printed + plan})
	if files, err := os.ReadDir(protocolData); err != nil || len(files) > 0 {
		t.Errorf("files with data of the protocol: %v, %v", files, err)
	}
}

// http2debug=2 makes the CLI log what it sends to the provider, so the run ends before it sends the key.
func TestAccBinary_frameDumpsAreRefused(t *testing.T) {
	env := acctest.Start(t)
	workspace := env.Workspace(withKey(fleet, env.APIKey), append(acctest.Traced(), "GODEBUG=http2debug=2")...)
	printed, err := workspace.Try("plan", "-no-color")
	if err == nil || !strings.Contains(acctest.Words(printed), "GODEBUG contains http2debug=2") {
		t.Errorf("%v; the error does not name the variable:\n%s", err, printed)
	}
	trace := workspace.Read("trace.log")
	if !strings.Contains(trace, "http2: Framer") {
		t.Error("the log has no frame: the search for secrets is in the wrong place")
	}
	if err := acctest.Leak(env.APIKey, map[string]string{"log": trace, "output": printed}); err != nil {
		t.Error(err)
	}
}

func issuedSecret(t *testing.T, w *acctest.Workspace) string {
	t.Helper()
	keys := acctest.SavedIn[struct{ Secret string }](w, "gpurent_api_key")
	if len(keys) == 0 || keys[0].Attributes.Secret == "" {
		t.Fatal("the state has no issued key")
	}
	return keys[0].Attributes.Secret
}
