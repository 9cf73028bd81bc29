package simulator_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

type deviceCode struct {
	Device   string `json:"device_code"`
	User     string `json:"user_code"`
	URI      string `json:"verification_uri"`
	Complete string `json:"verification_uri_complete"`
	Expires  int    `json:"expires_in"`
	Interval int
}

func (r *rig) login() deviceCode {
	r.t.Helper()
	var d deviceCode
	r.do("POST", "/auth/device", m{"client_name": "laptop"}).want(200).into(&d)
	return d
}

func (r *rig) poll(d deviceCode) response {
	r.t.Helper()
	return r.do("POST", "/auth/device/token", m{"device_code": d.Device})
}

const decision = `name="decision" value="approve"`

// TestApprovalPage uses the page like a browser without JavaScript.
func TestApprovalPage(t *testing.T) {
	r := newRig(t)
	d := r.as("").login()
	complete, err := url.Parse(d.Complete)
	if err != nil {
		t.Fatal(err)
	}
	if page := r.raw("GET", complete.Path, nil).want(200); bytes.Contains(page.raw, []byte(decision)) {
		t.Error("the page has a decision without a code")
	}
	r.raw("GET", complete.Path+"?code=NOPE-NOPE", nil).want(404)
	page := r.raw("GET", complete.RequestURI(), nil).want(200)
	policy := page.header.Get("Content-Security-Policy")
	if !bytes.Contains(page.raw, []byte(decision)) || !strings.Contains(policy, "frame-ancestors 'none'") {
		t.Fatalf("page: %s", page.raw)
	}
	post := func(site, origin, decision string) int {
		b := r.with("Content-Type", "application/x-www-form-urlencoded").with("Origin", origin).with("Sec-Fetch-Site", site)
		form := url.Values{"code": {d.User}, "decision": {decision}}
		return b.raw("POST", "/device", strings.NewReader(form.Encode())).status
	}
	const here = "http://127.0.0.1"
	for site, origin := range map[string]string{"": "https://evil.example", "cross-site": here, "same-site": here} {
		if got := post(site, origin, "approve"); got != 403 {
			t.Errorf("from a page of %q with the origin %s: %d", site, origin, got)
		}
	}
	if got := post("same-origin", here, "approve"); got != 200 {
		t.Fatalf("approve: %d", got)
	}
	if got := post("same-origin", here, "deny"); got != 409 {
		t.Errorf("a second decision: %d", got)
	}
	r.as("").poll(d).want(200)
}

// With DNS rebinding, a page of another site has the same origin for the browser. It could start a login, read the
// approval page and approve the login.
func TestApprovalPage_DNSRebinding(t *testing.T) {
	r := newRig(t)
	d := r.as("").login()
	for _, c := range []struct {
		method, peer, host string
		status             int
	}{
		{"GET", "127.0.0.1:5", "rebound.example:8474", http.StatusForbidden},
		{"POST", "[::1]:5", "rebound.example", http.StatusForbidden},
		{"GET", "127.0.0.1:5", "127.0.0.1.evil.example", http.StatusForbidden},
		{"GET", "127.0.0.1:5", "", http.StatusForbidden},
		{"GET", "127.0.0.1:5", "localhost:8474", http.StatusOK},
		{"GET", "203.0.113.9:5", "simulator.example:8474", http.StatusOK},
		// another machine, if the simulator listens on the network
	} {
		req := httptest.NewRequestWithContext(t.Context(), c.method, "/device?code="+d.User, nil)
		req.RemoteAddr, req.Host = c.peer, c.host
		rec := httptest.NewRecorder()
		r.Handler().ServeHTTP(rec, req)
		if shown := strings.Contains(rec.Body.String(), decision); rec.Code != c.status ||
			shown != (c.status == http.StatusOK) {
			t.Errorf("%s from %s, host %q: %d, shown %t", c.method, c.peer, c.host, rec.Code, shown)
		}
	}
}

// The user code may be typed in lower case and without the dash.
func TestDecideDeviceCode_Spelling(t *testing.T) {
	r := newRig(t)
	d := r.as("").login()
	if err := r.DecideDeviceCode(strings.ToLower(strings.ReplaceAll(d.User, "-", "")), true); err != nil {
		t.Fatal(err)
	}
	r.as("").poll(d).want(200)
	expired := r.as("").login()
	r.Advance(10 * time.Minute)
	if r.DecideDeviceCode(expired.User, true) == nil || r.DecideDeviceCode("NO-SUCH", true) == nil {
		t.Error("an expired or unknown code was approved")
	}
}
