package fleet_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// Two states of one account have a fleet of the same name. Each rents its own servers, changes and destroys only these,
// and has no changes after an apply.
func TestAccFleet_oneNameInTwoStates(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t, acctest.ChoosesOffers())
	first, second := env.Workspace(env.Config(config(2))), env.Workspace(env.Config(config(1)))
	first.Run("apply", "-auto-approve")
	before := members(first)
	second.Run("apply", "-auto-approve")
	env.Advance(2 * time.Hour)
	second.Configure(env.Config(config(4)))
	contains(t, second.Run("apply", "-auto-approve", "-no-color"), "0 added, 1 changed", "!rented before")
	for _, w := range []*acctest.Workspace{first, second} {
		contains(t, w.Run("plan", "-no-color"), "No changes.", "Instances have the names of members of fleet train")
	}
	second.Run("destroy", "-auto-approve")
	contains(t, first.Run("plan", "-no-color"), "No changes.")
	if now := members(first); !maps.Equal(now, before) || env.Left("instances", 2) != nil {
		t.Errorf("the first fleet has %v, before %v", now, before)
	}
}

// Two fleets of one state have the same name, and the second one replaces a tainted fleet with create_before_destroy.
func TestAccFleet_oneNameInOneState(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t, acctest.ChoosesOffers())
	train := config(2, "lifecycle {\n    create_before_destroy = true\n  }")
	other := strings.Replace(config(1), `"gpurent_fleet" "train"`, `"gpurent_fleet" "other"`, 1)
	w := env.Workspace(env.Config(train, other))
	w.Run("apply", "-auto-approve")
	before := members(w)
	w.Run("taint", address)
	contains(t, w.Run("apply", "-auto-approve", "-no-color"), "1 added, 0 changed, 1 destroyed")
	if now := members(w); len(now) != 2 || kept(before, now) > 0 || env.Left("instances", 3) != nil {
		t.Errorf("after a taint %v, before %v", now, before)
	}
	contains(t, w.Run("plan", "-no-color"), "No changes.")
	w.Configure(env.Config(other))
	w.Run("apply", "-auto-approve")
	if err := env.Left("instances", 1); err != nil {
		t.Error(err)
	}
	w.Run("destroy", "-auto-approve")
}

// An apply that grows a fleet is killed: the state has none of the new members, at any later time. The plan of the old
// size names them. An apply of any size and a destroy find them, also from a restored backup of the state.
func TestAccFleet_killedGrowth(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		later time.Duration
		then  func(t *testing.T, env *acctest.Env, w *acctest.Workspace)
	}{
		"a larger size": {2 * time.Hour, func(t *testing.T, env *acctest.Env, w *acctest.Workspace) {
			t.Helper()
			w.Configure(env.Config(config(4)))
			contains(t, w.Run("apply", "-auto-approve", "-no-color"), "These members (2) were rented before",
				"0 destroyed")
			if err := env.Left("instances", 4); err != nil {
				t.Error(err)
			}
		}},
		"a smaller size": {0, func(t *testing.T, env *acctest.Env, w *acctest.Workspace) {
			t.Helper()
			w.Configure(env.Config(config(1)))
			contains(t, w.Run("apply", "-auto-approve", "-no-color"), "These members (2) were rented before")
			if err := env.Left("instances", 3); err != nil {
				t.Error(err)
			}
			contains(t, w.Run("apply", "-auto-approve", "-no-color"), "destroyed, because size is 1")
			if err := env.Left("instances", 1); err != nil {
				t.Error(err)
			}
		}},
		"the old size": {time.Minute, func(t *testing.T, env *acctest.Env, w *acctest.Workspace) {
			t.Helper()
			w.Configure(env.Config(config(2)))
			contains(t, w.Run("apply", "-auto-approve", "-no-color"), "No changes.", "(train-3)", "unmanaged")
			contains(t, w.Run("destroy", "-auto-approve", "-no-color"), "More instances of fleet train were destroyed")
		}},
		"a destroy": {2 * time.Hour, func(*testing.T, *acctest.Env, *acctest.Workspace) {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := acctest.Start(t, acctest.WithoutQuirks("optional-fields-absent", "lagging-list"))
			w := env.Workspace(env.Config(config(2)))
			w.Run("apply", "-auto-approve")
			saved := w.Read("terraform.tfstate")
			w.Configure(env.Config(config(4)))
			w.Run("apply", "-auto-approve")
			w.Write("terraform.tfstate", saved)
			env.Advance(test.later)
			test.then(t, env, w)
			w.Run("destroy", "-auto-approve")
			if err := env.NothingLeft("instances"); err != nil {
				t.Error(err)
			}
		})
	}
}

// With idempotency_prefix, the keys of a creation are chosen. A second state with the same prefix and name gets an
// error that names the servers, changes nothing and rents nothing, unless they are young: then it takes them, with a
// warning.
func TestAccFleet_onePrefixInTwoStates(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t, acctest.WithoutQuirks("optional-fields-absent", "lagging-list"))
	provider := env.Provider(`idempotency_prefix = "prod"`)
	first, second := env.Workspace(provider+config(2)), env.Workspace(provider+config(3))
	first.Run("apply", "-auto-approve")
	ids := members(first)
	env.Advance(2 * time.Hour)
	output, err := second.Try("apply", "-auto-approve", "-no-color")
	if err == nil {
		t.Error("an old fleet was taken")
	}
	contains(t, output, "Error: Fleet train cannot take existing instances", ids["0"], ids["1"],
		"another idempotency_prefix", "import {", `id = "train"`)
	contains(t, first.Run("plan", "-no-color"), "No changes.")
	if err := env.Left("instances", 2); err != nil {
		t.Error(err)
	}
	third := env.Workspace(env.Provider(`idempotency_prefix = "test"`) + config(1))
	third.Run("apply", "-auto-approve")
	fourth := env.Workspace(env.Provider(`idempotency_prefix = "test"`) + config(1))
	contains(t, fourth.Run("apply", "-auto-approve", "-no-color"), members(third)["0"], "state rm ADDRESS", "1 added")
	if now := members(fourth); now["0"] != members(third)["0"] {
		t.Errorf("got %v", now)
	}
}

// The outcome of a create request is unknown, and the creation fails: the fleet is tainted. Its state contains the
// slot, so that the replacement, which has no private state, destroys the server that was rented. A later apply takes
// it.
func TestAccFleet_unknownOutcome(t *testing.T) {
	t.Parallel()
	second := func(r *http.Request) bool {
		if !acctest.Request("POST", "/instances")(r) {
			return false
		}
		body, err := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		return err == nil && bytes.Contains(body, []byte(`"train-1"`))
	}
	for name, minimum := range map[string]int{"tainted": 2, "continued": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := new(acctest.Proxy)
			proxy.Set(acctest.Match(second).Do(loseCreation))
			env := acctest.Start(t, proxy.Option(), acctest.WithoutQuirks("all"))
			env.AddSSHKey()
			w := env.Workspace(env.Config(config(2, fmt.Sprint("min_ready = ", minimum))))
			output, err := w.Try("apply", "-auto-approve", "-no-color")
			contains(t, output, "may have been rented under the idempotency key", "next apply or destroy finds it")
			if tainted := err != nil; tainted != (minimum == 2) || members(w)["1"] != "" || env.Left("instances", 2) != nil {
				t.Errorf("%v, members %v", err, members(w))
			}
			proxy.Set()
			kept := "1 added, 0 changed, 1 destroyed"
			if minimum == 1 {
				kept = "0 added, 1 changed, 0 destroyed"
			}
			contains(t, w.Run("apply", "-auto-approve", "-no-color"), kept)
			if err := env.Left("instances", 2); err != nil || len(members(w)) != 2 {
				t.Errorf("%v, members %v", err, members(w))
			}
			contains(t, w.Run("plan", "-no-color"), "No changes.")
			w.Run("destroy", "-auto-approve")
			if err := env.NothingLeft("instances"); err != nil {
				t.Error(err)
			}
		})
	}
}

// loseCreation processes a request and answers with something that does not come from the API.
func loseCreation(w http.ResponseWriter, r *http.Request, api http.Handler) {
	acctest.Record(w, r, api)
	acctest.Respond(http.StatusForbidden, "<html>")(w, r, api)
}

// In another account, the keys of a slot with an unknown outcome prove nothing: the slot stays in the state.
func TestAccFleet_unknownOutcomeInAnotherAccount(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	proxy := new(acctest.Proxy)
	proxy.Set(acctest.Request("POST", "/instances").Do(loseCreation))
	env, other := acctest.Start(t, proxy.Option(), acctest.WithoutQuirks("all")), acctest.Start(t)
	env.AddSSHKey()
	one := config(1, "min_ready = 0")
	w := env.Workspace(env.Provider() + one)
	w.Run("apply", "-auto-approve")
	proxy.Set()
	w.Configure(other.Provider() + one)
	for _, command := range [][]string{{"apply"}, {"apply", "-refresh=false"}, {"destroy", "-refresh=false"}} {
		output, err := w.Try(append(command, "-auto-approve", "-no-color")...)
		if err == nil {
			t.Errorf("%v succeeds:\n%s", command, output)
		}
		contains(t, output, "Cannot find an instance of fleet train")
	}
	w.Configure(env.Provider() + one)
	contains(t, w.Run("apply", "-auto-approve", "-no-color"), "These members (1) were rented before")
	w.Run("destroy", "-auto-approve")
	for _, e := range []*acctest.Env{env, other} {
		if err := e.NothingLeft("instances"); err != nil {
			t.Error(err)
		}
	}
}

// What a creation with allocation = "all" has rented is destroyed when it fails, and no fleet is left in the state.
func TestAccFleet_rolledBackCreation(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	env := acctest.Start(t, acctest.ChoosesOffers())
	w := env.Workspace(env.Config(config(2, `allocation = "all"`, ready, `timeouts = { create = "3s" }`)))
	output, err := w.Try("apply", "-auto-approve", "-no-color")
	contains(t, output, "destroyed the members that it had created (2)")
	if left := w.Run("state", "list"); err == nil || left != "" || env.NothingLeft("instances") != nil {
		t.Errorf("%v, in the state: %q", err, left)
	}
}
