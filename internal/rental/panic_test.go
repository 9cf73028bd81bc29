package rental

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A panic prints its value and all stacks, which users copy to bug reports. The test runs itself again for each value,
// and for a nil pointer.
func TestPanic_ShowsNoSecret(t *testing.T) {
	const crashEnv = "GPURENT_TEST_CRASH"
	if value := os.Getenv(crashEnv); value != "" {
		panicInRequest(t, value)
	}
	for _, value := range []string{"client", "config", "error", "nil pointer"} {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPanic_ShowsNoSecret$")
		child.Env = append(os.Environ(), crashEnv+"="+value, "GOTRACEBACK=all")
		out, err := child.CombinedOutput()
		if _, exited := errors.AsType[*exec.ExitError](err); !exited || !strings.Contains(string(out), "panic: ") {
			t.Fatalf("%s: no panic: %v\n%s", value, err, out)
		}
		for _, secret := range []string{canary[4:], deviceSecret} {
			if strings.Contains(string(out), secret) {
				t.Errorf("%s: the output contains a secret:\n%s", value, out)
			}
		}
	}
}

// panicInRequest panics during a request, with the client, its configuration or an error as the value.
func panicInRequest(t *testing.T, value string) {
	t.Helper()
	var client *Client
	client = newTestClient(t, &script{answer: func(req *http.Request, _ int) reply {
		switch value {
		case "client":
			panic(client)
		case "config":
			panic(Config{BaseURL: testURL, APIKey: canary})
		case "error":
			panic(callFrom(req.Context()).networkError(errors.New("proxy said " + canary + " and " + deviceSecret)))
		}
		return reply{body: (*Client)(nil).base.Host}
	}})
	_, err := client.CreateDeviceToken(t.Context(), deviceSecret)
	t.Fatal(err)
}
