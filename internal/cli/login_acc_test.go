package cli_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/testenv"
)

// fastPolling makes logins poll every second. It advances the clock by ten seconds with each request, so the simulator
// returns no slow_down.
func fastPolling(c *simulator.Config) {
	c.Step = 10 * time.Second
	acctest.Intercept(simtest.Request("POST", "/auth/device").Do(simtest.SetField("interval", 1)))(c)
}

// promptLine matches the line with the code.
var promptLine = regexp.MustCompile(`^Open \S+ in a browser and approve the code (\S+) within 10m0s\.\n$`)

// login starts a login and approves it.
func (u *user) login(env *acctest.Env, arguments ...string) *process {
	u.t.Helper()
	p := u.start(append([]string{"login", "--no-browser"}, arguments...)...)
	line := p.line()
	found := promptLine.FindStringSubmatch(line)
	if found == nil {
		u.t.Fatalf("the first line is %q", line)
	}
	if err := env.DecideDeviceCode(found[1], true); err != nil {
		u.t.Fatal(err)
	}
	return p
}

// A user logs in, plans and logs out, without variables in the environment and without an address or key in the
// configuration.
func TestAccLogin_planUsesLogin(t *testing.T) {
	env := acctest.Start(t, fastPolling, acctest.WithoutQuirks("forbidden-balance"))
	u := newUser(t)
	workspace := env.Workspace("data \"gpurent_balance\" \"now\" {}\n", append(append(testenv.Home(u.home),
		acctest.Traced()...), "GPURENT_BASE_URL=", "GPURENT_API_KEY=")...)
	if stdout, stderr, code := u.login(env, "--base-url", env.BaseURL).wait(); code != 0 || stderr != "" {
		t.Fatalf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	key := u.key(env.BaseURL)
	printed := workspace.Run("plan", "-no-color")

	if stdout, stderr, code := u.run("logout"); code != 0 || stderr != "" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	output, err := workspace.Try("plan", "-no-color")
	for _, want := range []string{"Missing address of the service", "terraform-provider-gpurent login"} {
		if err == nil || !strings.Contains(acctest.WithoutFrame(output), want) {
			t.Errorf("%v; the plan after the logout does not print %q:\n%s", err, want, output)
		}
	}
	if err := acctest.Leak(key, map[string]string{"output": u.output.String(), "plan": printed + output,
		"log": workspace.Trace()}); err != nil {
		t.Error(err)
	}
}

// login and logout send only keys of logins at the same address, and print none. The key in the environment may belong
// to another service. A second login revokes the key of the first, and logout that of the second.
func TestLoginAndLogout_SendNoKeyFromEnvironment(t *testing.T) {
	environmentKey := "gpr_" + strings.Repeat("ENVIenviEN", 4)
	env := acctest.Start(t, fastPolling, acctest.Intercept(simtest.AnyRequest.Do(simtest.Before(func(r *http.Request) {
		if strings.Contains(r.Header.Get("Authorization"), environmentKey) {
			t.Errorf("%s %s has the key of the environment", r.Method, r.URL.Path)
		}
	}))))
	u := newUser(t, "GPURENT_API_KEY="+environmentKey)
	keys := []string{environmentKey}
	for _, flags := range [][]string{nil, {"--replace"}} {
		stdout, stderr, code := u.login(env, append(flags, "--base-url", env.BaseURL)...).wait()
		if code != 0 || !strings.Contains(stderr, "Warning: GPURENT_API_KEY is set") || strings.Count(stderr, "\n") != 1 {
			t.Fatalf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
		}
		keys = append(keys, u.key(env.BaseURL))
		if err := env.Left("api-keys", 2); err != nil {
			t.Errorf("want the key of the account and the key of the last login: %v", err)
		}
	}
	if stdout, stderr, code := u.run("logout"); code != 0 || u.key(env.BaseURL) != "" ||
		!strings.HasPrefix(stderr, "Warning: GPURENT_API_KEY is set") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	if err := env.OnlyKeyLeft(); err != nil {
		t.Error(err)
	}
	for _, key := range keys {
		if err := acctest.Leak(key, map[string]string{"output": u.output.String()}); err != nil {
			t.Error(err)
		}
	}
}
