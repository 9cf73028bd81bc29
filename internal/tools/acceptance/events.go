package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// event is one line of go test -json; see "go doc test2json".
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

// tally counts tests, subtests left out.
type tally struct{ passed, failed, skipped int }

func (t tally) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", t.passed, t.failed, t.skipped)
}

// test is a test that is not a subtest.
type test struct{ pkg, name string }

// relay prints what go test without -json would print: each package's closing
// line, and before it the output of the tests that failed. It counts as it goes.
func relay(events io.Reader, out io.Writer) (tally, error) {
	r := &relayed{held: map[test]string{}}
	decoder := json.NewDecoder(events)
	for {
		var e event
		if err := decoder.Decode(&e); errors.Is(err, io.EOF) {
			return r.count, nil
		} else if err != nil {
			return r.count, fmt.Errorf("reading go test's output: %w", err)
		}
		if _, err := io.WriteString(out, r.next(e)); err != nil {
			return r.count, err
		}
	}
}

// relayed is what relay remembers from event to event.
type relayed struct {
	count tally
	held  map[test]string // the output of tests whose end is not known yet
}

// next is what an event gives to print.
func (r *relayed) next(e event) string {
	name, _, isSubtest := strings.Cut(e.Test, "/")
	this := test{e.Package, name}
	switch {
	case e.Action == "build-output", e.Action == "output" && name == "":
		return packageLine(e.Output)
	case e.Action == "output":
		r.held[this] += e.Output
		return ""
	case e.Action == "fail" && name == "":
		return r.unfinished(e.Package)
	case name == "" || isSubtest:
		return ""
	}
	switch e.Action {
	case "pass":
		r.count.passed++
	case "skip":
		r.count.skipped++
	case "fail":
		r.count.failed++
	default:
		return "" // a start or a pause
	}
	text := r.held[this]
	delete(r.held, this)
	if e.Action != "fail" {
		return ""
	}
	return text
}

// unfinished is the output of tests that never came to an end, because the
// package timed out or crashed: there it says why. They count as failed.
func (r *relayed) unfinished(pkg string) string {
	var text strings.Builder
	for _, t := range slices.SortedFunc(maps.Keys(r.held), func(a, b test) int { return cmp.Compare(a.name, b.name) }) {
		if t.pkg == pkg {
			r.count.failed++
			text.WriteString(r.held[t])
			delete(r.held, t)
		}
	}
	return text.String()
}

// packageLine drops the verdict that -v, which -json implies, puts before a
// package's closing line.
func packageLine(output string) string {
	if output == "PASS\n" {
		return ""
	}
	return output
}
