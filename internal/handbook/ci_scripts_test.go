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
)

// note is a comment in the JSON of both services.
type note = map[string]any

// codeHost is a fake of the parts of GitHub's and GitLab's APIs that the scripts call: the comments of request 1.
type codeHost struct {
	t        *testing.T
	url      string
	mu       sync.Mutex
	comments []note
}

func newCodeHost(t *testing.T) *codeHost {
	t.Helper()
	h := &codeHost{t: t}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	h.url = server.URL
	return h
}

// add adds a comment. Only the bot has the id 7, with either of its names.
func (h *codeHost) add(login string, author int) note {
	added := note{"id": len(h.comments) + 1, "user": note{"login": login}, "author": note{"id": author}}
	h.comments = append(h.comments, added)
	return added
}

func (h *codeHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer "+ciToken && r.Header.Get("Private-Token") != ciToken {
		http.Error(w, "the token is missing or wrong", http.StatusUnauthorized)
		return
	}
	last := path.Base(r.URL.Path)
	isList := last == "comments" || last == "notes"
	var answer any
	switch {
	case r.URL.Path == "/user":
		answer = note{"id": 7}
	case isList && r.Method == http.MethodGet:
		answer = h.page(r)
	case isList && r.Method == http.MethodPost:
		h.change(r, h.add("github-actions[bot]", 7))
	case r.Method == http.MethodPatch, r.Method == http.MethodPut:
		id, err := strconv.Atoi(last)
		if err != nil || id > len(h.comments) {
			http.NotFound(w, r)
			return
		}
		h.change(r, h.comments[id-1])
	default:
		h.t.Errorf("%s %s", r.Method, r.URL)
	}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		h.t.Error(err)
	}
}

// change sets what a request sends.
func (h *codeHost) change(r *http.Request, c note) {
	var sent note
	if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
		h.t.Errorf("%s %s: %v", r.Method, r.URL, err)
	}
	maps.Copy(c, sent)
}

// page returns the comments of the page in the query.
func (h *codeHost) page(r *http.Request) []note {
	page, errPage := strconv.Atoi(r.URL.Query().Get("page"))
	size, errSize := strconv.Atoi(r.URL.Query().Get("per_page"))
	if errPage != nil || errSize != nil {
		h.t.Errorf("no page in %s", r.URL)
		return nil
	}
	from := min((page-1)*size, len(h.comments))
	return h.comments[from:min(from+size, len(h.comments))]
}

// Each script keeps one comment, which it finds among those of others.
func TestCIScripts_KeepOneComment(t *testing.T) {
	needs(t, "curl", "jq")
	for _, pipeline := range []string{ciGitHub, ciGitLab} {
		t.Run(path.Base(pipeline), func(t *testing.T) {
			t.Parallel()
			h := newCodeHost(t)
			for range 120 { // more than a page
				h.add("somebody", 99)["body"] = ciMarker + "forged"
			}
			run := func(token, text string) int {
				output, status := script{
					text: "set -- 1 '" + write(t, ciMarker+text, t.TempDir(), "costs.md") + "'\n. '" +
						example(pipeline, "ci", "comment.sh") + "'",
					folder: t.TempDir(),
					env: append(os.Environ(), "NO_PROXY=127.0.0.1", "GITHUB_API_URL="+h.url,
						"GITHUB_REPOSITORY=research/servers", "GITHUB_TOKEN="+token, "CI_API_V4_URL="+h.url, "CI_PROJECT_ID=1",
						"GITLAB_TOKEN="+token),
				}.run(t)
				t.Log(output)
				return status
			}
			for _, text := range []string{"first", "second"} {
				if status := run(ciToken, text); status != 0 {
					t.Fatalf("exit status %d", status)
				}
			}
			if last := h.comments[len(h.comments)-1]; len(h.comments) != 121 || last["body"] != ciMarker+"second" {
				t.Errorf("there are %d comments, the last one is %v", len(h.comments), last)
			}
			if status := run("wrong", "third"); status == 0 {
				t.Error("with a wrong token it succeeds")
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

// drift.sh fails for a plan with changes and for unmanaged servers, and if either is unknown.
func TestCIScripts_Drift(t *testing.T) {
	for name, test := range map[string]struct{ plan, unmanaged, want int }{
		"nothing":           {0, 0, 0},
		"drift":             {2, 0, 2},
		"unmanaged servers": {0, 3, 3},
		"both":              {2, 3, 3},
		"a failed plan":     {1, 3, 1},
		"no account":        {2, 1, 1},
	} {
		for shell, command := range shells(t) {
			t.Run(name+"/"+shell, func(t *testing.T) {
				folder := t.TempDir()
				write(t, fmt.Sprintf("#!/bin/sh\ncase $1 in plan) exit %d ;; *) echo '{}' ;; esac\n", test.plan), folder, "tf")
				write(t, fmt.Sprintf("test \"$*\" = 'unmanaged state.json other.json' || exit 9\n"+
					"grep -q '{}' state.json || exit 8\nexit %d\n", test.unmanaged), folder, "ci", "gpurent.sh")
				write(t, textOf(t, example(ciGitHub, "ci", "drift.sh")), folder, "ci", "drift.sh")
				output, status := script{
					text: "exec " + strings.Join(command, " ") + " ci/drift.sh other.json", folder: folder,
					env: append(os.Environ(), "TF="+filepath.Join(folder, "tf")),
				}.run(t)
				if status != test.want {
					t.Errorf("it ended with %d, want %d\n%s", status, test.want, output)
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
