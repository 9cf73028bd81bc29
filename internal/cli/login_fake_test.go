package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/credentials"
)

const (
	address    = "https://rent.example/api/v1"
	deviceCode = "DEVICEdeviceDEVICEdeviceDEVICEdeviceDEVI"
	newKey     = "gpr_NEWKaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	oldKey     = "gpr_OLDKaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
)

// response is the result of a request: an HTTP response or a transport error.
type response struct {
	status int
	header string // "Name: value", or empty
	body   string
	err    error
	// hook runs before the response. It may wait for the context of the request.
	hook func(*http.Request)
}

func apiError(status int, code string) response {
	return response{status: status, body: fmt.Sprintf(`{"error":{"code":%q,"message":"no"}}`, code)}
}

// Responses to a poll.
var (
	pending       = apiError(400, "authorization_pending")
	slowDown      = apiError(400, "slow_down")
	denied        = apiError(400, "access_denied")
	expired       = apiError(400, "expired_token")
	internal      = apiError(500, "internal")
	cutConnection = response{err: io.ErrUnexpectedEOF}
	approved      = approvedFor(`"me@rent.example"`)
	noContent     = response{status: 204}
)

// approvedFor returns the response with a new key. email is JSON.
func approvedFor(email string) response {
	return response{status: 200, body: fmt.Sprintf(`{"api_key":%q,"key_id":"key_new","user":{"email":%s}}`, newKey, email)}
}

// hang waits until the request is cut off.
func hang(req *http.Request) { <-req.Context().Done() }

// codeResponse returns a device code response. fields are pairs of a field and its JSON value that replace the
// defaults.
func codeResponse(fields ...string) response {
	values := map[string]string{
		"device_code": `"` + deviceCode + `"`, "user_code": `"ABCD-EFGH"`, "expires_in": "600", "interval": "5",
		"verification_uri":          `"https://rent.example/device"`,
		"verification_uri_complete": `"https://rent.example/device?code=ABCD-EFGH"`,
	}
	for n := 0; n+1 < len(fields); n += 2 {
		values[fields[n]] = fields[n+1]
	}
	var parts []string
	for name, value := range values {
		parts = append(parts, fmt.Sprintf("%q:%s", name, value))
	}
	return response{status: 200, body: "{" + strings.Join(parts, ",") + "}"}
}

// fakeService is a transport with fixed responses. The last response of tokens repeats.
type fakeService struct {
	code    response            // POST /auth/device
	tokens  []response          // POST /auth/device/token
	deletes map[string]response // DELETE /api-keys/ID
	account response            // GET /me

	mu          sync.Mutex
	started     time.Time
	polled      []int    // times of the polls, in seconds since started
	deleted     []string // "ID by KEY", with the first 8 characters of the key
	codeRequest string   // the body of POST /auth/device
}

func (s *fakeService) RoundTrip(req *http.Request) (*http.Response, error) {
	a := s.choose(req)
	if a.hook != nil {
		a.hook(req)
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
	return &http.Response{StatusCode: a.status, Header: header, Body: io.NopCloser(strings.NewReader(a.body)),
		Request: req}, nil
}

func (s *fakeService) choose(req *http.Request) response {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch path := strings.TrimPrefix(req.URL.Path, "/api/v1"); {
	case path == "/auth/device":
		body, err := io.ReadAll(req.Body)
		s.codeRequest = string(body)
		if err != nil {
			return response{err: err}
		}
		return s.code
	case path == "/auth/device/token":
		s.polled = append(s.polled, int(time.Since(s.started).Seconds()))
		return s.tokens[min(len(s.polled), len(s.tokens))-1]
	case req.Method == http.MethodDelete:
		id := filepath.Base(path)
		s.deleted = append(s.deleted, id+" by "+strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")[:8])
		if a, ok := s.deletes[id]; ok {
			return a
		}
		return noContent
	case path == "/me":
		return s.account
	}
	return response{err: errors.New("unexpected request to " + req.URL.Path)}
}

// fakeLogin is a login at a fakeService with a credentials file in a temporary folder.
type fakeLogin struct {
	login
	service        *fakeService
	stdout, stderr bytes.Buffer
}

func newFakeLogin(t *testing.T, tokens ...response) *fakeLogin {
	t.Helper()
	t.Setenv("GPURENT_API_KEY", "")
	t.Setenv("GPURENT_BASE_URL", "")
	f := &fakeLogin{service: &fakeService{code: codeResponse(), tokens: tokens, started: time.Now(),
		deletes: map[string]response{}}}
	f.login = login{
		target: target{baseURL: address, file: filepath.Join(t.TempDir(), "gpurent", "credentials.json"),
			transport: f.service},
		clientName: "my laptop",
		screen:     &screen{stdout: &f.stdout, stderr: &f.stderr},
	}
	return f
}

// run logs in and checks that neither the output nor the error contains a secret.
func (f *fakeLogin) run(ctx context.Context, t *testing.T) error {
	t.Helper()
	err := f.login.run(ctx)
	f.service.mu.Lock()
	defer f.service.mu.Unlock()
	noSecrets(t, f.stdout.String()+f.stderr.String()+fmt.Sprintf("%v %+v %#v", err, err, err))
	return err
}

func noSecrets(t *testing.T, output string) {
	t.Helper()
	for _, secret := range []string{deviceCode, newKey, oldKey, newKey[4:], oldKey[4:]} {
		if strings.Contains(output, secret) {
			t.Errorf("a secret was printed: %s", output)
		}
	}
}

// saveCredential writes a login to the credentials file.
func (f *fakeLogin) saveCredential(t *testing.T, key credentials.Credential) {
	t.Helper()
	if _, err := credentials.Save(t.Context(), f.file, address, key); err != nil {
		t.Fatal(err)
	}
}

// savedKey returns the key in the credentials file; empty if there is none.
func (f *fakeLogin) savedKey(t *testing.T) string {
	t.Helper()
	file, err := credentials.Load(f.file)
	if err != nil {
		t.Fatal(err)
	}
	return file.Key(address)
}

// blockFile makes later changes of the credentials file fail.
func (f *fakeLogin) blockFile(t *testing.T) {
	t.Helper()
	if err := os.MkdirAll(f.file+".new/blocks-the-file", 0o700); err != nil {
		t.Error(err)
	}
}

// inBubble runs a subtest in a bubble of synctest: time passes only while all goroutines wait.
func inBubble(t *testing.T, name string, test func(*testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// wantContains checks that text contains all words. what names the text in the failure.
func wantContains(t *testing.T, what, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("%s does not contain %q: %q", what, word, text)
		}
	}
}
