package cli

import (
	"io"
	"os"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// standardInput is the argument for stdin.
const standardInput = "-"

// withInput calls read with a file or standard input, as UTF-8 without a byte order mark. PowerShell writes UTF-16, or
// UTF-8 with the mark.
func withInput(name string, read func(io.Reader) error) error {
	decoded := func(input io.Reader) io.Reader { return transform.NewReader(input, unicode.BOMOverride(transform.Nop)) }
	if name == standardInput {
		return read(decoded(os.Stdin))
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	return read(decoded(file))
}
