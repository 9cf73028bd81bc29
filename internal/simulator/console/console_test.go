package console_test

import (
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator/console"
)

// All values are escaped, and the headers forbid foreign and inline scripts and frames.
func TestPages(t *testing.T) {
	server := start(t)
	_, login := call(t, server, "POST", "/auth/device", `{"client_name": "<script>alert(1)</script>"}`)
	code, _ := login["user_code"].(string)
	const here, there = "127.0.0.1:40000", "203.0.113.9:40000"
	for _, c := range []struct {
		peer, method, target, form string
		status                     int
		says                       string
	}{
		{here, "GET", "/", "", 200, `id="instances"`},
		{here, "GET", "/", "", 200, "<noscript><p class=\"notice\">The dashboard requires JavaScript."},
		{there, "GET", "/", "", 403, ""},
		{here, "GET", "/console/overview", "", 200, `"instances":`},
		{here, "GET", "/console/assets/dashboard.js", "", 200, "import"},
		{here, "GET", "/console/assets/style.css", "", 200, "prefers-color-scheme: dark"},
		{here, "GET", "/console/assets/service.go", "", 404, ""},
		{here, "GET", "/console/assets/..%2Fpages%2Fdevice.html", "", 400, ""},
		{here, "GET", "/device", "", 200, `name="code"`},
		{here, "GET", "/device?code=" + code, "", 200, "&lt;script&gt;alert(1)"},
		{here, "GET", "/device?code=" + code, "", 200, `name="decision" value="approve"`},
		{here, "GET", "/device?code=%22%3E%26{{code}}", "", 404, `value="&#34;&gt;&amp;{{code}}"`},
		{here, "POST", "/device", "", 422, "out of date"},
		{here, "POST", "/device", "decision=deny&code=none", 404, ""},
		{here, "DELETE", "/device", "", 405, ""},
		{here, "GET", "/nothing", "", 404, ""},
	} {
		form := strings.NewReader(c.form)
		r := httptest.NewRequestWithContext(t.Context(), c.method, server.ConsoleURL+c.target[1:], form)
		r.RemoteAddr = c.peer
		r.Header.Set("Accept-Language", "en")
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		server.Handler().ServeHTTP(w, r)
		body := w.Body.String()
		if w.Code != c.status || !strings.Contains(body, c.says) || strings.Contains(body, "<script>alert") ||
			strings.Contains(body, "{{") && !strings.Contains(c.target, "{{") {
			t.Errorf("%s %s: %d %s", c.method, c.target, w.Code, body)
		}
		policy := w.Header().Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'",
			"form-action 'self'"} {
			if !strings.Contains(policy, part) || strings.Contains(policy, "unsafe") {
				t.Errorf("%s: policy %q lacks %q", c.target, policy, part)
			}
		}
		if c.status < 400 && w.Header().Get("Cache-Control") != "no-store" ||
			w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", c.target, w.Header())
		}
	}
}

func TestTexts_SameInBothLanguages(t *testing.T) {
	english, russian := console.Texts()
	if !slices.Equal(slices.Sorted(maps.Keys(english)), slices.Sorted(maps.Keys(russian))) {
		t.Errorf("%d texts in English, %d in Russian", len(english), len(russian))
	}
	for name, text := range english {
		if russian[name] == "" || text == "" {
			t.Errorf("%s: %q and %q", name, text, russian[name])
		}
	}
}
