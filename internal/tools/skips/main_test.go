package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	passes = `{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p"}
`
	skips = `{"Action":"output","Package":"p","Test":"TestB/case","Output":"    b_test.go:7: no shell here\n"}
{"Action":"skip","Package":"p","Test":"TestB/case"}
`
	allowedSkip = `{"Action":"output","Package":"p","Test":"TestB","Output":"only root can give a file to another user\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
`
	oldCLI = `{"Action":"output","Package":"p","Test":"TestAccB",
"Output":"Terraform 1.11.4 is too old: needs Terraform \"1.14.0\"\n"}
{"Action":"skip","Package":"p","Test":"TestAccB"}
`
)

func TestCheck(t *testing.T) {
	for name, test := range map[string]struct {
		files []string
		local bool
		want  string
	}{
		"no skip":                  {files: []string{passes}},
		"unlisted skip":            {files: []string{passes + skips}, want: "p.TestB/case:     b_test.go:7: no shell"},
		"unlisted skip outside CI": {files: []string{passes + skips}, local: true},
		"allowed skip":             {files: []string{passes + allowedSkip}},
		"skipped with one CLI of two": {
			files: []string{passes + skips, strings.Replace(passes, "TestA", "TestB/case", 1)},
		},
		"skipped with both CLIs":          {files: []string{passes + skips, skips}, want: "p.TestB/case"},
		"too old, the only CLI":           {files: []string{passes + oldCLI}},
		"too old, both CLIs":              {files: []string{passes + oldCLI, oldCLI}, want: "p.TestAccB"},
		"no test ran":                     {files: []string{`{"Action":"pass"}`}, local: true, want: "no test ran"},
		"skipped tests do not count":      {files: []string{skips}, local: true, want: "no test ran"},
		"something other than event JSON": {files: []string{"go: no such tool"}, local: true, want: "invalid character"},
	} {
		t.Run(name, func(t *testing.T) {
			var files []string
			for _, content := range test.files {
				file := filepath.Join(t.TempDir(), "events.json")
				if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
				files = append(files, file)
			}
			err := check(files, !test.local)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}
