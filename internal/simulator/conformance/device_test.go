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
	return s.as("").post("/auth/device", object{"client_name": "terminal"}).ok()
}

func (s *service) poll(login object) response {
	s.t.Helper()
	return s.as("").post("/auth/device/token", object{"device_code": login["device_code"]})
}

func (s *service) decide(login object, decision string) {
	s.t.Helper()
	s.control(http.MethodPost, "/device-codes/"+text(login, "user_code"), object{"decision": decision})
}

func TestDevice_Code(t *testing.T) {
	s := start(t)
	o, another := s.login(), s.login()
	equal(t, "expires_in", integer(o, "expires_in"), 600)
	complete := text(o, "verification_uri_complete")
	check(t, strings.HasPrefix(complete, text(o, "verification_uri")) &&
		strings.Contains(complete, url.QueryEscape(text(o, "user_code"))), "verification_uri_complete %q", complete)
	check(t, !strings.Contains(complete, text(o, "device_code")), "verification_uri_complete contains the device code")
	check(t, another["device_code"] != o["device_code"] && another["user_code"] != o["user_code"],
		"two logins share a code")
	checkBounds("DeviceCodeCreate", object{}, func(body object) response { return s.as("").post("/auth/device", body) })
	for _, f := range apidoc.Fields("DeviceTokenCreate") {
		checkField(object{}, f.Name, nil, append(apidoc.InvalidTypes(f), absent{}), func(body object) response {
			return s.as("").post("/auth/device/token", body)
		})
	}
}

func TestDevice_TokenOnce(t *testing.T) {
	s := start(t)
	login := s.login()
	interval := float64(integer(login, "interval"))
	s.poll(login).failsWith("authorization_pending")
	s.advance(interval)
	s.poll(login).failsWith("authorization_pending")
	s.decide(login, "approve")
	s.advance(interval)
	token := s.poll(login).ok()
	s.as(text(token, "api_key")).get("/balance").ok()
	key := s.list("/api-keys")[1]
	equal(t, "id of the key", key["id"], token["key_id"])
	equal(t, "source", text(key, "source"), "cli")
	equal(t, "user.email", text(token, "user.email"), text(s.get("/me").ok(), "email"))
	s.advance(interval)
	s.poll(login).failsWith("expired_token")
}

func TestDevice_Denied(t *testing.T) {
	s := start(t)
	login := s.login()
	s.decide(login, "deny")
	s.poll(login).failsWith("access_denied")
}

func TestDevice_SlowDown(t *testing.T) {
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
}

func TestDevice_CodeExpires(t *testing.T) {
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
	s.poll(object{"device_code": "unknown"}).failsWith("expired_token")
}
