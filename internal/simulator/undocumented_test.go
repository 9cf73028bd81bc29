package simulator_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// The tests in this file check behavior that the API document does not define. The conformance package tests the rest.

func (r *rig) newKey(scopes ...string) string {
	r.t.Helper()
	var k struct{ Secret string }
	r.do("POST", "/api-keys", m{"name": "k", "scopes": scopes}).want(201).into(&k)
	return k.Secret
}

type apiKey struct {
	ID, Name, Prefix, Source string
	Scopes                   []string
}

func TestAPIKeys_FirstKeyAndRepeatedScopes(t *testing.T) {
	r := newRig(t)
	first := list[apiKey](r, "/api-keys", 5)
	if len(first) != 1 || first[0].Prefix != testKey[:8] || len(first[0].Scopes) != 5 || first[0].Source != "console" {
		t.Fatalf("keys of a new account: %+v", first)
	}
	var k apiKey
	scopes := []string{"billing:read", "user:read", "user:read", "user:write"}
	r.do("POST", "/api-keys", m{"name": "ci", "scopes": scopes}).want(201).into(&k)
	if len(k.Scopes) != 3 {
		t.Errorf("scopes %v", k.Scopes)
	}
}

func TestSSHKeys_DefaultName(t *testing.T) {
	r := newRig(t)
	var commented, bare struct{ Name, Fingerprint string }
	r.do("POST", "/ssh-keys", m{"public_key": "  " + ed25519A + "\n"}).want(201).into(&commented)
	r.do("POST", "/ssh-keys", m{"public_key": strings.TrimSuffix(ed25519A, " laptop")}).want(201).into(&bare)
	if commented.Name != "laptop" || bare.Name != bare.Fingerprint {
		t.Errorf("names %q and %q", commented.Name, bare.Name)
	}
	r.do("POST", "/ssh-keys", m{"public_key": `command="ls" ` + ed25519A}).invalid("public_key")
}

func TestTemplates_OwnRules(t *testing.T) {
	r := newRig(t)
	create := func(change m) response {
		body := m{"name": "name", "image": "a:1"}
		for k, v := range change {
			body[k] = v
		}
		return r.do("POST", "/templates", body)
	}
	create(m{"min_disk_gb": 50, "recommended_disk_gb": 49}).invalid("recommended_disk_gb")
	create(m{"env": m{"": "1"}}).invalid("env")
	create(m{"ports": []int{22, 0}}).invalid("ports[1]")
	var own struct {
		Ports       []int
		Recommended int `json:"recommended_disk_gb"`
	}
	create(m{"min_disk_gb": 40, "ports": []int{80, 80}}).want(201).into(&own)
	if own.Recommended != 40 || len(own.Ports) != 1 {
		t.Errorf("template %+v", own)
	}
}

func TestErrors_Headers(t *testing.T) {
	r := newRig(t)
	a := r.as("").do("GET", "/me", nil)
	if a.refused(401, "unauthorized"); a.header.Get("WWW-Authenticate") == "" {
		t.Error("no WWW-Authenticate")
	}
	b := r.do("GET", "/me", nil)
	if a.header.Get("X-Request-Id") == "" || a.header.Get("X-Request-Id") == b.header.Get("X-Request-Id") {
		t.Errorf("request ids %q and %q", a.header.Get("X-Request-Id"), b.header.Get("X-Request-Id"))
	}
	r.with("Content-Type", "").do("POST", "/ssh-keys", `{}`).invalid("body")
	// An unauthorized client gets no details about its body.
	r.as("").do("POST", "/ssh-keys", `{`).refused(401, "unauthorized")
}

func TestDateHeader_IsSimulatedTime(t *testing.T) {
	r := newRig(t)
	for _, passed := range []time.Duration{0, 90 * 24 * time.Hour} {
		want := r.Advance(passed).Truncate(time.Second)
		header := r.do("GET", "/me", nil).header.Get("Date")
		if got, err := http.ParseTime(header); err != nil || !got.Equal(want) {
			t.Errorf("Date %q, want %s, %v", header, want, err)
		}
	}
}
