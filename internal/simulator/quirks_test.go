package simulator_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// withQuirks enables quirks from the start.
func withQuirks(names ...string) func(*simulator.Config) {
	return func(c *simulator.Config) { c.Quirks = names }
}

// try sends a request. The status is 0 if the connection is cut.
func (r *rig) try(method, path string, body any) (a response) {
	r.t.Helper()
	defer func() {
		if p := recover(); p != nil {
			if p != http.ErrAbortHandler {
				panic(p)
			}
			a = response{t: r.t}
		}
	}()
	return r.do(method, path, body)
}

// retry repeats a request until it reaches the handler, as a client does.
func (r *rig) retry(method, path string, body any) response {
	r.t.Helper()
	for range 6 {
		a := r.try(method, path, body)
		if a.status == 0 || a.status >= 500 || a.isForeign() {
			continue
		}
		return a
	}
	r.t.Fatalf("%s %s: no response of the service in six attempts", method, path)
	return response{}
}

// isForeign reports whether an error is not an API error.
func (a response) isForeign() bool {
	if a.status < 400 {
		return false
	}
	var p apiError
	known := []string{"unauthorized", "insufficient_funds", "forbidden", "not_found", "conflict", "validation_error",
		"rate_limited"}
	return json.Unmarshal(a.raw, &p) != nil || !slices.Contains(known, p.Error.Code)
}

// runScenario sends requests of all kinds and returns all responses.
func runScenario(r *rig) (responses []string) {
	send := func(method, path string, body any) response {
		a := r.retry(method, path, body)
		responses = append(responses, fmt.Sprintf("%s %s %d %s %s", method, path, a.status, a.header.Get("X-RateLimit-Limit"),
			a.raw))
		return a
	}
	catalogue := []string{"/me", "/balance", "/gpus", "/offers?gpu=rtx_4090&num_gpus=1&limit=5", "/templates",
		"/transactions"}
	for _, path := range catalogue {
		send("GET", path, nil)
	}
	send("POST", "/ssh-keys", m{"name": "a", "public_key": ed25519A})
	send("GET", "/ssh-keys", nil)
	send("POST", "/templates", m{"name": "own", "image": "ubuntu:24.04", "ports": []int{1, 2, 3, 4, 5}})
	send("GET", "/templates", nil)
	send("POST", "/api-keys", m{"name": "k", "scopes": []string{"user:read", "instances:read", "instances:write",
		"billing:read"}})
	send("GET", "/api-keys", nil)
	send("GET", "/offers?type=interruptible", nil)
	key := r.with("Idempotency-Key", "story")
	var i instance
	body := m{"template": "pytorch", "disk_gb": 50, "type": "interruptible", "name": "story"}
	for _, o := range r.offers() {
		body["offer_id"] = o.ID
		a := key.retry("POST", "/instances", body)
		responses = append(responses, string(a.raw))
		if a.status == 201 || a.status == 200 {
			a.into(&i)
			break
		}
	}
	poll := func() {
		for range 8 {
			r.Advance(2 * time.Second)
			send("GET", "/instances/"+i.ID, nil)
			send("GET", "/instances", nil)
		}
	}
	poll()
	for _, step := range []string{"/start", "/stop", "/start"} {
		send("POST", "/instances/"+i.ID+step, nil)
		poll()
	}
	send("PATCH", "/instances/"+i.ID, m{"name": "renamed"})
	send("DELETE", "/instances/"+i.ID, nil)
	poll()
	send("GET", "/transactions", nil)
	responses = append(responses, string(key.retry("POST", "/instances", body).raw))
	booting := r.with("Idempotency-Key", "booting")
	for _, o := range r.offers() {
		a := booting.retry("POST", "/instances", m{"offer_id": o.ID, "template": "pytorch", "disk_gb": 50})
		responses = append(responses, string(a.raw))
		if a.status == 201 || a.status == 200 {
			a.into(&i)
			break
		}
	}
	r.Advance(4 * time.Second)
	send("DELETE", "/instances/"+i.ID, nil)
	if err := r.SetInstance(i.ID, simulator.InstancePatch{Status: new("failed")}); err != nil {
		r.t.Fatal(err)
	}
	send("GET", "/balance", nil)
	return responses
}

// offers returns the offers of the popular model without quirks.
func (r *rig) offers() []offer {
	r.t.Helper()
	var p page[offer]
	r.withoutQuirks("/offers?gpu=rtx_4090&num_gpus=1").into(&p)
	return p.Data
}

// withoutQuirks sends a GET request without quirks.
func (r *rig) withoutQuirks(path string) response {
	r.t.Helper()
	req := httptest.NewRequestWithContext(simulator.WithoutQuirks(r.t.Context()), http.MethodGet,
		"http://127.0.0.1/api/v1"+path, nil)
	req.Header.Set("Authorization", "Bearer "+r.key)
	rec := httptest.NewRecorder()
	r.Handler().ServeHTTP(rec, req)
	return response{r.t, rec.Code, rec.Header(), rec.Body.Bytes()}.want(200)
}

// scenario returns the responses of a simulator with quirks.
func scenario(t *testing.T, names ...string) []string {
	return runScenario(newRig(t, withQuirks(names...), withFixedStart))
}

func withFixedStart(c *simulator.Config) { c.Start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

func TestQuirk_ChangesResponsesBySeed(t *testing.T) {
	secrets := regexp.MustCompile(`"(secret|prefix)":"[^"]*"`) // what no seed decides
	clean := func(responses []string) string { return secrets.ReplaceAllString(strings.Join(responses, "\n"), "") }
	plain := clean(scenario(t))
	if plain != clean(scenario(t)) {
		t.Fatal("two services without quirks differ")
	}
	for _, q := range simulator.AllQuirks() {
		t.Run(q.Name, func(t *testing.T) {
			first, second := clean(scenario(t, q.Name)), clean(scenario(t, q.Name))
			if first != second {
				t.Error("the same seed has two stories")
			}
			// A client that retries does not see failures.
			if q.Name != "gateway-errors" && q.Name != "status-after-work" && first == plain {
				t.Error("the quirk changes nothing")
			}
		})
	}
}

func TestQuirks_Switching(t *testing.T) {
	r := newRig(t, withQuirks("small-pages"))
	listed := func() (on []string) {
		var p struct {
			Data []struct {
				Name, Description, Sentence string
				On                          bool
			}
		}
		r.control("GET", "/quirks", nil).want(200).into(&p)
		if len(p.Data) != len(simulator.AllQuirks()) {
			t.Fatalf("%d quirks are listed", len(p.Data))
		}
		for _, q := range p.Data {
			if q.Description == "" || q.Sentence == "" {
				t.Errorf("%s has no description or no sentence", q.Name)
			}
			if q.On {
				on = append(on, q.Name)
			}
		}
		return on
	}
	if on := listed(); !slices.Equal(on, []string{"small-pages"}) {
		t.Errorf("at first: %v", on)
	}
	r.control("POST", "/quirks", m{"names": []string{"all"}}).want(204)
	if on := listed(); len(on) != len(simulator.AllQuirks()) {
		t.Errorf("all: %v", on)
	}
	refused := r.control("POST", "/quirks", m{"names": []string{"no-such"}})
	refused.invalid("names")
	if !strings.Contains(string(refused.raw), "lagging-list") {
		t.Errorf("the refusal does not name what there is: %s", refused.raw)
	}
	r.control("POST", "/quirks", m{"names": []string{}}).want(204)
	if on := listed(); len(on) != 0 {
		t.Errorf("none: %v", on)
	}
	r.control("POST", "/reset", nil).want(200)
	if on := listed(); !slices.Equal(on, []string{"small-pages"}) {
		t.Errorf("after a reset: %v", on)
	}
	if err := (simulator.Config{Quirks: []string{"no-such"}}).Validate(); err == nil ||
		!strings.Contains(err.Error(), "lagging-list") {
		t.Errorf("an unknown quirk in the configuration: %v", err)
	}
}

func TestQuirks_StateFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	saved := func(c *simulator.Config) { c.State = file }
	r := newRig(t, saved, withQuirks("small-pages"))
	if err := r.SetQuirks("other-gpu"); err != nil {
		t.Fatal(err)
	}
	if on := newRig(t, saved).Quirks(); !slices.Equal(on, []string{"other-gpu"}) {
		t.Errorf("without the option: %v", on)
	}
	if on := newRig(t, saved, withQuirks("small-pages")).Quirks(); !slices.Equal(on, []string{"small-pages"}) {
		t.Errorf("with the option: %v", on)
	}
}
