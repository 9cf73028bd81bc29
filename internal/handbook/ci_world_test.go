package handbook_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// ciWorld is what the repositories of two CI services have around them: the rental service, the project's own repository
// with the module, and all that a pipeline has printed or kept.
type ciWorld struct {
	t       *testing.T
	trial   *trial
	service *acctest.Env
	// repository is the user's, as it stands on the branch that is looked at.
	repository string
	// reader is an API key that can only look.
	reader string
	// settings are what the machines of the CI service find: the provider, and the module without a network.
	settings map[string]string
	mu       sync.Mutex
	// onRent is called when a server was rented.
	onRent func()
	// secrets are what must be nowhere, texts what was printed and kept, by where.
	secrets []string
	texts   map[string]string
}

func newCIWorld(t *testing.T, tr *trial, folder string, options ...acctest.Option) *ciWorld {
	t.Helper()
	c := &ciWorld{t: t, trial: tr, repository: filepath.Join(t.TempDir(), "servers"), texts: map[string]string{}}
	c.service = acctest.Start(t, append(options, acctest.WithWrap(c.overhear))...)
	checkout(t, example(folder), c.repository)
	module, commit := moduleRepository(t, tr)
	c.edit("main.tf", pinnedModule(t, folder), commit)
	c.reader = c.service.Secret(`{"name": "plan", "scopes": ["instances:read", "billing:read"]}`)
	c.secrets = append(c.secrets, c.service.APIKey)
	c.settings = map[string]string{
		"TF_CLI_CONFIG_FILE": tr.mirror(t), "TF_VAR_poll_interval": "200ms",
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_VALUE_0": "https://github.com/gpurent/terraform-provider-gpurent.git",
		"GIT_CONFIG_KEY_0": fmt.Sprintf("url.file://%s.insteadOf", module),
	}
	c.lock()
	return c
}

// overhear learns the secrets that the service issues, and when it rents.
func (c *ciWorld) overhear(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/instances") && c.onRent != nil {
			defer c.onRent()
		}
		if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/api-keys") {
			next.ServeHTTP(w, r)
			return
		}
		heard := &overheard{ResponseWriter: w}
		next.ServeHTTP(heard, r)
		var key struct{ Secret string }
		if err := json.Unmarshal(heard.body.Bytes(), &key); err == nil && key.Secret != "" {
			c.mu.Lock()
			c.secrets = append(c.secrets, key.Secret)
			c.mu.Unlock()
		}
	})
}

// overheard keeps what is answered.
type overheard struct {
	http.ResponseWriter
	body bytes.Buffer
}

func (o *overheard) Write(part []byte) (int, error) {
	o.body.Write(part)
	return o.ResponseWriter.Write(part)
}

// lock writes the lock file, as the README says, and commits it.
func (c *ciWorld) lock() {
	c.t.Helper()
	script{
		name: "lock", folder: c.repository, shell: []string{"sh", "-e"}, env: c.trial.environ(c.settings),
		text: c.trial.cli + " init -backend=false\nrm -r .terraform\ntest -s .terraform.lock.hcl\n",
	}.must(c.t)
}

// readOnlyLock is part of the error about a lock file that init would have to change.
const readOnlyLock = "Provider dependency changes detected"

// withAnotherLock runs a pipeline of a repository whose lock file has no provider.
func (c *ciWorld) withAnotherLock(run func()) {
	c.t.Helper()
	file := filepath.Join(c.repository, ".terraform.lock.hcl")
	content, err := os.ReadFile(file)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, text := range [][]byte{nil, content} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			c.t.Fatal(err)
		}
		if text == nil {
			run()
		}
	}
}

// planOfHostileNames plans servers whose names try to be more than a name in the one comment, which plan returns.
func (c *ciWorld) planOfHostileNames(plan func() []string) {
	c.t.Helper()
	const size = "size            = 1\n"
	const names = `  names           = ["@owner|<b>` + "`x`" + `", "[x](//evil.test)#1", "\\|<!--"]` + "\n"
	const price, lower = "max_price_kop_h = 9000 ", "max_price_kop_h = 5000 " // for three servers instead of one
	c.edit("main.tf", size, size+names)
	c.edit("main.tf", price, lower)
	comments := plan()
	c.edit("main.tf", names, "")
	c.edit("main.tf", lower, price)
	if len(comments) != 1 {
		c.t.Fatalf("there are %d comments, want one: %q", len(comments), comments)
	}
	visible, _, _ := strings.Cut(comments[0], "<!-- reviewed: ")
	visible = strings.TrimPrefix(visible, "<!-- gpurent costs -->")
	rest := inert.ReplaceAllString(visible, "NAME")
	if strings.Count(rest, "| NAME | rent | ") != 3 || strings.ContainsAny(rest, "<>@`\\[]") ||
		strings.ContainsAny(visible, "<>@\\") {
		c.t.Errorf("names are live in %s", visible)
	}
}

// aPinnedModule matches the source of the module in the examples, and the commit in it.
var aPinnedModule = regexp.MustCompile(
	`"git::https://github\.com/gpurent/terraform-provider-gpurent\.git//examples/modules/gpu-pool\?ref=([0-9a-f]{40})"`)

// pinnedModule returns the commit of the module that an example uses.
func pinnedModule(t *testing.T, folder string) string {
	t.Helper()
	found := aPinnedModule.FindAllStringSubmatch(textOf(t, example(folder, "main.tf")), -1)
	if len(found) != 1 {
		t.Fatalf("%s uses %v, want one module, pinned to a commit", folder, found)
	}
	return found[0][1]
}

// moduleRepository is the project's repository with its examples, and the commit in it.
func moduleRepository(t *testing.T, tr *trial) (folder, commit string) {
	t.Helper()
	folder = t.TempDir()
	if err := os.CopyFS(filepath.Join(folder, "examples", poolFolder), os.DirFS(example(poolFolder))); err != nil {
		t.Fatal(err)
	}
	commit = script{
		name: "the module's repository", folder: folder, shell: []string{"sh", "-e"}, env: tr.environ(nil),
		text: `git init -q
git add .
git -c user.name=test -c user.email=test@example.com -c commit.gpgsign=false commit -q -m module
git rev-parse HEAD
`,
	}.must(t)
	return folder, strings.TrimSpace(commit)
}

// edit changes a file of the repository, as a commit would.
func (c *ciWorld) edit(file, old, changed string) {
	c.t.Helper()
	path := filepath.Join(c.repository, file)
	content, err := os.ReadFile(path)
	if err != nil {
		c.t.Fatal(err)
	}
	text := strings.Replace(string(content), old, changed, 1)
	if text == string(content) {
		c.t.Fatalf("%s has no %q", file, old)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// keep remembers all that a job has printed and left, for the search for secrets.
func (c *ciWorld) keep(job string, printed map[string]string, folder string) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for step, text := range printed {
		c.texts["log of "+job+", "+step] += text
	}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if err == nil && entry.Name() == "saved.plan" {
			content, err = unpacked(content)
		}
		c.texts[job+": "+strings.TrimPrefix(path, folder)] += string(content)
		return err
	})
	if err != nil {
		c.t.Error(err)
	}
}

// unpacked is all that is in an archive, as a saved plan is one.
func unpacked(packed []byte) ([]byte, error) {
	archive, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return nil, err
	}
	var all bytes.Buffer
	for _, file := range archive.File {
		content, err := file.Open()
		if err == nil {
			_, err = io.Copy(&all, content)
		}
		if err != nil {
			return nil, err
		}
	}
	return all.Bytes(), nil
}

// nothingLeaked looks for every secret in everything, and for keys that outlived their run.
func (c *ciWorld) nothingLeaked(state string, others ...string) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.texts["state"] = state
	plans := 0
	for place := range c.texts {
		if strings.HasSuffix(place, "saved.plan") {
			plans++
		}
	}
	if len(c.secrets) < 4 || plans < 3 || !strings.Contains(state, "gpurent_instance") {
		c.t.Errorf("%d keys, %d plans and %d bytes of states were seen: the search for secrets is in the wrong place", len(c.secrets), plans, len(state))
	}
	for _, secret := range append(others, c.secrets...) {
		if err := acctest.Leak(secret, c.texts); err != nil {
			c.t.Error(err)
		}
	}
	if err := c.service.Left("api-keys", 2); err != nil { // the pipeline's and the one that can only look
		c.t.Error(err)
	}
}

// rentedServer is what the tests need to know of a server.
type rentedServer struct {
	ID, Status string
	Price      struct {
		RunningKopH int64 `json:"running_kop_h"`
		StoppedKopH int64 `json:"stopped_kop_h"`
	}
}

// onlyServer is the one that is rented; another number fails the test.
func onlyServer(t *testing.T, service *acctest.Env) (only rentedServer) {
	t.Helper()
	if n := acctest.List(service, "instances?limit=200", func(s rentedServer) { only = s }); n != 1 {
		t.Fatalf("%d servers are rented, want one", n)
	}
	return only
}

// rub writes kopecks as rubles, for amounts below a thousand rubles.
func rub(kop int64) string { return fmt.Sprintf("%d,%02d", kop/100, kop%100) }

// saysCosts holds what was written, one comment, against what is true: what the servers cost now, kopecks per hour, and in rubles what they may
// cost afterwards and how much goes.
func saysCosts(t *testing.T, written []string, now int64, later, removes string) {
	t.Helper()
	if len(written) != 1 {
		t.Fatalf("there are %d comments, want one: %q", len(written), written)
	}
	body := written[0]
	upTo := ""
	if strings.Contains(body, "| rent |") {
		upTo = "up to "
	}
	for _, want := range []string{
		fmt.Sprintf("| **an hour** | | **%s ₽** | **%s%s ₽** |", rub(now), upTo, later),
		fmt.Sprintf("and removes %s ₽ an hour", removes),
	} {
		if !strings.Contains(body, want) {
			t.Errorf("it does not say %q:\n%s", want, body)
		}
	}
}
