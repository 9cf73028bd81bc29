// Package contract contains the Rental Service API v1 as an OpenAPI 3.0.3 document.
//
// The document is written by hand from the API document alone, like the client and the simulator. Tests validate all
// traffic between those two against it (see contracttest), so an error in one of the three readings shows.
package contract

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"sync"
)

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
