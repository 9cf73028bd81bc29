package conformance

import (
	"regexp"
	"testing"
)

// Chapter "Errors".

// TestErrors_Language requests an error of each code in several languages.
func TestErrors_Language(t *testing.T) {
	s := start(t)
	weak, _ := s.newKey("user:read")
	instance := text(s.running(nil), "id")
	causes := map[string]func(s *service) response{
		"unauthorized":          func(s *service) response { return s.as("").get("/me") },
		"forbidden":             func(s *service) response { return s.as(weak).get("/balance") },
		"not_found":             func(s *service) response { return s.get("/instances/unknown") },
		"conflict":              func(s *service) response { return s.action(instance, "start") },
		"validation_error":      func(s *service) response { return s.get("/instances?limit=0") },
		"authorization_pending": func(s *service) response { return s.poll(s.login()) },
		"expired_token":         func(s *service) response { return s.poll(object{"device_code": "x"}) },
		"access_denied": func(s *service) response {
			login := s.login()
			s.decide(login, "deny")
			return s.poll(login)
		},
		"slow_down": func(s *service) response { login := s.login(); s.poll(login); return s.poll(login) },
		"insufficient_funds": func(s *service) response {
			s.setAccount(object{"balance_kop": 0})
			defer s.setAccount(object{"balance_kop": 1_000_000_000})
			return s.create(unique("key"), s.rentBody())
		},
	}
	cyrillic := regexp.MustCompile(`\p{Cyrillic}`)
	for code, cause := range causes {
		for header, russian := range map[string]bool{
			"": true, "ru": true, "en": false, "en-US,en;q=0.9": false, "EN": false, "ru,en;q=0.9": true,
			"en;q=0.3,ru;q=0.7": true, "fr": true, "fr,en;q=0.5": false, "*": true, "en;q=0": true, "de;q=x, en": false,
		} {
			a := cause(s.with("Accept-Language", header))
			a.failsWith(code)
			message := text(a.object(), "error.message")
			equal(t, code+" in "+header+": Russian in "+message, cyrillic.MatchString(message), russian)
		}
	}
}

// TestErrors_Issues sends several invalid fields at once. Each is an issue, and no other field is.
func TestErrors_Issues(t *testing.T) {
	s := start(t)
	a := s.post("/templates", object{"name": "x", "image": 1, "ports": "none", "min_disk_gb": 1, "launch_mode": "boat",
		"description": "right"})
	for _, field := range []string{"name", "image", "ports", "min_disk_gb", "launch_mode"} {
		a.invalid(field)
	}
	equal(t, "issues of a body", len(a.failsWith("validation_error")["issues"].([]any)), 5)
	b := s.get("/offers?limit=0&order=x&cursor=x&gpu=rtx_4090")
	for _, field := range []string{"limit", "order", "cursor"} {
		b.invalid(field)
	}
	equal(t, "issues of a query", len(b.failsWith("validation_error")["issues"].([]any)), 3)
}
