package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The commands read files as PowerShell writes them.
func TestWithInput_Encodings(t *testing.T) {
	for name, content := range map[string]string{
		"UTF-8":                        `{"a":"я"}`,
		"UTF-8 with a byte order mark": "\xef\xbb\xbf" + `{"a":"я"}`,
		"UTF-16, little-endian":        "\xff\xfe{\x00\"\x00a\x00\"\x00:\x00\"\x00\x4f\x04\"\x00}\x00",
		"UTF-16, big-endian":           "\xfe\xff\x00{\x00\"\x00a\x00\"\x00:\x00\"\x04\x4f\x00\"\x00}",
	} {
		file := filepath.Join(t.TempDir(), "plan.json")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		var got []byte
		err := withInput(file, "show", func(input io.Reader) (err error) {
			got, err = io.ReadAll(input)
			return err
		})
		if err != nil || string(got) != `{"a":"я"}` {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// The error for an input that is not JSON names what it is, and which command prints the JSON.
func TestWithInput_OtherFormats(t *testing.T) {
	for content, want := range map[string]string{
		"":                       "it is empty",
		"\xff\xfe\r\x00\n\x00":   "it is empty",
		"PK\x03\x04rest":         "it is a plan file",
		"\n<!DOCTYPE html>":      "it is HTML or XML",
		"\x1f\x8b\x08":           "it is binary data",
		"{\x00\"\x00":            "it is binary data", // UTF-16 without a byte order mark
		"No state.":              "it is text",
		"\xef\xbb\xbfProvider":   "it is text",
		strings.Repeat(" ", 600): "", // it may have JSON later
		" [1]":                   "",
	} {
		file := filepath.Join(t.TempDir(), "plan.json")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		err := withInput(file, "terraform show -json", func(io.Reader) error { return nil })
		if want != "" {
			want += `: use the output of "terraform show -json"`
		}
		if got := fmt.Sprint(err); got != cmp.Or(want, "<nil>") {
			t.Errorf("%q: %s, want %q", content, got, want)
		}
	}
}
