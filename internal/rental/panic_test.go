package rental

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A panic prints its value, which can be an error, and all stacks, which users copy to bug reports. The test runs
// itself again, and panics in a request.
func TestPanic_ShowsNoSecret(t *testing.T) {
	const crashEnv = "GPURENT_TEST_CRASH"
	if os.Getenv(crashEnv) != "" {
		client := newTestClient(t, &script{answer: func(req *http.Request, _ int) reply {
			panic(callFrom(req.Context()).networkError(errors.New("proxy said " + canary + " and " + deviceSecret)))
		}})
		_, err := client.CreateDeviceToken(t.Context(), deviceSecret)
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPanic_ShowsNoSecret$")
	child.Env = append(os.Environ(), crashEnv+"=1", "GOTRACEBACK=all")
	out, err := child.CombinedOutput()
	if _, exited := errors.AsType[*exec.ExitError](err); !exited || !strings.Contains(string(out), "panic: ") ||
		strings.Contains(string(out), canary[4:]) || strings.Contains(string(out), deviceSecret) {
		t.Errorf("no panic, or one that shows a secret: %v\n%s", err, out)
	}
}
