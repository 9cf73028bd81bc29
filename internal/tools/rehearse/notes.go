package main

import (
	"fmt"
	"strings"
)

// sectionOf returns the section about a version in a changelog with the format of Keep a Changelog, without its
// heading. A version without a section or with an empty section is an error.
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
		return "", fmt.Errorf("no text under a heading \"## [%s] - DATE\"", version)
	}
	return text + "\n", nil
}

// isLink reports whether a line defines the target of a link such as "[1.2.3]". These lines follow the last version and
// belong to none.
func isLink(line string) bool {
	name, _, found := strings.Cut(line, "]: ")
	return found && strings.HasPrefix(name, "[") && !strings.ContainsAny(name, " ]")
}
