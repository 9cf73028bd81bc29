package simulator_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

var placeholder = regexp.MustCompile(`\{\w+\}`)

// TestEveryOperationGuardsItself goes through the route table: no key, a bad key, a key without the scope, a key with
// nothing but the scope, a blocked account.
func TestEveryOperationGuardsItself(t *testing.T) {
	scopes := []string{"user:read", "user:write", "instances:read", "instances:write", "billing:read"}
	for _, op := range simulator.Operations() {
		t.Run(op.ID, func(t *testing.T) {
			r := newRig(t)
			path := placeholder.ReplaceAllString(op.Path, "x_unknown")
			call := func(r *rig) answer {
				var body any
				if op.Method == "POST" || op.Method == "PATCH" {
					body = m{}
				}
				return r.do(op.Method, path, body)
			}
			if op.Scope == "" {
				if s := call(r.as("")).status; s == 401 || s == 403 {
					t.Errorf("without a key: %d", s)
				}
				return
			}
			a := call(r.as(""))
			a.refused(401, "unauthorized")
			if a.header.Get("WWW-Authenticate") == "" {
				t.Error("no WWW-Authenticate")
			}
			call(r.as(testKey[:43]+"x")).refused(401, "unauthorized")
			others := slices.DeleteFunc(slices.Clone(scopes), func(s string) bool { return s == op.Scope })
			call(r.as(r.newKey(others...))).refused(403, "forbidden")
			if s := call(r.as(r.newKey(op.Scope))).status; s == 401 || s == 403 {
				t.Errorf("with the scope: %d", s)
			}
			if err := r.SetAccount(simulator.AccountPatch{Blocked: new(true)}); err != nil {
				t.Fatal(err)
			}
			call(r).refused(403, "forbidden")
		})
	}
}

func (r *rig) newKey(scopes ...string) string {
	r.t.Helper()
	var k struct{ Secret string }
	r.do("POST", "/api-keys", m{"name": "k", "scopes": scopes}).want(201).into(&k)
	return k.Secret
}

type apiKey struct {
	ID, Name, Prefix, Source, Secret string
	Scopes                           []string
	LastUsedAt                       *time.Time `json:"last_used_at"`
	ExpiresAt                        *time.Time `json:"expires_at"`
}

func TestAPIKeys(t *testing.T) {
	r := newRig(t)
	first := list[apiKey](r, "/api-keys", 5)
	if len(first) != 1 || first[0].Prefix != testKey[:8] || len(first[0].Scopes) != 5 || first[0].Source != "console" || first[0].LastUsedAt == nil {
		t.Fatalf("keys at first: %+v", first)
	}
	var k apiKey
	r.do("POST", "/api-keys", m{"name": "ci", "scopes": []string{"billing:read", "user:read", "user:read", "user:write"}, "expires_in_days": 1}).want(201).into(&k)
	if len(k.Secret) != 44 || k.Prefix != k.Secret[:8] || k.Source != "api" || len(k.Scopes) != 3 || !k.ExpiresAt.Equal(r.Now().Add(24*time.Hour)) {
		t.Errorf("new key %+v", k)
	}
	mine := r.as(k.Secret)
	mine.do("GET", "/me", nil).want(200)
	mine.do("POST", "/api-keys", m{"name": "more", "scopes": []string{"instances:read"}}).refused(403, "forbidden")
	mine.do("POST", "/api-keys", m{"name": "less", "scopes": []string{"user:read"}, "expires_in_days": nil}).want(201)
	r.Advance(24*time.Hour - time.Millisecond)
	mine.do("GET", "/me", nil).want(200)
	r.Advance(time.Millisecond)
	mine.do("GET", "/me", nil).refused(401, "unauthorized")
	mine.do("GET", "/templates", nil).refused(401, "unauthorized")
	mine.do("GET", "/gpus", nil).want(200)
	if names := list[apiKey](r, "/api-keys", 1); len(names) != 2 || names[1].Name != "less" {
		t.Errorf("active keys %+v", names)
	}
	r.do("DELETE", "/api-keys/"+k.ID, nil).refused(404, "not_found")
	r.do("DELETE", "/api-keys/"+first[0].ID, nil).want(204)
	r.do("GET", "/me", nil).refused(401, "unauthorized")
}

func TestAPIKeyBounds(t *testing.T) {
	r := newRig(t)
	for name, c := range map[string]struct {
		change m
		field  string
	}{
		"empty name":    {m{"name": ""}, "name"},
		"long name":     {m{"name": strings.Repeat("n", 61)}, "name"},
		"no scopes":     {m{"scopes": []string{}}, "scopes"},
		"null scopes":   {m{"scopes": nil}, "scopes"},
		"unknown scope": {m{"scopes": []string{"admin"}}, "scopes"},
		"zero days":     {m{"expires_in_days": 0}, "expires_in_days"},
		"too many days": {m{"expires_in_days": 3651}, "expires_in_days"},
	} {
		t.Run(name, func(t *testing.T) {
			body := m{"name": "k", "scopes": []string{"user:read"}}
			for k, v := range c.change {
				body[k] = v
			}
			r.do("POST", "/api-keys", body).invalid(c.field)
		})
	}
	r.do("POST", "/api-keys", m{}).invalid("scopes")
}

func TestSSHKeys(t *testing.T) {
	r := newRig(t)
	type sshKey struct{ ID, Name, Type, Fingerprint string }
	var a, b, c sshKey
	r.do("POST", "/ssh-keys", m{"public_key": ed25519A}).want(201).into(&a)
	r.do("POST", "/ssh-keys", m{"public_key": "  " + ed25519A + "\n", "name": "work"}).want(201).into(&b)
	r.do("POST", "/ssh-keys", m{"public_key": strings.TrimSuffix(ed25519A, " laptop")}).want(201).into(&c)
	if a.Name != "laptop" || b.Name != "work" || c.Name != c.Fingerprint || a.ID == b.ID || a.Type != "ssh-ed25519" ||
		!strings.HasPrefix(a.Fingerprint, "SHA256:") || a.Fingerprint != b.Fingerprint {
		t.Errorf("keys %+v %+v %+v", a, b, c)
	}
	for name, key := range map[string]string{
		"garbage":     "hello",
		"empty":       "",
		"private":     "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\n-----END OPENSSH PRIVATE KEY-----",
		"two lines":   ed25519A + "\n" + ed25519A,
		"options":     `command="ls" ` + ed25519A,
		"broken body": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5",
	} {
		t.Run(name, func(t *testing.T) { r.do("POST", "/ssh-keys", m{"public_key": key}).invalid("public_key") })
	}
	r.do("POST", "/ssh-keys", m{"public_key": ed25519A, "name": strings.Repeat("n", 61)}).invalid("name")
	r.do("POST", "/ssh-keys", m{"name": "n"}).invalid("public_key")
	r.do("DELETE", "/ssh-keys/"+b.ID, nil).want(204)
	r.do("DELETE", "/ssh-keys/"+b.ID, nil).refused(404, "not_found")
	left := list[sshKey](r, "/ssh-keys", 1)
	if len(left) != 2 || left[0].ID != a.ID || left[1].ID != c.ID {
		t.Errorf("keys left %+v", left)
	}
}

func TestRateLimits(t *testing.T) {
	r := newRig(t)
	if err := r.Reset(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key   string
		limit int
	}{{testKey, 120}, {"", 60}} {
		r := r.as(c.key)
		for n := range c.limit {
			a := r.do("GET", "/gpus", nil).want(200)
			if got, want := a.header.Get("X-RateLimit-Remaining"), fmt.Sprint(c.limit-n-1); got != want || a.header.Get("X-RateLimit-Limit") != fmt.Sprint(c.limit) {
				t.Fatalf("request %d: remaining %s, want %s", n, got, want)
			}
		}
		r.Advance(20 * time.Second)
		a := r.do("GET", "/no/such/path", nil)
		a.refused(429, "rate_limited")
		if a.header.Get("Retry-After") != "40" || a.header.Get("X-RateLimit-Reset") != "40" || a.header.Get("X-RateLimit-Remaining") != "0" {
			t.Errorf("headers %v", a.header)
		}
		r.Advance(40 * time.Second)
		r.do("GET", "/gpus", nil).want(200)
	}
	// A bad key is nobody's: it counts for the address.
	r.SetRateLimit(0, 1)
	r.as("gpr_bad").do("GET", "/me", nil).want(401)
	r.as("").do("GET", "/gpus", nil).want(429)
	r.do("GET", "/me", nil).want(200)
}

func TestLanguages(t *testing.T) {
	r := newRig(t)
	cyrillic := regexp.MustCompile(`\p{Cyrillic}`)
	for header, russian := range map[string]bool{
		"": true, "ru": true, "en": false, "en-US,en;q=0.9": false, "ru-RU,ru;q=0.9,en;q=0.8": true,
		"en;q=0.5, ru;q=0.4": false, "de": true, "de,en;q=0.1": false, "en;q=0": true, "*": true, "en;q=x": true,
	} {
		p := r.with("Accept-Language", header).do("GET", "/offers?limit=0", nil).refused(422, "validation_error")
		for _, said := range []string{p.Error.Message, p.Error.Details.Issues[0].Message} {
			if cyrillic.MatchString(said) != russian {
				t.Errorf("Accept-Language %q: %q", header, said)
			}
		}
	}
}

func unwrapped(c *simulator.Config) { c.Wrap = nil }

func TestBodiesAndPaths(t *testing.T) {
	r := newRig(t, unwrapped)
	key := `"public_key":"` + ed25519A + `"`
	for name, c := range map[string]struct {
		body  string
		media string
		field string
	}{
		"not JSON":         {`{`, "application/json", "body"},
		"an array":         {`[]`, "application/json", "body"},
		"null":             {`null`, "application/json", "body"},
		"trailing garbage": {`{` + key + `} x`, "application/json", "body"},
		"two objects":      {`{` + key + `}{}`, "application/json", "body"},
		"not UTF-8":        {"{\"name\":\"\xff\"," + key + "}", "application/json", "body"},
		"form":             {`{` + key + `}`, "application/x-www-form-urlencoded", "body"},
		"no media type":    {`{` + key + `}`, "", "body"},
		"other charset":    {`{` + key + `}`, "application/json; charset=koi8-r", "body"},
		"empty":            {``, "application/json", "public_key"},
		"null string":      {`{"public_key":null}`, "application/json", "public_key"},
	} {
		t.Run(name, func(t *testing.T) {
			r.with("Content-Type", c.media).do("POST", "/ssh-keys", c.body).invalid(c.field)
		})
	}
	r.with("Content-Type", "application/json; charset=UTF-8").do("POST", "/ssh-keys", `{`+key+`}`).want(201)
	big := r.do("POST", "/ssh-keys", `{"public_key":"`+strings.Repeat("x", 1<<20)+`"}`)
	big.refused(http.StatusRequestEntityTooLarge, "validation_error")
	r.as("").do("POST", "/ssh-keys", `{`).refused(401, "unauthorized")

	for _, path := range []string{"", "/", "/nothing", "/me/", "//me", "/instances/", "/offers/a%2Fb", "/instances/x/reboot"} {
		r.do("GET", path, nil).refused(404, "not_found")
	}
	a := r.do("PUT", "/instances/x", nil)
	a.want(http.StatusMethodNotAllowed)
	if a.problem().Error.Code == "" || a.header.Get("Allow") != "GET, PATCH, DELETE" {
		t.Errorf("405 with Allow %q: %s", a.header.Get("Allow"), a.raw)
	}
	ids := map[string]bool{}
	for range 3 {
		ids[r.do("GET", "/me", nil).header.Get("X-Request-Id")] = true
	}
	if len(ids) != 3 || ids[""] {
		t.Errorf("request ids %v", ids)
	}
}

func TestDateIsSimulatedTime(t *testing.T) {
	r := newRig(t)
	for _, passed := range []time.Duration{0, 90 * 24 * time.Hour} {
		want := r.Advance(passed).Truncate(time.Second)
		header := r.do("GET", "/me", nil).header.Get("Date")
		if got, err := http.ParseTime(header); err != nil || !got.Equal(want) {
			t.Errorf("Date %q, want %s, %v", header, want, err)
		}
	}
}
