package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The commands read files as PowerShell writes them. The error for an input that is not JSON names what it is, and
// which command prints the JSON.
func TestWithInput(t *testing.T) {
	const plan = `{"a":"я"}`
	for content, want := range map[string]string{
		plan:                  plan,
		"\xef\xbb\xbf" + plan: plan,
		"\xff\xfe{\x00\"\x00a\x00\"\x00:\x00\"\x00\x4f\x04\"\x00}\x00": plan, // UTF-16, little-endian
		"\xfe\xff\x00{\x00\"\x00a\x00\"\x00:\x00\"\x04\x4f\x00\"\x00}": plan, // UTF-16, big-endian
		strings.Repeat(" ", 600): strings.Repeat(" ", 600), // it may have JSON later
		" [1]":                   " [1]",
		"":                       "it is empty",
		"\xff\xfe\r\x00\n\x00":   "it is empty",
		"PK\x03\x04rest":         "it is a plan file",
		"\n<!DOCTYPE html>":      "it is HTML or XML",
		"\x1f\x8b\x08":           "it is binary data",
		"{\x00\"\x00":            "it is binary data", // UTF-16 without a byte order mark
		"No state.":              "it is text",
		"\xef\xbb\xbfProvider":   "it is text",
	} {
		file := filepath.Join(t.TempDir(), "plan.json")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		var got string
		err := withInput(file, "show", func(input io.Reader) error {
			text, err := io.ReadAll(input)
			got = string(text)
			return err
		})
		if err != nil {
			got, want = err.Error(), want+`: use the output of "show"`
		}
		if got != want {
			t.Errorf("%q: %q, want %q", content, got, want)
		}
	}
}
