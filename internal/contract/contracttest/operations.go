package contracttest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract"
)

// Operation is an operation of the API.
type Operation struct {
	ID     string // operationId, for example "createInstance"
	Method string // HTTP method in upper case
	Path   string // path template below the base address, for example "/instances/{id}"
	Scope  string // scope of the API key; "public": no key is needed; "optional": a key may be sent
}

// Operations returns all operations of the document, ordered by path and method.
func Operations() []Operation {
	ops, err := parseOperations(contract.Document())
	if err != nil {
		// The document is embedded, so this happens only in a broken build.
		panic(fmt.Sprintf("contract: %v", err))
	}
	return ops
}

func parseOperations(document []byte) ([]Operation, error) {
	var doc struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		return nil, fmt.Errorf("parse document: %w", err)
	}
	var ops []Operation
	for path, item := range doc.Paths {
		for key, raw := range item {
			if key == "parameters" { // the only member of a path item that is not an operation
				continue
			}
			var op struct {
				ID    string `json:"operationId"`
				Scope string `json:"x-scope"`
			}
			if err := json.Unmarshal(raw, &op); err != nil {
				return nil, fmt.Errorf("parse %s %s: %w", key, path, err)
			}
			ops = append(ops, Operation{ID: op.ID, Method: strings.ToUpper(key), Path: path, Scope: op.Scope})
		}
	}
	slices.SortStableFunc(ops, func(a, b Operation) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method))
	})
	return ops, nil
}
