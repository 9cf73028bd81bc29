package handbook_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// service are the options of the simulator that is the service of a guide.
type service []acctest.Option

// guides are the pages that are followed with a CLI. The reader of a page without options is a new user: without the
// address and key of a service, so that the page has to say how to get them.
var guides = map[string]service{
	"getting-started.md":       nil,
	"authentication.md":        nil,
	"try-without-spending.md":  nil,
	"use-the-servers.md":       {},
	"secrets.md":               {},
	"picking-offers.md":        {},
	"interruptible-servers.md": {},
	"cost-control.md":          {},
	"crash-safe-pipelines.md":  {slowBoot},
	"getting-capacity.md":      {slowBoot, reachable},
	"fleets.md":                {slowBoot},
	"teams.md":                 {},
	"migrating-by-import.md":   {},
	"platforms.md":             {},
	"bridges.md":               {},
	"upgrade.md":               {},
	"fix-it-now.md":            {},
	"command-line.md":          {},
}

// slowBoot makes servers boot in 1.5 seconds of real time, slowly enough to interrupt an apply.
func slowBoot(c *simulator.Config) {
	c.Clock, c.Step, c.TimeScale, c.Boot = simulator.ClockReal, 0, 60, 90*time.Second
}

// reachable makes servers that answer.
func reachable(c *simulator.Config) { c.Reachable = true }

// The commands of the pages work, and print what the pages show.
func TestAccPages(t *testing.T) {
	setup := newCLISetup(t)
	pages := map[string]func(*testing.T){
		"index.md":  func(t *testing.T) { setup.follow(t, indexPage(t), nil) },
		"README.md": func(t *testing.T) { followReadme(t, setup) },
	}
	for name, options := range guides {
		pages[name] = func(t *testing.T) { setup.follow(t, readGuide(t, name), options) }
	}
	for name, follow := range pages {
		t.Run(name, func(t *testing.T) {
			if name != "index.md" {
				acctest.FirstCLIOnly(t)
			}
			t.Parallel()
			follow(t)
		})
	}
}

// terraformLink begins the link in pages whose examples need the file terraform.tf of getting-started.md.
const terraformLink = "[`terraform.tf`](getting-started.md#"

// follow follows a page in an empty folder, with the script that a reader of try-without-spending.md copies to it.
func (setup *cliSetup) follow(t *testing.T, page string, options service) {
	t.Helper()
	folder := t.TempDir()
	write(t, textOf(t, example(tryExample, withSimulator)), folder, withSimulator)
	r := reader{cli: setup.cli, folder: folder, fast: true, services: realServices(t, page)}
	if strings.Contains(page, terraformLink) {
		for _, b := range parseSnippets(t, readGuide(t, "getting-started.md")) {
			if strings.HasPrefix(b.text, "# terraform.tf\n") {
				r.terraformFile = b.text
				write(t, b.text, folder, "terraform.tf")
			}
		}
	}
	variables := confirmed()
	if options != nil {
		// Guides show exact responses.
		running := acctest.Start(t, append(options, acctest.WithoutQuirks("all"))...)
		variables["GPURENT_BASE_URL"], variables["GPURENT_API_KEY"] = running.BaseURL, running.APIKey
		variables["GPURENT_CONTROL_URL"] = running.ControlURL
	}
	r.env = setup.environ(setup.newHome(t), variables)
	r.follow(t, parseSnippets(t, page))
}

// realServices starts a simulator for each real service in a page.
func realServices(t *testing.T, page string) map[string]string {
	t.Helper()
	services := map[string]string{}
	for _, address := range []string{"https://rent.example/api/v1", "https://test.rent.example/api/v1"} {
		if strings.Contains(page, address) {
			services[address] = acctest.Start(t, acctest.WithoutQuirks("all")).BaseURL
		}
	}
	return services
}

// confirmed are variables of a reader who confirms each apply.
func confirmed() map[string]string {
	return map[string]string{"TF_CLI_ARGS_apply": "-auto-approve", "TF_CLI_ARGS_destroy": "-auto-approve"}
}

// indexPage returns the index page of the provider.
func indexPage(t *testing.T) string {
	t.Helper()
	const included = `{{ tffile "examples/provider/provider.tf" }}`
	configuration := "```terraform\n" + textOf(t, example("provider", "provider.tf")) + "```"
	return strings.Replace(textOf(t, inProject("templates", "index.md.tmpl")), included, configuration, 1)
}

// makefile is the makefile of the project, without the build: the program is already built.
const makefile = "include %s/GNUmakefile\nbuild:\n\ttest -x bin/terraform-provider-gpurent\n"

// followReadme follows the README in a clone. TestReadmes_HaveTheSameContent covers the Russian page.
func followReadme(t *testing.T, setup *cliSetup) {
	t.Helper()
	needs(t, "make")
	page, clone := textOf(t, inProject("README.md")), t.TempDir()
	write(t, fmt.Sprintf(makefile, acctest.Root()), clone, "GNUmakefile")
	checkout(t, example(), filepath.Join(clone, "examples"))
	program := write(t, "", clone, "bin", "terraform-provider-gpurent")
	if err := errors.Join(os.Remove(program), os.Symlink(setup.program, program)); err != nil {
		t.Fatal(err)
	}
	r := reader{cli: setup.cli, folder: clone, fast: true, services: realServices(t, page)}
	home := t.TempDir() // without the provider
	write(t, rentaltest.PublicKey+"\n", home, ".ssh", "id_ed25519.pub")
	r.env = setup.environ(home, confirmed())
	r.follow(t, parseSnippets(t, page))
}

// The commands of the pages about the simulator work. They need no CLI.
func TestSimulatorGuide_Commands(t *testing.T) {
	text := fmt.Sprintf("#!/bin/sh\n%s=1 exec '%s' \"$@\"\n", asBinary, os.Args[0])
	setup := &cliSetup{program: write(t, text, t.TempDir(), "terraform-provider-gpurent")}
	r := reader{folder: t.TempDir(), env: setup.environ("", nil)}
	page := "" // the second guide continues from the first steps of the first one
	for _, guide := range simulatorGuides {
		page += readGuide(t, guide)
	}
	r.follow(t, parseSnippets(t, page))
}
