//go:build linux

package fleet_test

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// killer kills a run with its provider at the first request of a method, while it is set.
type killer struct {
	method string
	run    atomic.Pointer[acctest.Run]
}

// wrap is for acctest.WithWrap. The service processes the request before the kill, except a DELETE.
func (k *killer) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != k.method {
			next.ServeHTTP(w, r)
			return
		}
		run := k.run.Swap(nil)
		if run == nil || r.Method != http.MethodDelete {
			next.ServeHTTP(w, r)
		}
		if run != nil {
			_, _ = run.KillAll() //nolint:errcheck // the test checks what exists afterwards
			panic(http.ErrAbortHandler)
		}
	})
}

// beforeDestroy creates the new object before the old one is destroyed.
const beforeDestroy = "lifecycle {\n    create_before_destroy = true\n  }"

// create_before_destroy would give the members of both objects the same names and keys. The apply rents nothing and
// destroys no member, also when it is killed.
func TestAccFleet_createBeforeDestroy(t *testing.T) {
	const replace = "-replace=" + address
	for name, test := range map[string]struct {
		age   time.Duration // of the members
		disk  int           // of the new members; 20 is that of the old ones
		flags []string
		taint bool
		kill  string // the method of the request at which the run is killed
	}{
		"old, larger disk":     {age: 2 * time.Hour, disk: 30},
		"old, not refreshed":   {age: 2 * time.Hour, disk: 20, flags: []string{replace, "-refresh=false"}},
		"young, tainted":       {disk: 20, taint: true},
		"young, not refreshed": {disk: 20, flags: []string{replace, "-refresh=false"}},
		"killed at rental":     {disk: 20, flags: []string{replace}, kill: http.MethodPost},
		"killed at deletion":   {disk: 20, flags: []string{replace}, kill: http.MethodDelete},
	} {
		t.Run(name, func(t *testing.T) {
			kill := &killer{method: test.kill}
			env := startStory(t, nil, acctest.WithWrap(kill.wrap))
			config := func(disk int, arguments ...string) string { return env.Provider() + plain(3, disk, arguments...) }
			w := env.Workspace(config(20, beforeDestroy))
			w.Run("apply", "-auto-approve")
			before := current(w)
			env.Advance(test.age)
			w.Configure(config(test.disk, beforeDestroy))
			if test.taint {
				w.Run("taint", address)
			}
			run := w.Start(t.Context(), slices.Concat([]string{"apply", "-auto-approve", "-no-color"}, test.flags)...)
			kill.run.Store(run)
			output, code := run.Wait()
			kill.run.Store(nil)
			w.PutAsideTorn()
			if test.age > 0 {
				if code != 1 || !slices.Equal(current(w), before) {
					t.Errorf("exit code %d, and the state has %v", code, current(w))
				}
				if !slices.ContainsFunc(before, func(id string) bool { return strings.Contains(output, id) }) {
					t.Errorf("the error names no member:\n%s", output)
				}
				contains(t, output, "name", "destroy")
			}
			w.Configure(config(20, beforeDestroy))
			expectUntouched(t, env, w, before)
			w.Configure(config(20))
			expectEmptyPlan(t, w)
			expectDestroyed(t, env, w)
		})
	}
}

// expectUntouched checks that the servers are the members in the state, also after an untaint and an apply, and that
// the next plan is empty or an error.
func expectUntouched(t *testing.T, env *acctest.Env, w *acctest.Workspace, servers []string) {
	t.Helper()
	check := func(after, output string) {
		t.Helper()
		expectRented(t, env, len(servers))
		if now := live(env); !slices.Equal(now, servers) || !slices.Equal(current(w), servers) {
			t.Errorf("after %s, %v exist and the state has %v, want %v:\n%s", after, now, current(w), servers, output)
		}
	}
	check("the replacement", "")
	output, _ := w.Try("untaint", address) //nolint:errcheck // it may not be tainted
	check("untaint", output)
	output, err := w.Try("plan", "-no-color")
	if err == nil && !strings.Contains(output, "No changes.") {
		t.Errorf("the next plan has changes:\n%s", output)
	}
	for _, refresh := range []string{"-refresh=true", "-refresh=false"} {
		output, _ = w.Try("apply", "-no-color", "-auto-approve", refresh) //nolint:errcheck // it may be an error
		check("another apply with "+refresh, output)
	}
}
