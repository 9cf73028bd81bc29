package bench

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/tools/clis"
)

var (
	guide   = flag.String("measure.out", "", "write the guide with the measurement to this `file`")
	servers = flag.Int("measure.servers", 10, "measure with this `number` of servers")
	repeat  = flag.Int("measure.repeat", 1, "run each refresh this `number` of times; the fastest counts")
)

// providerFile is the name of a provider's program.
const providerFile = "terraform-provider-gpurent"

// control is the provider without requests: it decodes and encodes states as the provider does, and reads every
// resource as its state.
type control struct{ tfprotov6.ProviderServer }

// TestMain serves the control if a CLI has started the tests under the name of the provider, with the same frequency of
// garbage collections and without the logs that the CLI discards.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != providerFile {
		os.Exit(m.Run())
	}
	debug.SetGCPercent(400)
	plugin, err := provider.NewPlugin("control")
	err = errors.Join(err, os.Setenv("TF_LOG_SDK", "OFF"), os.Setenv("TF_LOG_PROVIDER_GPURENT", "OFF"))
	if err == nil {
		err = tf6server.Serve("registry.terraform.io/gpurent/gpurent",
			func() tfprotov6.ProviderServer { return control{plugin} })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// ConfigureProvider leaves the provider without a client, so that it sends no requests.
func (control) ConfigureProvider(
	context.Context, *tfprotov6.ConfigureProviderRequest,
) (*tfprotov6.ConfigureProviderResponse, error) {
	return &tfprotov6.ConfigureProviderResponse{}, nil
}

// ReadResource returns the state as it is. The provider warns that it did not refresh, and control drops the warning.
func (c control) ReadResource(
	ctx context.Context, req *tfprotov6.ReadResourceRequest,
) (*tfprotov6.ReadResourceResponse, error) {
	resp, err := c.ProviderServer.ReadResource(ctx, req)
	if err == nil {
		resp.Diagnostics = nil
	}
	return resp, err
}

// sample is what a command took. The CPU time is that of the CLI and its provider.
type sample struct {
	wall, cpu time.Duration
	requests  int
}

// String returns a part of the table.
func (s sample) String() string {
	return fmt.Sprintf("%d | %.2f s | %.2f s", s.requests, s.wall.Seconds(), s.cpu.Seconds())
}

// best returns the smallest times, because other work on the machine only increases them.
func (s sample) best(other sample) sample {
	if s.wall == 0 {
		return other
	}
	return sample{min(s.wall, other.wall), min(s.cpu, other.cpu), max(s.requests, other.requests)}
}

// measure runs a command, which must succeed.
func measure(t *testing.T, env *acctest.Env, w *acctest.Workspace, variable string, command ...string) sample {
	t.Helper()
	env.ClearRequests()
	var output bytes.Buffer
	cmd := w.Command(t.Context(), &output, command...)
	cmd.Env = append(cmd.Env, variable)
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, &output)
	}
	if command[0] == "plan" && !strings.Contains(output.String(), "No changes") {
		t.Fatalf("the refresh has found changes:\n%s", &output)
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return sample{time.Since(begin), cpu, len(env.Requests())}
}

// controlConfig returns the variable of a CLI configuration with this program as the provider.
func controlConfig(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "cli.tfrc")
	if err := errors.Join(os.Symlink(self, filepath.Join(folder, providerFile)),
		os.WriteFile(file, []byte(clis.DevOverrides(folder)), 0o600)); err != nil {
		t.Fatal(err)
	}
	return "TF_CLI_CONFIG_FILE=" + file
}

//go:embed page.tmpl
var page string

// This test measures the creation and the refresh of servers, with count and as a fleet. It compares a refresh with one
// of the control, and that of the fleet with count, in alternation, because times depend on the machine. "make bench"
// measures 1,000 servers; without flags, the test only shows that measuring works.
func TestAccMeasurement(t *testing.T) {
	const maxRefresh, maxFleet = 1.25, 0.6 // for 1,000 servers; the start of the processes dominates a smaller refresh
	const parallel = "-parallelism=50"
	create := []string{"apply", "-auto-approve", "-input=false", "-no-color", parallel}
	refresh := []string{"plan", "-refresh-only", "-input=false", "-no-color"}
	env := start(t, 2**servers, 1, acctest.WithoutQuirks("all"),
		func(c *simulator.Config) { c.Boot, c.Wrap = 10*time.Millisecond, nil })
	withTLS := acctest.NoPluginTLS + "=" // as for a user
	count := env.Workspace(providerConfig("100ms")+serversConfig(*servers), withTLS)
	fleet := env.Workspace(providerConfig("100ms")+fleetConfig(*servers), withTLS)
	results := [5]sample{measure(t, env, count, "", create...), measure(t, env, fleet, "", create...)}
	withControl := controlConfig(t)
	for range *repeat {
		results[2] = results[2].best(measure(t, env, count, withControl, refresh...))
		results[3] = results[3].best(measure(t, env, count, "", refresh...))
		results[4] = results[4].best(measure(t, env, fleet, "", refresh...))
	}
	lines := ""
	for n, name := range []string{
		"create with count", "create a fleet", "refresh without requests (control)", "refresh with count", "refresh a fleet",
	} {
		lines += fmt.Sprintf("| %s | %s |\n", name, results[n])
	}
	fmt.Print(lines)
	ratio := func(a, b sample) float64 { return a.wall.Seconds() / b.wall.Seconds() }
	toControl, toCount := ratio(results[3], results[2]), ratio(results[4], results[3])
	if *servers >= 1000 && (toControl > maxRefresh || toCount > maxFleet) {
		t.Errorf("count / control = %.2f, want %.2f at most; fleet / count = %.2f, want %.2f at most",
			toControl, maxRefresh, toCount, maxFleet)
	}
	if results[2].requests > 0 {
		t.Error("the control has sent requests")
	}
	if *guide == "" {
		return
	}
	cli, err := acctest.CLI()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("SERVERS", fmt.Sprint(*servers), "DATE", time.Now().UTC().Format(time.DateOnly),
		"CLI", cli.String(), "SYSTEM", runtime.GOOS+"/"+runtime.GOARCH, "CPUS", fmt.Sprint(runtime.NumCPU()),
		"CONTROL", fmt.Sprintf("%.2f", toControl), "COUNT", fmt.Sprintf("%.2f", toCount), "ROWS\n", lines).Replace(page)
	if err := os.WriteFile(*guide, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
