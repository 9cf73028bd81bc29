package console_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator/console"
)

// fake is a service with one pending login.
type fake struct{ decided []string }

func (*fake) Overview() any { return map[string]int{"total": 7} }

func (*fake) Login(code string) (console.Login, error) {
	if code != "ABCD-EFGH" {
		return console.Login{}, &console.Refusal{Status: 404, RU: "Нет такого <кода>", EN: "No such <code>"}
	}
	return console.Login{UserCode: code, ClientName: `<script>alert("x")</script>`}, nil
}

func (f *fake) Decide(code string, approve bool) error {
	f.decided = append(f.decided, code)
	if !approve {
		return http.ErrBodyNotAllowed
	}
	return nil
}

// request sends a request to the pages of a service.
func request(t *testing.T, service *fake, method, target string, form url.Values) *httptest.ResponseRecorder {
	t.Helper()
	h := console.New(service, console.Options{
		Guard:   func(*http.Request) bool { return true },
		Russian: func(string) bool { return false },
		Log:     hclog.NewNullLogger(),
	})
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(form.Encode()))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// All values are escaped, and the headers forbid foreign and inline scripts and frames.
func TestPages(t *testing.T) {
	for _, c := range []struct {
		method, target string
		status         int
		says           string
	}{
		{"GET", "/", 200, `id="instances"`},
		{"GET", "/", 200, "<noscript><p class=\"notice\">The dashboard requires JavaScript."},
		{"GET", "/console/overview", 200, `"total":7`},
		{"GET", "/console/assets/dashboard.js", 200, "import"},
		{"GET", "/console/assets/style.css", 200, "prefers-color-scheme: dark"},
		{"GET", "/console/assets/../service.go", 307, ""},
		{"GET", "/console/assets/service.go", 404, ""},
		{"GET", "/console/assets/..%2Fpages%2Fdevice.html", 400, ""},
		{"GET", "/device", 200, `name="code"`},
		{"GET", "/device?code=ABCD-EFGH", 200, `value="approve"`},
		{"GET", "/device?code=%3Cb%3E", 404, "No such &lt;code&gt;"},
		{"GET", "/device?code=%22%3E%26{{code}}", 404, `value="&#34;&gt;&amp;{{code}}"`},
		{"POST", "/device", 422, "out of date"},
		{"DELETE", "/device", 405, ""},
		{"GET", "/nothing", 404, ""},
	} {
		w := request(t, &fake{}, c.method, c.target, nil)
		body := w.Body.String()
		if w.Code != c.status || !strings.Contains(body, c.says) || strings.Contains(body, "<script>alert") ||
			strings.Contains(body, "{{") && !strings.Contains(c.target, "{{") {
			t.Errorf("%s %s: %d %s", c.method, c.target, w.Code, body)
		}
		policy := w.Header().Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'",
			"form-action 'self'"} {
			if !strings.Contains(policy, part) || strings.Contains(policy, "unsafe") {
				t.Errorf("%s: policy %q lacks %q", c.target, policy, part)
			}
		}
		if c.status < 400 && w.Header().Get("Cache-Control") != "no-store" ||
			w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", c.target, w.Header())
		}
	}
}

func TestLogin_Errors(t *testing.T) {
	service := &fake{}
	for decision, want := range map[string]int{"deny": 500, "perhaps": 422, "approve": 200} {
		form := url.Values{"code": {"ABCD-EFGH"}, "decision": {decision}}
		if w := request(t, service, "POST", "/device", form); w.Code != want {
			t.Errorf("%s: %d %s", decision, w.Code, w.Body)
		}
	}
	if len(service.decided) != 2 {
		t.Errorf("decided %v", service.decided)
	}
}

func TestTexts_SameInBothLanguages(t *testing.T) {
	english, russian := console.Texts()
	if !slices.Equal(slices.Sorted(maps.Keys(english)), slices.Sorted(maps.Keys(russian))) {
		t.Errorf("%d texts in English, %d in Russian", len(english), len(russian))
	}
	for name, text := range english {
		if russian[name] == "" || text == "" {
			t.Errorf("%s: %q and %q", name, text, russian[name])
		}
	}
}
