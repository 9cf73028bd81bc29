package conformance

import (
	"net/http"
	"strings"
	"testing"
)

// Chapter "Errors".

// isRussian reports whether a text contains Cyrillic letters.
func isRussian(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r >= 'А' && r <= 'я' })
}

// TestErrorLanguage requests an error of each code in several languages.
func TestErrorLanguage(t *testing.T) {
	s := start(t)
	weak, _ := s.newKey("user:read")
	pending, denied := s.login(), s.login()
	s.decide(denied, "deny")
	instance := text(s.running(nil), "id")
	taken := s.offerOf(s.instance(instance))
	causes := map[string]func(s *service) response{
		"unauthorized":          func(s *service) response { return s.as("").get("/me") },
		"forbidden":             func(s *service) response { return s.as(weak).get("/balance") },
		"not_found":             func(s *service) response { return s.get("/instances/unknown") },
		"conflict":              func(s *service) response { return s.action(instance, "start") },
		"validation_error":      func(s *service) response { return s.get("/instances?limit=0") },
		"access_denied":         func(s *service) response { return s.poll(denied) },
		"authorization_pending": func(s *service) response { return s.poll(s.login()) },
		"expired_token":         func(s *service) response { return s.poll(object{"device_code": "x"}) },
		"slow_down":             func(s *service) response { s.poll(pending); return s.poll(pending) },
		"insufficient_funds": func(s *service) response {
			s.setAccount(object{"balance_kop": 0})
			defer s.setAccount(object{"balance_kop": 1_000_000_000})
			return s.create(uniqueName("key"), s.rentBody())
		},
	}
	check(t, taken != "", "the instance has no offer")
	for code, cause := range causes {
		for header, russian := range map[string]bool{
			"": true, "ru": true, "en": false, "en-US,en;q=0.9": false, "EN": false, "ru,en;q=0.9": true,
			"en;q=0.3,ru;q=0.7": true,
			"fr":                true, "fr,en;q=0.5": false, "*": true, "en;q=0": true, "de;q=x, en": false,
		} {
			pending = s.login()
			a := cause(s.with("Accept-Language", header))
			a.request += " in " + header
			a.failsWith(code)
			message := text(a.object(), "error.message")
			equal(t, a.request+": Russian in "+message, isRussian(message), russian)
		}
	}
}

// TestErrorsOfFailures causes the errors of failures by faults.
func TestErrorsOfFailures(t *testing.T) {
	s := start(t)
	for code, status := range map[string]int{"internal": http.StatusInternalServerError,
		"provider_unavailable": http.StatusServiceUnavailable, "rate_limited": http.StatusTooManyRequests} {
		s.control(http.MethodPost, "/faults", object{"path": "/me", "status": status, "times": 1})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.baseURL+"/me", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+s.key)
		a := s.do(req)
		a.failsWith(code)
		if status != http.StatusInternalServerError {
			check(t, a.headerNumber("Retry-After") > 0, "%s without Retry-After", code)
		}
		check(t, a.header.Get("X-Request-Id") != "", "%s without a request id", code)
	}
	s.get("/me").ok()
}

// TestErrorIssues sends several invalid fields at once.
func TestErrorIssues(t *testing.T) {
	s := start(t)
	a := s.post("/templates", object{"name": "x", "image": 1, "ports": "none", "min_disk_gb": 1, "launch_mode": "boat"})
	for _, field := range []string{"name", "image", "ports", "min_disk_gb", "launch_mode"} {
		a.invalid(field)
	}
	b := s.get("/offers?limit=0&min_gpus=0&type=gift&order=best&verified=maybe&min_reliability=2" +
		"&country=russia&num_gpus=3&min_cuda=x&max_price_kop_h=-1&cursor=x")
	for _, field := range []string{"limit", "min_gpus", "type", "order", "verified", "min_reliability", "country",
		"num_gpus", "min_cuda", "max_price_kop_h", "cursor"} {
		b.invalid(field)
	}
}
