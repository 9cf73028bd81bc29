package bench

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/tools/clis"
)

var (
	guideFile = flag.String("measure.out", "", "write the guide with the measured scenarios to this `file`")
	only      = flag.String("measure.only", "^refresh/20$", "measure the scenarios that match this `regexp`")
	repeat    = flag.Int("measure.repeat", 1, "run each side of a scenario this `number` of times; the fastest counts")
)

// This test measures how long a CLI takes with the provider. It compares the provider with a control, which sends no
// requests, or a fleet with as many instances with count. A result is the ratio of the two in one run, because times
// depend on the machine. "make bench" measures everything; without flags, the test only shows that measuring works.
func TestAccMeasurements(t *testing.T) {
	acctest.FirstCLIOnly(t)
	pattern := regexp.MustCompile(*only)
	var rows []row
	for _, s := range scenarios {
		if !pattern.MatchString(s.name) {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			r := measure(t, s)
			fmt.Print(r)
			rows = append(rows, r)
			for _, f := range r.figures() {
				if f.exceeded() {
					t.Errorf("%s: %s", f.name, f)
				}
			}
		})
	}
	if len(rows) == 0 {
		t.Fatalf("no scenario matches %q", *only)
	}
	if *guideFile != "" {
		if err := os.WriteFile(*guideFile, []byte(guide(t, rows)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// side is one of the two that a scenario compares.
type side struct {
	control bool
	fleet   bool // the servers are a fleet, else instances with count
}

// scenario is a CLI command that two sides run.
type scenario struct {
	name    string
	fleet   bool // compares a fleet with count, else the provider with the control
	command []string
	servers int
	// created means that the servers exist before the command. The same state then serves all runs.
	created bool
	// settings are arguments of the provider block.
	settings string
	// limited means that the API has its request limit and servers need time to boot. Otherwise, the result is what the
	// provider adds to the work of the CLI.
	limited bool
	// maxRatio is the largest ratio of the times of the two sides, and maxIdeal that of the first to its ideal time.
	// 0 means no bound.
	maxRatio, maxIdeal float64
}

const (
	// maxRefresh is for 1,000 servers. The start of the processes dominates a smaller refresh, and the time of the CLI for
	// 5,000 servers varies too much.
	maxRefresh = 1.25
	maxFleet   = 0.6
	maxIdeal   = 1.15

	requestsPerMinute = 120
	limitedBoot       = 8 * time.Second
	// timeScale is the speed of the clock in limited scenarios, which would take minutes otherwise.
	timeScale = 2
)

var (
	refreshCommand = []string{"plan", "-refresh-only", "-input=false", "-no-color", "-parallelism=10"}
	applyCommand   = []string{"apply", "-auto-approve", "-input=false", "-no-color", "-parallelism=50"}
	// defaultApplyCommand has the default parallelism.
	defaultApplyCommand = []string{"apply", "-auto-approve", "-input=false", "-no-color"}
)

var scenarios = []scenario{
	{name: "refresh/20", command: refreshCommand, servers: 20, created: true},
	{name: "refresh/200", command: refreshCommand, servers: 200, created: true},
	{name: "refresh/1000", command: refreshCommand, servers: 1000, created: true, maxRatio: maxRefresh},
	{name: "refresh/5000", command: refreshCommand, servers: 5000, created: true},
	{name: "create/200", command: applyCommand, servers: 200},
	{name: "create/1000", command: applyCommand, servers: 1000},
	{
		name: "create/1000/max-burn", command: applyCommand, servers: 1000,
		settings: "spending = { max_burn_kop_h = 100000000000 }",
	},
	{
		name: "fleet/create/200", fleet: true, command: defaultApplyCommand, servers: 200, limited: true,
		maxIdeal: maxIdeal,
	},
	{name: "fleet/refresh/1000", fleet: true, command: refreshCommand, servers: 1000, created: true, maxRatio: maxFleet},
	{name: "fleet/refresh/5000", fleet: true, command: refreshCommand, servers: 5000, created: true, maxRatio: maxFleet},
}

func (s scenario) sides() [2]side {
	if s.fleet {
		return [...]side{{fleet: true}, {}}
	}
	return [...]side{{}, {control: true}}
}

// ideal returns the time that the request limit and the boot leave to any client, 0 without a limit.
func (s scenario) ideal() time.Duration {
	if !s.limited {
		return 0
	}
	minutes := (s.servers - 1) / requestsPerMinute
	return (time.Duration(minutes)*time.Minute + limitedBoot) / timeScale
}

// sample is what a command took. The zero value is no run.
type sample struct {
	wall, cpu time.Duration // cpu is that of the CLI and its providers
	requests  int
}

// best returns the smallest times, because other work on the machine only increases them, and the largest number of
// requests.
func (s sample) best(other sample) sample {
	if s == (sample{}) {
		return other
	}
	return sample{min(s.wall, other.wall), min(s.cpu, other.cpu), max(s.requests, other.requests)}
}

// measure alternates between the two sides, so that other work on the machine slows both down.
func measure(t *testing.T, s scenario) row {
	t.Helper()
	r := row{scenario: s}
	var prepared [2]*workspace
	for range *repeat {
		for i, side := range s.sides() {
			if prepared[i] == nil || !s.created {
				prepared[i] = prepare(t, s, side)
			}
			r.samples[i] = r.samples[i].best(prepared[i].run(t, s.command...))
		}
	}
	return r
}

// workspace is a workspace with its service.
type workspace struct {
	*acctest.Workspace
	env  *acctest.Env
	side side
}

// prepare creates the servers if they exist before the command.
func prepare(t *testing.T, s scenario, side side) *workspace {
	t.Helper()
	boot, speed, perMinute, settings := 10*time.Millisecond, 1.0, 0, "poll_interval = \"100ms\"\n  "+s.settings
	if s.limited {
		boot, speed, perMinute, settings = limitedBoot, timeScale, requestsPerMinute, scaledPolling
	}
	// Without quirks, which change what a state of another simulator contains.
	env := start(t, s.servers+1, speed, acctest.WithoutQuirks("all"),
		func(c *simulator.Config) { c.Boot, c.Wrap = boot, nil })
	env.SetRateLimit(perMinute, 0)
	// As for a user, with TLS between the CLI and the provider.
	w := &workspace{env.Workspace("", acctest.NoPluginTLS+"="), env, side}
	switch {
	case s.created && !side.fleet:
		seed(t, w.Workspace, settings, s.servers)
	case side.fleet:
		w.Configure(providerConfig(settings) + fleetConfig(s.servers))
	default:
		w.Configure(providerConfig(settings) + serversConfig(s.servers))
	}
	if s.created && side.fleet {
		w.Run(applyCommand...)
	}
	return w
}

// run measures a command.
func (w *workspace) run(t *testing.T, command ...string) sample {
	t.Helper()
	w.env.ClearRequests()
	var output bytes.Buffer
	cmd := w.Command(t.Context(), &output, command...)
	if w.side.control {
		cmd.Env = append(cmd.Env, "TF_CLI_CONFIG_FILE="+controlConfig(t))
	}
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, &output)
	}
	taken := sample{
		time.Since(begin), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), len(w.env.Requests()),
	}
	if command[0] == "plan" && !strings.Contains(output.String(), "No changes") {
		t.Fatalf("the refresh has found changes:\n%s", &output)
	}
	if w.side.control && taken.requests > 0 {
		t.Fatal("the control has sent requests")
	}
	for _, r := range w.env.Requests() {
		if r.Status == http.StatusTooManyRequests {
			t.Fatalf("%s %s: HTTP %d", r.Method, r.Path, r.Status)
		}
	}
	return taken
}

// controlConfig returns a CLI configuration with this program as the provider.
func controlConfig(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(folder, providerFile)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "cli.tfrc")
	if err := os.WriteFile(file, []byte(clis.DevOverrides(folder)), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
