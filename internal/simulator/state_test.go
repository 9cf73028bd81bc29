package simulator_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpurent/terraform-provider-gpurent/internal/atomicfile"
	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// allResponses returns the responses of all lists and single resources.
func (api *client) allResponses() map[string]string {
	api.t.Helper()
	seen := map[string]string{}
	for _, op := range apidoc.Operations {
		if op.Method != "GET" || strings.Contains(op.Path, "{") {
			continue
		}
		path := op.Path
		switch {
		case path == "/instances":
			path += "?status=all&limit=200"
		case strings.HasPrefix(op.ID, "list"):
			path += "?limit=200"
		}
		a := api.get(path).want(200)
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
	if err := api.Save(); err != nil {
		api.t.Fatal(err)
	}
}

// restarted returns a simulator with the saved state.
func (api *client) restarted(file string) *client {
	api.t.Helper()
	api.save()
	return newClient(api.t, withStateFile(file), func(c *simulator.Config) { c.APIKey, c.Seed = "", 99 })
}

// checkSame compares all responses of two simulators.
func checkSame(t *testing.T, when string, api, other *client) {
	t.Helper()
	if diff := cmp.Diff(api.allResponses(), other.allResponses()); diff != "" {
		t.Errorf("%s (-without a restart +with one):\n%s", when, diff)
	}
}

func TestState_SurvivesRestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "simulator.json")
	moving := func(c *simulator.Config) { c.Market = simulator.MarketMoving }
	api := newClient(t, withStateFile(file), moving)
	body := api.instanceBody(object{"disk_gb": 77})
	stay := api.create("k1", body).created().text("id")
	api.post("/ssh-keys", object{"public_key": publicKey(1)}).want(201)
	api.post("/templates", object{"name": "mine", "image": "a/b:1", "ports": []int{80}, "env": object{"A": "b"}}).want(201)
	issued := api.post("/api-keys", object{"name": "ci", "scopes": []string{"user:read"}, "expires_in_days": 3}).created()
	api.delete("/instances/" + api.runningInstance(nil).text("id")).want(200)
	bid := api.runningInstance(object{"type": "interruptible"}).text("id")
	api.setOffer(api.list("/offers")[0].text("id"), object{"on_demand_kop_h": 1})
	api.createInstance(nil) // still creating
	api.Advance(26 * time.Hour)
	login := api.login()
	for path, response := range api.allResponses() {
		if strings.Contains(response, `"data":[]`) {
			t.Errorf("there is nothing under %s that could be lost: make one", path)
		}
	}

	back := api.restarted(file)
	checkSame(t, "after a restart", api, back)
	back.create("k1", body).want(200)
	equal(t, "status after the restart", back.instance(stay).text("status"), "running")
	equal(t, "id after the restart", back.instance(bid).text("id"), bid)
	back.poll(login).failsWith("authorization_pending")
	lines, _ := back.get("/instances/" + stay + "/logs").ok()["lines"].([]any)
	check(t, len(lines) >= 5, "log %q", lines)

	// Later events are the same as without the restart.
	api.Advance(40 * time.Hour)
	back.Advance(40 * time.Hour)
	checkSame(t, "40 hours later", api, back)
	back.withKey(issued.text("secret")).get("/me").want(200)
}

// Faults and rate limits are saved, and a reset removes them.
func TestState_FaultsAndReset(t *testing.T) {
	file := filepath.Join(t.TempDir(), "simulator.json")
	api := newClient(t, withStateFile(file))
	api.createInstance(nil)
	api.control("POST", "/faults", object{"path": "/me", "status": 503}).want(204)
	api.control("POST", "/rate-limit", object{"per_minute_key": 5, "per_minute_address": 5}).want(204)
	api.save()
	back, err := simulator.New(simulator.Config{State: file, Clock: simulator.ClockManual})
	if err != nil {
		t.Fatal(err)
	}
	if a := clientOf(t, back, testKey).get("/me").want(503); a.header.Get("X-RateLimit-Limit") != "5" {
		t.Errorf("limit %v", a.header)
	}
	api.control("POST", "/reset", nil).want(200)
	equal(t, "instances after a reset", len(api.restarted(file).list("/instances?status=all")), 0)
}

// A server saves the state within seconds after a request, and when it is closed.
func TestState_SavedByServer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "simulator.json")
	server := start(t, simulator.Config{Clock: simulator.ClockManual, APIKey: testKey, State: file})
	api := clientOf(t, server.Simulator, testKey)
	contains := func(id string) bool {
		raw, err := atomicfile.ReadFile(file)
		return err == nil && bytes.Contains(raw, []byte(id))
	}
	id := api.newSSHKey(1).text("id")
	for deadline := time.Now().Add(time.Minute); !contains(id); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the state is not saved")
		}
	}
	id = api.newSSHKey(2).text("id")
	if err := server.Close(); err != nil || !contains(id) {
		t.Errorf("after the close, %v, the file has the last key: %t", err, contains(id))
	}
}

// The temporary file contains the API key. Another user may have created a link at its path. Package atomicfile tests
// other files there.
func TestState_WrittenToNewFile(t *testing.T) {
	folder := t.TempDir()
	file, target := filepath.Join(folder, "simulator.json"), filepath.Join(folder, "target")
	api := newClient(t, withStateFile(file))
	if err := os.WriteFile(target, []byte("kept"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, file+".next"); err != nil {
		if runtime.GOOS == "windows" {
			t.Skipf("on Windows only administrators and developers can create symbolic links: %v", err)
		}
		t.Fatal(err)
	}
	api.save()
	if kept, err := os.ReadFile(target); string(kept) != "kept" || err != nil {
		t.Errorf("the link was followed: %q, %v", kept, err)
	}
	checkPrivate(t, file)
}

// checkPrivate checks that only the owner can read a file. Windows has access control lists instead.
func checkPrivate(t *testing.T, file string) {
	t.Helper()
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file with the API key is %v, %v", info, err)
	}
}

func TestState_InvalidFiles(t *testing.T) {
	folder := t.TempDir()
	good := filepath.Join(folder, "good.json")
	newClient(t, withStateFile(good)).save()
	raw, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	checkPrivate(t, good)
	altered := func(field string, value any) []byte {
		var state map[string]any
		if err := json.Unmarshal(raw, &state); err != nil {
			t.Fatal(err)
		}
		records, _ := state["Records"].(map[string]any)
		if _, isRecord := records[field]; isRecord {
			records[field] = value
		} else {
			state[field] = value
		}
		out, err := json.Marshal(state)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for name, c := range map[string]struct {
		content   []byte
		says, key string
	}{
		"another version": {altered("Version", 1000), "version 1000", ""},
		"another format":  {[]byte(`{"serial": 4}`), "not a state file", ""},
		"not JSON":        {[]byte("hello"), "not a state file", ""},
		"empty":           {nil, "not a state file", ""},
		"cut off":         {raw[:len(raw)/2], "not a state file", ""},
		"wrong types":     {altered("Ledger", "none"), "damaged", ""},
		"no dice":         {altered("IDs", ""), "damaged", ""},
		"other offers":    {altered("Offers", map[string]any{}), "damaged", ""},
		"lost offer":      {altered("Instances", []any{map[string]any{"ID": "ins_x"}}), "damaged", ""},
		"another key": {raw, "another API key", strings.Replace(testKey, "0", "1", 1)},
	} {
		file := filepath.Join(folder, "state.json")
		if err := os.WriteFile(file, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := simulator.New(simulator.Config{State: file, APIKey: c.key})
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: error %v, want one about %q", name, err, c.says)
		}
		if left, err := os.ReadFile(file); err != nil || !bytes.Equal(left, c.content) {
			t.Errorf("%s: the refused file was changed", name)
		}
	}
	noFolder := simulator.Config{State: filepath.Join(folder, "no", "such", "folder.json")}
	if _, err := simulator.Start(t.Context(), noFolder); err == nil {
		t.Error("a state file that cannot be written was accepted")
	}
}
