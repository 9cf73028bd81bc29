package handbook_test

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// answering are the examples that wait for a page or for SSH. Their servers have the same address, which answers.
var answering = []string{"llm-server", "batch-job", "capacity"}

// exampleFolders returns the examples with a configuration. GitLab's pipeline has the files of GitHub's.
func exampleFolders(t *testing.T) (names []string) {
	t.Helper()
	for _, file := range filesIn(t, inProject("examples"), "main.tf") {
		if name := path.Dir(file); name != "try-without-spending/module" && name != "ci/gitlab" {
			names = append(names, name)
		}
	}
	return names
}

// destroys matches the snippet that destroys what a README has created.
var destroys = regexp.MustCompile(`^(terraform|\./run\.sh) destroy`)

// Each example works as its README and its file in testdata/stories describe, and leaves nothing behind. The story runs
// before the README's destroy. The README of a pipeline has no such command: its story runs the steps of its workflows.
func TestAccExamples(t *testing.T) {
	setup := newCLISetup(t)
	for _, name := range exampleFolders(t) {
		t.Run(name, func(t *testing.T) {
			if name != "team" && name != "batch-job" { // for others, the CLI makes no difference
				acctest.FirstCLIOnly(t)
			}
			t.Parallel()
			// The stories count requests and servers, and decide when a server is outbid and an offer changes.
			service := acctest.Start(t, acctest.WithoutQuirks("all"),
				func(c *simulator.Config) { c.Reachable = slices.Contains(answering, name) })
			folder, bin := filepath.Join(t.TempDir(), "copy"), t.TempDir()
			write(t, textOf(t, "testdata", "ssh.sh"), bin, "ssh")
			if err := os.CopyFS(folder, os.DirFS(inProject("examples", name))); err != nil {
				t.Fatal(err)
			}
			env := append(setup.environ(t, true, bin), "STEPS="+workflowSteps(t, folder), "TF_VAR_poll_interval=1ms",
				"GPURENT_BASE_URL="+service.BaseURL, "GPURENT_CONTROL_URL="+service.ControlURL,
				"GPURENT_API_KEY="+service.APIKey)
			snippets := parseSnippets(textOf(t, folder, "README.md"))
			end := slices.IndexFunc(snippets, func(s snippet) bool { return destroys.MatchString(s.text) })
			if end < 0 {
				snippets, end = nil, 0
			}
			if story, err := os.ReadFile(filepath.Join("testdata", "stories", filepath.Base(name)+".sh")); err == nil {
				snippets = slices.Insert(snippets, end, snippet{language: "sh", text: string(story)})
			}
			if len(snippets) == 0 {
				t.Error("no test runs the configuration")
			}
			r := reader{t: t, cli: setup.cli, folder: folder, env: env}
			r.follow(snippets)
			if err := errors.Join(
				service.NothingLeft("instances"), service.NothingLeft("ssh-keys"), service.NoOwnTemplate(), service.OnlyKeyLeft(),
			); err != nil {
				t.Error(err)
			}
		})
	}
}

// workflowSteps writes each step of the workflows in a folder to a file with its name, for the function "step".
func workflowSteps(t *testing.T, folder string) string {
	t.Helper()
	steps := t.TempDir()
	for _, file := range filesIn(t, folder, "") {
		if strings.Contains(file, "workflows/") || file == "github-actions.yml" {
			for _, step := range stepsOf(textOf(t, folder, file)) {
				write(t, step.run, steps, step.name)
			}
		}
	}
	return steps
}
