package apikey_test

import (
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// configWithOpenKeys returns a configuration with 20 ephemeral keys and an instance.
func configWithOpenKeys(env *acctest.Env) string {
	return env.Provider() + `
ephemeral "gpurent_api_key" "job" {
  count  = 20
  name   = "job ${count.index}"
  scopes = ["instances:read", "instances:write"]
}
provider "gpurent" {
  alias         = "job"
  api_key       = ephemeral.gpurent_api_key.job[19].secret
  poll_interval = "1ms"
}
resource "gpurent_instance" "server" {
  provider    = gpurent.job
  offer_query = { gpu = ["rtx_4090"], num_gpus = [1] }
  template    = "pytorch"
  disk_gb     = 60
}
`
}

// The keys of an aborted run are revoked: within the two seconds that a CLI waits for the end of its provider, and also
// after the CLI has died.
func TestAccEphemeralAPIKey_revokedAfterAbortedRun(t *testing.T) {
	for name, end := range map[string]func(*acctest.Run) error{
		"interrupted": (*acctest.Run).Interrupt,
		"hung up":     (*acctest.Run).HangUp,
		"CLI killed": func(run *acctest.Run) error {
			_, err := run.KillCLI()
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The keys are created one after the other, and each lost response takes seconds. A CLI kills its provider after
			// two seconds, which is too short for retries.
			env := acctest.Start(t, func(c *simulator.Config) { c.Boot = 30 * 24 * time.Hour },
				acctest.WithoutQuirks("status-after-work", "gateway-errors"))
			run := env.Workspace(configWithOpenKeys(env), acctest.Traced()...).Start(t.Context(), "apply", "-auto-approve",
				"-no-color")
			for deadline := time.Now().Add(time.Minute); env.CountRequests("GET",
				"/instances") < 20; time.Sleep(5 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the run does not wait for the instance")
				}
			}
			if err := env.Left("api-keys", 21); err != nil {
				t.Error(err)
			}
			if err := end(run); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			output, _ := run.Wait()
			t.Logf("all processes ended after %s", time.Since(start))
			if err := env.OnlyKeyLeft(); err != nil {
				t.Errorf("%v\n%s", err, output)
			}
		})
	}
}
