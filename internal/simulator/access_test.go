package simulator_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

const decision = `name="decision" value="approve"`

// The control API and the dashboard serve this machine only, and no page of another site. The approval page also serves
// other machines, if the simulator listens on the network. With DNS rebinding, a page of another site has the same
// origin for the browser, so only the host name shows it.
func TestAccess_OtherMachinesAndSites(t *testing.T) {
	api := newClient(t)
	approval := "/device?code=" + api.login().text("user_code")
	const here, local = "127.0.0.1:5", "127.0.0.1:8474"
	for _, c := range []struct {
		name, peer, host, header, value string
		private, approval               int
	}{
		{"a program", here, local, "", "", 200, 200},
		{"another name", "[::1]:5", "localhost:8474", "", "", 200, 200},
		{"its own page", here, local, "Origin", "http://" + local, 200, 200},
		{"the address bar", here, local, "Sec-Fetch-Site", "none", 200, 200},
		{"another machine", "203.0.113.9:5", "simulator.example:8474", "", "", 403, 200},
		{"another machine, loopback host", "203.0.113.9:5", "127.0.0.1", "", "", 403, 200},
		{"unknown peer", "", local, "", "", 403, 200},
		{"another site", here, local, "Origin", "https://evil.example", 403, 200},
		{"another port", here, local, "Origin", "https://127.0.0.1:8443", 403, 200},
		{"a hidden origin", here, local, "Origin", "null", 403, 200},
		{"another site, no origin", here, local, "Sec-Fetch-Site", "cross-site", 403, 200},
		{"another port, no origin", here, local, "Sec-Fetch-Site", "same-site", 403, 200},
		{"rebinding", here, "rebound.example:8474", "Sec-Fetch-Site", "same-origin", 403, 403},
		{"rebinding", "[::1]:5", "rebound.example", "", "", 403, 403},
		{"rebinding", here, "localhost.evil.example", "", "", 403, 403},
		{"rebinding", here, "127.0.0.1.evil.example:80", "", "", 403, 403},
		{"rebinding", here, "0.0.0.0", "", "", 403, 403},
		{"no host", here, "", "", "", 403, 403},
	} {
		for path, status := range map[string]int{"/control/health": c.private, "/": c.private,
			"/console/overview": c.private, approval: c.approval} {
			req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
			req.RemoteAddr, req.Host = c.peer, c.host
			if c.header != "" {
				req.Header.Set(c.header, c.value)
			}
			rec := httptest.NewRecorder()
			api.Handler().ServeHTTP(rec, req)
			leaks := strings.Contains(rec.Body.String(), "balance_kop") || strings.Contains(rec.Body.String(), decision)
			if rec.Code != status || status == 403 && leaks {
				t.Errorf("%s from %s, peer %q, host %q: %d %s", path, c.name, c.peer, c.host, rec.Code, rec.Body)
			}
		}
	}
}

// TestApprovalPage uses the page like a browser without JavaScript. The code may be typed in lower case and without the
// dash. Forms of other sites are refused.
func TestApprovalPage(t *testing.T) {
	api := newClient(t)
	login := api.login()
	const here = "http://127.0.0.1"
	api.send("GET", strings.TrimPrefix(login.text("verification_uri_complete"), here), nil).want(200)
	typed := strings.ToLower(strings.ReplaceAll(login.text("user_code"), "-", ""))
	for _, c := range []struct {
		site, origin, decision string
		status                 int
	}{
		{"", "https://evil.example", "approve", 403},
		{"cross-site", here, "approve", 403},
		{"same-site", here, "approve", 403},
		{"same-origin", here, "approve", 200},
		{"same-origin", here, "deny", 409}, // a second decision
	} {
		form := url.Values{"code": {typed}, "decision": {c.decision}}
		api.withHeader("Content-Type", "application/x-www-form-urlencoded").withHeader("Origin", c.origin).
			withHeader("Sec-Fetch-Site", c.site).send("POST", "/device", form.Encode()).want(c.status)
	}
	api.poll(login).want(200)
}

func TestLog_HasNoSecrets(t *testing.T) {
	var log bytes.Buffer
	api := newClient(t, func(c *simulator.Config) {
		c.Log = hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Debug})
	})
	secret, _ := api.newKey("user:read")
	login := api.login()
	api.decide(login, "approve")
	token := api.poll(login).ok().text("api_key")
	api.withKey(token).get("/me").want(200)
	api.get("/offers?limit=0").want(422)
	seen := log.String()
	for _, q := range api.Requests() {
		seen += q.Path + q.Query + q.KeyID
	}
	for _, secret := range []string{testKey, secret, token, login.text("device_code")} {
		if strings.Contains(seen, secret) {
			t.Error("a secret was logged")
		}
	}
}
