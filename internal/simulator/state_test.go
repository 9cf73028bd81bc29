package simulator_test

import (
	"bytes"
	"context"
	"errors"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// allResponses returns the responses of all lists and single resources.
func (api *client) allResponses() map[string]string {
	api.t.Helper()
	seen := map[string]string{}
	for _, path := range append([]string{"/me", "/balance", "/instances?status=all"}, listPaths...) {
		a := api.get(join(path, "limit=200")).want(200)
		seen[path] = string(a.body) + a.header.Get("Date")
	}
	return seen
}

func withStateFile(file string) func(*simulator.Config) {
	return func(c *simulator.Config) { c.State = file }
}

// save saves the state.
func (api *client) save() {
	api.t.Helper()
	if err := simulator.Save(api.Simulator); err != nil {
		api.t.Fatal(err)
	}
}

// checkSame compares all responses of two simulators.
func checkSame(t *testing.T, when string, api, other *client) {
	t.Helper()
	if diff := cmp.Diff(api.allResponses(), other.allResponses()); diff != "" {
		t.Errorf("%s (-without a restart +with one):\n%s", when, diff)
	}
}

// A simulator with the state file of another one has the same state and the same future.
func TestState_SurvivesRestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "simulator.json")
	api := newClient(t, withStateFile(file), func(c *simulator.Config) { c.Market = simulator.MarketMoving })
	body := api.instanceBody(object{"disk_gb": 77})
	stay := api.create("k1", body).created().text("id")
	for n, path := range append(createPaths, createPaths...) {
		api.add(path, n)
	}
	issued, _ := api.newKey("user:read")
	api.delete("/instances/" + api.runningInstance(nil).text("id")).want(200)
	api.runningInstance(object{"type": "interruptible"})
	api.setOffer(api.list("/offers")[0].text("id"), object{"on_demand_kop_h": 1})
	api.createInstance(nil) // still creating
	api.Advance(26 * time.Hour)
	login := api.login()
	if err := api.AddFault(simulator.Fault{Path: "/nothing", Status: 503}); err != nil {
		t.Fatal(err)
	}
	api.SetRateLimit(5000, 0)
	api.save()

	sim, err := simulator.New(simulator.Config{State: file, Clock: simulator.ClockManual, Boot: boot, Seed: 99})
	if err != nil {
		t.Fatal(err)
	}
	back := clientOf(t, sim, testKey)
	equal(t, "limit after a restart", back.get("/me").headerNumber("X-Ratelimit-Limit"), 5000)
	api.get("/me") // both have the same last use of the key
	checkSame(t, "after a restart", api, back)
	back.create("k1", body).want(200)
	back.poll(login).failsWith("authorization_pending")
	lines, _ := back.get("/instances/" + stay + "/logs").ok()["lines"].([]any)
	check(t, len(lines) >= 5, "log %q", lines)
	back.get("/nothing").want(503)

	// Later events are the same as without the restart.
	api.Advance(40 * time.Hour)
	back.Advance(40 * time.Hour)
	checkSame(t, "40 hours later", api, back)
	back.withKey(issued).get("/me").want(200)

	back.control("POST", "/reset", nil).want(200)
	back.save()
	reset := newClient(t, withStateFile(file))
	equal(t, "instances after a reset", len(reset.list("/instances?status=all")), 0)
	reset.get("/nothing").failsWith("not_found")
}

// The state is saved before the response to a write, within a second after another request, and at the end.
func TestState_Saved(t *testing.T) {
	file := filepath.Join(t.TempDir(), "simulator.json")
	contains := func(id string) bool {
		raw, err := os.ReadFile(file)
		return err == nil && bytes.Contains(raw, []byte(id))
	}
	synctest.Test(t, func(t *testing.T) {
		api := newClient(t, withStateFile(file))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go simulator.KeepSaved(api.Simulator, ctx)
		id := api.newSSHKey(1).text("id")
		check(t, !contains(id), "the state was saved at once")
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		check(t, contains(id), "the state is not saved after a second")
	})
	server := start(t, simulator.Config{Clock: simulator.ClockManual, State: file})
	address, err := url.Parse(server.ConsoleURL)
	if err != nil {
		t.Fatal(err)
	}
	api := clientOf(t, server.Simulator, server.APIKey)
	api.handler = httputil.NewSingleHostReverseProxy(address)
	check(t, contains(api.newSSHKey(2).text("id")), "the state is not saved before the response")
	api.handler = server.Handler()
	id := api.newSSHKey(3).text("id")
	if err := server.Close(); err != nil || !contains(id) {
		t.Errorf("after the close, %v, the file has the last key: %t", err, contains(id))
	}
}

// The file contains the API key, so only its owner can read it. Another user may have created a link at the path of the
// temporary file. Package atomicfile tests other files there.
func TestState_WrittenToNewFile(t *testing.T) {
	folder := t.TempDir()
	file, target := filepath.Join(folder, "simulator.json"), filepath.Join(folder, "target")
	if err := errors.Join(os.WriteFile(target, []byte("kept"), 0o644), os.Symlink(target, file+".next")); err != nil {
		if runtime.GOOS == "windows" {
			t.Skipf("on Windows only administrators and developers can create symbolic links: %v", err)
		}
		t.Fatal(err)
	}
	newClient(t, withStateFile(file)).save()
	kept, err := os.ReadFile(target)
	check(t, err == nil && string(kept) == "kept", "the link was followed: %q, %v", kept, err)
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file with the API key is %v, %v", info, err)
	}
}

func TestState_InvalidFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	newClient(t, withStateFile(file)).save()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	good := string(raw)
	for name, c := range map[string]struct{ old, damaged, says string }{
		"another version": {`"Version":`, `"Version":1`, "has version 15"},
		"another format":  {`"Format":`, `"Other":`, "not a state file"},
		"not JSON":        {good, "hello", "not a state file"},
		"empty":           {good, "", "not a state file"},
		"cut off":         {good[len(good)/2:], "", "not a state file"},
		"wrong types":     {`"Ledger":[`, `"Ledger":"none","x":[`, "damaged"},
		"no dice":         {`"IDs":"`, `"IDs":"","x":"`, "damaged"},
		"other offers":    {`"Offers":{`, `"Offers":{},"x":{`, "damaged"},
		"lost offer":      {`"Instances":null`, `"Instances":[{"ID":"ins_x"}]`, "damaged"},
		"another key":     {testKey, strings.Replace(testKey, "0", "1", 1), "another API key"},
	} {
		content := strings.Replace(good, c.old, c.damaged, 1)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := simulator.New(simulator.Config{State: file, APIKey: testKey})
		check(t, err != nil && strings.Contains(err.Error(), c.says) && strings.Contains(err.Error(), file),
			"%s: error %v, want one about %q", name, err, c.says)
		left, err := os.ReadFile(file)
		check(t, err == nil && string(left) == content && content != good, "%s: the refused file was changed", name)
	}
	noFolder := simulator.Config{State: filepath.Join(file, "no", "such", "folder.json")}
	_, err = simulator.Start(t.Context(), noFolder)
	check(t, err != nil, "a state file that cannot be written was accepted")
}
