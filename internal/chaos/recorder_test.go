package chaos

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// recorder records, for all requests, the last server of each idempotency key and every secret that was issued.
type recorder struct {
	mu      sync.Mutex
	servers map[string]string // the last id of each idempotency key
	secrets acctest.Secrets

	members    map[string]string // names of the active members of the fleet, by id
	destroyed  map[string]bool   // by id. A response to a repeated creation can contain them
	violations []string

	countdown     int    // write requests until kill is called; 0 for never
	killAfterWork bool   // the service processes that request
	kill          func() // kills processes of the command
}

func newRecorder() *recorder {
	return &recorder{
		servers: map[string]string{}, members: map[string]string{}, destroyed: map[string]bool{},
	}
}

// killAt calls kill at the n-th write request from now on, before or after its work; never for 0.
func (r *recorder) killAt(n int, afterWork bool, kill func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.countdown, r.killAfterWork, r.kill = n, afterWork, kill
}

// kills reports whether this request is the one at which the command is killed.
func (r *recorder) kills(req *http.Request) bool {
	if req.Method == http.MethodGet {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.countdown--
	return r.countdown == 0
}

func (r *recorder) takeViolations() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.violations
	r.violations = nil
	return taken
}

// instance is an instance in a response.
type instance struct{ ID, Slug, Name, Status string }

// active records a member of the fleet that was created or started. No other instance may be in its slot. The lock is
// held.
func (r *recorder) active(i instance) {
	if !strings.HasPrefix(i.Name, fleetName+"-") || r.destroyed[i.ID] ||
		i.Status == "destroying" || i.Status == "destroyed" {
		return
	}
	if r.members[i.ID] != "" {
		return // the response was repeated, or the member was started
	}
	r.members[i.ID] = i.Name
	for id, other := range r.members {
		if other == i.Name && id != i.ID {
			r.violations = append(r.violations, fmt.Sprintf("%s and %s are both %s", id, i.ID, i.Name))
		}
	}
}

// intercept is an acctest.Interceptor. It records the responses to write requests, including those that a fault
// discards, before the client gets them.
func (r *recorder) intercept(w http.ResponseWriter, req *http.Request, api http.Handler) {
	kills := r.kills(req)
	if kills && !r.killAfterWork {
		r.kill()
		panic(http.ErrAbortHandler)
	}
	response := acctest.Record(w, req, api)
	if response.Code < http.StatusMultipleChoices {
		r.record(req, response.Body.Bytes())
	}
	if kills {
		r.kill()
	}
	acctest.Send(w, response)
}

// record records what a request has done.
func (r *recorder) record(req *http.Request, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var result instance
	switch id := path.Base(req.URL.Path); {
	case req.Method == http.MethodDelete:
		delete(r.members, id)
		r.destroyed[id] = true
	case req.Method != http.MethodPost || json.Unmarshal(body, &result) != nil || id == "stop":
	default:
		r.secrets.Record(body)
		r.active(result)
		if key := req.Header.Get("Idempotency-Key"); key != "" {
			if before := r.servers[key]; before != "" && before != result.ID && !r.destroyed[before] {
				r.violations = append(r.violations, fmt.Sprintf("the idempotency key %s created the servers %s and %s", key,
					before, result.ID))
			}
			r.servers[key] = result.ID
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
