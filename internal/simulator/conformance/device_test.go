package conformance

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
)

// Chapter "Terminal login".

// login starts a device login.
func (s *service) login() object {
	s.t.Helper()
	o := s.as("").post("/auth/device", object{"client_name": "terminal"}).ok()
	newTable("DeviceCode").verify(s.t, o)
	return o
}

func (s *service) poll(login object) response {
	s.t.Helper()
	return s.as("").post("/auth/device/token", object{"device_code": login["device_code"]})
}

func (s *service) decide(login object, decision string) {
	s.t.Helper()
	s.control(http.MethodPost, "/device-codes/"+text(login, "user_code"), object{"decision": decision})
}

func TestDeviceCode(t *testing.T) {
	s := start(t)
	o := s.login()
	equal(t, "expires_in", integer(o, "expires_in"), 600)
	check(t, integer(o, "interval") > 0, "interval %v", o["interval"])
	page, err := url.Parse(text(o, "verification_uri"))
	check(t, err == nil && page.Host != "", "verification_uri %q: %v", text(o, "verification_uri"), err)
	complete := text(o, "verification_uri_complete")
	check(t, strings.HasPrefix(complete, text(o, "verification_uri")) &&
		strings.Contains(complete, url.QueryEscape(text(o, "user_code"))), "verification_uri_complete %q", complete)
	check(t, !strings.Contains(complete, text(o, "device_code")), "verification_uri_complete contains the device code")
	another := s.login()
	check(t, another["device_code"] != o["device_code"] && another["user_code"] != o["user_code"],
		"two logins share a code")
	checkBounds("DeviceCodeCreate", object{}, func(body object) response { return s.as("").post("/auth/device", body) })
	for _, f := range apidoc.Fields("DeviceTokenCreate") {
		checkField(object{}, f.Name, nil, append(apidoc.InvalidTypes(f), absent{}), func(body object) response {
			return s.as("").post("/auth/device/token", body)
		})
	}
}

func TestDeviceTokenOnce(t *testing.T) {
	s := start(t)
	login := s.login()
	interval := float64(integer(login, "interval"))
	s.poll(login).failsWith("authorization_pending")
	s.advance(interval)
	s.poll(login).failsWith("authorization_pending")
	s.decide(login, "approve")
	s.advance(interval)
	token := s.poll(login).ok()
	newTable("DeviceToken").verify(t, token)
	key := s.as(text(token, "api_key"))
	key.get("/me").ok()
	key.get("/balance").ok()
	found := false
	for _, o := range s.list("/api-keys") {
		if o["id"] == token["key_id"] {
			found = true
			equal(t, "source", text(o, "source"), "cli")
		}
	}
	check(t, found, "the key is not listed")
	equal(t, "user.email", text(token, "user.email"), text(s.get("/me").ok(), "email"))
	s.advance(interval)
	s.poll(login).failsWith("expired_token")
}

func TestDeviceLoginDenied(t *testing.T) {
	s := start(t)
	login := s.login()
	s.decide(login, "deny")
	s.poll(login).failsWith("access_denied")
}

func TestDeviceSlowDown(t *testing.T) {
	s := start(t)
	login := s.login()
	interval := float64(integer(login, "interval"))
	s.poll(login).failsWith("authorization_pending")
	s.advance(interval - 1)
	s.poll(login).failsWith("slow_down")
	// A client that keeps its old interval is too fast now.
	s.advance(interval)
	s.poll(login).failsWith("slow_down")
	s.advance(3 * interval)
	s.poll(login).failsWith("authorization_pending")
	s.advance(3*interval - 1)
	s.poll(login).failsWith("slow_down")
	s.advance(4 * interval)
	s.poll(login).failsWith("authorization_pending")
}

func TestDeviceCodeExpires(t *testing.T) {
	s := start(t)
	old, late, approved := s.login(), s.login(), s.login()
	s.decide(approved, "approve")
	s.advance(599)
	s.poll(old).failsWith("authorization_pending")
	s.decide(late, "approve")
	s.poll(late).ok()
	s.advance(1)
	s.poll(old).failsWith("expired_token")
	s.poll(approved).failsWith("expired_token")
	s.as("").post("/auth/device/token", object{"device_code": "unknown"}).failsWith("expired_token")
}
