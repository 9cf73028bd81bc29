package simulator_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
)

// Chapter "Terminal login".

// login starts a device login.
func (r *client) login() object {
	r.t.Helper()
	return r.withKey("").post("/auth/device", object{"client_name": "terminal"}).ok()
}

func (r *client) poll(login object) response {
	r.t.Helper()
	return r.withKey("").post("/auth/device/token", object{"device_code": login["device_code"]})
}

func (r *client) decide(login object, decision string) {
	r.t.Helper()
	path := "/device-codes/" + login.text("user_code")
	r.control(http.MethodPost, path, object{"decision": decision}).want(http.StatusNoContent)
}

func TestDevice_Code(t *testing.T) {
	r := newFundedClient(t)
	o, another := r.login(), r.login()
	equal(t, "expires_in", o.integer("expires_in"), 600)
	complete := o.text("verification_uri_complete")
	check(t, strings.HasPrefix(complete, o.text("verification_uri")) &&
		strings.Contains(complete, url.QueryEscape(o.text("user_code"))), "verification_uri_complete %q", complete)
	check(t, !strings.Contains(complete, o.text("device_code")), "verification_uri_complete contains the device code")
	check(t, another["device_code"] != o["device_code"] && another["user_code"] != o["user_code"],
		"two logins share a code")
	checkBounds("DeviceCodeCreate", object{}, func(body object) response { return r.withKey("").post("/auth/device", body) })
	for _, f := range apidoc.Fields("DeviceTokenCreate") {
		checkField(object{}, f.Name, nil, append(apidoc.InvalidTypes(f), absent{}), func(body object) response {
			return r.withKey("").post("/auth/device/token", body)
		})
	}
}

func TestDevice_TokenOnce(t *testing.T) {
	r := newFundedClient(t)
	login := r.login()
	interval := time.Duration(login.integer("interval")) * time.Second
	r.poll(login).failsWith("authorization_pending")
	r.Advance(interval)
	r.poll(login).failsWith("authorization_pending")
	r.decide(login, "approve")
	r.Advance(interval)
	token := r.poll(login).ok()
	r.withKey(token.text("api_key")).get("/balance").ok()
	key := r.list("/api-keys")[1]
	equal(t, "id of the key", key["id"], token["key_id"])
	equal(t, "source", key.text("source"), "cli")
	equal(t, "user.email", token.text("user.email"), r.get("/me").ok().text("email"))
	r.Advance(interval)
	r.poll(login).failsWith("expired_token")
}

func TestDevice_SlowDown(t *testing.T) {
	r := newFundedClient(t)
	login := r.login()
	interval := time.Duration(login.integer("interval")) * time.Second
	r.poll(login).failsWith("authorization_pending")
	r.Advance(interval - time.Second)
	r.poll(login).failsWith("slow_down")
	// A client that keeps its old interval is too fast now.
	r.Advance(interval)
	r.poll(login).failsWith("slow_down")
	r.Advance(3 * interval)
	r.poll(login).failsWith("authorization_pending")
}

func TestDevice_CodeExpires(t *testing.T) {
	r := newFundedClient(t)
	old, late, approved := r.login(), r.login(), r.login()
	r.decide(approved, "approve")
	r.Advance(599 * time.Second)
	r.poll(old).failsWith("authorization_pending")
	r.decide(late, "approve")
	r.poll(late).ok()
	r.Advance(time.Second)
	r.poll(old).failsWith("expired_token")
	r.poll(approved).failsWith("expired_token")
	r.poll(object{"device_code": "unknown"}).failsWith("expired_token")
}
