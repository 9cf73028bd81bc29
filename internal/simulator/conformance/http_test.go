package conformance

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Behavior of HTTP that the document does not define.

func TestUnknownPaths(t *testing.T) {
	s := start(t)
	for _, path := range []string{
		"", "/", "/nothing", "/me/", "//me", "/me/x", "/ME", "/instances/", "/instances//start", "/instances/x/restart",
		"/instances/a%2Fb/c/d", "/offers/",
		"/instances/..%2f..", "/instances/%00", "/instances/x%20y", "/transactions/1", "/auth", "/auth/device/",
		"/openapi.yaml", "/control/health",
	} {
		s.get(path).failsWith("not_found")
	}
	for _, path := range []string{"/auth/token", "/gpus/rtx_4090", "/offers/a/b", "/ssh-keys/a/b"} {
		s.get(path).failsWith("not_found")
		s.post(path, object{}).failsWith("not_found")
	}
	s.get("/instances/%6eobody").failsWith("not_found")
	s.delete("/api-keys/a%2Fb").failsWith("not_found")
}

// bodied returns operations with a body and a valid body for each.
func bodied() map[string]object {
	return map[string]object{
		"/templates": {"name": "mine", "image": "a/b:1"}, "/ssh-keys": {"public_key": publicKey(1)},
		"/api-keys": {"name": "x", "scopes": []string{"user:read"}}, "/auth/device": {"client_name": "x"},
	}
}

func TestBodyNotJSONObject(t *testing.T) {
	s := start(t)
	for path := range bodied() {
		for name, body := range map[string]string{
			"broken": `{"name":`, "garbage after it": `{} x`, "two": `{}{}`, "an array": `[]`, "a string": `"x"`,
			"null": `null`, "a number": `1`, "text": "hello",
			"deep": strings.Repeat("[", 100_000), "deep objects": strings.Repeat(`{"a":`, 100_000),
			"not UTF-8": "{\"name\":\"\xff\xfe\"}", "NUL": "\x00",
			"single quotes": `{'name': 'x'}`, "a comment": `{} // x`,
			"a huge number": `{"name": 1e999, "client_name": 1e999}`,
		} {
			a := s.send(http.MethodPost, path, strings.NewReader(body))
			a.request += " with " + name
			a.invalid("")
		}
	}
}

func TestBodyMediaType(t *testing.T) {
	s := start(t)
	for path := range bodied() {
		for _, mediaType := range []string{"text/plain", "application/x-www-form-urlencoded",
			"multipart/form-data; boundary=x", "application/xml", "json", "application/json; charset=koi8-r"} {
			a := s.with("Content-Type", mediaType).send(http.MethodPost, path, strings.NewReader(`{}`))
			a.request += " as " + mediaType
			a.invalid("")
		}
		for _, mediaType := range []string{"application/json", "application/json; charset=utf-8",
			"Application/JSON;charset=UTF-8"} {
			a := s.with("Content-Type", mediaType).call(http.MethodPost, path, bodied()[path])
			check(t, a.status/100 == 2, "%s as %s: %d %s", a.request, mediaType, a.status, a.raw)
		}
	}
}

// TestBodySize tests the maximum size.
func TestBodySize(t *testing.T) {
	s := startUnchecked(t)
	const descending = 1 << 20
	padded := func(size int) io.Reader {
		body := []byte(`{"name":"x","scopes":["user:read"]}`)
		return bytes.NewReader(append(body, bytes.Repeat([]byte(" "), size-len(body))...))
	}
	s.send(http.MethodPost, "/api-keys", padded(descending)).created()
	s.send(http.MethodPost, "/api-keys", padded(descending+1)).failsWithStatus(http.StatusRequestEntityTooLarge,
		"validation_error")
	s.send(http.MethodPost, "/api-keys", padded(10*descending)).failsWithStatus(http.StatusRequestEntityTooLarge,
		"validation_error")
	s.get("/me").ok()
}

func TestBodyWithoutUse(t *testing.T) {
	s := startUnchecked(t)
	for _, body := range []string{"{}", "garbage", strings.Repeat("x", 4096)} {
		s.send(http.MethodGet, "/me", strings.NewReader(body)).ok()
		s.send(http.MethodDelete, "/ssh-keys/unknown", strings.NewReader(body)).failsWith("not_found")
	}
	// A body may be left out if no field is required.
	s.as("").send(http.MethodPost, "/auth/device", nil).ok()
	s.send(http.MethodPost, "/templates", nil).invalid("name")
}

// The document does not say that unknown fields are refused, so they are ignored like unknown query parameters.
func TestUnknownFieldsIgnored(t *testing.T) {
	s := start(t)
	for path, body := range bodied() {
		body["surprise"] = true
		a := s.post(path, body)
		check(t, a.status/100 == 2, "%s with an unknown field: %d %.200s", path, a.status, a.raw)
		s.get("/me?surprise=1").ok()
	}
	body := s.rentBody()
	body["surprise"], body["max_price_kop_h"] = nil, 1
	before := s.create(uniqueName("key"), body).created()
	path := "/instances/" + text(before, "id")
	after := s.call(http.MethodPatch, path, object{"name": "x", "disk_gb": 20, "status": "stopped"}).ok()
	equal(t, "name", text(after, "name"), "x")
	for _, field := range []string{"status", "disk_gb"} {
		equal(t, field+" after a new name", short(after[field]), short(before[field]))
	}
	s.call(http.MethodPatch, path, object{"surprise": 1}).invalid("name")
}
