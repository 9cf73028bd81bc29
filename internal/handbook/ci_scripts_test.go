package handbook_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
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
	ciToken   = "token-of-the-pipeline"
	ciBotName = "github-actions[bot]"
	ciBotID   = 7
	ciMarker  = "<!-- gpurent costs -->\n"
	// mergedCommit is the commit that merged request 1 of the fake.
	mergedCommit = "merged"
)

// comment is a comment or an issue, with the fields that github.sh and gitlab.sh read.
type comment struct {
	ID     int      `json:"id"`
	Number int      `json:"number"`
	IID    int      `json:"iid"`
	Title  string   `json:"title"`
	Body   string   `json:"body"`
	State  string   `json:"state"`
	Labels []string `json:"labels"`
	User   struct {
		Login string `json:"login"`
	} `json:"user"` // GitHub
	Author struct {
		ID int `json:"id"`
	} `json:"author"` // GitLab
}

// codeHost is a fake of the parts of GitHub's and GitLab's APIs that the scripts call. Request 1 has the comments.
type codeHost struct {
	url              string
	mu               sync.Mutex
	comments, issues []*comment
}

func newCodeHost(t *testing.T) *codeHost {
	t.Helper()
	h := &codeHost{}
	mux := http.NewServeMux()
	handle := func(pattern string, respond func(*http.Request) any) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			h.mu.Lock()
			defer h.mu.Unlock()
			if r.Header.Get("Authorization") != "Bearer "+ciToken && r.Header.Get("Private-Token") != ciToken {
				http.Error(w, "the token is missing or wrong", http.StatusUnauthorized)
				return
			}
			if err := json.NewEncoder(w).Encode(respond(r)); err != nil {
				t.Error(err)
			}
		})
	}
	list := func(r *http.Request) any { return page(r, h.comments) }
	add := func(r *http.Request) any { return decodeInto(t, r, addComment(&h.comments)) }
	edit := func(r *http.Request) any { return decodeInto(t, r, find(t, h.comments, r.PathValue("id"))) }
	merged := func(r *http.Request) any {
		if r.PathValue("commit") != mergedCommit {
			return []any{}
		}
		return []any{map[string]any{"number": 1, "merged_at": "2026-01-01T00:00:00Z", "iid": 1, "state": "merged"}}
	}
	const github, gitlab = "/repos/research/servers", "/projects/1"
	handle("GET "+github+"/issues/1/comments", list)
	handle("POST "+github+"/issues/1/comments", add)
	handle("PATCH "+github+"/issues/comments/{id}", edit)
	handle("GET "+github+"/commits/{commit}/pulls", merged)
	handle("GET "+github+"/issues", func(r *http.Request) any {
		query := r.URL.Query()
		return slices.DeleteFunc(slices.Clone(h.issues), func(i *comment) bool {
			return i.State != query.Get("state") || !slices.Contains(i.Labels, query.Get("labels"))
		})
	})
	handle("POST "+github+"/issues", func(r *http.Request) any { return decodeInto(t, r, addComment(&h.issues)) })
	handle("PATCH "+github+"/issues/{id}", func(r *http.Request) any {
		return decodeInto(t, r, find(t, h.issues, r.PathValue("id")))
	})
	handle("GET "+gitlab+"/issues", func(r *http.Request) any {
		query := r.URL.Query()
		return slices.DeleteFunc(slices.Clone(h.issues), func(i *comment) bool {
			return query.Get("state") != "opened" || i.State != "open" || !slices.Contains(i.Labels, query.Get("labels")) ||
				query.Get("author_id") != strconv.Itoa(i.Author.ID)
		})
	})
	handle("POST "+gitlab+"/issues", func(r *http.Request) any { return decodeGitLabIssue(t, r, addComment(&h.issues)) })
	handle("PUT "+gitlab+"/issues/{iid}", func(r *http.Request) any {
		return decodeGitLabIssue(t, r, find(t, h.issues, r.PathValue("iid")))
	})
	handle("GET /user", func(*http.Request) any { return map[string]int{"id": ciBotID} })
	handle("GET "+gitlab+"/merge_requests/1/notes", list)
	handle("POST "+gitlab+"/merge_requests/1/notes", add)
	handle("PUT "+gitlab+"/merge_requests/1/notes/{id}", edit)
	handle("GET "+gitlab+"/repository/commits/{commit}/merge_requests", merged)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	h.url = server.URL
	return h
}

// addComment adds an empty comment of the bot.
func addComment(to *[]*comment) *comment {
	added := &comment{ID: 1 + len(*to), Number: 1 + len(*to), IID: 1 + len(*to), State: "open"}
	added.User.Login, added.Author.ID = ciBotName, ciBotID
	*to = append(*to, added)
	return added
}

func find(t *testing.T, all []*comment, id string) *comment {
	t.Helper()
	n := slices.IndexFunc(all, func(c *comment) bool { return strconv.Itoa(c.ID) == id })
	if n < 0 {
		t.Errorf("there is no comment or issue %s", id)
		return &comment{}
	}
	return all[n]
}

func decodeInto(t *testing.T, r *http.Request, into *comment) *comment {
	t.Helper()
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		t.Errorf("%s %s: %v", r.Method, r.URL, err)
	}
	return into
}

// decodeGitLabIssue sets what a request to GitLab sets, in other fields than GitHub's.
func decodeGitLabIssue(t *testing.T, r *http.Request, issue *comment) *comment {
	t.Helper()
	var sent struct {
		Title, Description, Labels string
		StateEvent                 string `json:"state_event"`
	}
	if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
		t.Errorf("%s %s: %v", r.Method, r.URL, err)
	}
	issue.Title, issue.Body = cmp.Or(sent.Title, issue.Title), cmp.Or(sent.Description, issue.Body)
	if sent.Labels != "" {
		issue.Labels = strings.Split(sent.Labels, ",")
	}
	if sent.StateEvent == "close" {
		issue.State = "closed"
	}
	return issue
}

// page returns the page that the request selects with per_page and page.
func page(r *http.Request, all []*comment) []*comment {
	size, errSize := strconv.Atoi(r.URL.Query().Get("per_page"))
	number, errNumber := strconv.Atoi(r.URL.Query().Get("page"))
	if errSize != nil || errNumber != nil {
		size, number = 20, 1
	}
	from := min((number-1)*size, len(all))
	return all[from:min(from+size, len(all))]
}

// run runs a script of a pipeline against the fake.
func (h *codeHost) run(t *testing.T, token, path string, arguments ...string) (string, error) {
	t.Helper()
	return script{
		text:   "set -- " + strings.Join(arguments, " ") + "\n. '" + example(path) + "'",
		folder: filepath.Dir(arguments[len(arguments)-1]), shell: []string{"sh"},
		env: append(os.Environ(), "NO_PROXY=127.0.0.1", "GITHUB_API_URL="+h.url, "GITHUB_REPOSITORY=research/servers",
			"GITHUB_TOKEN="+token, "CI_API_V4_URL="+h.url, "CI_PROJECT_ID=1", "GITLAB_TOKEN="+token),
	}.run(t)
}

// must is run for a script that must succeed.
func (h *codeHost) must(t *testing.T, path string, arguments ...string) string {
	t.Helper()
	output, err := h.run(t, ciToken, path, arguments...)
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", path, arguments, err, output)
	}
	return output
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "costs.md")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Each script keeps one comment, which it finds among those of others, and prints it for the commit that was merged.
func TestCIScripts_KeepOneComment(t *testing.T) {
	needs(t, "curl", "jq")
	commands := map[string]string{ciGitHub + "/ci/github.sh": "comment", ciGitLab + "/ci/gitlab.sh": "note"}
	for path, command := range commands {
		t.Run(filepath.Base(path), func(t *testing.T) {
			h := newCodeHost(t)
			for n := range 120 { // more than a page
				other := addComment(&h.comments)
				other.User.Login, other.Author.ID, other.Body = "somebody", 99, fmt.Sprint("comment ", n)
			}
			h.comments[7].Body = ciMarker + "forged"
			if printed := h.must(t, path, "reviewed", mergedCommit); printed != "" {
				t.Errorf("without a comment of the bot the review is %q", printed)
			}
			for _, text := range []string{"first", "second"} {
				h.must(t, path, command, "1", writeFile(t, ciMarker+text))
			}
			if len(h.comments) != 121 || h.comments[120].Body != ciMarker+"second" {
				t.Errorf("there are %d comments, the last one is %+v", len(h.comments), h.comments[len(h.comments)-1])
			}
			if printed := h.must(t, path, "reviewed", mergedCommit); printed != ciMarker+"second\n" {
				t.Errorf("the review is %q", printed)
			}
			if printed := h.must(t, path, "reviewed", "unmerged"); printed != "" {
				t.Errorf("the review of another commit is %q", printed)
			}
			// An API that fails is no review without servers.
			if printed, err := h.run(t, "wrong", path, "reviewed", mergedCommit); err == nil {
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
			h := newCodeHost(t)
			const title = "Servers differ from the configuration"
			other := addComment(&h.issues)
			other.User.Login, other.Author.ID, other.Title, other.Labels = "somebody", 99, title, []string{"drift"}
			h.must(t, path, "close")
			h.must(t, path, "issue", writeFile(t, "first"))
			h.must(t, path, "issue", writeFile(t, "second"))
			if len(h.issues) != 2 || h.issues[1].Title != title || h.issues[1].Body != "second" || h.issues[1].State != "open" {
				t.Errorf("there are %d issues, the last one is %+v", len(h.issues), h.issues[len(h.issues)-1])
			}
			h.must(t, path, "close")
			h.must(t, path, "close")
			if h.issues[1].State != "closed" || other.State != "open" || other.Body != "" {
				t.Errorf("the issues are %+v and %+v", other, h.issues[1])
			}
			h.must(t, path, "issue", writeFile(t, strings.Repeat("ж", 70000)))
			if length := len([]rune(h.issues[2].Body)); len(h.issues) != 3 || length < 65000 ||
				path == ciGitHub+"/ci/github.sh" && length > 65536 {
				t.Errorf("a closed issue was reused, or the body has the wrong length: %d issues", len(h.issues))
			}
			if printed, err := h.run(t, "wrong", path, "close"); err == nil {
				t.Errorf("with a wrong token it succeeds and prints %q", printed)
			}
		})
	}
}

// stub writes a program for sh into a folder.
func stub(t *testing.T, folder, name, text string) {
	t.Helper()
	if err := errors.Join(
		os.MkdirAll(folder, 0o700),
		os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700),
	); err != nil {
		t.Fatal(err)
	}
}

// providerFolder is the folder of a version of the provider after init, in the data folder of a CLI.
func providerFolder(folder, host, version string) string {
	return filepath.Join(folder, "providers", host, "gpurent", "gpurent", version, "linux_amd64")
}

// gpurent.sh runs the version in the lock file, with its arguments and exit status.
func TestCIScripts_RunTheLockedProvider(t *testing.T) {
	const lock = `provider "%[1]s/other/other" {
  version = "9.9.9"
}

provider "%[1]s/gpurent/gpurent" {
  version     = "0.2.0"
  constraints = ">= 0.1.0"
  hashes = [
    "h1:x=",
  ]
}

provider "%[1]s/zzz/gpurent-not" {
  version = "0.3.0"
}
`
	for name, test := range map[string]struct {
		data, host, lock string
		status           int
		want             string
	}{
		"Terraform":           {".terraform", "registry.terraform.io", lock, 7, "0.2.0 [cost][a b]\n"},
		"OpenTofu":            {".terraform", "registry.opentofu.org", lock, 7, "0.2.0 [cost][a b]\n"},
		"another data folder": {"data", "registry.terraform.io", lock, 7, "0.2.0 [cost][a b]\n"},
		"no lock file":        {".terraform", "registry.terraform.io", "", 1, "run init first"},
		"another locked one": {
			".terraform", "registry.terraform.io", strings.Replace(lock, "0.2.0", "0.4.0", 1), 1, "run init first",
		},
		"no provider in there": {
			"data", "registry.terraform.io", strings.Replace(lock, "/gpurent/", "/x/", 1), 1, "run init first",
		},
	} {
		for shell, command := range shells(t) {
			t.Run(name+"/"+shell, func(t *testing.T) {
				folder := t.TempDir()
				for _, version := range []string{"0.1.0", "0.2.0", "0.3.0"} {
					stub(t, providerFolder(filepath.Join(folder, test.data), test.host, version),
						"terraform-provider-gpurent_v"+version, `printf '`+version+` '; printf '[%s]' "$@"; echo; exit 7`)
				}
				if test.lock != "" {
					lock := strings.ReplaceAll(test.lock, "%[1]s", test.host)
					if err := os.WriteFile(filepath.Join(folder, ".terraform.lock.hcl"), []byte(lock), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				env := os.Environ()
				if test.data != ".terraform" {
					env = append(env, "TF_DATA_DIR="+test.data)
				}
				output, err := script{
					text: "set -- cost 'a b'\n. '" + example(ciGitHub, "ci", "gpurent.sh") + "'", folder: folder,
					shell: command, env: env,
				}.run(t)
				exit, ok := errors.AsType[*exec.ExitError](err)
				if !ok || exit.ExitCode() != test.status || !strings.Contains(output, test.want) {
					t.Errorf("it ended with %v and printed %q, want %d and %q", err, output, test.status, test.want)
				}
			})
		}
	}
}

// drift.sh writes an issue for a plan with changes and for unmanaged servers. It fails if either is unknown.
func TestCIScripts_Drift(t *testing.T) {
	const table, costs = "### Billed servers in no state\n\n```text\nins_1\n```\n\n", "### Server changes\n"
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
				stub(t, folder, "tf", fmt.Sprintf("case $1 in plan) exit %d ;; *) echo '{}' ;; esac", test.plan))
				stub(t, filepath.Join(folder, "ci"), "gpurent.sh", fmt.Sprintf(`case $1 in
cost) printf '<!-- gpurent costs -->\n### Server changes\n<!-- gpurent cost: AAAA -->\n' ;;
*) test "$*" = 'unmanaged state.json other.json' && printf '%%s' '%s' | sed 's/$/\n/' | grep . ; exit %d ;;
esac`, test.found, test.unmanaged))
				drift := textOf(t, example(ciGitHub, "ci", "drift.sh"))
				if err := os.WriteFile(filepath.Join(folder, "ci", "drift.sh"), []byte(drift), 0o600); err != nil {
					t.Fatal(err)
				}
				output, err := script{
					text: "exec " + strings.Join(command, " ") + " ci/drift.sh other.json", folder: folder, shell: []string{"sh"},
					env: append(os.Environ(), "TF="+filepath.Join(folder, "tf")),
				}.run(t)
				status := 0
				if exit, ok := errors.AsType[*exec.ExitError](err); ok {
					status = exit.ExitCode()
				}
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
	if len(snippets) != 1 || snippets[0].language != "sh" {
		t.Fatalf("the README has the snippets %v, want one of shell", snippets)
	}
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
		name: "the README", text: snippets[0].text, folder: t.TempDir(), shell: []string{"bash", "-eu"},
		env: append(os.Environ(), "NO_PROXY=127.0.0.1", "AWS_ENDPOINT_URL_S3="+store.URL,
			"AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret"),
	}.must(t)
	if printed != "200 412 " {
		t.Errorf("it prints %q", printed)
	}
}

// Every script of the examples is valid in each shell of this machine.
func TestExampleScripts_Parse(t *testing.T) {
	scripts := filesIn(t, "examples", ".sh")
	for _, file := range scripts {
		for name, shell := range shells(t) {
			output, err := script{
				text: textOf(t, file), folder: filepath.Dir(file), shell: append(slices.Clone(shell), "-n"), env: os.Environ(),
			}.run(t)
			if err != nil {
				t.Errorf("%s %s: %v\n%s", name, file, err, output)
			}
		}
	}
	if len(scripts) < 10 {
		t.Errorf("only %d scripts were found", len(scripts))
	}
}
