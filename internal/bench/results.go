package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Where the results of a whole run are kept, below the module's root. The plot
// is part of the documentation: make docs copies it beside the guides.
const (
	committedResults = "internal/bench/results/results.json"
	committedPlot    = "templates/guides/at-scale.svg"
	committedGuide   = "templates/guides/at-scale.md"

	sharedMode = 0o644 // of files that are committed
)

// Results is everything that a run has measured.
type Results struct {
	Date string `json:"date"` // in UTC
	// CLI is its name and version, Go the version that built the provider.
	CLI    string `json:"cli"`
	Go     string `json:"go"`
	System string `json:"system"`
	CPUs   int    `json:"cpus"`
	// Repeat is how often a row was measured that is not measured once.
	Repeat  int      `json:"repeat"`
	Goals   []Goal   `json:"goals"`
	Program *Program `json:"program"`
	Rows    []Row    `json:"rows"`
}

// row finds what was measured of a cell.
func (r Results) row(c Cell) (Row, bool) {
	for _, row := range r.Rows {
		if row.Cell == c {
			return row, true
		}
	}
	return Row{}, false
}

// rows are those that are wanted.
func (r Results) rows(wanted func(Cell) bool) []Row {
	var found []Row
	for _, row := range r.Rows {
		if wanted(row.Cell) {
			found = append(found, row)
		}
	}
	return found
}

func readResults(file string) (Results, error) {
	var r Results
	content, err := os.ReadFile(file)
	if err != nil {
		return r, fmt.Errorf("results: %w", err)
	}
	if err := json.Unmarshal(content, &r); err != nil {
		return r, fmt.Errorf("results: %w", err)
	}
	return r, nil
}

func writeResults(file string, r Results) error {
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // a folder of the repository
		return err
	}
	return os.WriteFile(file, append(content, '\n'), sharedMode)
}
