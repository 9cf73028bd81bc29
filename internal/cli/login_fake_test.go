package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/credentials"
)

const (
	address    = "https://rent.example/api/v1"
	deviceCode = "DEVICEdeviceDEVICEdeviceDEVICEdeviceDEVI"
	newKey     = "gpr_NEWKaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	oldKey     = "gpr_OLDKaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
)

// answer is one end of a request.
type answer struct {
	status int
	header string // "Name: value", or empty
	body   string
	err    error
	// during happens when the request has arrived. It may wait for the request's context.
	during func(*http.Request)
}

func refused(status int, code string) answer {
	return answer{status: status, body: fmt.Sprintf(`{"error":{"code":%q,"message":"no"}}`, code)}
}

// What the service says to a poll.
var (
	pending  = refused(400, "authorization_pending")
	slowDown = refused(400, "slow_down")
	denied   = refused(400, "access_denied")
	expired  = refused(400, "expired_token")
	internal = refused(500, "internal")
	cut      = answer{err: io.ErrUnexpectedEOF}
	granted  = answer{status: 200, body: fmt.Sprintf(`{"api_key":%q,"key_id":"key_new","user":{"email":"me@rent.example"}}`, newKey)}
	gone     = answer{status: 204}
)

// accountOf is the answer with the account of a key. The e-mail is JSON.
func accountOf(id, email string) answer {
	return answer{status: 200, body: fmt.Sprintf(`{"id":%q,"email":%s,"name":"Me","created_at":"2026-01-02T03:04:05Z"}`, id, email)}
}

// begun is the answer that begins a login, with other fields where they are given.
func begun(change ...string) answer {
	fields := map[string]string{
		"device_code": `"` + deviceCode + `"`, "user_code": `"ABCD-EFGH"`, "expires_in": "600", "interval": "5",
		"verification_uri": `"https://rent.example/device"`, "verification_uri_complete": `"https://rent.example/device?code=ABCD-EFGH"`,
	}
	for n := 0; n+1 < len(change); n += 2 {
		fields[change[n]] = change[n+1]
	}
	var parts []string
	for name, value := range fields {
		parts = append(parts, fmt.Sprintf("%q:%s", name, value))
	}
	return answer{status: 200, body: "{" + strings.Join(parts, ",") + "}"}
}

// fakeService answers what it is told to; the last answer of a kind repeats.
type fakeService struct {
	begin answer
	polls []answer
	keys  answer            // GET /api-keys
	ends  map[string]answer // DELETE /api-keys/ID
	me    map[string]answer // GET /me, by the first characters of the key; accountOf("usr_me") where there is none

	mu     sync.Mutex
	start  time.Time
	polled []time.Duration // when, since the start
	ended  []string        // ID with the first characters of the key
	whose  []string        // the first characters of keys whose account was asked for
	named  string          // the body that began the login
}

func (s *fakeService) RoundTrip(req *http.Request) (*http.Response, error) {
	a := s.choose(req)
	if a.during != nil {
		a.during(req)
		if err := req.Context().Err(); err != nil {
			return nil, err
		}
	}
	if a.err != nil {
		return nil, a.err
	}
	header := http.Header{"Content-Type": {"application/json"}}
	if name, value, ok := strings.Cut(a.header, ": "); ok {
		header.Set(name, value)
	}
	return &http.Response{StatusCode: a.status, Header: header, Body: io.NopCloser(strings.NewReader(a.body)), Request: req}, nil
}

func (s *fakeService) choose(req *http.Request) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch path := strings.TrimPrefix(req.URL.Path, "/api/v1"); {
	case path == "/auth/device":
		body, err := io.ReadAll(req.Body)
		s.named = string(body)
		if err != nil {
			return answer{err: err}
		}
		return s.begin
	case path == "/auth/device/token":
		s.polled = append(s.polled, time.Since(s.start))
		return s.polls[min(len(s.polled), len(s.polls))-1]
	case req.Method == http.MethodDelete:
		id := filepath.Base(path)
		s.ended = append(s.ended, id+" by "+strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")[:8])
		if a, ok := s.ends[id]; ok {
			return a
		}
		return gone
	case path == "/me":
		key := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")[:8]
		s.whose = append(s.whose, key)
		if a, ok := s.me[key]; ok {
			return a
		}
		return accountOf("usr_me", `"me@rent.example"`)
	case path == "/api-keys":
		return s.keys
	}
	return answer{err: errors.New("unexpected request to " + req.URL.Path)}
}

// fakeLogin is a login at a fakeService, by somebody whose configuration is a folder of the test.
type fakeLogin struct {
	login
	service          *fakeService
	stdout, problems bytes.Buffer
}

func newFakeLogin(t *testing.T, polls ...answer) *fakeLogin {
	t.Helper()
	t.Setenv("GPURENT_API_KEY", "")
	t.Setenv("GPURENT_BASE_URL", "")
	f := &fakeLogin{service: &fakeService{begin: begun(), polls: polls, start: time.Now(), ends: map[string]answer{}}}
	f.login = login{
		site:       site{baseURL: address, file: filepath.Join(t.TempDir(), "gpurent", "credentials.json"), transport: f.service},
		clientName: "my laptop",
		screen:     &screen{out: &f.stdout, problems: &f.problems},
	}
	return f
}

// run logs in, and looks for secrets wherever something was said.
func (f *fakeLogin) run(ctx context.Context, t *testing.T) error {
	t.Helper()
	err := f.login.run(ctx)
	f.service.mu.Lock()
	defer f.service.mu.Unlock()
	noSecrets(t, f.stdout.String()+f.problems.String()+fmt.Sprintf("%v %+v %#v", err, err, err))
	return err
}

func noSecrets(t *testing.T, said string) {
	t.Helper()
	for _, secret := range []string{deviceCode, newKey, oldKey, newKey[4:], oldKey[4:]} {
		if strings.Contains(said, secret) {
			t.Errorf("a secret was told: %s", said)
		}
	}
}

// had puts a login into the file.
func (f *fakeLogin) had(t *testing.T, key credentials.Credential) {
	t.Helper()
	if _, err := credentials.Save(t.Context(), f.file, address, key); err != nil {
		t.Fatal(err)
	}
}

// kept is the key in the file.
func (f *fakeLogin) kept(t *testing.T) credentials.Credential {
	t.Helper()
	file, err := credentials.Load(f.file)
	if err != nil {
		t.Fatal(err)
	}
	found, _ := file.Find(address)
	return found
}

func seconds(of ...int) (all []time.Duration) {
	for _, s := range of {
		all = append(all, time.Duration(s)*time.Second)
	}
	return all
}

// says reports which of the words a text lacks.
func says(t *testing.T, what, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("%s does not say %q: %q", what, word, text)
		}
	}
}
