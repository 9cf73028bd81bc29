package contract

import "testing"

// A document that is broken is told as such, and never taken for one without operations.
func TestABrokenDocumentIsAnError(t *testing.T) {
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
