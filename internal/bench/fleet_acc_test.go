package main

import (
	"fmt"
	"testing"
	"time"
)

func fleetConfig(size int) string {
	return fmt.Sprintf(`
provider "gpurent" {
  %s
}

resource "gpurent_fleet" "big" {
  name          = "big"
  size          = %d
  template      = "ubuntu"
  disk_gb       = 20
  offer_queries = [{}]
}
`, scaledPolling, size)
}

func TestAccFleetSpeed(t *testing.T) {
	for _, size := range []int{1000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			env := startUnlimited(t, size)
			w := env.Workspace(fleetConfig(size))
			timed := func(name string, command ...string) {
				env.ClearRequests()
				begin := time.Now()
				w.Run(command...)
				t.Logf("%s: %s, %d requests", name, time.Since(begin).Round(time.Millisecond), len(env.Requests()))
			}
			timed("create", "apply", "-auto-approve", "-input=false")
			for range 2 {
				timed("refresh", "plan", "-refresh-only")
				timed("plan", "plan", "-detailed-exitcode")
				timed("version", "version")
			}
			timed("destroy", "destroy", "-auto-approve")
			w.Configure("")
			timed("empty", "plan", "-detailed-exitcode")
			timed("empty", "plan", "-detailed-exitcode")
		})
	}
}
