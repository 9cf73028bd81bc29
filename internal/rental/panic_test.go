package rental

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// panicTransport panics in the middle of a request, with a value that knows the client, the configuration or a secret of the request.
type panicTransport struct {
	client *Client
	value  string
}

func (p *panicTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	current := callFrom(req.Context())
	if login := current.auth == authNone; login != (p.value == "login") {
		return nil, errors.New("another request is to crash")
	}
	config := Config{BaseURL: "https://rent.example/api/v1", APIKey: canary}
	switch p.value {
	case "client":
		panic(p.client)
	case "config":
		panic(config)
	case "both":
		panic(struct {
			client *Client
			config Config
		}{p.client, config})
	case "error":
		panic(current.networkError(req.Method, errors.New("proxy said "+canary)))
	case "login":
		panic(current.networkError(req.Method, errors.New("proxy said "+canary+" and "+deviceSecret)))
	}
	var none *Client
	return nil, errors.New(none.base.Host)
}

// A program that crashes in the middle of a request writes all its stacks, which end in bug reports, and the value that it panics with.
// The test runs itself once more for each value, and for a nil pointer.
func TestACrashShowsNoKey(t *testing.T) {
	const inside = "GPURENT_TEST_CRASH"
	if value := os.Getenv(inside); value != "" {
		transport := &panicTransport{value: value}
		transport.client = newTestClient(t, "https://rent.example/api/v1", func(c *Config) { c.Transport, c.MaxRetries = transport, -1 })
		_, err := transport.client.CreateDeviceToken(t.Context(), deviceSecret)
		_, getErr := transport.client.GetMe(t.Context())
		t.Fatal(err, getErr)
	}
	for _, value := range []string{"client", "config", "both", "error", "login", "nil pointer"} {
		again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestACrashShowsNoKey$")
		again.Env = append(os.Environ(), inside+"="+value, "GOTRACEBACK=all")
		out, err := again.CombinedOutput()
		if _, failed := errors.AsType[*exec.ExitError](err); !failed || !strings.Contains(string(out), "panic: ") {
			t.Fatalf("%s: it did not crash: %v\n%s", value, err, out)
		}
		for _, secret := range []string{canary[4:], deviceSecret} {
			if strings.Contains(string(out), secret) {
				t.Errorf("%s: the output has a secret:\n%s", value, out)
			}
		}
	}
}
