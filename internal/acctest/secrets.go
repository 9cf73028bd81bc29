package acctest

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
)

// Secrets are the secrets in responses of the API, such as issued API keys, and those that a test adds. The zero value
// is empty.
type Secrets struct {
	mu  sync.Mutex
	all map[string]bool
}

// secretFields are the fields of a response that contain a secret.
var secretFields = regexp.MustCompile(`"(?:api_key|secret|device_code)":\s*"([^"]+)"`)

// Intercept is an Interceptor that passes requests on and records the secrets in the responses.
func (s *Secrets) Intercept(w http.ResponseWriter, r *http.Request, api http.Handler) {
	response := simtest.Record(w, r, api)
	s.Record(response.Body.Bytes())
	simtest.Send(w, response)
}

// Record adds the secrets in the body of a response.
func (s *Secrets) Record(body []byte) {
	for _, found := range secretFields.FindAllSubmatch(body, -1) {
		s.Add(string(found[1]))
	}
}

// Add adds a secret; "" adds nothing.
func (s *Secrets) Add(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]bool{}
	}
	if secret != "" {
		s.all[secret] = true
	}
}

// Len returns the number of different secrets.
func (s *Secrets) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all)
}

// Check fails the test if one of the texts contains a secret or a half of it. The keys of texts name their origin.
func (s *Secrets) Check(t testing.TB, texts map[string]string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for secret := range s.all {
		// Output may contain the first characters, and the frames of a protocol may split the secret.
		for _, part := range []string{secret[4:], secret[:len(secret)/2], secret[len(secret)/2:]} {
			if err := Leak(part, texts); err != nil {
				t.Error(err)
			}
		}
	}
}

// Leak returns an error if one of the texts contains a secret. The keys of texts name their origin.
func Leak(secret string, texts map[string]string) error {
	for origin, text := range texts {
		if i := strings.Index(text, secret); i >= 0 {
			return fmt.Errorf("a secret is in the %s: …%s", origin, text[max(0, i-100):i])
		}
	}
	return nil
}
