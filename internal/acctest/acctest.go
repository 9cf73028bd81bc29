// Package acctest gives an acceptance test a service of its own and a provider
// that talks to it.
//
// The service is a simulator whose clock moves only by requests: a client that
// polls makes progress at once, and no test waits on wall time. All traffic is
// held against the API contract.
package acctest

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/contracttest"
	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// step is how far each request moves the simulated time: a boot takes a handful
// of polls, and the rate limit is never met.
const step = 2 * time.Second

// Env is a service and what a configuration needs to reach it.
type Env struct {
	*simulator.Server
	t testing.TB
	// known are the ids of what the test itself created, and of the API keys in the
	// states that it ended with.
	known map[string]bool
}

// Option changes the simulator of an Env.
type Option func(*simulator.Config)

// Start starts a service for the test. It ends with the test.
func Start(t testing.TB, options ...Option) *Env {
	t.Helper()
	config := simulator.Config{
		Seed: 1, Clock: simulator.ClockManual, Step: step, Market: simulator.MarketStill, Quirks: quirksOfRun(),
		Wrap: contracttest.New(t).Wrap,
	}
	for _, option := range options {
		option(&config)
	}
	server, err := simulator.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Errorf("closing the simulator: %v", err)
		}
	})
	env := &Env{Server: server, t: t, known: map[string]bool{}}
	t.Cleanup(env.noKeyLeft)
	return env
}

// WithWrap puts the given handler around the API, outside the contract check.
func WithWrap(wrap func(http.Handler) http.Handler) Option {
	return func(c *simulator.Config) {
		inner := c.Wrap
		c.Wrap = func(next http.Handler) http.Handler { return wrap(inner(next)) }
	}
}

// Factories run the provider inside the test's process.
func Factories() map[string]func() (tfprotov6.ProviderServer, error) {
	return map[string]func() (tfprotov6.ProviderServer, error){
		"gpurent": provider.Server("test"),
	}
}

// Provider is the provider block for the service, with more arguments if given.
func (e *Env) Provider(arguments ...string) string {
	return e.ProviderWithKey(e.APIKey, arguments...)
}

// ProviderWithKey is the provider block with another API key.
func (e *Env) ProviderWithKey(key string, arguments ...string) string {
	return e.block(append(arguments, fmt.Sprintf("api_key = %q", key))...)
}

// ProviderWithoutKey is the provider block for the public part of the service.
func (e *Env) ProviderWithoutKey() string { return e.block() }

func (e *Env) block(arguments ...string) string {
	ownTimeout := slices.ContainsFunc(arguments, func(a string) bool { return strings.HasPrefix(a, "request_timeout") })
	if len(e.Quirks()) > 0 && !ownTimeout {
		// Some answers are lost: the provider then waits this long for what the request may still do.
		arguments = append(arguments, `request_timeout = "1500ms"`)
	}
	return fmt.Sprintf("provider \"gpurent\" {\n  base_url = %q\n  poll_interval = \"1ms\"\n  max_retries = 3\n  %s\n}\n",
		e.BaseURL, strings.Join(arguments, "\n  "))
}

// Config is a whole configuration: the provider block and the given parts.
func (e *Env) Config(parts ...string) string {
	return e.Provider() + strings.Join(parts, "\n")
}

// Example is an example of the documentation as a whole configuration.
func (e *Env) Example(path string) string {
	e.t.Helper()
	return e.Config(e.Read(path))
}

// Read returns a file of the examples.
func (e *Env) Read(path string) string {
	e.t.Helper()
	content, err := os.ReadFile(filepath.Join(Root(), "examples", filepath.FromSlash(path)))
	if err != nil {
		e.t.Fatal(err)
	}
	return string(content)
}

// CountRequests is how many requests with the method the service got for the
// path below the base URL, and for what lies below that path.
func (e *Env) CountRequests(method, path string) int {
	n := 0
	for _, r := range e.Requests() {
		if r.Method == method && (r.Path == path || strings.HasPrefix(r.Path, path+"/")) {
			n++
		}
	}
	return n
}

// Root is the project's folder.
func Root() string {
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		panic("acctest: no caller information")
	}
	return filepath.Join(filepath.Dir(file), "..", "..")
}
