package cli_test

import (
	"bytes"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// tlsService serves a simulator over TLS with HTTP/2, and records the secrets that pass.
type tlsService struct {
	baseURL     string
	certificate string // the file to name in SSL_CERT_FILE

	mu      sync.Mutex
	secrets map[string]bool // values of fields that nobody may log
}

// secretFields are the fields of a request or response body that hold a secret.
var secretFields = regexp.MustCompile(`"(?:api_key|secret|device_code)":"([^"]+)"`)

func newTLSService(t *testing.T, env *acctest.Env) *tlsService {
	t.Helper()
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		t.Skip("a process trusts another certificate by SSL_CERT_FILE, which these systems ignore")
	}
	simulated, err := url.Parse(env.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	s := &tlsService{certificate: filepath.Join(t.TempDir(), "ca.pem"), secrets: map[string]bool{env.APIKey: true}}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			if r.In.ProtoMajor != 2 {
				t.Errorf("%s %s came over %s, want HTTP/2", r.In.Method, r.In.URL.Path, r.In.Proto)
			}
			r.Out.URL.Scheme, r.Out.URL.Host = simulated.Scheme, simulated.Host
		},
		ModifyResponse: s.record,
		// An answer that the simulator loses stays lost, rather than becoming an answer of the proxy.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	server := httptest.NewUnstartedServer(proxy)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(s.certificate, block, 0o600); err != nil {
		t.Fatal(err)
	}
	s.baseURL = server.URL + simulated.Path
	return s
}

// record remembers the secrets in a response.
func (s *tlsService) record(resp *http.Response) error {
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, found := range secretFields.FindAllSubmatch(body, -1) {
		s.secrets[string(found[1])] = true
	}
	return nil
}

// environment makes a process use the service, and the Go standard library write what it can into its log.
func (s *tlsService) environment(godebug string) []string {
	return []string{"GPURENT_BASE_URL=" + s.baseURL, "SSL_CERT_FILE=" + s.certificate, "GODEBUG=" + godebug}
}

// leaks reports each secret, or the start of an Authorization header, that is in a text. It expects at least want
// secrets.
func (s *tlsService) leaks(t *testing.T, want int, texts map[string]string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.secrets) < want {
		t.Errorf("%d secrets passed, want %d", len(s.secrets), want)
	}
	for secret := range s.secrets {
		// Without its first characters, which may be shown, and in two halves, as frames may cut it.
		for _, part := range []string{secret[4:], secret[:len(secret)/2], secret[len(secret)/2:]} {
			if err := acctest.Leak(part, texts); err != nil {
				t.Error(err)
			}
		}
	}
	if err := acctest.Leak("Bearer ", texts); err != nil {
		t.Error(err)
	}
}

// The standard library writes headers and bodies of HTTP/2 into the standard log when GODEBUG asks for it.
func TestStandardLog_LoginWritesNoSecret(t *testing.T) {
	for _, godebug := range []string{"http2debug=1", "http2debug=2"} {
		t.Run(godebug, func(t *testing.T) {
			env := acctest.Start(t, quick)
			service := newTLSService(t, env)
			user := newTerminal(t, os.Args[0], append(service.environment(godebug), asBinary+"=1")...)
			login := user.start("login", "--no-browser")
			_, code := login.question()
			if err := env.DecideDeviceCode(code, true); err != nil {
				t.Fatal(err)
			}
			endsWithNotice(t, login)
			endsWithNotice(t, user.start("logout"))
			service.leaks(t, 3, map[string]string{"output": user.said.String()})
		})
	}
}

// endsWithNotice waits for a command, which must succeed and say once why GODEBUG shows nothing.
func endsWithNotice(t *testing.T, command *typed) {
	t.Helper()
	stdout, problems, exit := command.end()
	if exit != 0 || strings.Count(problems, "GODEBUG") != 1 || strings.Count(problems, "\n") != 1 {
		t.Errorf("exit %d, stdout %q, stderr %q; want one line on stderr that names GODEBUG", exit, stdout, problems)
	}
}
