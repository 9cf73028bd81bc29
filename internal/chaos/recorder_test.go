package chaos

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// recorder records, for all requests, the servers that each idempotency key created and every secret that was issued.
type recorder struct {
	mu      sync.Mutex
	servers map[string]map[string]bool // ids by idempotency key
	secrets map[string]bool
}

func newRecorder() *recorder {
	return &recorder{servers: map[string]map[string]bool{}, secrets: map[string]bool{}}
}

// wrap records the responses to create requests, including those that a fault discards.
func (r *recorder) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		path := req.URL.Path
		if req.Method != http.MethodPost || strings.HasSuffix(path, "/start") || strings.HasSuffix(path, "/stop") {
			next.ServeHTTP(w, req)
			return
		}
		response := &copyingWriter{ResponseWriter: w}
		next.ServeHTTP(response, req)
		var created struct{ ID, Slug, Secret string }
		if json.Unmarshal(response.body.Bytes(), &created) != nil || created.ID+created.Slug == "" {
			return // an error
		}
		r.addSecret(created.Secret)
		if key := req.Header.Get("Idempotency-Key"); key != "" {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.servers[key] == nil {
				r.servers[key] = map[string]bool{}
			}
			r.servers[key][created.ID] = true
		}
	})
}

// copyingWriter keeps a copy of the response body.
type copyingWriter struct {
	http.ResponseWriter
	body bytes.Buffer
}

func (w *copyingWriter) Write(part []byte) (int, error) {
	w.body.Write(part)
	return w.ResponseWriter.Write(part)
}

func (w *copyingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (r *recorder) addSecret(secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if secret != "" {
		r.secrets[secret] = true
	}
}

// createdServers returns the ids of the servers that each idempotency key created.
func (r *recorder) createdServers() map[string][]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[string][]string{}
	for key, ids := range r.servers {
		all[key] = slices.Collect(maps.Keys(ids))
	}
	return all
}

// checkSecrets expects no secret in the log and the output of the commands.
func (r *run) checkSecrets() {
	texts := map[string]string{"log": r.workspace.Trace(), "output": strings.Join(r.log, "\n")}
	for secret := range r.recorder.secrets {
		if err := acctest.Leak(secret, texts); err != nil {
			r.Error(err)
		}
	}
}

// checkLedger expects the balance to be the sum of all transactions.
func (r *run) checkLedger() {
	type transaction struct {
		Amount int64 `json:"amount_kop"`
	}
	type account struct {
		Balance int64 `json:"balance_kop"`
	}
	var sum int64
	count := acctest.List(r.env, "transactions?limit=200", func(t transaction) { sum += t.Amount })
	if balance := acctest.Fetch[account](r.env, "balance").Balance; balance != sum || count == 0 {
		r.Errorf("the balance is %d, and the sum of %d transactions is %d", balance, count, sum)
	}
}
