package rental

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// A base URL is https, or http on the local machine. Hosts that look like the local machine are others.
func TestBaseURL(t *testing.T) {
	for raw, want := range map[string]string{
		"https://rent.example/api/v1":        "https://rent.example/api/v1",
		"https://rent.example:8443/x/api/v1": "https://rent.example:8443/x/api/v1",
		"http://localhost:1234/api/v1/":      "http://localhost:1234/api/v1",
		"http://127.255.8.9/api/v1//":        "http://127.255.8.9/api/v1",
		"http://LOCALHOST/api/v1":            "http://LOCALHOST/api/v1",
		"http://[::1]:80/api/v1":             "http://[::1]:80/api/v1",
		"http://[::ffff:127.0.0.1]/api/v1":   "http://[::ffff:127.0.0.1]/api/v1",
		"http://[::ffff:7f00:1]:1/api/v1":    "http://[::ffff:7f00:1]:1/api/v1",
	} {
		client, err := New(Config{BaseURL: raw})
		if err != nil || client.BaseURL() != want {
			t.Errorf("%s: %v, %v", raw, client, err)
		}
	}
	bad := []string{
		"", "rent.example/api/v1", "/api/v1", "ftp://rent.example/api/v1", "https:///api/v1", "https:rent.example/api/v1",
		"https://rent.example", "https://rent.example/api/v2", "https://rent.example/api/v1/me",
		"https://rent.example/api/v1?", "https://rent.example/api/v1#", "https://rent example/api/v1", "\x00",
		"https://user:" + canary + "@rent.example/api/v1", "https://rent.example:" + canary + "/api/v1",
		"https://rent.example/" + canary, "https://rent.example/api/v1?key=" + canary,
		"https://rent.example/api/v1#" + canary, "http://rent.example/" + canary + "/api/v1",
		canary + "://rent.example/api/v1",
	}
	for _, host := range []string{
		"rent.example", "127.0.0.1.evil.example", "localhost.evil.example", "localhost@evil.example", "user:pass@localhost",
		"evil.example#localhost", "evil.example?localhost", "evil.example\\@localhost", "localhost.", "0.0.0.0", "127.1",
		"2130706433", "0x7f000001", "0177.0.0.1", "[::]", "[::2]", "[::ffff:10.0.0.1]", "[fe80::1]", "[::1%25eth0]",
		"10.0.0.1", "169.254.169.254", "ⓛocalhost", "local\u200bhost", "127.0.0.1\t",
	} {
		bad = append(bad, "http://"+host+"/api/v1")
	}
	for _, raw := range bad {
		if _, err := New(Config{BaseURL: raw}); err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%q: %v", raw, err)
		}
	}
}

func TestConfig_InvalidHeaderValues(t *testing.T) {
	for _, config := range []Config{
		{APIKey: canary + "\n"}, {APIKey: " " + canary}, {APIKey: canary + "\u00e9"}, {Language: "en\r\nX: y"},
		{UserAgent: "a\x00"}, {UserAgent: "a\x7f"},
	} {
		config.BaseURL = testURL
		if _, err := New(config); err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%+v: %v", config, err)
		}
	}
}

// An id of any characters is one path element, and the server decodes the same id.
func FuzzPathEscape(f *testing.F) {
	for _, seed := range []string{
		"i-1", "a/b", "..", ".", "", "../../me", "%2F", "%2e%2e", "?x=1", "#f", "a b", "ключ", "\x00\r\n", "\xff", ";",
		"a//b", "+&=",
	} {
		f.Add(seed)
	}
	base, err := parseBaseURL("https://rent.example/base%2Fd/api/v1")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, id string) {
		elements := []string{"instances", id, "logs"}
		escaped, err := escapePath(elements)
		if refused := id == "" || id == "." || id == ".."; refused || err != nil {
			if !refused || err == nil {
				t.Fatalf("%q: %v", id, err)
			}
			return
		}
		req, err := (&Client{base: base}).newHTTPRequest(t.Context(), escaped, request{method: http.MethodGet})
		if err != nil {
			t.Fatalf("%q: %v", id, err)
		}
		wire := req.URL.RequestURI()
		middle, hasPrefix := strings.CutPrefix(wire, "/base%2Fd/api/v1/instances/")
		middle, hasSuffix := strings.CutSuffix(middle, "/logs")
		back, err := url.PathUnescape(middle)
		if !hasPrefix || !hasSuffix || strings.ContainsAny(middle, "/?#") || err != nil || back != id {
			t.Fatalf("%q is sent to %s and decoded as %q (%v)", id, wire, back, err)
		}
	})
}
