//go:build linux

package apikey_test

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// What only real processes show: a provider for each provider block, files and logs,
// and how a run ends. Only on Linux do tests know how to find the processes.

// witness hears the secrets that the service tells.
type witness struct {
	mu     sync.Mutex
	issued []string
}

var secretField = regexp.MustCompile(`"secret":\s*"([^"]+)"`)

func (w *witness) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) { next.ServeHTTP(overheard{to, w}, r) })
}

type overheard struct {
	http.ResponseWriter
	by *witness
}

func (o overheard) Write(body []byte) (int, error) {
	o.by.mu.Lock()
	defer o.by.mu.Unlock()
	for _, found := range secretField.FindAllSubmatch(body, -1) {
		o.by.issued = append(o.by.issued, string(found[1]))
	}
	return o.ResponseWriter.Write(body)
}

// A key with fewer scopes does one part of the work, as in the example, and is seen
// nowhere but on the wire.
func TestAccEphemeralAPIKey_givesAJobNoMoreThanItNeeds(t *testing.T) {
	acctest.FirstCLIOnly(t)
	service := new(witness)
	env := acctest.Start(t, acctest.WithWrap(service.wrap))
	workspace := env.Workspace(env.Example(ephemeralExample), acctest.Traced()...)
	printed := workspace.Run("plan", "-no-color", "-out=saved.plan")
	printed += workspace.Run("show", "-json", "saved.plan")
	printed += workspace.Run("apply", "-no-color", "saved.plan")
	printed += workspace.Run("show", "-json")
	plan := workspace.Run("plan", "-no-color")
	if !strings.Contains(plan, "No changes") {
		t.Errorf("the plan after the apply has changes:\n%s", plan)
	}
	if err := env.OnlyKeyLeft(); err != nil {
		t.Error(err)
	}
	if len(service.issued) != 3 {
		t.Errorf("%d keys were issued, want one for each run", len(service.issued))
	}
	texts := map[string]string{
		"log": workspace.Trace(), "output": printed + plan, "state": workspace.Read("terraform.tfstate"), "saved plan": workspace.Unpacked("saved.plan"),
	}
	for _, secret := range service.issued {
		if err := acctest.Leak(secret, texts); err != nil {
			t.Error(err)
		}
	}
	own := env.OwnKeyID()
	for _, r := range env.Requests() {
		if r.Path == "/templates" && r.KeyID == own {
			t.Errorf("%s %s was made with the provider's own key", r.Method, r.Path)
		}
	}
	workspace.Run("destroy", "-auto-approve", "-no-color")
	if err := errors.Join(env.NoneOwned(), env.OnlyKeyLeft()); err != nil {
		t.Error(err)
	}
}

// The CLIs close nothing when a run fails in the middle: the end of the provider does.
func TestAccEphemeralAPIKey_isRevokedWhenTheRunFails(t *testing.T) {
	env := acctest.Start(t)
	if err := env.AddFault(simulator.Fault{Method: "POST", Path: "/templates", Status: 422}); err != nil {
		t.Fatal(err)
	}
	workspace := env.Workspace(env.Example(ephemeralExample))
	if printed, err := workspace.Try("apply", "-auto-approve", "-no-color"); err == nil || !strings.Contains(printed, "Cannot create template") {
		t.Errorf("the apply ended with %v:\n%s", err, printed)
	}
	if err := env.OnlyKeyLeft(); err != nil {
		t.Error(err)
	}
}

// busy is a run with many open keys, that waits for a server.
func busy(env *acctest.Env) string {
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

// However a run is broken off, its keys are revoked: within the two seconds that a CLI
// gives a provider to end, and soon after a CLI has died.
func TestAccEphemeralAPIKey_isRevokedHoweverTheRunEnds(t *testing.T) {
	for name, end := range map[string]func(*acctest.Run) error{
		"interrupted": (*acctest.Run).Interrupt,
		"terminated":  (*acctest.Run).Terminate,
		"hung up":     (*acctest.Run).HangUp,
		"CLI killed": func(run *acctest.Run) error {
			_, err := run.KillCLI()
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Twenty keys are issued one after the other, and each lost answer costs seconds. A CLI kills its provider after
			// two seconds, which leaves no time for repeated revocations.
			env := acctest.Start(t, func(c *simulator.Config) { c.Boot = 30 * 24 * time.Hour },
				acctest.WithoutQuirks("status-after-work", "gateway-errors"))
			run := env.Workspace(busy(env), acctest.Traced()...).Start(t.Context(), "apply", "-auto-approve", "-no-color")
			for deadline := time.Now().Add(time.Minute); env.CountRequests("GET", "/instances") < 20; time.Sleep(5 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the run does not come to its wait")
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
			t.Logf("all processes were gone after %s", time.Since(start))
			if err := env.OnlyKeyLeft(); err != nil {
				t.Errorf("%v\n%s", err, output)
			}
		})
	}
}

// What the service does not let the provider revoke expires. The run has done its
// work, so that is a warning, and the log names what was left in the end.
func TestAccEphemeralAPIKey_whatIsLeftIsTold(t *testing.T) {
	acctest.FirstCLIOnly(t)
	refuse := true
	env := acctest.Start(t, acctest.WithWrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !refuse || r.Method != http.MethodDelete {
				next.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Retry-After", "50")
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprint(w, `{"error":{"code":"rate_limited","message":"Too many requests"}}`)
		})
	}))
	workspace := env.Workspace(env.Provider()+job()+using, acctest.Traced()...)
	begin := time.Now()
	printed := acctest.Words(workspace.Run("plan", "-no-color"))
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("the plan took %s, as if it had waited for the service", took)
	}
	left := acctest.Fetch[struct{ Data []struct{ ID string } }](env, "api-keys").Data[1].ID
	for _, want := range []string{"Warning: Cannot revoke API key " + left, "works until it expires at 20", "revoke it in the service's console"} {
		if !strings.Contains(printed, want) {
			t.Errorf("%q is not in the output:\n%s", want, printed)
		}
	}
	if log := workspace.Trace(); !regexp.MustCompile(`leaves something behind.*API key ` + left + `, which expires at 20.*is left behind: .*429`).MatchString(log) {
		t.Errorf("the log does not tell what is left")
	}
	refuse = false
	env.Delete("api-keys/" + left)
}

// A key that could not be revoked at once is revoked when the run ends.
func TestAccEphemeralAPIKey_revokingIsTriedAgainAtTheEnd(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The only failure is the fault: with max_retries = 0, every other one fails the run, and the last revocation.
	env := acctest.Start(t, acctest.WithoutQuirks("status-after-work", "gateway-errors"))
	if err := env.AddFault(simulator.Fault{Method: "DELETE", Path: "/api-keys", Status: 500, Times: 1}); err != nil {
		t.Fatal(err)
	}
	workspace := env.Workspace("provider \"gpurent\" {\n  max_retries = 0\n}\n" + job() + using)
	printed, err := workspace.Try("plan", "-no-color")
	printed = acctest.Words(printed)
	if err == nil || !strings.Contains(printed, "Error: Cannot revoke API key key_") || !strings.Contains(printed, "works until it expires at 20") {
		t.Errorf("the plan ended with %v:\n%s", err, printed)
	}
	if err := env.OnlyKeyLeft(); err != nil {
		t.Error(err)
	}
}

// The key that issues may be made in the same run. The CLIs open what has nothing
// unknown in it while they plan, so the error says how to have them wait.
func TestAccEphemeralAPIKey_mayBeIssuedByAKeyOfTheSameRun(t *testing.T) {
	env := acctest.Start(t)
	config := func(name string) string {
		return env.Provider() + `
resource "gpurent_api_key" "issuer" {
  name   = "issuer"
  scopes = ["user:read", "user:write", "instances:read", "instances:write"]
}
provider "gpurent" {
  alias   = "issuer"
  api_key = gpurent_api_key.issuer.secret
}
ephemeral "gpurent_api_key" "job" {
  provider = gpurent.issuer
  name     = "` + name + `"
  scopes   = ["instances:read", "instances:write"]
}
provider "gpurent" {
  alias   = "job"
  api_key = ephemeral.gpurent_api_key.job.secret
}
resource "gpurent_template" "mine" {
  provider = gpurent.job
  name     = "Mine"
  image    = "ubuntu:24.04"
}
`
	}
	workspace := env.Workspace(config("job"))
	const advice = "build an argument of this from it, such as the name"
	if printed, err := workspace.Try("plan", "-no-color"); err == nil || !strings.Contains(acctest.Words(printed), advice) {
		t.Errorf("the plan ended with %v and not with advice:\n%s", err, printed)
	}
	workspace.Configure(config("job ${gpurent_api_key.issuer.id}"))
	workspace.Run("apply", "-auto-approve", "-no-color")
	if err := env.Left("api-keys", 2); err != nil {
		t.Error(err)
	}
	// What issued it is revoked before it, so that nothing of this run can revoke it.
	printed := acctest.Words(workspace.Run("destroy", "-auto-approve", "-no-color"))
	if !strings.Contains(printed, "Warning: Cannot revoke API key") {
		t.Errorf("the destroy does not tell of the key that is left:\n%s", printed)
	}
	env.Delete("api-keys/" + acctest.Fetch[struct{ Data []struct{ ID string } }](env, "api-keys").Data[1].ID)
	if err := env.OnlyKeyLeft(); err != nil {
		t.Error(err)
	}
}

// using makes a run need the key of a job.
const using = `
provider "gpurent" {
  alias   = "job"
  api_key = ephemeral.gpurent_api_key.job.secret
}
data "gpurent_templates" "all" {
  provider = gpurent.job
}
`
