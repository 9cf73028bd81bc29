package cli

import (
	"io"
	"os"
	"path/filepath"
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
		err := withInput(file, func(input io.Reader) (err error) {
			got, err = io.ReadAll(input)
			return err
		})
		if err != nil || string(got) != `{"a":"я"}` {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
