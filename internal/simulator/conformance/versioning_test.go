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
	for _, op := range operations() {
		methods, _ := paths[op.path].(object)
		check(t, methods[strings.ToLower(op.method)] != nil, "the schema has no %s %s", op.method, op.path)
	}
	described := 0
	for _, methods := range paths {
		o, _ := methods.(object)
		for method := range o {
			if slices.Contains([]string{"get", "post", "put", "patch", "delete"}, method) {
				described++
			}
		}
	}
	equal(t, "operations in the schema", described, len(operations()))
}
