package handbook_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// What opens the fake GitLab: the tokens of jobs, as their users' roles have it, and that of the project's bot.
const (
	developerToken, maintainerToken = "job-token-of-a-developer", "job-token-of-a-maintainer"
	botToken                        = "token-of-the-bot"
	botID                           = 7
)

// gitlabAPI is as much of GitLab's API as the example asks for: notes, and the state with its lock.
type gitlabAPI struct {
	url   string
	mu    sync.Mutex
	notes map[string][]*note // by merge request
	// merged are the numbers of merge requests by the commit that merged them.
	merged map[string]int
	// state is what is kept, lock who has it, written all that was ever kept.
	state, lock []byte
	written     strings.Builder
}

type note struct {
	ID     int    `json:"id"`
	Body   string `json:"body"`
	Author struct {
		ID int `json:"id"`
	} `json:"author"`
}

func newGitLabAPI(t *testing.T) *gitlabAPI {
	t.Helper()
	g := &gitlabAPI{notes: map[string][]*note{}, merged: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /user", g.bot(func(r *http.Request) any { return map[string]any{"id": botID} }))
	mux.HandleFunc("GET /projects/1/merge_requests/{request}/notes", g.bot(func(r *http.Request) any {
		return pageOf(r, g.notes[r.PathValue("request")])
	}))
	mux.HandleFunc("POST /projects/1/merge_requests/{request}/notes", g.bot(func(r *http.Request) any {
		return g.add(r.PathValue("request"), botID, read(t, r, &note{}).Body)
	}))
	mux.HandleFunc("PUT /projects/1/merge_requests/{request}/notes/{id}", g.bot(func(r *http.Request) any {
		all := g.notes[r.PathValue("request")]
		n := slices.IndexFunc(all, func(c *note) bool { return strconv.Itoa(c.ID) == r.PathValue("id") })
		if n < 0 {
			return nil
		}
		return read(t, r, all[n])
	}))
	mux.HandleFunc("GET /projects/1/repository/commits/{commit}/merge_requests", g.bot(func(r *http.Request) any {
		if number := g.merged[r.PathValue("commit")]; number != 0 {
			return []any{map[string]any{"iid": number, "state": "merged"}}
		}
		return []any{}
	}))
	mux.HandleFunc("/projects/1/terraform/state/research", g.keep)
	mux.HandleFunc("/projects/1/terraform/state/research/lock", g.locks)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	g.url = server.URL
	return g
}

// bot answers with what the handler returns, as JSON, to the token of the project's bot.
func (g *gitlabAPI) bot(handle func(*http.Request) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		defer g.mu.Unlock()
		if r.Header.Get("Private-Token") != botToken {
			http.Error(w, "401 Unauthorized", http.StatusUnauthorized)
			return
		}
		answer(w, handle(r))
	}
}

// add lets somebody write a note.
func (g *gitlabAPI) add(request string, author int, body string) *note {
	added := &note{ID: 100 + len(g.notes[request]), Body: body}
	added.Author.ID = author
	g.notes[request] = append(g.notes[request], added)
	return added
}

// ours are the bot's notes on a merge request.
func (g *gitlabAPI) ours(request int) (bodies []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, n := range g.notes[strconv.Itoa(request)] {
		if n.Author.ID == botID {
			bodies = append(bodies, n.Body)
		}
	}
	return bodies
}

// admits tells whether the request has the role it needs: a Developer reads, a Maintainer writes.
func admits(w http.ResponseWriter, r *http.Request) bool {
	user, token, _ := r.BasicAuth()
	if user == "gitlab-ci-token" && (token == maintainerToken || token == developerToken && r.Method == http.MethodGet) {
		return true
	}
	http.Error(w, "403 Forbidden", http.StatusForbidden)
	return false
}

// keep reads and writes the state. Whoever writes must have the lock.
func (g *gitlabAPI) keep(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case !admits(w, r):
	case r.Method == http.MethodGet && g.state == nil:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodGet:
		if _, err := w.Write(g.state); err != nil {
			panic(http.ErrAbortHandler)
		}
	case r.Method != http.MethodPost || !strings.Contains(string(g.lock), `"`+r.URL.Query().Get("ID")+`"`):
		http.Error(w, "409 Conflict", http.StatusConflict)
	default:
		state, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		g.state = state
		g.written.Write(state)
	}
}

// locks takes the lock and gives it back.
func (g *gitlabAPI) locks(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	switch {
	case !admits(w, r):
	case r.Method == http.MethodDelete:
		g.lock = nil
	case r.Method == http.MethodPost && g.lock == nil:
		g.lock = body
	default:
		w.WriteHeader(http.StatusLocked)
		if _, err := w.Write(g.lock); err != nil {
			panic(http.ErrAbortHandler)
		}
	}
}

// hold sets the lock, as a run does that nobody here knows; nil gives it back.
func (g *gitlabAPI) hold(lock []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lock = lock
}

// everWritten is all that was ever kept.
func (g *gitlabAPI) everWritten() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.written.String()
}
