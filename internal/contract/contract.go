// Package contract contains the Rental Service API v1 as an OpenAPI 3.0.3 document.
//
// The document is written by hand from the API document alone, like the client and the simulator. Tests validate all
// traffic between those two against it (see contracttest), so an error in one of the three readings shows.
package contract

import (
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// Version is the version of the API that the document describes, its
// info.version.
const Version = "1.0.0"

// compressed is openapi.json. Compressed, it takes 10 kB of the program instead of 97 kB.
//
//go:embed openapi.json.gz
var compressed []byte

// Document returns the OpenAPI document as JSON. The caller owns the returned bytes.
func Document() []byte { return bytes.Clone(document()) }

var document = sync.OnceValue(func() []byte {
	reader, err := gzip.NewReader(bytes.NewReader(compressed))
	if err == nil {
		var content []byte
		if content, err = io.ReadAll(reader); err == nil {
			return content
		}
	}
	// The document is embedded, so this happens only in a broken build.
	panic(fmt.Sprintf("contract: %v", err))
})

// Operation is an operation of the API.
type Operation struct {
	ID     string // operationId, for example "createInstance"
	Method string // HTTP method in upper case
	Path   string // path template below the base address, for example "/instances/{id}"
	Scope  string // scope of the API key; "public": no key is needed; "optional": a key may be sent
}

// Operations returns all operations of the document, ordered by path and method.
func Operations() []Operation {
	ops, err := parseOperations(Document())
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
