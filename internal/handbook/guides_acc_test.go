package handbook_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// guides maps each guide to the function that prepares and follows it.
var guides = map[string]func(*testing.T, *cliSetup, string){
	"index.md.tmpl":            followIndex,
	"getting-started.md":       followAsNewUser,
	"authentication.md":        followAsNewUser,
	"use-the-servers.md":       withService(),
	"secrets.md":               withService(),
	"picking-offers.md":        withService(),
	"interruptible-servers.md": withService(),
	"cost-control.md":          withService(),
	"crash-safe-pipelines.md":  withService(slowBoot),
	"at-scale.md":              withService(fastClock),
	"getting-capacity.md":      withService(slowBoot, reachable),
	"fleets.md":                withService(slowBoot),
	"teams.md":                 withService(),
	"migrating-by-import.md":   withService(),
	"platforms.md":             withService(),
	"upgrade.md":               withService(),
	"fix-it-now.md":            withService(),
	"command-line.md":          withService(),
}

// The commands of the guides work, and print what the guides show.
func TestAccGuides(t *testing.T) {
	setup := newCLISetup(t)
	for name, follow := range guides {
		t.Run(name, func(t *testing.T) {
			if name != "index.md.tmpl" {
				acctest.FirstCLIOnly(t)
			}
			t.Parallel()
			follow(t, setup, name)
		})
	}
}

// followIndex follows the index page of the provider.
func followIndex(t *testing.T, setup *cliSetup, _ string) {
	t.Helper()
	page := textOf(t, filepath.Join(acctest.Root(), "templates", "index.md.tmpl"))
	example := textOf(t, filepath.Join(acctest.Root(), "examples", "provider", "provider.tf"))
	const included = `{{ tffile "examples/provider/provider.tf" }}`
	setup.asNewUser(t, strings.Replace(page, included, "```terraform\n"+example+"```", 1))
}

// followAsNewUser follows a guide for a reader with an account of a service, which is another simulator.
func followAsNewUser(t *testing.T, setup *cliSetup, name string) {
	t.Helper()
	setup.asNewUser(t, readGuide(t, name))
}

func (setup *cliSetup) asNewUser(t *testing.T, guide string) {
	t.Helper()
	reader := *setup
	reader.home = setup.newHome(t)
	run := guideRun{folder: t.TempDir(), fast: true, minSnippets: 6, services: map[string]string{}}
	for _, address := range realServices {
		run.services[address] = acctest.Start(t, acctest.WithoutQuirks("all")).BaseURL
	}
	run.env = reader.environ(setup.guideVariables(nil))
	reader.follow(t, run, guide)
}

// guideVariables returns the variables of a reader who confirms each apply. service can be nil.
func (setup *cliSetup) guideVariables(service *acctest.Env) map[string]string {
	variables := setup.withProgram()
	variables["TF_CLI_ARGS_apply"], variables["TF_CLI_ARGS_destroy"] = "-auto-approve", "-auto-approve"
	if service != nil {
		variables["GPURENT_BASE_URL"], variables["GPURENT_API_KEY"] = service.BaseURL, service.APIKey
		variables["GPURENT_CONTROL_URL"] = service.ControlURL
	}
	return variables
}

// slowBoot makes servers boot in 1.5 seconds of real time, slowly enough to interrupt an apply.
func slowBoot(c *simulator.Config) {
	c.Clock, c.Step, c.TimeScale, c.Boot = simulator.ClockReal, 0, 60, 90*time.Second
}

// reachable makes servers that answer.
func reachable(c *simulator.Config) { c.Reachable = true }

// fastClock makes a simulated minute, and so the pause at the request limit, two seconds long.
func fastClock(c *simulator.Config) { c.Clock, c.Step, c.TimeScale = simulator.ClockReal, 0, 30 }

// withService returns a function that follows a guide with a simulator of the test as the service. "terraform init"
// installs the provider.
func withService(options ...acctest.Option) func(*testing.T, *cliSetup, string) {
	return func(t *testing.T, setup *cliSetup, name string) {
		t.Helper()
		service := acctest.Start(t, append(options, acctest.WithoutQuirks("all"))...) // guides show exact responses
		reader := *setup
		reader.home = setup.newHome(t)
		run := guideRun{folder: t.TempDir(), fast: true, minSnippets: 1, env: reader.environ(setup.guideVariables(service))}
		reader.follow(t, run, readGuide(t, name))
	}
}

// follow follows a guide.
func (setup *cliSetup) follow(t *testing.T, run guideRun, guide string) {
	t.Helper()
	run.cli = setup.cli
	run.follow(t, guide)
}
