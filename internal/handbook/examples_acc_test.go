package handbook_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// stories are the complete examples. The function of each runs between the commands of its README and its destroy.
var stories = map[string]func(*exampleRun){
	"single":      singleStory,
	"team":        teamStory,
	"spot-fleet":  spotFleetStory,
	"jupyter":     jupyterStory,
	"ray-cluster": rayStory,
	"capacity":    capacityStory,
}

// testedElsewhere maps the other folders with a configuration to the test that runs them.
var testedElsewhere = map[string]string{
	"try-without-spending":        "TestAccTryWithoutSpending",
	"try-without-spending/module": "TestAccTryWithoutSpending",
	"ci/github-actions":           "TestAccCI_AppliesOnlyReviewedChanges",
	"ci/gitlab":                   "TestAccCI_AppliesOnlyReviewedChanges", // TestCI_ExamplesAgree
}

// Each example is valid, works as its README describes, and leaves nothing behind.
func TestAccExamples(t *testing.T) {
	needs(t, "bash")
	setup := newCLISetup(t)
	for name, story := range stories {
		t.Run(name, func(t *testing.T) {
			if name != "single" && name != "team" {
				acctest.FirstCLIOnly(t)
			}
			t.Parallel()
			l := newExampleRun(t, setup, name)
			if output := l.Run("validate", "-no-color"); !strings.Contains(output, "Success!") {
				t.Errorf("validate printed:\n%s", output)
			}
			snippets := parseSnippets(t, l.Read("README.md"))
			end := len(snippets) - 1
			for end > 0 && !strings.Contains(snippets[end].text, "terraform destroy") {
				end--
			}
			l.follow(snippets[:end])
			story(l)
			l.follow(snippets[end:])
			if err := errors.Join(
				l.env.NothingLeft("instances"),
				l.env.NothingLeft("ssh-keys"),
				l.env.NoneOwned(),
				l.env.OnlyKeyLeft(),
			); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("standard format", func(t *testing.T) {
		t.Parallel()
		command := exec.CommandContext(
			t.Context(),
			filepath.Join(setup.bin, setup.cli),
			"fmt", "-check", "-diff", "-recursive",
		)
		command.Dir, command.Env = filepath.Join(acctest.Root(), "examples"), setup.environ(nil)
		if output, err := command.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, output)
		}
	})
}

// A test runs every configuration of the examples.
func TestExamples_AllAreTested(t *testing.T) {
	var tests strings.Builder
	for _, file := range filesIn(t, "internal/handbook", "_test.go") {
		tests.WriteString(textOf(t, file))
	}
	examples := os.DirFS(filepath.Join(acctest.Root(), "examples"))
	found := map[string]bool{}
	err := fs.WalkDir(examples, ".", func(path string, _ fs.DirEntry, err error) error {
		if folder, ok := strings.CutSuffix(path, "/main.tf"); ok {
			found[folder] = true
			if stories[folder] == nil && testedElsewhere[folder] == "" {
				t.Errorf("examples/%s has a configuration that no test runs: see stories and testedElsewhere", folder)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder, test := range testedElsewhere {
		if !found[folder] || !strings.Contains(tests.String(), "func "+test+"(t *testing.T)") {
			t.Errorf("examples/%s or its test %s does not exist", folder, test)
		}
	}
	for folder := range stories {
		if !found[folder] {
			t.Errorf("examples/%s does not exist", folder)
		}
	}
}

// exampleRun is an example in a user's folder, with a separate simulator.
type exampleRun struct {
	*acctest.Workspace
	t   *testing.T
	env *acctest.Env
	cli string
	// home is the user's home folder.
	home string
}

// fakeSSH replaces ssh. It runs the command in a folder with the name of the server's port, which has the server's host
// key, and appends its arguments to the file asked.
const fakeSSH = `#!/bin/sh
echo "$*" >>"$SERVERS/asked"
port= command=
while test $# -gt 0; do
  case $1 in
  -p) port=$2; shift ;;
  -o | -L) shift ;;
  -N | root@*) ;;
  *) command=$1 ;;
  esac
  shift
done
test -n "$command" || exit 0
mkdir -p "$SERVERS/$port"
echo "ssh-ed25519 HOST$port" >"$SERVERS/$port/host_key.pub"
echo "ssh-ed25519 KEY$port" >"$SERVERS/$port/key.pub"
sh -c "$(echo "$command" | sed "s#/root/cluster#$SERVERS/$port#g")"
`

func newExampleRun(t *testing.T, setup *cliSetup, name string) *exampleRun {
	t.Helper()
	home, bin := t.TempDir(), t.TempDir()
	const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPda/jbbPNZ5RTRp1pUygscksPU2bS3oBzgjOijSa2L2 reader@example\n"
	err := errors.Join(os.Mkdir(filepath.Join(home, ".ssh"), 0o700),
		os.WriteFile(filepath.Join(home, ".ssh", "id_ed25519.pub"), []byte(publicKey), 0o600),
		os.WriteFile(filepath.Join(bin, "ssh"), []byte(fakeSSH), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	// The examples read the balance, and the stories decide when a server is outbid and when an offer changes.
	without := []string{"forbidden-balance", "outbid-soon-after-start", "cached-offers"}
	switch name {
	case "team":
		without = append(without, "optional-fields-absent") // an output has the country, which any response may omit
	case "capacity":
		without = append(without, "other-gpu") // the story compares the slug of the GPU
	}
	env := acctest.Start(t, acctest.WithoutQuirks(without...))
	return &exampleRun{t: t, env: env, cli: setup.cli, home: home, Workspace: env.ExampleWorkspace(
		name,
		"HOME="+home,
		"SERVERS="+home,
		"TF="+setup.cli,
		"TF_VAR_poll_interval=1ms",
		"TF_CLI_ARGS_apply=-auto-approve -no-color",
		"TF_CLI_ARGS_destroy=-auto-approve -no-color",
		"TF_CLI_ARGS_plan=-no-color",
		"PATH="+strings.Join([]string{bin, setup.bin, os.Getenv("PATH")}, string(os.PathListSeparator)),
	)}
}

// follow runs the commands of a README, each snippet in a new shell, and compares their output with the README.
func (l *exampleRun) follow(snippets []snippet) {
	l.t.Helper()
	var output bytes.Buffer
	for _, b := range snippets {
		switch b.language {
		case "sh":
			output.Reset()
			like := l.Command(l.t.Context(), &output)
			command := exec.CommandContext(l.t.Context(), "bash", "--noprofile", "--norc", "-euc", withCLI(l.cli, b.text))
			command.Dir, command.Env, command.Stdout, command.Stderr = like.Dir, like.Env, &output, &output
			if err := command.Run(); err != nil {
				l.t.Fatalf("line %d: %v\n%s\n%s", b.line, err, b.text, &output)
			}
		case "json":
			l.compareJSON(b, output.Bytes())
		case "text":
			if !strings.Contains(plainWords(output.String()), plainWords(b.text)) {
				l.t.Errorf("line %d: the output has no %q:\n%s", b.line, b.text, &output)
			}
		default:
			l.t.Errorf("line %d: no test runs a snippet of %q", b.line, b.language)
		}
	}
}

// compareJSON compares the JSON of a README with the output: the names, the types of the values, and which are null.
func (l *exampleRun) compareJSON(b snippet, printed []byte) {
	l.t.Helper()
	printed = printed[max(0, bytes.LastIndex(printed, []byte("\n{"))):] // the output of the last command
	var shown, got map[string]any
	if err := errors.Join(json.Unmarshal([]byte(b.text), &shown), json.Unmarshal(printed, &got)); err != nil {
		l.t.Fatalf("line %d: %v\n%s", b.line, err, printed)
	}
	difference := sameShape("", shown, got)
	for name := range shown {
		if (shown[name] == nil) != (got[name] == nil) {
			difference += name + " is null in one of them"
		}
	}
	if difference != "" {
		l.t.Errorf("line %d: %s\n%s", b.line, difference, printed)
	}
}

// plan runs a plan and returns its output. It fails the test for another exit code: 0 is no changes, 2 is changes.
func (l *exampleRun) plan(want int, arguments ...string) string {
	l.t.Helper()
	output, err := l.Try(append([]string{"plan", "-detailed-exitcode"}, arguments...)...)
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	}
	if code != want {
		l.t.Errorf("the plan %q ended with %d, want %d:\n%s", arguments, code, want, output)
	}
	return output
}

// expectNoChanges expects a plan without changes.
func (l *exampleRun) expectNoChanges(arguments ...string) {
	l.t.Helper()
	if output := l.plan(0, arguments...); !strings.Contains(output, "No changes") {
		l.t.Errorf("the plan printed:\n%s", output)
	}
}

// server has attributes of a gpurent_instance in the state.
type server struct {
	ID, Name, Type, Status string
	Offer                  string `json:"rented_offer_id"`
	Template, Country      string
	MaxPriceKopH           int64 `json:"max_price_kop_h"`
	Quoted                 int64 `json:"quoted_kop_h"`
	SSH                    struct {
		Host string
		Port int
	}
	GPU struct{ Slug string }
}

// servers returns the gpurent_instance resources in the state by name. Their number must be want, and no price above
// its cap.
func (l *exampleRun) servers(want int) map[string]server {
	l.t.Helper()
	all := map[string]server{}
	for _, saved := range acctest.SavedIn[server](l.Workspace, "gpurent_instance") {
		s := saved.Attributes
		all[s.Name] = s
		if saved.Tainted || s.Quoted > s.MaxPriceKopH {
			l.t.Errorf("%s: tainted %t, rented at %d with a cap of %d", s.Name, saved.Tainted, s.Quoted, s.MaxPriceKopH)
		}
	}
	if len(all) != want {
		l.t.Errorf("%d servers are in the state, want %d", len(all), want)
	}
	if err := l.env.Left("instances", l.rented()); err != nil {
		l.t.Error(err)
	}
	return all
}

// rented returns the number of servers in the state, with the members of fleets.
func (l *exampleRun) rented() int {
	l.t.Helper()
	count := len(acctest.SavedIn[server](l.Workspace, "gpurent_instance"))
	for _, saved := range acctest.SavedIn[fleet](l.Workspace, "gpurent_fleet") {
		count += len(saved.Attributes.Instances)
	}
	return count
}

// fleet has attributes of a gpurent_fleet in the state.
type fleet struct {
	Name, Type   string
	MaxPriceKopH int64 `json:"max_price_kop_h"`
	Instances    map[string]struct {
		ID, Status, Country string
		Offer               string `json:"offer_id"`
		RunningKopH         int64  `json:"running_kop_h"`
		Host                string `json:"ssh_host"`
		Port                int    `json:"ssh_port"`
	}
}

// members returns the members of all fleets in the state by name. Their number must be want, and no member may cost
// more than its cap, apart from its disk.
func (l *exampleRun) members(want int) map[string]server {
	l.t.Helper()
	all, disks := map[string]server{}, map[string]int64{} // prices of the disks by id
	acctest.List(l.env, "instances?limit=200", func(inst struct {
		ID    string
		Price struct {
			Stopped int64 `json:"stopped_kop_h"`
		}
	}) {
		disks[inst.ID] = inst.Price.Stopped
	})
	for _, saved := range acctest.SavedIn[fleet](l.Workspace, "gpurent_fleet") {
		f := saved.Attributes
		for slot, member := range f.Instances {
			s := server{
				ID: member.ID, Name: f.Name + "-" + slot, Type: f.Type, Status: member.Status, Offer: member.Offer,
				Country: member.Country,
			}
			s.SSH.Host, s.SSH.Port = member.Host, member.Port
			all[s.Name] = s
			if price := member.RunningKopH - disks[s.ID]; s.Status == "running" && price > f.MaxPriceKopH {
				l.t.Errorf("%s costs %d, and the cap is %d", s.Name, price, f.MaxPriceKopH)
			}
		}
		if saved.Tainted {
			l.t.Errorf("the fleet %s is tainted", f.Name)
		}
	}
	if len(all) != want {
		l.t.Errorf("%d members are in the state, want %d", len(all), want)
	}
	if err := l.env.Left("instances", l.rented()); err != nil {
		l.t.Error(err)
	}
	return all
}

// expectWords expects these parts in a text.
func (l *exampleRun) expectWords(output string, parts ...string) {
	l.t.Helper()
	for _, part := range parts {
		if !strings.Contains(plainWords(output), part) {
			l.t.Errorf("the output has no %q:\n%s", part, output)
		}
	}
}
