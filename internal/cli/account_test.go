package cli

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
)

// A key of the environment is never sent to the address of the login, nor the key of the login to another address.
func TestConnectAccount(t *testing.T) {
	environmentKey := "gpr_" + strings.Repeat("ENVIenviEN", 4)
	sent := "" // the key of the last request
	env := acctest.Start(t, acctest.Intercept(simtest.AnyRequest.Do(simtest.Before(func(r *http.Request) {
		sent = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}))))
	here, other := env.BaseURL, "https://other.example/api/v1"
	for name, test := range map[string]struct {
		login, env, key string // addresses of the login and of the environment; the key of the environment
		sends           string // the key that is sent
		fails           string
	}{
		"the environment":         {login: other, env: here, key: environmentKey, sends: environmentKey},
		"the login":               {login: here, sends: oldKey},
		"no login at the address": {login: other, env: here},
		"a key without an address": {login: here, key: environmentKey,
			fails: "the address of the service for the key in GPURENT_API_KEY is missing"},
		"an unsafe address with a key":  {env: "http://rent.example/api/v1", key: environmentKey, fails: "https"},
		"a key that cannot be a header": {env: here, key: environmentKey + "\n" + environmentKey, fails: "cannot be used"},
	} {
		t.Run(name, func(t *testing.T) {
			useTempHome(t)
			t.Setenv("GPURENT_BASE_URL", test.env)
			t.Setenv("GPURENT_API_KEY", test.key)
			if test.login != "" {
				writeCredentials(t, test.login, test.login)
			}
			client, err := connectAccount()
			if (err != nil) != (test.fails != "") || !strings.Contains(fmt.Sprint(err), test.fails) {
				t.Fatalf("%v, want %q", err, test.fails)
			}
			if err != nil {
				if noSecrets(t, err.Error()); strings.Contains(err.Error(), "ENVI") {
					t.Errorf("the error contains the key: %v", err)
				}
				return
			}
			defer client.CloseIdleConnections()
			sent = ""
			_, _ = client.GetMe(t.Context()) //nolint:errcheck // the service does not have these keys
			if sent != test.sends || client.Authenticated() != (test.sends != "") {
				t.Errorf("the client sends %.8q, want %.8q", sent, test.sends)
			}
		})
	}
}
