package simulator_test

import (
	"regexp"
	"testing"
)

// Chapter "Errors".

// TestErrors_Language requests an error of each code in several languages.
func TestErrors_Language(t *testing.T) {
	api := newFundedClient(t)
	weak, _ := api.newKey("user:read")
	instance := api.runningInstance(nil).text("id")
	causes := map[string]func(api *client) response{
		"unauthorized":          func(api *client) response { return api.withKey("").get("/me") },
		"forbidden":             func(api *client) response { return api.withKey(weak).get("/balance") },
		"not_found":             func(api *client) response { return api.get("/instances/unknown") },
		"conflict":              func(api *client) response { return api.action(instance, "start") },
		"validation_error":      func(api *client) response { return api.get("/instances?limit=0") },
		"authorization_pending": func(api *client) response { return api.poll(api.login()) },
		"expired_token":         func(api *client) response { return api.poll(object{"device_code": "x"}) },
		"access_denied": func(api *client) response {
			login := api.login()
			api.decide(login, "deny")
			return api.poll(login)
		},
		"slow_down": func(api *client) response { login := api.login(); api.poll(login); return api.poll(login) },
		"insufficient_funds": func(api *client) response {
			api.setAccount(object{"balance_kop": 0})
			defer api.setAccount(object{"balance_kop": 1_000_000_000})
			return api.create(unique("key"), api.instanceBody(nil))
		},
	}
	isRussian := func(cause func(api *client) response, header, code string) bool {
		a := cause(api.withHeader("Accept-Language", header))
		a.failsWith(code)
		return regexp.MustCompile(`\p{Cyrillic}`).MatchString(a.object().text("error.message"))
	}
	for code, cause := range causes {
		check(t, isRussian(cause, "ru", code) && !isRussian(cause, "en", code), "%s has one language", code)
	}
	for header, want := range map[string]bool{
		"": true, "en-US,en;q=0.9": false, "EN": false, "ru,en;q=0.9": true, "en;q=0.3,ru;q=0.7": true, "fr": true,
		"fr,en;q=0.5": false, "*": true, "en;q=0": true, "de;q=x, en": false,
	} {
		equal(t, "Russian for "+header, isRussian(causes["not_found"], header, "not_found"), want)
	}
}

// TestErrors_Issues sends several invalid fields at once. Each is an issue, and no other field is.
func TestErrors_Issues(t *testing.T) {
	api := newFundedClient(t)
	a := api.post("/templates", object{"name": "x", "image": 1, "ports": "none", "min_disk_gb": 1, "launch_mode": "boat",
		"description": "right"})
	for _, field := range []string{"name", "image", "ports", "min_disk_gb", "launch_mode"} {
		a.invalid(field)
	}
	equal(t, "issues of a body", len(a.failsWith("validation_error").objects("issues")), 5)
	b := api.get("/offers?limit=0&order=x&cursor=x&gpu=rtx_4090")
	for _, field := range []string{"limit", "order", "cursor"} {
		b.invalid(field)
	}
	equal(t, "issues of a query", len(b.failsWith("validation_error").objects("issues")), 3)
}
