package conformance

import (
	"slices"
	"strings"
	"testing"
)

// The document's chapter "Versioning".

func TestVersionIsPartOfTheAddress(t *testing.T) {
	s := start(t)
	check(t, strings.HasSuffix(s.base, "/api/v1"), "the base address is %s", s.base)
	schema := s.as("").get("/openapi.json").ok()
	equal(t, "info.version", text(schema, "info.version"), "1.0.0")
	paths, _ := schema["paths"].(object)
	listed := map[string]bool{}
	for _, op := range operations() {
		methods, _ := paths[op.path].(object)
		described, _ := methods[strings.ToLower(op.method)].(object)
		check(t, described != nil, "the schema has no %s %s", op.method, op.path)
		equal(t, op.method+" "+op.path+" reads a body", op.body != nil, described["requestBody"] != nil)
		listed[op.method+" "+op.path] = true
	}
	for path, methods := range paths {
		o, _ := methods.(object)
		for method := range o {
			if slices.Contains([]string{"get", "post", "put", "patch", "delete"}, method) {
				operation := strings.ToUpper(method) + " " + path
				check(t, listed[operation], "operations() has no %s", operation)
			}
		}
	}
}
