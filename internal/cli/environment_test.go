package cli_test

import (
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// login and logout send only keys of logins at the same address. The key in the environment may belong to another
// service.
func TestLoginAndLogout_SendNoKeyFromEnvironment(t *testing.T) {
	environmentKey := "gpr_" + strings.Repeat("ENVIenviEN", 4)
	var authorized atomic.Int32
	env := acctest.Start(t, fastPolling, acctest.WithWrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if key := r.Header.Get("Authorization"); key != "" {
				authorized.Add(1)
				if strings.Contains(key, environmentKey) {
					t.Errorf("%s %s has the key of the environment", r.Method, r.URL.Path)
				}
			}
			next.ServeHTTP(w, r)
		})
	}))
	user := newTerminal(t, os.Args[0], envActAsBinary+"=1", "GPURENT_API_KEY="+environmentKey)
	login := user.start("login", "--base-url", env.BaseURL, "--no-browser")
	_, code := login.readPrompt()
	if err := env.DecideDeviceCode(code, true); err != nil {
		t.Fatal(err)
	}
	if _, stderr, exit := login.wait(); exit != 0 {
		t.Fatal(stderr)
	}
	if _, stderr, exit := user.start("logout").wait(); exit != 0 || authorized.Load() == 0 {
		t.Errorf("exit %d, %d requests with a key; want a revocation: %s", exit, authorized.Load(), stderr)
	}
}
