package simulator_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// Chapter "Terminal login".

// login starts a device login.
func (api *client) login() object {
	api.t.Helper()
	return api.withKey("").post("/auth/device", object{"client_name": "terminal"}).ok()
}

func (api *client) poll(login object) response {
	api.t.Helper()
	return api.withKey("").post("/auth/device/token", object{"device_code": login["device_code"]})
}

func (api *client) decide(login object, decision string) {
	api.t.Helper()
	path := "/device-codes/" + login.text("user_code")
	api.control(http.MethodPost, path, object{"decision": decision}).want(http.StatusNoContent)
}

func TestDevice_TokenOnce(t *testing.T) {
	api := newFundedClient(t)
	login := api.login()
	complete := login.text("verification_uri_complete")
	check(t, strings.HasPrefix(complete, login.text("verification_uri")) &&
		strings.Contains(complete, url.QueryEscape(login.text("user_code"))) &&
		!strings.Contains(complete, login.text("device_code")), "verification_uri_complete %q", complete)
	interval := time.Duration(login.integer("interval")) * time.Second
	api.poll(login).failsWith("authorization_pending")
	api.Advance(interval)
	api.poll(login).failsWith("authorization_pending")
	api.decide(login, "approve")
	api.Advance(interval)
	token := api.poll(login).ok()
	api.withKey(token.text("api_key")).get("/balance").ok()
	key := api.list("/api-keys")[1]
	equal(t, "id of the key", key["id"], token["key_id"])
	equal(t, "source", key.text("source"), "cli")
	equal(t, "user.email", token.text("user.email"), api.get("/me").ok().text("email"))
	api.Advance(interval)
	api.poll(login).failsWith("expired_token")
}

// Users and their terminals live in real time, at any speed of the clock.
func TestDevice_LivesInRealTime(t *testing.T) {
	for _, scale := range []float64{0.001, 60, 1e6} {
		synctest.Test(t, func(t *testing.T) {
			api := uncheckedClient(t, simulator.Config{TimeScale: scale, APIKey: testKey, Market: simulator.MarketStill})
			login, late, approved := api.login(), api.login(), api.login()
			equal(t, "expires_in", login.integer("expires_in"), 600)
			api.decide(approved, "approve")
			api.poll(login).failsWith("authorization_pending")
			time.Sleep(4 * time.Second)
			api.poll(login).failsWith("slow_down")
			time.Sleep(5 * time.Second) // a client that keeps its old interval is too fast now
			api.poll(login).failsWith("slow_down")
			time.Sleep(599*time.Second - 9*time.Second)
			api.poll(login).failsWith("authorization_pending")
			api.decide(login, "approve")
			api.poll(login).ok()
			time.Sleep(time.Second)
			api.poll(late).failsWith("expired_token")
			api.poll(approved).failsWith("expired_token")
			api.poll(object{"device_code": "unknown"}).failsWith("expired_token")
			path := "/device-codes/" + late.text("user_code")
			api.control("POST", path, object{"decision": "approve"}).failsWith("conflict")
			// A move of the clock expires a code, too.
			moved := api.login()
			for range 600 {
				api.Advance(time.Duration(scale * float64(time.Second)))
			}
			api.poll(moved).failsWith("expired_token")
		})
	}
}
