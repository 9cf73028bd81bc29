package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// standardInput is the argument for stdin.
const standardInput = "-"

// withInput calls read with the JSON in a file or standard input, as UTF-8 without a byte order mark. PowerShell writes
// UTF-16, or UTF-8 with the mark. source is the command that prints such JSON, for the error of an input that has none.
func withInput(name, source string, read func(io.Reader) error) error {
	file := os.Stdin
	if name != standardInput {
		opened, err := os.Open(name)
		if err != nil {
			return err
		}
		defer opened.Close()
		file = opened
	} else if isTerminal(file) {
		return usageError("standard input is a terminal: give a file, or the output of \"%s\"", source)
	}
	input := bufio.NewReader(transform.NewReader(file, unicode.BOMOverride(transform.Nop)))
	start, err := input.Peek(sniffedBytes)
	if err != nil && err != io.EOF {
		return err
	}
	if found := otherFormat(start); found != "" {
		return fmt.Errorf("it is %s: use the output of \"%s\"", found, source)
	}
	return read(input)
}

// sniffedBytes is how much of an input shows its format.
const sniffedBytes = 512

// otherFormat returns what an input is that cannot be JSON by its first bytes; empty for one that can.
func otherFormat(start []byte) string {
	text := bytes.TrimLeft(start, " \t\r\n")
	switch {
	case len(text) == 0 && len(start) < sniffedBytes:
		return "empty"
	case len(text) == 0:
		return ""
	case bytes.HasPrefix(text, []byte("PK\x03\x04")):
		return "a plan file"
	case bytes.HasPrefix(text, []byte("<")):
		return "HTML or XML"
	case text[0] < ' ' || text[0] >= utf8.RuneSelf || bytes.IndexByte(text, 0) >= 0:
		return "binary data"
	case text[0] != '{' && text[0] != '[':
		return "text"
	}
	return ""
}
