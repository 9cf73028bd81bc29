package cli_test

import (
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// login and logout send only keys that a login at the same address was given: the one in the environment may be that of
// another service.
func TestLoginAndLogout_SendNoKeyFromEnvironment(t *testing.T) {
	foreign := "gpr_" + strings.Repeat("ENVIenviEN", 4)
	var authorized atomic.Int32
	env := acctest.Start(t, quick, acctest.WithWrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if key := r.Header.Get("Authorization"); key != "" {
				authorized.Add(1)
				if strings.Contains(key, foreign) {
					t.Errorf("%s %s carries the key from the environment", r.Method, r.URL.Path)
				}
			}
			next.ServeHTTP(w, r)
		})
	}))
	user := newTerminal(t, os.Args[0], asBinary+"=1", "GPURENT_API_KEY="+foreign)
	login := user.start("login", "--base-url", env.BaseURL, "--no-browser")
	_, code := login.question()
	if err := env.DecideDeviceCode(code, true); err != nil {
		t.Fatal(err)
	}
	if _, problems, exit := login.end(); exit != 0 {
		t.Fatal(problems)
	}
	if _, problems, exit := user.start("logout").end(); exit != 0 || authorized.Load() == 0 {
		t.Errorf("exit %d, %d requests with a key, want the revocation: %s", exit, authorized.Load(), problems)
	}
}
