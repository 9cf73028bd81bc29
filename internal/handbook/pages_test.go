package handbook_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// pages are the pages that are followed with a CLI, below templates/.
var pages = []string{
	"index.md.tmpl", "guides/getting-started.md", "guides/authentication.md", "guides/try-without-spending.md",
	"guides/use-the-servers.md", "guides/secrets.md", "guides/picking-offers.md", "guides/interruptible-servers.md",
	"guides/cost-control.md", "guides/crash-safe-pipelines.md", "guides/getting-capacity.md", "guides/fleets.md",
	"guides/teams.md", "guides/migrating-by-import.md", "guides/platforms.md", "guides/bridges.md",
	"guides/command-line.md", "guides/upgrade.md", "guides/fix-it-now.md",
}

// forUsers are the pages whose readers already use a service. Any other page shows how to get an address and a key.
var forUsers = []string{"index.md.tmpl", "guides/upgrade.md", "guides/fix-it-now.md"}

// simulatorPages are the pages that need no CLI.
var simulatorPages = []string{"guides/simulator.md", "guides/simulator-control-api.md"}

// The commands of the pages work, and print what the pages show.
func TestAccPages(t *testing.T) {
	setup := newCLISetup(t)
	for _, name := range pages {
		t.Run(strings.TrimPrefix(name, "guides/"), func(t *testing.T) {
			if name != "index.md.tmpl" && name != "guides/getting-started.md" {
				acctest.FirstCLIOnly(t)
			}
			t.Parallel()
			const included = `{{ tffile "examples/provider/provider.tf" }}`
			configuration := "```terraform\n" + textOf(t, inProject("examples/provider/provider.tf")) + "```"
			page := strings.Replace(textOf(t, inProject("templates", name)), included, configuration, 1)
			folder, env := t.TempDir(), setup.environ(t, true)
			if slices.Contains(forUsers, name) {
				service := acctest.Start(t, acctest.WithoutQuirks("all")) // the pages show output without them
				env = append(env, "GPURENT_BASE_URL="+service.BaseURL, "GPURENT_API_KEY="+service.APIKey,
					"GPURENT_CONTROL_URL="+service.ControlURL)
			}
			script := textOf(t, inProject("examples", withSimulator)) // which a reader copies
			write(t, "#!"+strings.TrimPrefix(script, "#!"), folder, filepath.Base(withSimulator))
			followPage(t, setup, page, folder, env)
		})
	}
	t.Run("README.md", func(t *testing.T) {
		acctest.FirstCLIOnly(t)
		t.Parallel()
		followReadme(t, setup)
	})
}

// followPage follows a page with a simulator for each real service in it.
func followPage(t *testing.T, setup *cliSetup, page, folder string, env []string) {
	t.Helper()
	services := map[string]string{}
	for _, address := range []string{"https://rent.example/api/v1", "https://test.rent.example/api/v1"} {
		if strings.Contains(page, address) {
			services[address] = acctest.Start(t, acctest.WithoutQuirks("all")).BaseURL
		}
	}
	r := reader{t: t, cli: setup.cli, folder: folder, env: env, fast: true, replaced: services}
	r.follow(parseSnippets(page))
}

// followReadme follows the README in a clone, whose provider is already built.
func followReadme(t *testing.T, setup *cliSetup) {
	t.Helper()
	needs(t, "make")
	clone := t.TempDir()
	makefile := textOf(t, inProject("GNUmakefile")) + "\nbuild:\n\ttest -x bin/terraform-provider-gpurent\n"
	write(t, makefile, clone, "GNUmakefile")
	if err := errors.Join(os.Mkdir(filepath.Join(clone, "bin"), 0o700),
		os.CopyFS(filepath.Join(clone, "examples"), os.DirFS(inProject("examples"))),
		os.Symlink(setup.program, filepath.Join(clone, "bin", "terraform-provider-gpurent"))); err != nil {
		t.Fatal(err)
	}
	followPage(t, setup, textOf(t, inProject("README.md")), clone, setup.environ(t, false))
}

// The commands of the pages about the simulator work.
func TestSimulatorPages_Commands(t *testing.T) {
	needs(t, "bash", "curl")
	bin := t.TempDir()
	write(t, "#!/bin/sh\n"+asProvider+" exec '"+os.Args[0]+"' \"$@\"\n", bin, "terraform-provider-gpurent")
	for _, name := range simulatorPages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := reader{t: t, folder: t.TempDir(), env: environ(t.TempDir(), bin)}
			r.follow(parseSnippets(textOf(t, inProject("templates", name))))
		})
	}
}

// Tests run every snippet of the documentation: those of the pages above, and the examples that other pages include,
// which have the format of "terraform fmt", and which provider/schema_test.go assigns to tests. The signatures of
// functions are from the schema.
func TestSnippets_AllAreTested(t *testing.T) {
	var all strings.Builder
	for _, file := range filesIn(t, inProject("examples"), "") {
		text := textOf(t, inProject("examples", file))
		if filepath.Ext(file) == ".tf" && string(hclwrite.Format([]byte(text))) != text {
			t.Errorf("%s has not the standard format", file)
		}
		all.WriteString("\x00" + strings.TrimSpace(text) + "\x00")
	}
	for _, name := range filesIn(t, inProject("docs"), ".md") {
		if name == "index.md" || slices.Contains(slices.Concat(pages, simulatorPages), name) {
			continue
		}
		for _, s := range parseSnippets(textOf(t, inProject("docs", name))) {
			signature := strings.HasPrefix(name, "functions/") && s.language == "text"
			if !signature && !strings.Contains(all.String(), "\x00"+strings.TrimSpace(s.text)+"\x00") {
				t.Errorf("%s, line %d: no test runs the snippet, and no example equals it:\n%s", name, s.line, s.text)
			}
		}
	}
}
