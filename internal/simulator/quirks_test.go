package simulator_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
	"github.com/gpurent/terraform-provider-gpurent/internal/quirks"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// plain returns a client whose requests and responses have no quirks.
func (api *client) plain() *client {
	other := api.withKey(api.key)
	other.handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		api.Handler().ServeHTTP(w, req.WithContext(quirks.Without(req.Context())))
	})
	return other
}

// failed reports whether a response does not come from a handler of the API: a cut connection, a 5xx, or an error in
// another format.
func (a response) failed() bool {
	if a.status == 0 || a.status >= 500 {
		return true
	}
	var failure object
	return a.status >= 400 &&
		(json.Unmarshal(a.body, &failure) != nil || apidoc.Errors[failure.text("error.code")] != a.status)
}

// The same seed has the same quirks.
func TestQuirks_DependOnSeed(t *testing.T) {
	story := func(names ...string) (responses []string) {
		api := uncheckedClient(t, simulator.Config{Seed: 7, Clock: simulator.ClockManual, Start: historyStart, Boot: boot,
			APIKey: testKey, Market: simulator.MarketStill, Hooks: quirks.New(names...)})
		for n, offer := range ids(api.plain().list("/offers?type=interruptible&num_gpus=1"))[:8] {
			body := object{"template": "pytorch", "disk_gb": 50, "type": "interruptible", "offer_id": offer}
			responses = append(responses, string(api.create(fmt.Sprint(n), body).body))
			for _, path := range listPaths {
				a := api.get(path)
				responses = append(responses, fmt.Sprint(path, a.status, a.header.Get("X-RateLimit-Limit"), string(a.body)))
				api.Advance(time.Second)
			}
		}
		return responses
	}
	first := story("all")
	check(t, slices.Equal(first, story("all")), "the same seed has two stories")
	check(t, !slices.Equal(first, story()), "no quirk has the same story")
}
