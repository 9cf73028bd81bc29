// Package contract holds the Rental Service API v1 as an OpenAPI 3.0.3 document.
//
// The document is written by hand from the description of the service alone.
// It is the third reading of the API, beside the client and the simulator: in
// tests every exchange between those two is held against it (see
// contracttest), so a mistake in one of them fails against the others.
package contract

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Version is the version of the API that the document describes, its
// info.version.
const Version = "1.0.0"

//go:embed openapi.json
var document string

// Document returns the OpenAPI document, JSON in UTF-8. The caller owns the
// returned bytes.
func Document() []byte { return []byte(document) }

// Operation is one operation of the API.
type Operation struct {
	ID     string // operationId, for example "createInstance"
	Method string // HTTP method in upper case
	Path   string // path template below the base address, for example "/instances/{id}"
	Scope  string // the scope an API key needs; "public": no key is needed; "optional": a key may be sent
}

// Operations returns all operations of the document, ordered by path, then by
// method.
func Operations() []Operation {
	ops, err := parseOperations(Document())
	if err != nil {
		// The document is part of the binary: only a broken build gets here.
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
			if key == "parameters" { // a path item's only member that is not an operation
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
	slices.SortFunc(ops, func(a, b Operation) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method))
	})
	return ops, nil
}
