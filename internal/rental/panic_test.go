package rental

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// panicTransport panics during a request with a value that contains the client, the configuration or a secret.
type panicTransport struct {
	client *Client
	value  string
}

func (p *panicTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	current := callFrom(req.Context())
	if login := req.Header.Get("Authorization") == ""; login != (p.value == "login") {
		return nil, errors.New("the other request panics")
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
		panic(current.networkError(errors.New("proxy said " + canary)))
	case "login":
		panic(current.networkError(errors.New("proxy said " + canary + " and " + deviceSecret)))
	}
	var none *Client
	return nil, errors.New(none.base.Host)
}

// A panic prints its value and all stacks, which users copy to bug reports. The test runs itself again for each value,
// and for a nil pointer.
func TestPanic_ShowsNoSecret(t *testing.T) {
	const crashEnv = "GPURENT_TEST_CRASH"
	if value := os.Getenv(crashEnv); value != "" {
		transport := &panicTransport{value: value}
		transport.client = newTestClient(t, testURL, func(c *Config) { c.Transport, c.MaxRetries = transport, -1 })
		_, err := transport.client.CreateDeviceToken(t.Context(), deviceSecret)
		_, getErr := transport.client.GetMe(t.Context())
		t.Fatal(err, getErr)
	}
	for _, value := range []string{"client", "config", "both", "error", "login", "nil pointer"} {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPanic_ShowsNoSecret$")
		child.Env = append(os.Environ(), crashEnv+"="+value, "GOTRACEBACK=all")
		out, err := child.CombinedOutput()
		if _, failed := errors.AsType[*exec.ExitError](err); !failed || !strings.Contains(string(out), "panic: ") {
			t.Fatalf("%s: no panic: %v\n%s", value, err, out)
		}
		for _, secret := range []string{canary[4:], deviceSecret} {
			if strings.Contains(string(out), secret) {
				t.Errorf("%s: the output contains a secret:\n%s", value, out)
			}
		}
	}
}
