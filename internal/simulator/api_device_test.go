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
func (r *rig) login() m {
	r.t.Helper()
	return r.as("").post("/auth/device", m{"client_name": "terminal"}).ok()
}

func (r *rig) poll(login m) response {
	r.t.Helper()
	return r.as("").post("/auth/device/token", m{"device_code": login["device_code"]})
}

func (r *rig) decide(login m, decision string) {
	r.t.Helper()
	path := "/device-codes/" + text(login, "user_code")
	r.control(http.MethodPost, path, m{"decision": decision}).want(http.StatusNoContent)
}

func TestDevice_Code(t *testing.T) {
	r := newAccount(t)
	o, another := r.login(), r.login()
	equal(t, "expires_in", integer(o, "expires_in"), 600)
	complete := text(o, "verification_uri_complete")
	check(t, strings.HasPrefix(complete, text(o, "verification_uri")) &&
		strings.Contains(complete, url.QueryEscape(text(o, "user_code"))), "verification_uri_complete %q", complete)
	check(t, !strings.Contains(complete, text(o, "device_code")), "verification_uri_complete contains the device code")
	check(t, another["device_code"] != o["device_code"] && another["user_code"] != o["user_code"],
		"two logins share a code")
	checkBounds("DeviceCodeCreate", m{}, func(body m) response { return r.as("").post("/auth/device", body) })
	for _, f := range apidoc.Fields("DeviceTokenCreate") {
		checkField(m{}, f.Name, nil, append(apidoc.InvalidTypes(f), absent{}), func(body m) response {
			return r.as("").post("/auth/device/token", body)
		})
	}
}

func TestDevice_TokenOnce(t *testing.T) {
	r := newAccount(t)
	login := r.login()
	interval := time.Duration(integer(login, "interval")) * time.Second
	r.poll(login).failsWith("authorization_pending")
	r.Advance(interval)
	r.poll(login).failsWith("authorization_pending")
	r.decide(login, "approve")
	r.Advance(interval)
	token := r.poll(login).ok()
	r.as(text(token, "api_key")).get("/balance").ok()
	key := r.list("/api-keys")[1]
	equal(t, "id of the key", key["id"], token["key_id"])
	equal(t, "source", text(key, "source"), "cli")
	equal(t, "user.email", text(token, "user.email"), text(r.get("/me").ok(), "email"))
	r.Advance(interval)
	r.poll(login).failsWith("expired_token")
}

func TestDevice_SlowDown(t *testing.T) {
	r := newAccount(t)
	login := r.login()
	interval := time.Duration(integer(login, "interval")) * time.Second
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
	r := newAccount(t)
	old, late, approved := r.login(), r.login(), r.login()
	r.decide(approved, "approve")
	r.Advance(599 * time.Second)
	r.poll(old).failsWith("authorization_pending")
	r.decide(late, "approve")
	r.poll(late).ok()
	r.Advance(time.Second)
	r.poll(old).failsWith("expired_token")
	r.poll(approved).failsWith("expired_token")
	r.poll(m{"device_code": "unknown"}).failsWith("expired_token")
}
