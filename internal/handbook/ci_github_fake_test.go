package handbook_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// aRepository is the one that the fakes know.
const aRepository = "research/servers"

// ourBot is who writes with the token of a workflow.
const ourBot = "github-actions[bot]"

// githubAPI is as much of GitHub's API as the example asks for, with the permissions that each call needs.
type githubAPI struct {
	url string
	mu  sync.Mutex
	// permissions are what each token may.
	permissions map[string]map[string]string
	comments    map[string][]*remark // by pull request
	issues      []*remark
	// merged are the numbers of pull requests by the commit that merged them.
	merged map[string]int
}

// remark is a comment or an issue.
type remark struct {
	ID     int                    `json:"id"`
	Number int                    `json:"number,omitempty"`
	Title  string                 `json:"title,omitempty"`
	Body   string                 `json:"body"`
	State  string                 `json:"state,omitempty"`
	Labels []any                  `json:"labels,omitempty"`
	User   struct{ Login string } `json:"-"`
}

// MarshalJSON writes the author as GitHub does.
func (r *remark) MarshalJSON() ([]byte, error) {
	type plain remark
	return json.Marshal(struct {
		*plain
		User map[string]string `json:"user"`
	}{(*plain)(r), map[string]string{"login": r.User.Login}})
}

func newGitHubAPI(t *testing.T) *githubAPI {
	t.Helper()
	g := &githubAPI{permissions: map[string]map[string]string{}, comments: map[string][]*remark{}, merged: map[string]int{}}
	mux := http.NewServeMux()
	at := "/repos/" + aRepository
	mux.HandleFunc("GET "+at+"/issues/{pull}/comments", g.may("pull-requests", "read", func(w http.ResponseWriter, r *http.Request) any {
		return pageOf(r, g.comments[r.PathValue("pull")])
	}))
	mux.HandleFunc("POST "+at+"/issues/{pull}/comments", g.may("pull-requests", "write", func(w http.ResponseWriter, r *http.Request) any {
		return g.comment(t, r.PathValue("pull"), ourBot, r)
	}))
	mux.HandleFunc("PATCH "+at+"/issues/comments/{id}", g.may("pull-requests", "write", func(w http.ResponseWriter, r *http.Request) any {
		for _, all := range g.comments {
			if n := slices.IndexFunc(all, func(c *remark) bool { return strconv.Itoa(c.ID) == r.PathValue("id") }); n >= 0 {
				return read(t, r, all[n])
			}
		}
		return nil
	}))
	mux.HandleFunc("GET "+at+"/commits/{commit}/pulls", g.may("pull-requests", "read", func(w http.ResponseWriter, r *http.Request) any {
		if number := g.merged[r.PathValue("commit")]; number != 0 {
			return []any{map[string]any{"number": number, "merged_at": "2026-01-01T00:00:00Z"}}
		}
		return []any{}
	}))
	mux.HandleFunc("GET "+at+"/issues", g.may("issues", "read", func(w http.ResponseWriter, r *http.Request) any {
		query := r.URL.Query()
		return slices.DeleteFunc(append([]*remark{}, g.issues...), func(i *remark) bool {
			return i.State != query.Get("state") || !slices.Contains(i.Labels, any(query.Get("labels")))
		})
	}))
	mux.HandleFunc("POST "+at+"/issues", g.may("issues", "write", func(w http.ResponseWriter, r *http.Request) any {
		issue := read(t, r, &remark{ID: 1000 + len(g.issues), Number: 1 + len(g.issues), State: "open"})
		issue.User.Login = ourBot
		g.issues = append(g.issues, issue)
		return issue
	}))
	mux.HandleFunc("PATCH "+at+"/issues/{number}", g.may("issues", "write", func(w http.ResponseWriter, r *http.Request) any {
		number, err := strconv.Atoi(r.PathValue("number"))
		if err != nil || number < 1 || number > len(g.issues) {
			return nil
		}
		return read(t, r, g.issues[number-1])
	}))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	g.url = server.URL
	return g
}

// may answers with what the handler returns, as JSON, to a token with the permission; nothing is not found.
func (g *githubAPI) may(what, how string, handle func(http.ResponseWriter, *http.Request) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		defer g.mu.Unlock()
		has := g.permissions[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")][what]
		if has != "write" && has != how {
			http.Error(w, "Resource not accessible by integration", http.StatusForbidden)
			return
		}
		answer(w, handle(w, r))
	}
}

// answer writes JSON. Nothing is not found.
func answer(w http.ResponseWriter, what any) {
	if what == nil {
		http.Error(w, "Not Found", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(what); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// read fills something from the body of a request.
func read[T any](t *testing.T, r *http.Request, into *T) *T {
	t.Helper()
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		t.Errorf("%s %s: %v", r.Method, r.URL, err)
	}
	return into
}

// pageOf is the page of a listing that a request asks for.
func pageOf[T any](r *http.Request, all []T) []T {
	query := r.URL.Query()
	size, sizeErr := strconv.Atoi(query.Get("per_page"))
	page, pageErr := strconv.Atoi(query.Get("page"))
	if sizeErr != nil || pageErr != nil {
		size, page = 30, 1
	}
	from := min((page-1)*size, len(all))
	return append([]T{}, all[from:min(from+size, len(all))]...)
}

func (g *githubAPI) comment(t *testing.T, pull, author string, r *http.Request) *remark {
	t.Helper()
	id := 1
	for _, all := range g.comments {
		id += len(all)
	}
	added := read(t, r, &remark{ID: id})
	added.User.Login = author
	g.comments[pull] = append(g.comments[pull], added)
	return added
}

// chat lets others write on a pull request: more than fits on a page, and one who imitates us.
func (g *githubAPI) chat(t *testing.T, pull int) {
	t.Helper()
	for n := range 120 {
		said := fmt.Sprintf(`{"body": "remark %d"}`, n)
		if n == 7 {
			said = `{"body": "<!-- gpurent costs -->\nfor nothing"}`
		}
		request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(said))
		g.comment(t, strconv.Itoa(pull), "somebody", request)
	}
}

// ours are what the workflows wrote on a pull request.
func (g *githubAPI) ours(pull int) (bodies []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.comments[strconv.Itoa(pull)] {
		if c.User.Login == ourBot {
			bodies = append(bodies, c.Body)
		}
	}
	return bodies
}

// token issues one with the permissions of a job.
func (g *githubAPI) token(permissions map[string]string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	token := fmt.Sprintf("ghs_token%d", len(g.permissions))
	g.permissions[token] = permissions
	return token
}
