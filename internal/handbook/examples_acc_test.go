package handbook_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// examples are the complete examples. The function of each runs between the commands of its README and its destroy, and
// checks what the README describes of this configuration and does not show as a command.
var examples = map[string]func(*exampleRun){
	"single":        func(*exampleRun) {},
	"team":          func(*exampleRun) {},
	"llm-server":    func(*exampleRun) {},
	"batch-job":     batchStory,
	"working-hours": workingHoursStory,
	"spot-fleet":    spotFleetStory,
	"jupyter":       func(*exampleRun) {},
	"ray-cluster":   rayStory,
	"capacity":      capacityStory,
}

// oneCLI are the examples for which the CLI makes no difference.
var oneCLI = []string{"spot-fleet", "jupyter", "ray-cluster", "capacity"}

// testedElsewhere are the other folders with a configuration. TestAccTryWithoutSpending and TestAccCI_… run them.
var testedElsewhere = []string{tryExample, tryExample + "/module", ciGitHub, ciGitLab}

// A test runs every configuration of the examples.
func TestExamples_AllAreTested(t *testing.T) {
	for _, file := range filesIn(t, example(), "main.tf") {
		folder, err := filepath.Rel(example(), filepath.Dir(file))
		if err != nil {
			t.Fatal(err)
		}
		if folder = filepath.ToSlash(folder); examples[folder] == nil && !slices.Contains(testedElsewhere, folder) {
			t.Errorf("examples/%s has a configuration that no test runs", folder)
		}
	}
}

var (
	// quoted matches a message: a code span with a capital letter and several words, or in a table of problems.
	quoted = regexp.MustCompile("`([A-Z][a-z]+ [^`]+)`|(?m:^\\| [^|`]*`([a-z]+ [^`]+)` \\|)")
	// messagesOfOthers are those of the CLIs and of ssh.
	messagesOfOthers = []string{"Saved plan is stale", "Permission denied"}
)

// Each message that the examples quote begins one of the provider, with a verb in place of a name.
func TestExamples_QuoteMessages(t *testing.T) {
	var source strings.Builder
	for _, file := range filesIn(t, inProject("internal"), ".go") {
		if !strings.HasSuffix(file, "_test.go") {
			source.WriteString(textOf(t, file))
		}
	}
	for _, page := range filesIn(t, example(), "README.md") {
		for _, match := range quoted.FindAllStringSubmatch(codeFence.ReplaceAllString(textOf(t, page), ""), -1) {
			message := match[1] + match[2]
			found := slices.Contains(messagesOfOthers, message) || strings.Contains(source.String(), `"`+message)
			for _, name := range strings.Fields(message) {
				found = found || strings.Contains(source.String(), `"`+strings.Replace(message, name, "%s", 1))
			}
			if !found {
				t.Errorf("%s: the provider has no message %q", page, message)
			}
		}
	}
}

// destroys matches the snippet that destroys what a README has created.
var destroys = regexp.MustCompile(`^(terraform|\./run\.sh) destroy`)

// reachable makes servers that answer.
func reachable(c *simulator.Config) { c.Reachable = true }

// Each example works as its README describes, and leaves nothing behind.
func TestAccExamples(t *testing.T) {
	setup := newCLISetup(t)
	for name, story := range examples {
		t.Run(name, func(t *testing.T) {
			if slices.Contains(oneCLI, name) {
				acctest.FirstCLIOnly(t)
			}
			t.Parallel()
			// These wait for a page or for SSH.
			answers := slices.Contains([]string{"llm-server", "batch-job", "capacity"}, name)
			l := newExampleRun(t, setup, name, answers)
			snippets := parseSnippets(t, l.Read("README.md"))
			end := slices.IndexFunc(snippets, func(b snippet) bool { return destroys.MatchString(b.text) })
			l.follow(snippets[:end]...)
			story(l)
			l.follow(snippets[end:]...)
			if err := errors.Join(
				l.env.NothingLeft("instances"), l.env.NothingLeft("ssh-keys"), l.env.NoOwnTemplate(), l.env.OnlyKeyLeft(),
			); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("ray-cluster with a path in the address", func(t *testing.T) {
		acctest.FirstCLIOnly(t)
		t.Parallel()
		newExampleRun(t, setup, "ray-cluster", true).run(`"$TF" init && "$TF" apply
"$TF" output -raw nodes | grep -E '^0 127\.0\.0\.1 [0-9]+ 127\.0\.0\.1 [0-9]+$'
"$TF" destroy
`)
	})
	t.Run("standard format", func(t *testing.T) {
		t.Parallel()
		script{
			text: "$TF fmt -check -diff -recursive", folder: example(), env: setup.environ("", nil),
		}.must(t)
	})
}

// exampleRun is an example in a user's folder, with a separate simulator.
type exampleRun struct {
	*acctest.Workspace
	t   *testing.T
	env *acctest.Env
	cli string
	// home is the user's home folder, in which testdata/ssh.sh has a folder for each server.
	home string
}

// newExampleRun copies an example. If its servers answer, they have the same address.
func newExampleRun(t *testing.T, setup *cliSetup, name string, answers bool) *exampleRun {
	t.Helper()
	home, bin := setup.newHome(t), t.TempDir()
	write(t, textOf(t, filepath.Join("testdata", "ssh.sh")), bin, "ssh")
	// The examples read the balance, and the stories decide when a server is outbid and when an offer changes.
	without := []string{"forbidden-balance", "outbid-soon-after-start", "cached-offers"}
	switch name {
	case "team":
		without = append(without, "optional-fields-absent") // an output has the country, which any response may omit
	case "capacity":
		without = append(without, "other-gpu") // the story compares the slug of the GPU
	case "batch-job":
		without = append(without, "all") // the story counts the servers of the account
	}
	options := []acctest.Option{acctest.WithoutQuirks(without...)}
	if answers {
		options = append(options, reachable)
	}
	env := acctest.Start(t, options...)
	return &exampleRun{t: t, env: env, cli: setup.cli, home: home, Workspace: env.ExampleWorkspace(
		name,
		"HOME="+home,
		"TF_CLI_CONFIG_FILE=", // "terraform init" installs the provider from the home folder
		"TF="+setup.cli,
		"GPURENT_CONTROL_URL="+env.ControlURL,
		"TF_VAR_poll_interval=1ms",
		"TF_CLI_ARGS_apply=-auto-approve -no-color",
		"TF_CLI_ARGS_destroy=-auto-approve -no-color",
		"TF_CLI_ARGS_plan=-no-color",
		"PATH="+strings.Join([]string{bin, setup.bin, os.Getenv("PATH")}, ":"),
	)}
}

// follow runs snippets of the README.
func (l *exampleRun) follow(snippets ...snippet) {
	l.t.Helper()
	like := l.Command(l.t.Context(), nil)
	(&reader{cli: l.cli, folder: like.Dir, env: like.Env}).follow(l.t, snippets)
}

// expectPlan runs a plan, which must have changes, and expects these words in its output.
func (l *exampleRun) expectPlan(variable string, words ...string) {
	l.t.Helper()
	output, err := l.Try("plan", "-detailed-exitcode", "-var="+variable)
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 2 {
		l.t.Errorf("the plan ended with %v", err)
	}
	expectWords(l.t, output, words...)
}

// asked returns the calls of ssh.
func (l *exampleRun) asked() string { return textOf(l.t, filepath.Join(l.home, "asked")) }

// server has attributes of a gpurent_instance in the state.
type server struct {
	ID, Name string
	SSH      struct {
		Host string
		Port int
	}
	GPU struct{ Slug string }
}

// servers returns the gpurent_instance resources in the state by name.
func (l *exampleRun) servers() map[string]server {
	l.t.Helper()
	all := map[string]server{}
	for _, saved := range acctest.SavedIn[server](l.Workspace, "gpurent_instance") {
		all[saved.Attributes.Name] = saved.Attributes
	}
	return all
}

// member is a member of a fleet in the state.
type member struct {
	ID, Status string
	Offer      string `json:"offer_id"`
	Host       string `json:"ssh_host"`
	Port       int    `json:"ssh_port"`
}

// members returns the members of all fleets in the state, by the name of their fleet and their slot.
func (l *exampleRun) members() map[string]member {
	l.t.Helper()
	all := map[string]member{}
	for _, saved := range acctest.SavedIn[struct {
		Name      string
		Instances map[string]member
	}](l.Workspace, "gpurent_fleet") {
		for slot, m := range saved.Attributes.Instances {
			all[saved.Attributes.Name+"-"+slot] = m
		}
	}
	return all
}

// setOffer changes an offer of the simulator.
func (l *exampleRun) setOffer(offer string, patch simulator.OfferPatch) {
	l.t.Helper()
	if err := l.env.SetOffer(offer, patch); err != nil {
		l.t.Fatal(err)
	}
}

// workflow returns commands that run the steps of github-actions.yml with the CLI under test. GitLab runs them, too.
func (l *exampleRun) workflow() string {
	l.t.Helper()
	gitlab := l.Read("gitlab-ci.yml")
	text := strings.Replace(l.Read("github-actions.yml"), "TF: terraform #", "TF: "+l.cli+" #", 1)
	for _, job := range parseWorkflow(l.t, text).Jobs {
		for _, step := range job.Steps {
			command := strings.TrimPrefix(step.Run, "exec ")
			if command != "" && !strings.Contains(gitlab, "- "+command+"\n") {
				l.t.Errorf("GitLab does not run %q", command)
			}
			if step.Name == "Destroy" && step.If != "always()" {
				l.t.Errorf("the step that destroys runs only if %q", step.If)
			}
		}
	}
	return (&reader{}).workflow(l.t, snippet{text: text})
}

// run runs commands that must succeed, with the functions of testdata/guides.sh.
func (l *exampleRun) run(text string) {
	l.t.Helper()
	l.follow(snippet{language: "sh", text: text})
}

// The servers of a job that fails, takes too long or is terminated are destroyed, and a lost state costs nothing more.
func batchStory(l *exampleRun) {
	l.run(l.workflow() + `test -s result.tar.gz
cp job.sh job.backup
echo '# JOB FAILED' >>job.sh # the simulator logs each line
fails 'The job failed.' ./run.sh
cp job.backup job.sh
expect_servers 0
test ! -e result.tar.gz

cp main.tf main.backup
sed 's/echo JOB SUCCEEDED/echo DONE/' main.backup >main.tf
fails 'is not ready yet' env TF_VAR_max_duration=1s ./run.sh
expect_servers 0
./run.sh & # until the server is rented
until test "$(servers | wc -l)" -eq 1; do sleep 0.1; done
kill -TERM $!
code=0
wait $! || code=$?
expect 143 "$code"
expect_servers 0
cp main.backup main.tf

TF_VAR_token=lost "$TF" apply
mv terraform.tfstate lost
fails 'The instance of idempotency_key differs from the configuration' ./run.sh
control POST clock '{"advance_seconds": 7200}'
fails 'has the idempotency key of this resource' ./run.sh
TF_VAR_token=none "$TF" import gpurent_instance.job "$(servers)"
./run.sh destroy
expect_servers 0
mv lost terraform.tfstate
`)
}

// The pipelines apply only with a shared state.
func workingHoursStory(l *exampleRun) {
	pipeline := "export STATE_URL=https://s3.example STATE_KEY_ID=id STATE_KEY=key\n" + l.workflow()
	l.run("if (\n" + pipeline + "); then exit 1; fi\n" +
		"cp ~/.ssh/id_ed25519.pub team.pub\necho 'terraform {}' >backend.tf\n" + pipeline)
}

// If no H100 is available for a new server, the fallback is rented, and the job starts on it.
func capacityStory(l *exampleRun) {
	before := l.servers()
	l.env.Delete("instances/" + before["node-0"].ID)
	for _, offer := range l.env.Offers("gpu=h100_sxm&num_gpus=8") {
		l.setOffer(offer.ID, simulator.OfferPatch{Available: new(false)})
	}
	l.Run("apply")
	after, jobs := l.servers(), strings.Count(l.asked(), "torchrun")
	if after["node-0"].GPU.Slug != "a100_sxm4_80gb" || after["node-1"].ID != before["node-1"].ID || jobs != 3 {
		l.t.Errorf("the servers are %+v, and %d jobs were started, want 3", after, jobs)
	}
}

// Above the cap, the apply leaves the outbid server as it is, with the reason. When the price falls, it starts again.
func spotFleetStory(l *exampleRun) {
	before := l.members()
	for _, story := range []struct {
		price  int64
		status string
		words  []string
	}{
		{9500, "outbid", []string{"Fleet spot is not complete", "costs 95.00 ₽ per hour", "Not running: spot-0 (outbid)."}},
		{2600, "running", nil},
	} {
		l.setOffer(before["spot-0"].Offer, simulator.OfferPatch{InterruptibleKopH: &story.price})
		expectWords(l.t, l.Run("apply"), story.words...)
		after := l.members()
		for name, was := range before {
			if name == "spot-0" {
				was.Status = story.status
			}
			if now := after[name]; now.ID != was.ID || now.Status != was.Status {
				l.t.Errorf("at %d kopecks %s is %+v, want %+v", story.price, name, now, was)
			}
		}
	}
	l.expectPlan("on_demand=2", "0 to add, 1 to change, 0 to destroy")
}
