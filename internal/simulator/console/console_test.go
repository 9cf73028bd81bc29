package console_test

import (
	"encoding/json"
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
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

func pages(service console.Service, guard bool) http.Handler {
	return console.New(service, console.Options{
		Guard:   func(*http.Request) bool { return guard },
		Russian: func(header string) bool { return !strings.HasPrefix(header, "en") },
		Log:     hclog.NewNullLogger(),
	})
}

func get(t *testing.T, h http.Handler, method, target string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, nil)
	for n := 0; n+1 < len(header); n += 2 {
		r.Header.Add(header[n], header[n+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

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
		{"GET", "/console/assets/", 404, ""},
		{"GET", "/console/assets/..%2Fpages%2Fdevice.html", 404, ""},
		{"HEAD", "/console/assets/style.css", 200, ""},
		{"GET", "/device", 200, `name="code"`},
		{"GET", "/device?code=ABCD-EFGH", 200, `value="approve"`},
		{"GET", "/device?code=%3Cb%3E", 404, "No such &lt;code&gt;"},
		{"GET", "/device?code=%22%3E%26{{code}}", 404, `value="&#34;&gt;&amp;{{code}}"`},
		{"POST", "/device", 422, "out of date"},
		{"DELETE", "/device", 405, ""},
		{"POST", "/", 405, ""},
		{"GET", "/nothing", 404, ""},
	} {
		w := get(t, pages(&fake{}, true), c.method, c.target, "Accept-Language", "en")
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s %s: %d %s", c.method, c.target, w.Code, w.Body)
		}
		policy := w.Header().Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'",
			"form-action 'self'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: policy %q lacks %q", c.target, policy, part)
			}
		}
		if strings.Contains(policy, "unsafe") || c.status < 400 && w.Header().Get("Cache-Control") != "no-store" ||
			w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", c.target, w.Header())
		}
		if strings.Contains(w.Body.String(), "<script>alert") {
			t.Errorf("%s: the client's name is not escaped", c.target)
		}
	}
}

func TestAssets_ContentType(t *testing.T) {
	for name, want := range map[string]string{
		"dashboard.js": "text/javascript; charset=utf-8", "style.css": "text/css; charset=utf-8",
	} {
		if got := get(t, pages(&fake{}, true), "GET", "/console/assets/"+name).Header().Get("Content-Type"); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestDashboard_Guard(t *testing.T) {
	h := pages(&fake{}, false)
	for target, status := range map[string]int{"/": 403, "/console/overview": 403, "/device": 200} {
		if w := get(t, h, "GET", target); w.Code != status || strings.Contains(w.Body.String(), `"total"`) {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
}

func TestLanguage(t *testing.T) {
	h := pages(&fake{}, true)
	for header, word := range map[string]string{"ru": "Вход с устройства", "en": "Device login"} {
		if w := get(t, h, "GET", "/device", "Accept-Language", header); !strings.Contains(w.Body.String(), word) {
			t.Errorf("%s: %s", header, w.Body)
		}
	}
}

func TestLogin_Errors(t *testing.T) {
	service := &fake{}
	h := pages(service, true)
	form := url.Values{"code": {"ABCD-EFGH"}, "decision": {"deny"}}
	for decision, want := range map[string]int{"deny": 500, "perhaps": 422, "approve": 200} {
		form.Set("decision", decision)
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/device", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s: %d %s", decision, w.Code, w.Body)
		}
	}
	if len(service.decided) != 2 {
		t.Errorf("decided %v", service.decided)
	}
}

// TestPages_NoValueIsLeftOut also checks that the dashboard's script gets all texts.
func TestPages_NoValueIsLeftOut(t *testing.T) {
	h := pages(&fake{}, true)
	for _, target := range []string{"/", "/device", "/device?code=ABCD-EFGH", "/device?code=x"} {
		page := get(t, h, "GET", target, "Accept-Language", "en").Body.String()
		if at := strings.Index(page, "{{"); at >= 0 {
			t.Errorf("%s: %s", target, page[at:])
		}
		found := regexp.MustCompile(`<meta id="texts" content="([^"]*)">`).FindStringSubmatch(page)
		if target != "/" {
			continue
		}
		if found == nil {
			t.Fatal("no texts for the script")
		}
		english, _ := console.Texts()
		var got map[string]string
		if err := json.Unmarshal([]byte(html.UnescapeString(found[1])), &got); err != nil || !maps.Equal(got, english) {
			t.Errorf("texts for the script: %v, %v", got, err)
		}
	}
}

// TestPages_ValuesAreInTextOrQuotes checks the places where the escaping of HTML is enough: not in scripts and styles.
func TestPages_ValuesAreInTextOrQuotes(t *testing.T) {
	files, err := filepath.Glob("pages/*.html")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	unsafe := regexp.MustCompile(
		`\s[\w-]+=\s*{{|<script[^>]*>[^<]|<style|\s(?:on\w+|style|srcdoc)\s*=|(?:href|src|action)="{{`)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := unsafe.Find(content); found != nil {
			t.Errorf("%s: %q", file, found)
		}
	}
}

// TestTexts_SameInBothLanguages checks that both languages have all texts, and that pages use only existing texts.
func TestTexts_SameInBothLanguages(t *testing.T) {
	english, russian := console.Texts()
	for name, text := range english {
		if russian[name] == "" || text == "" {
			t.Errorf("%s: %q and %q", name, text, russian[name])
		}
	}
	if len(english) != len(russian) {
		t.Errorf("%d texts in English, %d in Russian", len(english), len(russian))
	}
	used := 0
	for _, pattern := range []string{"*.go", "pages/*", "assets/*.js"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			reference := regexp.MustCompile(`(?:\.Text\.|[^.\w]text\.|text\(r\)\["|[^.\w]text\[")(\w+)`)
			for _, name := range reference.FindAllStringSubmatch(string(content), -1) {
				used++
				if _, there := english[name[1]]; !there {
					t.Errorf("%s names the text %q, which is not there", file, name[1])
				}
			}
		}
	}
	if used < 80 {
		t.Errorf("only %d uses of texts were found: this test looks in the wrong place", used)
	}
}
