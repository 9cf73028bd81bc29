// Package contract contains the Rental Service API v1 as an OpenAPI 3.0.3 document.
//
// The document is written by hand from the API document alone, like the client and the simulator. Tests validate all
// traffic between those two against it (see contracttest), so an error in one of the three readings shows.
package contract

import (
	"bytes"
	_ "embed"
)

//go:embed openapi.json
var document []byte

// Document returns the OpenAPI document as JSON. The caller owns the returned bytes.
func Document() []byte { return bytes.Clone(document) }
