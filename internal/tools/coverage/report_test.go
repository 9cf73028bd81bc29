package main

import (
	"bytes"
	"strings"
	"testing"
)

const (
	prefix = "\t" + module
	nicely = "\t\tcoverage: 91.2% of statements\n"
)

func TestReport(t *testing.T) {
	shipped := []string{module, module + "/internal/poll", module + "/internal/rental"}
	for name, test := range map[string]struct {
		said, complaint string
	}{
		"all is well":                      {prefix + nicely + prefix + "/internal/poll" + nicely + prefix + "/internal/rental" + nicely, ""},
		"just enough":                      {prefix + nicely + prefix + "/internal/poll\t\tcoverage: 85.0% of statements\n", ""},
		"too little":                       {prefix + nicely + prefix + "/internal/poll\t\tcoverage: 84.9% of statements\n", "internal/poll: 84.9%"},
		"too little of what does not ship": {prefix + nicely + prefix + "/internal/poll" + nicely + prefix + "/internal/tools/demo\t\tcoverage: 3.0% of statements\n", ""},
		"no statements on the same line":   {prefix + "/internal/chaos\t\t" + prefix + "/internal/poll\t\tcoverage: 12.0% of statements\n" + prefix + nicely, "internal/poll: 12.0%"},
		"nothing was measured":             {"", "only 0 of the 3 packages"},
	} {
		var out bytes.Buffer
		err := report(&out, test.said, shipped)
		if test.complaint == "" && err != nil || test.complaint != "" && (err == nil || !strings.Contains(err.Error(), test.complaint)) {
			t.Errorf("%s: %v, want %q\n%s", name, err, test.complaint, &out)
		}
	}
}

func TestReportShowsTheWorstThatShipsFirst(t *testing.T) {
	var out bytes.Buffer
	err := report(&out, prefix+"/internal/tools/demo\t\tcoverage: 3.0% of statements\n"+prefix+nicely+prefix+"/internal/poll\t\tcoverage: 90.0% of statements\n",
		[]string{module, module + "/internal/poll"})
	var order []string
	for line := range strings.Lines(out.String()) {
		order = append(order, strings.Fields(line)[0])
	}
	if got := strings.Join(order, " "); err != nil || got != "internal/poll . internal/tools/demo" {
		t.Errorf("%v, order %q", err, got)
	}
}
