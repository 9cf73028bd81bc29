package contract

import (
	"bytes"
	"compress/gzip"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write openapi.json.gz")

func TestDocument_IsOpenAPIFile(t *testing.T) {
	content, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		var file bytes.Buffer
		writer, err := gzip.NewWriterLevel(&file, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := writer.Write(content); err != nil {
			t.Fatal(err)
		}
		if err := writer.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("openapi.json.gz", file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	clear(Document()) // the caller owns what Document returns
	if !bytes.Equal(Document(), content) {
		t.Error("openapi.json.gz is out of date: run go test ./internal/contract -update")
	}
}
