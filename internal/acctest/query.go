package acctest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Querier runs queries: Protocol, or the CLI at hand where it is new enough.
type Querier interface {
	// Found runs the query at an address, and returns what it found. The error is
	// what a CLI prints.
	Found(config, address string) ([]Found, error)
}

// Found implements Querier.
func (p *Protocol) Found(config, address string) ([]Found, error) {
	p.env.t.Helper()
	found, diags := p.Query(config, address)
	if Failed(diags) {
		return found, errors.New(Said(diags))
	}
	return found, nil
}

// queryFile is where a workspace has its queries.
const queryFile = "main.tfquery.hcl"

// Found implements Querier.
func (w *Workspace) Found(config, address string) ([]Found, error) {
	w.t.Helper()
	w.Write(queryFile, config)
	output, err := w.Try("query", "-json", "-no-color")
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, Words(output))
	}
	var found []Found
	for lines := bufio.NewScanner(bytes.NewReader([]byte(output))); lines.Scan(); {
		var line struct {
			Type   string
			Result struct {
				Address  string
				Name     string         `json:"display_name"`
				Identity map[string]any `json:"identity"`
				Resource map[string]any `json:"resource_object"`
			} `json:"list_resource_found"`
		}
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Type == "list_resource_found" && line.Result.Address == address {
			found = append(found, Found{Name: line.Result.Name, Identity: line.Result.Identity, Resource: line.Result.Resource})
		}
	}
	return found, nil
}
