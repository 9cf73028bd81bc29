package simulator_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Behavior that the API document does not define. The files api_* test the rest.

// What a creation makes of its body, as the values of fields.
func TestUndocumented_Creations(t *testing.T) {
	api := newClient(t)
	key := publicKey(1)
	bare := strings.TrimSuffix(key, " someone@example")
	for _, c := range []struct {
		path  string
		body  object
		field string // of the object that is created, or the field of a validation error if want is ""
		want  string
	}{
		{"/api-keys", object{"name": "ci", "scopes": []string{"user:write", "user:read", "user:read"}}, "scopes",
			"[user:read user:write]"},
		{"/ssh-keys", object{"public_key": "  " + key + "\n"}, "name", "someone@example"},
		{"/ssh-keys", object{"public_key": bare}, "name", "SHA256:"},
		{"/templates", object{"name": "name", "image": "a:1", "min_disk_gb": 40}, "recommended_disk_gb", "40"},
		{"/templates", object{"name": "name", "image": "a:1", "ports": []int{80, 80}}, "ports", "[80]"},
		{"/templates", object{"name": "name", "image": "a:1", "ports": []int{22, 0}}, "ports[1]", ""},
		{"/templates", object{"name": "name", "image": "a:1", "env": object{"": "1"}}, "env", ""},
		{"/templates", object{"name": "name", "image": "a:1", "min_disk_gb": 50, "recommended_disk_gb": 49},
			"recommended_disk_gb", ""},
	} {
		a := api.post(c.path, c.body)
		if c.want == "" {
			a.invalid(c.field)
			continue
		}
		got := fmt.Sprint(a.created()[c.field])
		check(t, strings.HasPrefix(got, c.want), "%s: %s of %v is %s, want %s", c.path, c.field, c.body, got, c.want)
	}
}

func TestUndocumented_Headers(t *testing.T) {
	api := newClient(t)
	now := api.Advance(90 * 24 * time.Hour)
	a, b := api.withKey("").get("/me"), api.get("/me")
	a.failsWith("unauthorized")
	check(t, a.header.Get("WWW-Authenticate") != "", "no WWW-Authenticate")
	id, other := a.header.Get("X-Request-Id"), b.header.Get("X-Request-Id")
	check(t, id != "" && id != other, "request ids %q and %q", id, other)
	equal(t, "Date, which is the simulated time", b.header.Get("Date"), now.UTC().Format(http.TimeFormat))
	// An unauthorized client gets no details about its body.
	api.withKey("").post("/ssh-keys", `{`).failsWith("unauthorized")
}
