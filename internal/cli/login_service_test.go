package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/credentials"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

const (
	address    = "https://rent.example/api/v1"
	deviceCode = "DEVICEdeviceDEVICEdeviceDEVICEdeviceDEVI"
	newKey     = "gpr_NEWKaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	oldKey     = "gpr_OLDKaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
)

type response = rentaltest.Response

// raw returns a status and a body, which may be no JSON.
func raw(status int, body string) response {
	return func(req *http.Request) (*http.Response, error) {
		header := http.Header{"Content-Type": {"application/json"}}
		return &http.Response{
			StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: req,
		}, nil
	}
}

// refused returns an error of the endpoint that is polled.
func refused(code string) response {
	return raw(400, fmt.Sprintf(`{"error":{"code":%q,"message":"no"}}`, code))
}

// limited refuses a request because of the rate limit.
func limited(retryAfter string) response {
	return func(req *http.Request) (*http.Response, error) {
		resp, err := rentaltest.Fail(429)(req)
		resp.Header.Set("Retry-After", retryAfter)
		return resp, err
	}
}

// Responses to a poll.
var (
	pending   = refused("authorization_pending")
	slowDown  = refused("slow_down")
	denied    = refused("access_denied")
	expired   = refused("expired_token")
	internal  = rentaltest.Fail(500)
	forbidden = rentaltest.Fail(403)
	approved  = approvedFor("me@rent.example")
	noContent = raw(204, "")
)

// approvedFor returns the response with a new key.
func approvedFor(email string) response {
	user := map[string]string{"email": email}
	return rentaltest.Respond(200, map[string]any{"api_key": newKey, "key_id": "key_new", "user": user})
}

// hang waits until the request is cut off.
func hang(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
}

// after calls a function before the response.
func after(do func(), respond response) response {
	return func(req *http.Request) (*http.Response, error) {
		if do(); req.Context().Err() != nil {
			return nil, req.Context().Err()
		}
		return respond(req)
	}
}

// codeResponse returns a device code response. fields are pairs of a field and its value that replace the defaults.
func codeResponse(fields ...any) response {
	values := map[string]any{
		"device_code": deviceCode, "user_code": "ABCD-EFGH", "expires_in": 600, "interval": 5,
		"verification_uri":          "https://rent.example/device",
		"verification_uri_complete": "https://rent.example/device?code=ABCD-EFGH",
	}
	for n := 0; n < len(fields); n += 2 {
		values[fields[n].(string)] = fields[n+1]
	}
	return rentaltest.Respond(200, values)
}

// fakeLogin is a login at a scripted service with a credentials file in a temporary folder.
type fakeLogin struct {
	login
	service        *rentaltest.Transport
	stdout, stderr bytes.Buffer
	started        time.Time
	polled         []int    // times of the polls, in seconds since started
	revoked        []string // "ID by KEY", with the first 8 characters of the key
}

// newFakeLogin returns a login with the responses to its polls. Revocations succeed.
func newFakeLogin(t *testing.T, polls ...response) *fakeLogin {
	t.Helper()
	t.Setenv("GPURENT_API_KEY", "")
	t.Setenv("GPURENT_BASE_URL", "")
	f := &fakeLogin{service: new(rentaltest.Transport), started: time.Now()}
	f.login = login{
		target: target{baseURL: address, file: filepath.Join(t.TempDir(), "gpurent", "credentials.json"),
			transport: f.service},
		clientName: "my laptop",
		screen:     &screen{stdout: &f.stdout, stderr: &f.stderr},
	}
	f.service.Script("POST /auth/device", codeResponse())
	if len(polls) > 0 {
		next := rentaltest.InTurn(polls...)
		f.service.Script("POST /auth/device/token", func(req *http.Request) (*http.Response, error) {
			f.polled = append(f.polled, int(time.Since(f.started).Seconds()))
			return next(req)
		})
	}
	f.onRevoke(noContent)
	return f
}

// onRevoke sets the response to revocations.
func (f *fakeLogin) onRevoke(respond response) {
	f.service.Script("DELETE /api-keys/*", func(req *http.Request) (*http.Response, error) {
		key := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
		f.revoked = append(f.revoked, path.Base(req.URL.Path)+" by "+key[:8])
		return respond(req)
	})
}

// requested reports whether the login has requested a code.
func (f *fakeLogin) requested() bool { return len(f.service.Sent("POST /auth/device")) > 0 }

// run logs in and checks that neither the output nor the error contains a secret.
func (f *fakeLogin) run(ctx context.Context, t *testing.T) error {
	t.Helper()
	err := f.login.run(ctx)
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
