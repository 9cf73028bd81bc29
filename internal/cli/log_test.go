package cli_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// tlsService serves a simulator over TLS with HTTP/2, and records the secrets that pass.
type tlsService struct {
	baseURL     string
	certificate string // the file to name in SSL_CERT_FILE

	secrets acctest.Secrets // values that no log may contain
}

func newTLSService(t *testing.T, env *acctest.Env) *tlsService {
	t.Helper()
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		t.Skip("these systems ignore SSL_CERT_FILE")
	}
	s := &tlsService{certificate: filepath.Join(t.TempDir(), "ca.pem")}
	s.secrets.Add(env.APIKey)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			t.Errorf("%s %s uses %s, want HTTP/2", r.Method, r.URL.Path, r.Proto)
		}
		s.secrets.Intercept(w, r, env.Handler())
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(s.certificate, block, 0o600); err != nil {
		t.Fatal(err)
	}
	s.baseURL = server.URL + "/api/v1"
	return s
}

// environment returns the variables for a process that uses the service, with GODEBUG set to godebug.
func (s *tlsService) environment(godebug string) []string {
	return []string{"GPURENT_BASE_URL=" + s.baseURL, "SSL_CERT_FILE=" + s.certificate, "GODEBUG=" + godebug}
}

// leaks reports each secret, or the start of an Authorization header, that is in a text. It expects at least want
// secrets.
func (s *tlsService) leaks(t *testing.T, want int, texts map[string]string) {
	t.Helper()
	if n := s.secrets.Len(); n < want {
		t.Errorf("%d secrets recorded, want %d", n, want)
	}
	s.secrets.Check(t, texts)
	if err := acctest.Leak("Bearer ", texts); err != nil {
		t.Error(err)
	}
}

// With GODEBUG=http2debug, the standard library logs headers and bodies of HTTP/2, which no command prints.
func TestStandardLog_LoginWritesNoSecret(t *testing.T) {
	env := acctest.Start(t, fastPolling)
	service := newTLSService(t, env)
	u := newUser(t, service.environment("http2debug=2")...)
	for _, start := range []func() *process{
		func() *process { return u.login(env) }, func() *process { return u.start("logout") },
	} {
		stdout, stderr, code := start().wait()
		if code != 0 || stderr != "" {
			t.Errorf("exit %d, stdout %q, stderr %q; want nothing on stderr", code, stdout, stderr)
		}
	}
	service.leaks(t, 3, map[string]string{"output": u.output.String()})
}
