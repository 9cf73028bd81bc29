package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestForGenerator(t *testing.T) {
	const want = `{"format_version":"1.0","provider_schemas":{"gpurent":{"provider":{"version":0},"resource_schemas":{}}}}`
	for name, told := range map[string]string{
		"an older CLI": `{"format_version":"1.0","provider_schemas":{"one.example/gpurent/gpurent":{"provider":{"version":0},"resource_schemas":{}}}}`,
		"a newer CLI, which tells more": `{"format_version":"1.0","provider_schemas":{"two.example/gpurent/gpurent":` +
			`{"provider":{"version":0},"resource_schemas":{},"action_schemas":{"gpurent_instance_stop":{}}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			got, err := forGenerator([]byte(told))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestForGeneratorRefusesASchemaWithoutTheProvider(t *testing.T) {
	for _, told := range []string{`{"format_version":"1.0"}`, `{"format_version":"1.0","provider_schemas":{"a":{},"b":{}}}`, "Error"} {
		if got, err := forGenerator([]byte(told)); err == nil {
			t.Errorf("%s: passes as %s", told, got)
		}
	}
}

func TestCompare(t *testing.T) {
	committed, fresh := t.TempDir(), t.TempDir()
	write := func(folder, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, "index.md"), []byte(content), fileMode); err != nil {
			t.Fatal(err)
		}
	}
	write(committed, "old\n")
	write(fresh, "new\n")
	if err := compare(t.Context(), committed, fresh); err == nil || !strings.Contains(err.Error(), "+new") {
		t.Errorf("%v, want the difference", err)
	}
	write(committed, "new\n")
	if err := compare(t.Context(), committed, fresh); err != nil {
		t.Error("documents that are current:", err)
	}
	if err := compare(t.Context(), filepath.Join(committed, "missing"), fresh); err == nil {
		t.Error("no documents at all pass for current")
	}
}
