package provider_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// soon is how long an interrupted command may take on a busy machine. At the request limit it would wait much longer. A
// cancelled job of GitHub Actions sends a second signal, which ends the CLI without saving, after 7.5 seconds.
const soon = 40 * time.Second

// interrupted runs a command and interrupts it when it is time. The command must end soon.
func interrupted(t *testing.T, w *acctest.Workspace, isTime func() bool, arguments ...string) (output string) {
	t.Helper()
	run := w.Start(t.Context(), append(arguments, "-auto-approve", "-no-color")...)
	for deadline := time.Now().Add(time.Minute); !isTime(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Error("it is never time to interrupt the command")
			break
		}
	}
	began := time.Now()
	if err := run.Interrupt(); err != nil {
		t.Fatal(err)
	}
	output, code := run.Wait()
	if took := time.Since(began); took > soon || code == 0 {
		t.Errorf("it ended %s after the interruption with exit code %d:\n%s", took, code, output)
	}
	return output
}

const twoKinds = `
resource "gpurent_fleet" "train" {
  name          = "train"
  size          = %d
  template      = "pytorch"
  disk_gb       = 20
  offer_queries = [{}]
}

resource "gpurent_instance" "w" {
  count       = %d
  template    = "pytorch"
  disk_gb     = 20
  offer_query = {}
}
`

// While requests wait for the request limit, an interruption ends an apply soon, and the state contains every server
// that was rented. It ends a destroy soon, too, and both can be continued.
func TestAccInterrupt_atTheRequestLimit(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t, acctest.WithoutQuirks("all")) // the limit must be used up by known requests
	w := env.Workspace(env.Provider() + fmt.Sprintf(twoKinds, 5, 4))
	usedUp := func(limit int, method string) func() bool {
		env.SetRateLimit(limit, limit)
		before := len(env.Requests())
		return func() bool {
			done := 0
			sent := env.Requests()[before:]
			for _, r := range sent {
				if r.Method == method && r.Status/100 == 2 {
					done++
				}
			}
			return done >= 2 && len(sent) >= limit
		}
	}
	output := interrupted(t, w, usedUp(18, http.MethodPost), "apply")
	acctest.List(env, "instances", func(inst struct{ ID string }) {
		if !strings.Contains(w.Read("terraform.tfstate"), inst.ID) {
			t.Errorf("the state does not contain %s:\n%s", inst.ID, output)
		}
	})
	env.SetRateLimit(0, 0)
	env.Advance(time.Hour)
	w.Run("apply", "-auto-approve")
	if err := env.Left("instances", 9); err != nil {
		t.Error(err)
	}
	interrupted(t, w, usedUp(9, http.MethodDelete), "destroy")
	env.SetRateLimit(0, 0)
	env.Advance(time.Hour)
	w.Run("destroy", "-auto-approve")
	if err := env.NothingLeft("instances"); err != nil {
		t.Error(err)
	}
}
