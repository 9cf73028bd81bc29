package main

import (
	"strings"
	"testing"
)

const changelog = `# Changelog

## [Unreleased]

### Added

- Not yet.

## [1.1.0] - 2026-11-20

### Fixed

- See [the guide](docs/guide.md): it has the details.

## [1.1.0-rc.1] - 2026-11-01

- A candidate.

## [1.0.0] - 2026-10-01

- The first.

## [0.9.0] - 2026-09-01

[Unreleased]: https://example.org/compare/v1.1.0...HEAD
[1.0.0]: https://example.org/releases/v1.0.0
`

func TestSectionOf(t *testing.T) {
	for version, want := range map[string]string{
		"v1.1.0":      "### Fixed\n\n- See [the guide](docs/guide.md): it has the details.\n",
		"1.1.0":       "### Fixed\n\n- See [the guide](docs/guide.md): it has the details.\n",
		"v1.1.0-rc.1": "- A candidate.\n",
		"v1.0.0":      "- The first.\n",
	} {
		if got, err := sectionOf(changelog, version); err != nil || got != want {
			t.Errorf("%s: %q and %v, want %q", version, got, err, want)
		}
	}
}

// A version without a text in the changelog must not be released.
func TestSectionOf_NoText(t *testing.T) {
	for _, version := range []string{"v1.1", "v2.0.0", "v0.9.0", "v1.1.0-rc"} {
		if got, err := sectionOf(changelog, version); err == nil || !strings.Contains(err.Error(), "## [") {
			t.Errorf("%s: %q and %v, want an error with the heading", version, got, err)
		}
	}
}
