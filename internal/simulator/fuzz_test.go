package simulator_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// The fuzz targets reach every parser of the simulator. In each of them, whatever is sent is either done as the document
// says, or refused as the document says; and what is refused has changed nothing.

// target is the simulator that a fuzz target sends its requests to. It lasts until something has changed: making one
// takes more time than asking it.
type target struct {
	rig   *rig
	state string // its digest
	// prepare, if any, is what is there before the first request.
	prepare func(*rig)
}

// ready returns the simulator in its first state.
func (x *target) ready(t testing.TB) *rig {
	t.Helper()
	if x.rig == nil {
		x.rig = bareRig(t, simulator.Config{Seed: 7, Clock: simulator.ClockManual, Start: historyStart, Boot: boot, APIKey: testKey, Market: simulator.MarketStill})
		if x.prepare != nil {
			x.prepare(x.rig)
		}
		x.state = x.rig.digest()
	}
	x.rig.t = t
	t.Cleanup(func() {
		if t.Failed() {
			x.rig = nil // who knows in what state it is
		}
	})
	return x.rig
}

// unchanged fails the test when a request that was refused has changed something. It returns whether it was done.
func (x *target) unchanged(t testing.TB, done bool) bool {
	t.Helper()
	r := x.rig
	if done {
		x.rig = nil
		return true
	}
	if after := r.digest(); after != x.state {
		was, is := strings.Split(x.state, "\n"), strings.Split(after, "\n")
		n := 0
		for n < len(was) && n < len(is) && was[n] == is[n] {
			n++
		}
		t.Fatalf("a refused request has changed\n%s\nto\n%s", was[n:], is[n:])
	}
	return false
}

// send makes a request that need not make sense; false where no server would hand it on.
func (r *rig) send(method, target, body string, header http.Header) (answer, bool) {
	if u, err := url.ParseRequestURI(target); err != nil || u.Host != "" || method == "" {
		return answer{}, false
	}
	req, err := http.NewRequestWithContext(r.t.Context(), method, "http://127.0.0.1"+target, strings.NewReader(body))
	if err != nil {
		return answer{}, false
	}
	req.RemoteAddr = "127.0.0.1:40000"
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+r.key)
	for name, values := range header {
		for _, value := range values {
			if strings.TrimSpace(value) != value || strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
				return answer{}, false
			}
		}
		req.Header[name] = values
	}
	rec := httptest.NewRecorder()
	r.Handler().ServeHTTP(rec, req)
	return answer{r.t, rec.Code, rec.Header(), rec.Body.Bytes()}, true
}

// api sends a body to an operation of the API.
func (r *rig) api(method, path, body string) answer {
	r.t.Helper()
	a, ok := r.send(method, "/api/v1"+path, body, nil)
	if !ok {
		r.t.Fatalf("%s %s cannot be sent", method, path)
	}
	return a
}

// digest is all that a refused request must leave as it was.
func (r *rig) digest() string {
	r.t.Helper()
	o := r.Overview()
	seen := fmt.Sprint(o.Now, o.Instances, o.Total, o.Balance.BalanceKop, o.Balance.CreditLimitKop, len(o.History), o.Ledger)
	for _, path := range []string{"/ssh-keys", "/templates?limit=200", "/api-keys", "/gpus"} {
		a := r.raw("GET", "/api/v1"+path, nil)
		if a.status != http.StatusOK {
			r.t.Fatalf("%s: %d %s", path, a.status, a.raw)
		}
		seen += string(a.raw)
	}
	return seen
}

// codes are the documented errors by status; the last two stand for HTTP conditions that the document does not name.
var codes = map[int][]string{
	400: {"authorization_pending", "slow_down", "access_denied", "expired_token"}, 401: {"unauthorized"},
	402: {"insufficient_funds"}, 403: {"forbidden"}, 404: {"not_found"}, 409: {"conflict"}, 422: {"validation_error"},
	429: {"rate_limited"}, 503: {"provider_unavailable"}, 405: {"not_found"}, 413: {"validation_error"},
}

// judgeControl is for the control API: it refuses a body with fields that it does not have, and names them.
func (a answer) judgeControl(statuses []int, body string, fields ...string) bool {
	a.t.Helper()
	for name := range members[json.RawMessage](a.t, body) {
		if slices.Contains(fields, name) || slices.Contains(fields, name+"?") {
			continue
		}
		if a.status < 300 {
			a.t.Fatalf("accepted %s in spite of %s: %s", body, name, a.raw)
		}
		fields = append(fields, name)
	}
	return a.judge(statuses, body, fields...)
}

// judge fails the test unless an answer has one of the statuses and is well formed. The fields are those that the
// operation has, with a question mark where they may be null: issues name one of them. It returns whether the request
// was done.
func (a answer) judge(statuses []int, body string, fields ...string) bool {
	a.t.Helper()
	if !slices.Contains(append(statuses, http.StatusRequestEntityTooLarge), a.status) {
		a.t.Fatalf("status %d, want one of %v: %s", a.status, statuses, a.raw)
	}
	if a.status < 300 && a.header.Get("Idempotent-Replayed") == "" {
		for name, raw := range members[json.RawMessage](a.t, body) {
			if string(raw) == "null" && slices.Contains(fields, name) {
				a.t.Fatalf("accepted %s in spite of a null %s: %s", body, name, a.raw)
			}
		}
	}
	if a.status == http.StatusNoContent {
		if len(a.raw) > 0 {
			a.t.Fatalf("204 with a body: %s", a.raw)
		}
		return true
	}
	if got := a.header.Get("Content-Type"); !strings.HasPrefix(got, "application/json") || !json.Valid(a.raw) {
		a.t.Fatalf("%s: %s", got, a.raw)
	}
	if a.status < 300 {
		return true
	}
	p := a.strictProblem()
	if !slices.Contains(codes[a.status], p.Error.Code) || p.Error.Message == "" {
		a.t.Fatalf("status %d with %s", a.status, a.raw)
	}
	if a.status == http.StatusUnprocessableEntity {
		a.judgeIssues(p, append(fields, "body", "query"))
	}
	return false
}

// strictProblem reads an error that has no member which the document does not know.
func (a answer) strictProblem() problem {
	a.t.Helper()
	var p problem
	var outer struct {
		Error struct {
			Code, Message *string
			Details       map[string]any
		}
	}
	d := json.NewDecoder(bytes.NewReader(a.raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&outer); err != nil {
		a.t.Fatalf("%v: %s", err, a.raw)
	}
	if _, err := d.Token(); err != io.EOF {
		a.t.Fatalf("more than one value: %s", a.raw)
	}
	a.into(&p)
	return p
}

func (a answer) judgeIssues(p problem, fields []string) {
	a.t.Helper()
	if len(p.Error.Details.Issues) == 0 {
		a.t.Fatalf("a validation error without issues: %s", a.raw)
	}
	for _, issue := range p.Error.Details.Issues {
		name, _, _ := strings.Cut(issue.Field, "[")
		if !slices.Contains(fields, name) && !slices.Contains(fields, name+"?") || issue.Message == "" {
			a.t.Fatalf("an issue about %q: %s", issue.Field, a.raw)
		}
	}
}

// members reads the members of a JSON object that are a T, as a client means them; what is no object has none.
func members[T any](t testing.TB, body string) map[string]T {
	t.Helper()
	all := map[string]json.RawMessage{}
	if json.Unmarshal([]byte(body), &all) != nil {
		return nil
	}
	found := map[string]T{}
	for name, raw := range all {
		var value T
		_, anything := any(value).(json.RawMessage)
		if (anything || string(raw) != "null") && json.Unmarshal(raw, &value) == nil {
			found[name] = value
		}
	}
	return found
}
