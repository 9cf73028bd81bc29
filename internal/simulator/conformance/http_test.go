package conformance

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

// What the document leaves to HTTP: whatever a client sends, it gets a clear answer.

func TestOtherMethodsAreNotAllowed(t *testing.T) {
	s := start(t)
	allowed := map[string][]string{}
	for _, op := range operations() {
		allowed[op.path] = append(allowed[op.path], op.method)
	}
	for path, methods := range allowed {
		for _, method := range []string{"HEAD", "GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"} {
			if strings.Contains(strings.Join(methods, " "), method) {
				continue
			}
			a := s.send(method, strings.NewReplacer("{id}", "x", "{slug}", "x").Replace(path), nil)
			equal(t, a.what+": status", a.status, http.StatusMethodNotAllowed)
			for _, m := range methods {
				check(t, strings.Contains(a.header.Get("Allow"), m), "%s: Allow %q lacks %s", a.what, a.header.Get("Allow"), m)
			}
			if method != http.MethodHead {
				a.failsAs(http.StatusMethodNotAllowed, "not_found")
			}
		}
	}
}

func TestPathsThatAreNotThere(t *testing.T) {
	s := start(t)
	for _, path := range []string{
		"", "/", "/nothing", "/me/", "//me", "/me/x", "/ME", "/instances/", "/instances//start", "/instances/x/restart", "/instances/a%2Fb/c/d", "/offers/",
		"/instances/..%2f..", "/instances/%00", "/instances/x%20y", "/transactions/1", "/auth", "/auth/device/", "/openapi.yaml", "/control/health",
	} {
		s.get(path).fails("not_found")
	}
	s.get("/instances/%6eobody").fails("not_found")
	s.delete("/api-keys/a%2Fb").fails("not_found")
}

// bodied are the operations that read a body, and a good one for each.
func bodied() map[string]object {
	return map[string]object{
		"/templates": {"name": "mine", "image": "a/b:1"}, "/ssh-keys": {"public_key": publicKey(1)},
		"/api-keys": {"name": "x", "scopes": []string{"user:read"}}, "/auth/device": {"client_name": "x"},
	}
}

func TestBodiesThatAreNoJSONObject(t *testing.T) {
	s := start(t)
	for path := range bodied() {
		for name, body := range map[string]string{
			"broken": `{"name":`, "garbage after it": `{} x`, "two": `{}{}`, "an array": `[]`, "a string": `"x"`, "null": `null`, "a number": `1`, "text": "hello",
			"deep": strings.Repeat("[", 100_000), "deep objects": strings.Repeat(`{"a":`, 100_000), "not UTF-8": "{\"name\":\"\xff\xfe\"}", "NUL": "\x00",
			"single quotes": `{'name': 'x'}`, "a comment": `{} // x`, "a huge number": `{"name": 1e999, "client_name": 1e999}`,
		} {
			a := s.send(http.MethodPost, path, strings.NewReader(body))
			a.what += " with " + name
			a.invalid("")
		}
	}
}

func TestBodiesOfAnotherType(t *testing.T) {
	s := start(t)
	for path := range bodied() {
		for _, mediaType := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml", "json", "application/json; charset=koi8-r"} {
			a := s.with("Content-Type", mediaType).send(http.MethodPost, path, strings.NewReader(`{}`))
			a.what += " as " + mediaType
			a.invalid("")
		}
		for _, mediaType := range []string{"application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8"} {
			a := s.with("Content-Type", mediaType).call(http.MethodPost, path, bodied()[path])
			check(t, a.status/100 == 2, "%s as %s: %d %s", a.what, mediaType, a.status, a.raw)
		}
	}
}

// TestBodyOfOneMebibyte is the largest that is read.
func TestBodyOfOneMebibyte(t *testing.T) {
	s := beyondContract(t)
	const most = 1 << 20
	padded := func(size int) io.Reader {
		body := []byte(`{"name":"x","scopes":["user:read"]}`)
		return bytes.NewReader(append(body, bytes.Repeat([]byte(" "), size-len(body))...))
	}
	s.send(http.MethodPost, "/api-keys", padded(most)).created()
	s.send(http.MethodPost, "/api-keys", padded(most+1)).failsAs(http.StatusRequestEntityTooLarge, "validation_error")
	s.send(http.MethodPost, "/api-keys", padded(10*most)).failsAs(http.StatusRequestEntityTooLarge, "validation_error")
	s.get("/me").ok()
}

func TestBodiesWhereNoneIsRead(t *testing.T) {
	s := beyondContract(t)
	for _, body := range []string{"{}", "garbage", strings.Repeat("x", 4096)} {
		s.send(http.MethodGet, "/me", strings.NewReader(body)).ok()
		s.send(http.MethodDelete, "/ssh-keys/nobody", strings.NewReader(body)).fails("not_found")
	}
	// A body is left out where nothing in it is required.
	s.as("").send(http.MethodPost, "/auth/device", nil).ok()
	s.send(http.MethodPost, "/templates", nil).invalid("name")
}

// The document does not say that a field it does not list is refused, so it is ignored, as a query parameter is.
func TestUnknownFieldsAreIgnored(t *testing.T) {
	s := start(t)
	for path, body := range bodied() {
		body["surprise"] = true
		a := s.post(path, body)
		check(t, a.status/100 == 2, "%s with an unknown field: %d %.200s", path, a.status, a.raw)
		s.get("/me?surprise=1").ok()
	}
	body := s.ready()
	body["surprise"], body["max_price_kop_h"] = nil, 1
	before := s.order(fresh("key"), body).created()
	path := "/instances/" + text(before, "id")
	after := s.call(http.MethodPatch, path, object{"name": "x", "disk_gb": 20, "status": "stopped"}).ok()
	equal(t, "name", text(after, "name"), "x")
	for _, field := range []string{"status", "disk_gb"} {
		equal(t, field+" after a new name", brief(after[field]), brief(before[field]))
	}
	s.call(http.MethodPatch, path, object{"surprise": 1}).invalid("name")
}

func TestPublicAnswersCanBeReadByWebPages(t *testing.T) {
	s := start(t)
	offer := text(s.list("/offers")[0], "id")
	page := s.as("").with("Origin", "https://page.example")
	for _, path := range []string{"/gpus", "/offers", "/offers?limit=0", "/offers/" + offer, "/templates"} {
		a := page.get(path)
		equal(t, a.what+": Access-Control-Allow-Origin", a.header.Get("Access-Control-Allow-Origin"), "*")
		equal(t, a.what+": Access-Control-Allow-Credentials", a.header.Get("Access-Control-Allow-Credentials"), "")
		path, _, _ = strings.Cut(path, "?")
		p := page.with("Access-Control-Request-Method", "GET").with("Access-Control-Request-Headers", "authorization").send(http.MethodOptions, path, nil)
		check(t, p.status == http.StatusNoContent || p.status == http.StatusOK, "preflight of %s: %d", path, p.status)
		equal(t, path+": preflight's origin", p.header.Get("Access-Control-Allow-Origin"), "*")
		check(t, strings.Contains(p.header.Get("Access-Control-Allow-Methods"), "GET"), "preflight of %s allows %q", path, p.header.Get("Access-Control-Allow-Methods"))
		check(t, strings.Contains(strings.ToLower(p.header.Get("Access-Control-Allow-Headers")), "authorization"), "preflight of %s allows the headers %q", path, p.header.Get("Access-Control-Allow-Headers"))
	}
	for _, path := range []string{"/me", "/balance", "/instances", "/ssh-keys", "/api-keys", "/transactions"} {
		a := s.with("Origin", "https://page.example").get(path)
		a.ok()
		equal(t, path+": Access-Control-Allow-Origin", a.header.Get("Access-Control-Allow-Origin"), "")
		p := page.with("Access-Control-Request-Method", "GET").send(http.MethodOptions, path, nil)
		equal(t, path+": preflight's origin", p.header.Get("Access-Control-Allow-Origin"), "")
	}
}
