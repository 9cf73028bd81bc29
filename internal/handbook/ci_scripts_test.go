package handbook_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// The folders of the two example pipelines, below examples/.
const (
	ciGitHub = "ci/github-actions"
	ciGitLab = "ci/gitlab"
)

const (
	ciToken  = "token-of-the-pipeline"
	ciMarker = "<!-- gpurent costs -->\n"
	// mergedCommit is the commit that merged request 1 of the fake.
	mergedCommit = "merged"
)

// entry is a comment or an issue in the JSON of both services.
type entry = map[string]any

// codeHost is a fake of the parts of GitHub's and GitLab's APIs that the scripts call: the comments of request 1, and
// the issues.
type codeHost struct {
	t       *testing.T
	url     string
	mu      sync.Mutex
	entries map[string][]entry // by comments or issues
}

func newCodeHost(t *testing.T) *codeHost {
	t.Helper()
	h := &codeHost{t: t, entries: map[string][]entry{}}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	h.url = server.URL
	return h
}

// kinds are the names of the lists in the paths of both services.
var kinds = map[string]string{"comments": "comments", "notes": "comments", "issues": "issues"}

// add adds an entry. Only the bot has the id 7, with either of its names.
func (h *codeHost) add(kind, login string, author int) entry {
	id := len(h.entries[kind]) + 1
	added := entry{"id": id, "number": id, "iid": id, "state": "open"}
	added["user"], added["author"] = entry{"login": login}, entry{"id": author}
	h.entries[kind] = append(h.entries[kind], added)
	return added
}

func (h *codeHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer "+ciToken && r.Header.Get("Private-Token") != ciToken {
		http.Error(w, "the token is missing or wrong", http.StatusUnauthorized)
		return
	}
	folder, last := path.Split(r.URL.Path)
	kind, isList := kinds[last]
	var answer any
	switch {
	case r.URL.Path == "/user":
		answer = entry{"id": 7}
	case strings.HasSuffix(folder, "/commits/"+mergedCommit+"/"):
		answer = []entry{{"number": 1, "merged_at": "2026-01-01T00:00:00Z", "iid": 1, "state": "merged"}}
	case strings.Contains(folder, "/commits/"):
		answer = []entry{}
	case isList && r.Method == http.MethodGet:
		answer = h.list(kind, r)
	case isList && r.Method == http.MethodPost:
		h.change(r, h.add(kind, "github-actions[bot]", 7))
	case r.Method == http.MethodPatch, r.Method == http.MethodPut:
		id, err := strconv.Atoi(last)
		all := h.entries[kinds[path.Base(folder)]]
		if err != nil || id > len(all) {
			http.NotFound(w, r)
			return
		}
		h.change(r, all[id-1])
	default:
		h.t.Errorf("%s %s", r.Method, r.URL)
	}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		h.t.Error(err)
	}
}

// change sets what a request sends. GitLab has other fields than GitHub.
func (h *codeHost) change(r *http.Request, e entry) {
	var sent entry
	if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
		h.t.Errorf("%s %s: %v", r.Method, r.URL, err)
	}
	maps.Copy(e, sent)
	if text, ok := sent["description"]; ok {
		e["body"] = text
	}
	if sent["state_event"] == "close" {
		e["state"] = "closed"
	}
}

// list returns the entries that the query selects, on its page.
func (h *codeHost) list(kind string, r *http.Request) []entry {
	query := r.URL.Query()
	found := slices.DeleteFunc(slices.Clone(h.entries[kind]), func(e entry) bool {
		state, author, label := query.Get("state"), query.Get("author_id"), query.Get("labels")
		return state != "" && strings.TrimSuffix(state, "ed") != e["state"] ||
			author != "" && author != fmt.Sprint(e["author"].(entry)["id"]) ||
			!strings.Contains(fmt.Sprint(e["labels"]), label)
	})
	page, errPage := strconv.Atoi(query.Get("page"))
	size, errSize := strconv.Atoi(query.Get("per_page"))
	if errPage != nil || errSize != nil {
		page, size = 1, 20
	}
	from := min((page-1)*size, len(found))
	return found[from:min(from+size, len(found))]
}

// run runs a script of a pipeline against the fake.
func (h *codeHost) run(token, path string, arguments ...string) (string, int) {
	h.t.Helper()
	return script{
		text: "set -- " + strings.Join(arguments, " ") + "\n. '" + example(path) + "'", folder: h.t.TempDir(),
		env: append(os.Environ(), "NO_PROXY=127.0.0.1", "GITHUB_API_URL="+h.url, "GITHUB_REPOSITORY=research/servers",
			"GITHUB_TOKEN="+token, "CI_API_V4_URL="+h.url, "CI_PROJECT_ID=1", "GITLAB_TOKEN="+token),
	}.run(h.t)
}

// must is run for a script that must succeed.
func (h *codeHost) must(path string, arguments ...string) string {
	h.t.Helper()
	output, status := h.run(ciToken, path, arguments...)
	if status != 0 {
		h.t.Fatalf("%s %v: exit status %d\n%s", path, arguments, status, output)
	}
	return output
}

// Each script keeps one comment, which it finds among those of others, and prints it for the commit that was merged.
func TestCIScripts_KeepOneComment(t *testing.T) {
	needs(t, "curl", "jq")
	commands := map[string]string{ciGitHub + "/ci/github.sh": "comment", ciGitLab + "/ci/gitlab.sh": "note"}
	for path, command := range commands {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			h := newCodeHost(t)
			for range 120 { // more than a page
				h.add("comments", "somebody", 99)["body"] = ciMarker + "forged"
			}
			expectReview := func(commit, want string) {
				t.Helper()
				if printed := h.must(path, "reviewed", commit); printed != want {
					t.Errorf("the review of the commit %s is %q, want %q", commit, printed, want)
				}
			}
			expectReview(mergedCommit, "")
			for _, text := range []string{"first", "second"} {
				h.must(path, command, "1", write(t, ciMarker+text, t.TempDir(), "costs.md"))
			}
			if comments := h.entries["comments"]; len(comments) != 121 || comments[120]["body"] != ciMarker+"second" {
				t.Errorf("there are %d comments, the last one is %v", len(comments), comments[len(comments)-1])
			}
			expectReview(mergedCommit, ciMarker+"second\n")
			expectReview("unmerged", "")
			// An API that fails is no review without servers.
			if printed, status := h.run("wrong", path, "reviewed", mergedCommit); status == 0 {
				t.Errorf("with a wrong token it succeeds and prints %q", printed)
			}
		})
	}
}

// The nightly check keeps one issue open, and never touches an issue of somebody else.
func TestCIScripts_KeepOneIssue(t *testing.T) {
	needs(t, "curl", "jq")
	for _, path := range []string{ciGitHub + "/ci/github.sh", ciGitLab + "/ci/gitlab.sh"} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			h := newCodeHost(t)
			const title = "Servers differ from the configuration"
			other := h.add("issues", "somebody", 99)
			other["title"], other["labels"] = title, []string{"drift"}
			for _, text := range []string{"first", "second"} {
				h.must(path, "issue", write(t, text, t.TempDir(), "issue.md"))
			}
			own := h.entries["issues"][len(h.entries["issues"])-1]
			if len(h.entries["issues"]) != 2 || own["title"] != title || own["body"] != "second" || own["state"] != "open" {
				t.Errorf("there are %d issues, the last one is %v", len(h.entries["issues"]), own)
			}
			h.must(path, "close")
			h.must(path, "close")
			if own["state"] != "closed" || other["state"] != "open" || other["body"] != nil {
				t.Errorf("the issues are %v and %v", other, own)
			}
			h.must(path, "issue", write(t, strings.Repeat("ж", 70000), t.TempDir(), "issue.md"))
			body, _ := h.entries["issues"][2]["body"].(string)
			if length := len([]rune(body)); length < 65000 || path == ciGitHub+"/ci/github.sh" && length > 65536 {
				t.Errorf("a closed issue was reused, or the body has the wrong length: %d", length)
			}
		})
	}
}

// gpurent.sh runs the version in the lock file, with its arguments and exit status.
func TestCIScripts_RunTheLockedProvider(t *testing.T) {
	const lock = `provider "registry.terraform.io/other/other" {
  version = "9.9.9"
}

provider "registry.terraform.io/gpurent/gpurent" {
  version     = "0.2.0"
  constraints = ">= 0.1.0"
}

provider "registry.terraform.io/zzz/gpurent-not" {
  version = "0.3.0"
}
`
	const found, missing = "0.2.0 [cost][a b]\n", "run init first"
	for name, test := range map[string]struct {
		data, lock string
		status     int
		want       string
	}{
		"the locked version":   {".terraform", lock, 7, found},
		"OpenTofu":             {".terraform", strings.ReplaceAll(lock, "terraform.io", "opentofu.org"), 7, found},
		"another data folder":  {"data", lock, 7, found},
		"no lock file":         {".terraform", "", 1, missing},
		"another locked one":   {".terraform", strings.Replace(lock, "0.2.0", "0.4.0", 1), 1, missing},
		"no provider in there": {"data", strings.Replace(lock, "/gpurent/", "/x/", 1), 1, missing},
	} {
		for shell, command := range shells(t) {
			t.Run(name+"/"+shell, func(t *testing.T) {
				folder := t.TempDir()
				for _, version := range []string{"0.1.0", "0.2.0", "0.3.0"} {
					write(t, "#!/bin/sh\nprintf '"+version+" '; printf '[%s]' \"$@\"; echo; exit 7\n", folder, test.data, "providers",
						"registry.terraform.io/gpurent/gpurent", version, "linux_amd64", "terraform-provider-gpurent_v"+version)
				}
				write(t, test.lock, folder, ".terraform.lock.hcl")
				env := os.Environ()
				if test.data != ".terraform" {
					env = append(env, "TF_DATA_DIR="+test.data)
				}
				output, status := script{
					text:   "set -- cost 'a b'\n. '" + example(ciGitHub, "ci", "gpurent.sh") + "'",
					folder: folder, shell: command, env: env,
				}.run(t)
				if status != test.status || !strings.Contains(output, test.want) {
					t.Errorf("it ended with %d and printed %q, want %d and %q", status, output, test.status, test.want)
				}
			})
		}
	}
}

// drift.sh writes an issue for a plan with changes and for unmanaged servers. It fails if either is unknown.
func TestCIScripts_Drift(t *testing.T) {
	const table, costs = "### Billed servers that no state tracks\n\n```text\nins_1\n```\n\n", "### Server changes\n"
	for name, test := range map[string]struct {
		plan, unmanaged int
		found           string // by unmanaged
		status          int
		issue           string
	}{
		"nothing":           {0, 0, "none", 0, ""},
		"drift":             {2, 0, "none", 0, costs},
		"unmanaged servers": {0, 2, "ins_1", 0, table},
		"both":              {2, 2, "ins_1", 0, table + costs},
		"a failed plan":     {1, 2, "ins_1", 1, ""},
		"no account":        {2, 1, "", 1, ""},
		"a usage error":     {2, 2, "", 2, ""},
	} {
		for shell, command := range shells(t) {
			t.Run(name+"/"+shell, func(t *testing.T) {
				folder := t.TempDir()
				write(t, fmt.Sprintf("#!/bin/sh\ncase $1 in plan) exit %d ;; *) echo '{}' ;; esac\n", test.plan), folder, "tf")
				write(t, fmt.Sprintf(`case $1 in
cost) printf '<!-- gpurent costs -->\n### Server changes\n<!-- gpurent cost: AAAA -->\n' ;;
*) test "$*" = 'unmanaged state.json other.json' && printf '%%s' '%s' | sed 's/$/\n/' | grep . ; exit %d ;;
esac`, test.found, test.unmanaged), folder, "ci", "gpurent.sh")
				write(t, textOf(t, example(ciGitHub, "ci", "drift.sh")), folder, "ci", "drift.sh")
				output, status := script{
					text: "exec " + strings.Join(command, " ") + " ci/drift.sh other.json", folder: folder,
					env: append(os.Environ(), "TF="+filepath.Join(folder, "tf")),
				}.run(t)
				issue := textOf(t, filepath.Join(folder, "issue.md"))
				if status != test.status || status == 0 && issue != test.issue {
					t.Errorf("it ended with %d and wrote %q, want %d and %q\n%s", status, issue, test.status, test.issue, output)
				}
			})
		}
	}
}

// The README's check of an object store prints 200 412 for a store that honours If-None-Match.
func TestCIGitHubReadme_ChecksWhetherTheStoreLocks(t *testing.T) {
	needs(t, "bash", "curl")
	snippets := parseSnippets(t, textOf(t, example(ciGitHub, "README.md")))
	objects := map[string]bool{}
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch signed := strings.Contains(r.Header.Get("Authorization"), "Credential=id/"); {
		case !signed || r.Method != http.MethodPut || r.Header.Get("If-None-Match") != "*":
			w.WriteHeader(http.StatusBadRequest)
		case objects[r.URL.Path]:
			w.WriteHeader(http.StatusPreconditionFailed)
		}
		objects[r.URL.Path] = true
	}))
	t.Cleanup(store.Close)
	printed := script{
		text: snippets[0].text, folder: t.TempDir(), shell: []string{"bash", "-eu"},
		env: append(os.Environ(), "NO_PROXY=127.0.0.1", "AWS_ENDPOINT_URL_S3="+store.URL,
			"AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret"),
	}.must(t)
	if printed != "200 412 " {
		t.Errorf("it prints %q", printed)
	}
}
