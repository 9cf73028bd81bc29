package internal_test

import (
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every claim in SECURITY.md names at least one test that exists, or a target of make.
func TestSecurity_ClaimsHaveTests(t *testing.T) {
	page := read(t, "SECURITY.md")
	claims := regexp.MustCompile(`(?m)^\| ([A-Z][0-9]+) \| [^|]+ \| [^|]+ \| ([^|]+) \|$`).FindAllStringSubmatch(page, -1)
	rows := regexp.MustCompile(`(?m)^\| [A-Z][0-9]+ `).FindAllString(page, -1)
	if len(rows) != len(claims) || len(claims) < 30 {
		t.Fatalf("%d claims in %d numbered rows: a row is malformed, or a table is missing", len(claims), len(rows))
	}
	cited := regexp.MustCompile("^`(?:make ([a-z-]+)|(\\w+)\\.((?:Test|Fuzz)\\w+))`$")
	makefile := read(t, "GNUmakefile")
	for _, claim := range claims {
		for name := range strings.SplitSeq(claim[2], ", ") {
			match := cited.FindStringSubmatch(name)
			switch {
			case match == nil:
				t.Errorf("%s: %s is neither a test nor a target of make", claim[1], name)
			case match[1] != "" && !strings.Contains(makefile, "\n"+match[1]+":"),
				match[1] == "" && !hasTest(t, match[2], match[3]):
				t.Errorf("%s: %s does not exist", claim[1], name)
			}
		}
	}
}

// hasTest reports whether a package, named by its folder, has the test.
func hasTest(t *testing.T, folder, name string) bool {
	t.Helper()
	for _, pattern := range []string{folder, "*/" + folder, "*/*/" + folder} {
		if folder == "internal" {
			pattern = "."
		}
		files, err := filepath.Glob(filepath.Join(filepath.FromSlash(pattern), "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.Contains(read(t, path.Join("internal", filepath.ToSlash(file))), "\nfunc "+name+"(") {
				return true
			}
		}
	}
	return false
}

// Workflows run pinned actions, with the right to read the repository unless a job has others, and not with the secrets
// on changes of anyone. The rules also apply to the workflows of the examples, because users copy them. actionlint
// checks the rest.
func TestWorkflows_Safe(t *testing.T) {
	used := regexp.MustCompile(`(?m)^ *(?:- )?uses: (.*)$`)
	pinned := regexp.MustCompile(`^(?:\./.*|[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$`)
	forAnyone := regexp.MustCompile(`(?m)^(?:on:.*| +(?:- )?)(?:pull_request_target|workflow_run|issue_comment)\b`)
	forAllSteps := regexp.MustCompile(`(?m)^ {0,6}\w+: .*\bsecrets\.`)
	for _, pattern := range []string{
		".github/workflows/*", "examples/ci/*/.github/workflows/*", "examples/*/github-actions.yml",
	} {
		files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(pattern)))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no workflows: %v", pattern, err)
		}
		for _, file := range files {
			text := read(t, strings.TrimPrefix(filepath.ToSlash(file), "../"))
			for _, action := range used.FindAllStringSubmatch(text, -1) {
				if !pinned.MatchString(action[1]) {
					t.Errorf("%s: %q is not pinned as owner/name@COMMIT # vX.Y.Z", file, action[1])
				}
			}
			if !strings.Contains(text, "\npermissions:\n  contents: read\n\n") || forAnyone.MatchString(text) {
				t.Errorf("%s: not all jobs have only the permission contents: read, or anyone can start them", file)
			}
			if secret := forAllSteps.FindString(text); secret != "" {
				t.Errorf("%s: all steps of a job have %s", file, secret)
			}
			if strings.Count(text, "actions/checkout@") != strings.Count(text, "persist-credentials: false") {
				t.Errorf("%s: a checkout leaves its token to later steps", file)
			}
			if strings.Count(text, "runs-on: ") != strings.Count(text, "timeout-minutes: ") {
				t.Errorf("%s: a job has no timeout-minutes", file)
			}
		}
	}
}
