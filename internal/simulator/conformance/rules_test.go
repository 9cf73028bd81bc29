package conformance

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
)

// Chapter "Global rules", in the order of the document.

func TestRuleBaseAddressAndNames(t *testing.T) {
	s := start(t)
	s.running(nil)
	check(t, strings.HasSuffix(s.baseURL, "/api/v1"), "base address %q", s.baseURL)
	snake := regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	var visit func(path string, value any)
	visit = func(path string, value any) {
		switch v := value.(type) {
		case object:
			for name, member := range v {
				if !strings.HasSuffix(path, ".env") {
					check(t, snake.MatchString(name), "%s: the field %q is not snake_case", path, name)
				}
				visit(path+"."+name, member)
				if money := strings.HasSuffix(name, "_kop") || strings.HasSuffix(name, "_kop_h") ||
					strings.HasSuffix(name, "_kop_gb"); money && member != nil {
					check(t, hasType("integer", member), "%s.%s: %v is not whole kopecks", path, name, member)
				}
				if strings.HasSuffix(name, "_at") && member != nil {
					check(t, hasType("time", member), "%s.%s: %v is not a time in UTC", path, name, member)
				}
			}
		case []any:
			for _, element := range v {
				visit(path, element)
			}
		}
	}
	for _, path := range []string{"/me", "/balance", "/transactions", "/gpus", "/offers", "/templates", "/ssh-keys",
		"/instances", "/api-keys"} {
		a := s.get(path).want(http.StatusOK)
		check(t, utf8.Valid(a.raw) && json.Valid(a.raw), "%s: not JSON in UTF-8", path)
		_, params, _ := strings.Cut(a.header.Get("Content-Type"), ";")
		check(t, params == "" || strings.Contains(strings.ToLower(params), "utf-8"), "%s: content type %q", path,
			a.header.Get("Content-Type"))
		visit(path, a.object())
	}
}

// No request changes the balance directly, and only API keys authenticate.
func TestRulePaymentsAndSessions(t *testing.T) {
	s := start(t)
	before := integer(s.get("/balance").ok(), "balance_kop")
	for _, path := range []string{"/topup", "/top-up", "/payments", "/charges", "/balance/topup",
		"/transactions/topup"} {
		s.post(path, object{"amount_kop": 100}).failsWith("not_found")
	}
	for _, path := range []string{"/balance", "/transactions"} {
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			s.call(method, path, object{"amount_kop": 100}).failsWithStatus(http.StatusMethodNotAllowed, "not_found")
		}
	}
	equal(t, "balance", integer(s.get("/balance").ok(), "balance_kop"), before)

	anonymous := s.as("")
	for _, cookie := range []string{"session=" + s.key, "token=" + s.key, "api_key=" + s.key} {
		anonymous.with("Cookie", cookie).get("/me").failsWith("unauthorized")
	}
	for _, value := range []string{s.key, "Basic " + s.key, "Token " + s.key, "Bearer", "Bearer ", "Bearer " + s.key +
		" " + s.key, "Bearer=" + s.key} {
		anonymous.with("Authorization", value).get("/me").failsWith("unauthorized")
	}
	anonymous.get("/me?api_key=" + s.key).failsWith("unauthorized")
	anonymous.get("/me?access_token=" + s.key).failsWith("unauthorized")
	anonymous.with("X-Api-Key", s.key).get("/me").failsWith("unauthorized")
}

// preflight sends the CORS preflight request of a browser.
func (s *service) preflight(method, path string) response {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodOptions, s.baseURL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Origin", "https://page.example")
	req.Header.Set("Access-Control-Request-Method", method)
	req.Header.Set("Access-Control-Request-Headers", "accept-language")
	return s.do(req)
}

func allowsOrigin(a response) bool {
	origin := a.header.Get("Access-Control-Allow-Origin")
	return origin == "*" || origin == "https://page.example"
}

func TestRuleCORSAndCache(t *testing.T) {
	s := start(t)
	page := s.with("Origin", "https://page.example")
	offer := "/offers/" + text(s.rentBody(), "offer_id")
	for _, path := range []string{"/gpus", "/offers", "/templates"} {
		for _, from := range []*service{page, page.as("")} {
			a := from.get(path).want(http.StatusOK)
			check(t, allowsOrigin(a), "%s: Access-Control-Allow-Origin %q", path,
				a.header.Get("Access-Control-Allow-Origin"))
			check(t, strings.Contains(a.header.Get("Cache-Control"), "max-age=60"), "%s: Cache-Control %q", path,
				a.header.Get("Cache-Control"))
			check(t, !strings.Contains(a.header.Get("Cache-Control"), "no-store"), "%s: Cache-Control %q", path,
				a.header.Get("Cache-Control"))
		}
	}
	// A shared cache must not return own templates to other callers.
	keyed := page.get("/templates")
	private := strings.Contains(keyed.header.Get("Cache-Control"), "private") ||
		strings.Contains(keyed.header.Get("Vary"), "Authorization")
	check(t, private, "/templates with a key: Cache-Control %q, Vary %q", keyed.header.Get("Cache-Control"),
		keyed.header.Get("Vary"))
	check(t, allowsOrigin(page.get("/offers?limit=0")), "a refusal of /offers that no page can read")
	check(t, allowsOrigin(page.get(offer)), "%s: no page can read it", offer)
	equal(t, "Cache-Control of one offer", page.get(offer).header.Get("Cache-Control"), "no-store")

	for _, path := range []string{"/gpus", "/offers", "/templates", offer} {
		a := s.as("").preflight(http.MethodGet, path)
		check(t, a.status/100 == 2, "preflight of %s: status %d", path, a.status)
		check(t, allowsOrigin(a), "preflight of %s: Access-Control-Allow-Origin %q", path,
			a.header.Get("Access-Control-Allow-Origin"))
		methods := strings.Split(strings.ReplaceAll(a.header.Get("Access-Control-Allow-Methods"), " ", ""), ",")
		check(t, slices.Contains(methods, "GET"), "preflight of %s: methods %q", path, methods)
		check(t, !slices.Contains(methods, "POST") && !slices.Contains(methods, "DELETE"),
			"preflight of %s: methods %q", path, methods)
	}
}

// Pages of other origins can read only the public GET endpoints.
func TestRulePrivateResponsesHaveNoCORS(t *testing.T) {
	s := start(t)
	page := s.with("Origin", "https://page.example")
	for _, op := range apidoc.Operations {
		path := strings.NewReplacer("{id}", "none", "{slug}", "none").Replace(op.Path)
		if op.Scope == "public" && op.Method == http.MethodGet || op.Scope == "optional" {
			continue
		}
		a := page.call(op.Method, path, nil)
		equal(t, a.request+": Access-Control-Allow-Origin", a.header.Get("Access-Control-Allow-Origin"), "")
		equal(t, a.request+": Cache-Control", a.header.Get("Cache-Control"), "no-store")
		p := s.as("").preflight(op.Method, path)
		methods := p.header.Get("Access-Control-Allow-Methods")
		check(t, !allowsOrigin(p) || !strings.Contains(methods, op.Method), "preflight of %s %s: methods %q", op.Method,
			path, methods)
	}
	a := page.get("/offers?cursor=" + url.QueryEscape("%%%"))
	check(t, a.status == http.StatusUnprocessableEntity, "a bad cursor: %d", a.status)
}

// Pages of other origins can read a 429 of public endpoints, with its Retry-After.
func TestRuleCORSWhenLimited(t *testing.T) {
	s := start(t)
	offer := "/offers/" + text(s.rentBody(), "offer_id")
	page := s.with("Origin", "https://page.example")
	s.control(http.MethodPost, "/rate-limit", object{"per_minute_key": 1, "per_minute_address": 1})
	for _, from := range []*service{page, page.as("")} {
		from.get("/nothing")
		for _, path := range []string{"/gpus", "/offers", "/templates", offer} {
			a := from.get(path)
			a.failsWith("rate_limited")
			check(t, allowsOrigin(a), "%s: a 429 that no page can read", path)
			exposed := a.header.Get("Access-Control-Expose-Headers")
			check(t, strings.Contains(exposed, "Retry-After"), "%s: a 429 exposes %q", path, exposed)
		}
		for _, path := range []string{"/me", "/nothing"} {
			a := from.get(path)
			a.failsWith("rate_limited")
			check(t, !allowsOrigin(a), "%s: any page can read a 429", path)
		}
		a := from.post("/templates", object{})
		a.failsWith("rate_limited")
		check(t, !allowsOrigin(a), "POST /templates: any page can read a 429")
	}
}

// Only the listed operations exist.
func TestRuleOnlyListedOperations(t *testing.T) {
	s := start(t)
	id := text(s.running(nil), "id")
	methods := []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodHead, "PURGE", http.MethodTrace}
	listed := map[string][]string{}
	for _, op := range apidoc.Operations {
		listed[op.Path] = append(listed[op.Path], op.Method)
	}
	for pattern, known := range listed {
		path := strings.NewReplacer("{id}", id, "{slug}", "ubuntu").Replace(pattern)
		for _, method := range methods {
			if slices.Contains(known, method) {
				continue
			}
			a := s.call(method, path, nil)
			allow := strings.Split(strings.ReplaceAll(a.header.Get("Allow"), " ", ""), ",")
			for _, m := range known {
				check(t, slices.Contains(allow, m), "%s %s: Allow %q lacks %s", method, path, allow, m)
			}
			check(t, !slices.Contains(allow, method), "%s %s: refused, but allowed by %q", method, path, allow)
			if method == http.MethodHead {
				equal(t, "HEAD "+path+": status", a.status, http.StatusMethodNotAllowed)
				continue
			}
			a.failsWithStatus(http.StatusMethodNotAllowed, "not_found")
		}
	}
}
