package main

import (
	"fmt"
	"strings"
)

// sectionOf is what a changelog in the form of Keep a Changelog says of a
// version, without the version's own heading. A version that it does not name,
// or says nothing of, must not be released.
func sectionOf(changelog, version string) (string, error) {
	version = strings.TrimPrefix(version, "v")
	var section strings.Builder
	inside := false
	for line := range strings.Lines(changelog) {
		switch {
		case strings.HasPrefix(line, "## "):
			inside = strings.HasPrefix(line, "## ["+version+"]")
		case inside && !isLink(line):
			section.WriteString(line)
		}
	}
	text := strings.TrimSpace(section.String())
	if text == "" {
		return "", fmt.Errorf("nothing under a heading \"## [%s] - DATE\"", version)
	}
	return text + "\n", nil
}

// isLink tells whether a line says where a "[1.2.3]" leads: such lines stand
// below the last version and belong to none.
func isLink(line string) bool {
	name, _, found := strings.Cut(line, "]: ")
	return found && strings.HasPrefix(name, "[") && !strings.ContainsAny(name, " ]")
}
