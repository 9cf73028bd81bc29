package contracttest

import "testing"

// An invalid document must not look like one without operations.
func TestParseOperations_InvalidDocument(t *testing.T) {
	for name, document := range map[string]string{
		"no JSON":      `openapi: 3.0.3`,
		"no paths":     `{"paths": ["/me"]}`,
		"no operation": `{"paths": {"/me": {"get": "me"}}}`,
	} {
		if operations, err := parseOperations([]byte(document)); err == nil || operations != nil {
			t.Errorf("%s: %v, %v", name, operations, err)
		}
	}
}
