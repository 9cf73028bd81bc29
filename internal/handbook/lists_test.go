package handbook_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// numberedItem matches a line that Markdown renders as an item of a numbered list.
var numberedItem = regexp.MustCompile(`^ *([0-9]{1,9})[.)](?: |$)`)

// A sentence that begins with a number and a full stop, such as "204.", renders as a list item. Lists count from 1.
func TestNumberedItems_CountFromOne(t *testing.T) {
	for name, page := range markdown(t) {
		for _, stray := range strayItems(page) {
			t.Errorf("%s renders %q as an item of a list", name, stray)
		}
	}
}

func TestStrayItems(t *testing.T) {
	for page, want := range map[string]string{
		"1. a\n2. b\n\n   more of b\n3. c\n": "[]",
		"1. a\n1. b\n":                       "[]",
		"# A\n\n1. a\n\n# B\n\n1. b\n":       "[]",
		"text\n2.5 GB\n2024.\ntext":          "[2024.]",
		"1. a\n\n204. 404 if there is none.": "[204. 404 if there is none.]",
		"1. a\n\n# B\n\n2. b\n":              "[2. b]",
		"1) a\n3) b\n":                       "[3) b]",
	} {
		if got := fmt.Sprint(strayItems(page)); got != want {
			t.Errorf("%q: got %s, want %s", page, got, want)
		}
	}
}

// strayItems returns the list items of a page that are neither the first of a list nor the successor of the previous
// item.
func strayItems(page string) []string {
	var stray []string
	last := 0
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "#") {
			last = 0
		}
		item := numberedItem.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if item == nil {
			continue
		}
		number, err := strconv.Atoi(item[1])
		if err != nil || number != 1 && number != last+1 {
			stray = append(stray, strings.TrimSpace(line))
			continue
		}
		last = number
	}
	return stray
}
