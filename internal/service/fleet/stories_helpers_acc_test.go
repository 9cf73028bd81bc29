package fleet_test

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// startStory starts a simulator with exactly these quirks, because a story is about one of them.
func startStory(t *testing.T, quirks []string, options ...acctest.Option) *acctest.Env {
	t.Helper()
	acctest.FirstCLIOnly(t)
	t.Parallel()
	env := acctest.Start(t, append(options, acctest.WithoutQuirks("all"), acctest.WithQuirks(quirks...))...)
	env.AddSSHKey()
	return env
}

// onPost calls a function at the first request to rent: before the service processes it, or after its response.
func onPost(after bool, do func()) acctest.Option {
	var done atomic.Bool
	return acctest.WithWrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			first := r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/instances") && !done.Swap(true)
			if first && !after {
				do()
			}
			next.ServeHTTP(w, r)
			if first && after {
				do()
			}
		})
	})
}

// server is an instance of the account.
type server struct{ ID, Name, Status string }

// live returns the ids of the servers that exist, sorted.
func live(env *acctest.Env) (ids []string) {
	acctest.List(env, "instances?limit=200", func(s server) {
		if s.Status != "destroying" {
			ids = append(ids, s.ID)
		}
	})
	slices.Sort(ids)
	return ids
}

// expectRented checks how many servers the account has ever rented.
func expectRented(t *testing.T, env *acctest.Env, want int) {
	t.Helper()
	if err := env.Left("instances?status=all&limit=200", want); err != nil {
		t.Errorf("of all that were ever rented: %v", err)
	}
}

// expectLive checks that exactly the members in the state exist, and their number.
func expectLive(t *testing.T, env *acctest.Env, w *acctest.Workspace, want int) {
	t.Helper()
	if now, saved := live(env), current(w); len(now) != want || !slices.Equal(now, saved) {
		t.Errorf("the servers %v exist, and the state has %v: want %d", now, saved, want)
	}
}

// current returns the ids of the members in the current object of the state, sorted.
func current(w *acctest.Workspace) (ids []string) {
	for _, object := range acctest.SavedIn[struct{ Instances map[string]server }](w, "gpurent_fleet") {
		for _, member := range object.Attributes.Instances {
			if !object.Deposed {
				ids = append(ids, member.ID)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// expectEmptyPlan checks that a plan has no changes.
func expectEmptyPlan(t *testing.T, w *acctest.Workspace) {
	t.Helper()
	if output, err := w.Try("plan", "-no-color", "-detailed-exitcode"); err != nil {
		t.Errorf("the plan is not empty:\n%s", output)
	}
}

// expectDestroyed destroys everything and checks that no server is left.
func expectDestroyed(t *testing.T, env *acctest.Env, w *acctest.Workspace) {
	t.Helper()
	if output, err := w.Try("destroy", "-auto-approve", "-no-color"); err != nil {
		t.Errorf("the destruction fails:\n%s", output)
	}
	if left := live(env); len(left) > 0 {
		t.Errorf("the servers %v are left", left)
	}
}

// expectApply applies, and checks whether that succeeds and what the output contains.
func expectApply(t *testing.T, w *acctest.Workspace, succeeds bool, texts ...string) (output string) {
	t.Helper()
	output, err := w.Try("apply", "-auto-approve", "-no-color")
	if (err == nil) != succeeds {
		t.Errorf("the apply succeeds: %t, want %t:\n%s", err == nil, succeeds, output)
	}
	contains(t, output, texts...)
	return output
}
