// Package acctest starts a simulator for a test and runs the provider against it: through the plugin protocol
// ([Configured]), in the steps of terraform-plugin-testing ([Factories]), or as a process of a CLI ([Workspace]).
//
// The clock of the simulator moves only with requests, so polling clients make progress without waiting for wall time.
// Every request and response is checked against the API contract.
package acctest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/contracttest"
	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
	"github.com/gpurent/terraform-provider-gpurent/internal/quirks"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// The settings of a developer must not change the tests. Those of the tests begin with GPURENT_TEST_ and TF_ACC; with
// GPURENT_TEST_AS_, this process is no test, but the provider that a test has started. A CLI sets TF_PLUGIN_ variables
// for a plugin, such as the control of package bench.
func init() {
	isTest := func(variable string) bool { return strings.HasPrefix(variable, "GPURENT_TEST_AS_") }
	if slices.ContainsFunc(os.Environ(), isTest) {
		return
	}
	setting := regexp.MustCompile(`^(?:GPURENT|TF)_\w+`)
	test := regexp.MustCompile(`^(?:GPURENT_TEST_|TF_ACC|TF_CLI_CONFIG_FILE|TF_PLUGIN_)`)
	for _, variable := range os.Environ() {
		if name := setting.FindString(variable); name != "" && !test.MatchString(name) {
			os.Unsetenv(name)
		}
	}
}

// step is the simulated time that passes with each request. A boot takes a few polls, and requests do not reach the
// rate limit.
const step = 2 * time.Second

// Env is a running simulator for one test.
type Env struct {
	*simulator.Server
	// Proxy is in front of the simulator. It has no rules yet.
	Proxy  *simtest.Proxy
	t      testing.TB
	quirks *quirks.Set
	// known has the ids of the items that the test created, and of the API keys in its final states.
	known map[string]bool
}

// Option changes the configuration of the simulator of an Env.
type Option func(*simulator.Config)

// Intercept puts rules that do not change in front of the simulator.
func Intercept(rules ...simtest.Rule) Option {
	p := new(simtest.Proxy)
	p.Set(rules...)
	return p.Option()
}

// Start starts a simulator for the test. At the end of the test, it checks that the provider left no API key behind,
// and stops the simulator.
func Start(t testing.TB, options ...Option) *Env {
	t.Helper()
	set := quirks.New(slices.DeleteFunc(quirksOfRun(), isOfferQuirk)...)
	config := simulator.Config{
		Seed: 1, Clock: simulator.ClockManual, Step: step, Market: simulator.MarketStill, Hooks: set,
		Wrap: contracttest.New(t).Wrap,
	}
	proxy := new(simtest.Proxy)
	for _, option := range append([]Option{proxy.Option()}, options...) {
		option(&config)
	}
	server, err := set.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Errorf("closing the simulator: %v", err)
		}
	})
	env := &Env{Server: server, Proxy: proxy, t: t, quirks: set, known: map[string]bool{}}
	t.Cleanup(env.checkKeys)
	return env
}

// Factories returns the provider for resource.TestCase. It runs in the process of the test.
func Factories() map[string]func() (tfprotov6.ProviderServer, error) {
	return map[string]func() (tfprotov6.ProviderServer, error){
		"gpurent": provider.Server("test"),
	}
}

// Planned expects an action for a resource in the plan, and further checks.
func Planned(
	address string, action plancheck.ResourceActionType, further ...plancheck.PlanCheck,
) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: append(further, plancheck.ExpectResourceAction(address, action))}
}

// Provider returns a provider block for the simulator, with additional arguments.
func (e *Env) Provider(arguments ...string) string {
	ownTimeout := slices.ContainsFunc(arguments, func(a string) bool { return strings.HasPrefix(a, "request_timeout") })
	if len(e.Quirks()) > 0 && !ownTimeout {
		arguments = append(arguments, "request_timeout = "+strconv.Quote(timeoutWithQuirks))
	}
	const block = "provider \"gpurent\" {\n  base_url = %q\n  api_key = %q\n" +
		"  poll_interval = \"1ms\"\n  max_retries = 3\n  %s\n}\n"
	return fmt.Sprintf(block, e.BaseURL, e.APIKey, strings.Join(arguments, "\n  "))
}

// Config returns a configuration: the provider block and the parts.
func (e *Env) Config(parts ...string) string {
	return e.Provider() + strings.Join(parts, "\n")
}

// Example returns a configuration with examples of the documentation. They share a provider block for the simulator and
// an SSH key.
func (e *Env) Example(paths ...string) string {
	e.t.Helper()
	blocks := []string{"provider \"gpurent\" {}"}
	for _, path := range paths {
		for block := range strings.SplitSeq(strings.TrimSpace(e.Read(path)), "\n\n") {
			if !slices.Contains(blocks, block) || strings.HasPrefix(block, " ") {
				blocks = append(blocks, block)
			}
		}
	}
	config := e.Config(strings.Join(blocks[1:], "\n\n") + "\n")
	if !strings.Contains(config, "~/.ssh/") {
		return config
	}
	folder := e.t.TempDir()
	for _, name := range []string{"id_ed25519", "id_ed25519.pub"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(rentaltest.PublicKey+"\n"), 0o600); err != nil {
			e.t.Fatal(err)
		}
	}
	return strings.ReplaceAll(config, "~/.ssh/", filepath.ToSlash(folder)+"/")
}

// Read returns a file below examples/.
func (e *Env) Read(path string) string {
	e.t.Helper()
	content, err := os.ReadFile(filepath.Join(Root(), "examples", filepath.FromSlash(path)))
	if err != nil {
		e.t.Fatal(err)
	}
	return string(content)
}

// CountRequests returns the number of requests with a method for a path, relative to the base URL, and the paths below
// it.
func (e *Env) CountRequests(method, path string) int {
	return simtest.CountRequests(e.Simulator, method, path)
}

// Root returns the root folder of the repository.
func Root() string {
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		panic("acctest: no caller information")
	}
	return filepath.Join(filepath.Dir(file), "..", "..")
}
