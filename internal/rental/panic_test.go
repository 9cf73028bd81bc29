package rental

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

type panicTransport struct{ client *Client }

func (p *panicTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	panic(struct {
		client *Client
		config Config
	}{p.client, Config{APIKey: req.Header.Get("Authorization")}})
}

// A program that crashes in the middle of a request writes all its stacks, which end in bug reports. The test runs itself once more, for
// that.
func TestACrashShowsNoKey(t *testing.T) {
	const inside = "GPURENT_TEST_CRASH"
	if os.Getenv(inside) != "" {
		transport := new(panicTransport)
		transport.client = connect(t, "https://rent.example/api/v1", func(c *Config) { c.Transport = transport })
		_, err := transport.client.CreateDeviceToken(t.Context(), deviceSecret)
		_, getErr := transport.client.GetMe(t.Context())
		t.Fatal(err, getErr)
	}
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestACrashShowsNoKey$")
	again.Env = append(os.Environ(), inside+"=1", "GOTRACEBACK=all")
	out, err := again.CombinedOutput()
	if _, crashed := errors.AsType[*exec.ExitError](err); !crashed || !strings.Contains(string(out), "goroutine ") {
		t.Fatalf("it did not crash: %v\n%s", err, out)
	}
	for _, secret := range []string{canary[4:], deviceSecret} {
		if strings.Contains(string(out), secret) {
			t.Errorf("a secret is in what is left:\n%s", out)
		}
	}
}
