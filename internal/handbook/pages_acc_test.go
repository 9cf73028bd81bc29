package handbook_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

// guides are the pages that are followed with a CLI. The value is whether the reader already uses a service. Any other
// page is for new users, and has to say how to get its address and a key.
var guides = map[string]bool{
	"getting-started.md":       false,
	"authentication.md":        false,
	"try-without-spending.md":  false,
	"use-the-servers.md":       false,
	"secrets.md":               false,
	"picking-offers.md":        false,
	"interruptible-servers.md": false,
	"cost-control.md":          false,
	"crash-safe-pipelines.md":  false,
	"getting-capacity.md":      false,
	"fleets.md":                false,
	"teams.md":                 false,
	"migrating-by-import.md":   false,
	"platforms.md":             false,
	"bridges.md":               false,
	"command-line.md":          false,
	"upgrade.md":               true,
	"fix-it-now.md":            true,
}

// The commands of the pages work, and print what the pages show.
func TestAccPages(t *testing.T) {
	setup := newCLISetup(t)
	pages := map[string]func(*testing.T){
		"index.md":  func(t *testing.T) { setup.follow(t, indexPage(t), true) },
		"README.md": func(t *testing.T) { followReadme(t, setup) },
	}
	for name, usesService := range guides {
		pages[name] = func(t *testing.T) { setup.follow(t, readGuide(t, name), usesService) }
	}
	for name, follow := range pages {
		t.Run(name, func(t *testing.T) {
			if name != "index.md" && name != "getting-started.md" {
				acctest.FirstCLIOnly(t)
			}
			t.Parallel()
			follow(t)
		})
	}
}

// follow follows a page in an empty folder, with the script that a reader of try-without-spending.md copies to it.
func (setup *cliSetup) follow(t *testing.T, page string, usesService bool) {
	t.Helper()
	folder := t.TempDir()
	write(t, textOf(t, example(tryExample, withSimulator)), folder, withSimulator)
	r := reader{cli: setup.cli, folder: folder, fast: true, services: realServices(t, page)}
	variables := confirmed()
	if usesService {
		running := acctest.Start(t)
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
func TestSimulatorGuides_Commands(t *testing.T) {
	text := fmt.Sprintf("#!/bin/sh\n%s=1 exec '%s' \"$@\"\n", asBinary, os.Args[0])
	setup := &cliSetup{program: write(t, text, t.TempDir(), "terraform-provider-gpurent")}
	for _, guide := range simulatorGuides {
		t.Run(guide, func(t *testing.T) {
			t.Parallel()
			r := reader{folder: t.TempDir(), env: setup.environ("", nil)}
			r.follow(t, parseSnippets(t, readGuide(t, guide)))
		})
	}
}
