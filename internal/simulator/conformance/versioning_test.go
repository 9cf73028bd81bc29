package conformance

import (
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
)

// Chapter "Versioning".

func TestVersion(t *testing.T) {
	s := start(t)
	check(t, strings.HasSuffix(s.baseURL, "/api/v1"), "the base address is %s", s.baseURL)
	schema := s.as("").get("/openapi.json").ok()
	equal(t, "info.version", text(schema, "info.version"), "1.0.0")
	paths, _ := schema["paths"].(object)
	listed := map[string]bool{}
	for _, op := range apidoc.Operations {
		methods, _ := paths[op.Path].(object)
		described, _ := methods[strings.ToLower(op.Method)].(object)
		check(t, described != nil, "the schema has no %s %s", op.Method, op.Path)
		equal(t, op.Method+" "+op.Path+" reads a body", bodyOf(op) != nil, described["requestBody"] != nil)
		listed[op.Method+" "+op.Path] = true
	}
	for path, methods := range paths {
		o, _ := methods.(object)
		for method := range o {
			if slices.Contains([]string{"get", "post", "put", "patch", "delete"}, method) {
				operation := strings.ToUpper(method) + " " + path
				check(t, listed[operation], "apidoc.Operations has no %s", operation)
			}
		}
	}
}
