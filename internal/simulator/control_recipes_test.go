package simulator_test

import (
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// recipeEffects are requests after each recipe of the guide, with the status of the response. 0 means that the
// connection is cut. A step without a number is a status of the server.
var recipeEffects = map[string][]string{
	"the response to a creation is lost":   {"create 0", "create 200"},
	"a creation is lost before it is done": {"create 0", "create 201"},
	"20 requests fail with 429":            {"GET /me 429"},
	"five requests per minute": {
		"GET /me 200", "GET /me 200", "GET /me 200", "GET /me 200", "GET /me 200", "GET /me 429",
	},
	"responses take 0.2 s longer":           {"GET /me 200"},
	"outage, with the HTML page of a proxy": {"GET /me 502", "GET /offers 502"},
	"one connection in ten is cut":          nil,
	"the next boot fails": {
		"POST /instances/{id}/stop 200", "wait", "POST /instances/{id}/start 200", "wait", "failed",
	},
	"an interruptible server is outbid":  {"outbid"},
	"the host of a server is offline":    {"stopped", "POST /instances/{id}/start 409", "GET /instances/{id}/logs 503"},
	"another customer rents the offer":   {"create 409"},
	"it is rented in ten minutes":        {"ten minutes", "create 409"},
	"the price rises before a creation":  {"create 409", "create 201"},
	"the balance is used up":             {"wait", "stopped", "POST /instances/{id}/start 402"},
	"the e-mail address is not verified": {"create 403"},
	"too many servers":                   {"create 409"},
	"the account is blocked":             {"GET /me 403"},
}

// recipePattern matches a row of the table of recipes. Its groups are the fault, the method, the path and the body.
var recipePattern = regexp.MustCompile("(?m)^\\| ([^|]+) \\| `([A-Z]+) (/[^`]+)` \\| `([^`]+)` \\|$")

func TestControl_GuideRecipes(t *testing.T) {
	content, err := os.ReadFile("../../templates/guides/simulator-control-api.md")
	if err != nil {
		t.Fatal(err)
	}
	recipes := recipePattern.FindAllStringSubmatch(string(content), -1)
	if len(recipes) != len(recipeEffects) {
		t.Errorf("%d recipes, and effects of %d", len(recipes), len(recipeEffects))
	}
	for _, recipe := range recipes {
		t.Run(recipe[1], func(t *testing.T) {
			steps, known := recipeEffects[recipe[1]]
			if !known {
				t.Fatal("the effect is not known")
			}
			r := newRecipeRig(t)
			r.apply(recipe[2], recipe[3], recipe[4])
			for _, step := range steps {
				r.step(step)
			}
		})
	}
}

// recipeRig is a simulator with an interruptible server and another offer.
type recipeRig struct {
	*rig
	id, rented, free string
}

func newRecipeRig(t *testing.T) recipeRig {
	t.Helper()
	r := newRig(t)
	offers := r.cheapest()
	server := r.running("first", m{"offer_id": offers[0].ID, "type": "interruptible"})
	return recipeRig{r, server.ID, offers[0].ID, offers[1].ID}
}

// apply calls the control API. A change of an offer is sent for both offers.
func (r recipeRig) apply(method, path, body string) {
	r.t.Helper()
	for _, offer := range []string{r.rented, r.free} {
		if a := r.control(method, strings.ReplaceAll(path, "{id}", offer), body); a.status/100 != 2 {
			a.want(http.StatusOK)
		}
		if !strings.Contains(path, "{id}") {
			return
		}
	}
}

// step waits for a boot, sends a request and compares its status, or compares the status of the server.
func (r recipeRig) step(step string) {
	r.t.Helper()
	words := strings.Fields(step)
	want, err := strconv.Atoi(words[len(words)-1])
	switch {
	case step == "wait":
		r.Advance(bootComplete)
	case step == "ten minutes":
		r.Advance(10 * time.Minute)
	case err != nil:
		if got := r.instance(r.id).Status; got != step {
			r.t.Errorf("the server is %s, want %s", got, step)
		}
	default:
		if got := r.send(words[0], words[min(1, len(words)-2)]).status; got != want {
			r.t.Errorf("%s: status %d", step, got)
		}
	}
}

// send sends a request of a step: "create" rents the other offer.
func (r recipeRig) send(method, path string) response {
	r.t.Helper()
	if method == "create" {
		body := m{"template": "pytorch", "disk_gb": 50, "offer_id": r.free}
		return r.with("Idempotency-Key", "second").try("POST", "/instances", body)
	}
	return r.try(method, strings.ReplaceAll(path, "{id}", r.id), nil)
}
