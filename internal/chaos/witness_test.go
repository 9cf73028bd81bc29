package chaos

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"sync"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// witness sees all requests, and remembers what each key has rented and every
// secret that was ever issued.
type witness struct {
	mu      sync.Mutex
	servers map[string]map[string]bool // ids by idempotency key
	secrets map[string]bool
}

func newWitness() *witness {
	return &witness{servers: map[string]map[string]bool{}, secrets: map[string]bool{}}
}

// wrap looks at what the service answers, also where the answer gets lost.
func (w *witness) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		create := r.Method == http.MethodPost && !strings.HasSuffix(r.URL.Path, "/start") && !strings.HasSuffix(r.URL.Path, "/stop")
		if !create {
			next.ServeHTTP(out, r)
			return
		}
		answer := &copied{ResponseWriter: out}
		next.ServeHTTP(answer, r)
		var made struct{ ID, Slug, Secret string }
		if json.Unmarshal(answer.body.Bytes(), &made) != nil || made.ID+made.Slug == "" {
			return // a refusal
		}
		w.issued(made.Secret)
		if key := r.Header.Get("Idempotency-Key"); key != "" {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.servers[key] == nil {
				w.servers[key] = map[string]bool{}
			}
			w.servers[key][made.ID] = true
		}
	})
}

// copied keeps what is answered.
type copied struct {
	http.ResponseWriter
	body bytes.Buffer
}

func (c *copied) Write(part []byte) (int, error) {
	c.body.Write(part)
	return c.ResponseWriter.Write(part)
}

func (c *copied) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (w *witness) issued(secret string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if secret != "" {
		w.secrets[secret] = true
	}
}

// rented is which servers each key has rented.
func (w *witness) rented() map[string][]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := map[string][]string{}
	for key, ids := range w.servers {
		for id := range ids {
			all[key] = append(all[key], id)
		}
	}
	return all
}

// secrets looks for every secret in all logs and in all that was printed.
func (w *walk) secrets() {
	texts := map[string]string{"log": w.space.Trace(), "output": strings.Join(w.told, "\n")}
	for secret := range w.witness.secrets {
		if err := acctest.Leak(secret, texts); err != nil {
			w.Error(err)
		}
	}
}

// ledgerRight: the balance is the sum of all that was ever posted.
func (w *walk) ledgerRight() {
	var sum int64
	entries := acctest.List(w.env, "transactions?limit=200", func(entry struct {
		Amount int64 `json:"amount_kop"`
	},
	) {
		sum += entry.Amount
	})
	if balance := acctest.Fetch[struct {
		Balance int64 `json:"balance_kop"`
	}](w.env, "balance").Balance; balance != sum || entries == 0 {
		w.Errorf("the balance is %d, and %d entries sum up to %d", balance, entries, sum)
	}
}
