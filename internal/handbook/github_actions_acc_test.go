package handbook_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// fakeDownload stands in for the step that fetches a release.
const fakeDownload = `mkdir "$RUNNER_TEMP/gpurent"
cp "$BUILT" "$RUNNER_TEMP/gpurent/terraform-provider-gpurent_${GPURENT_VERSION}_linux_amd64.zip"
`

// archive makes the archive of a release from the program that was built from this tree.
func archive(t *testing.T, program, version string) string {
	t.Helper()
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	writer := zip.NewWriter(&packed)
	header := &zip.FileHeader{Name: "terraform-provider-gpurent_v" + version, Method: zip.Store}
	header.SetMode(0o755)
	entry, err := writer.CreateHeader(header)
	if err == nil {
		_, err = entry.Write(content)
	}
	if err := errors.Join(err, writer.Close()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "release.zip")
	if err := os.WriteFile(file, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func testGitHubActions(t *testing.T, tr *trial) {
	acctest.FirstCLIOnly(t)
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the file is for GitHub's Linux machines with amd64")
	}
	needs(t, "bash", "unzip", "curl")
	var file workflow
	parseStrictly(t, example(exampleFolder, "github-actions.yml"), &file)
	job := file.Jobs["simulator"]
	if len(file.Jobs) != 1 || !slices.Contains(job.Strategy.Matrix["cli"], tr.cli) || len(job.Strategy.Matrix) != 1 {
		t.Fatalf("jobs %v: want one, with %s in its matrix", file.Jobs, tr.cli)
	}
	r := newRunner(t, tr, example(exampleFolder), map[string]string{"matrix.cli": tr.cli}, file, job)
	r.replaced["Download the provider"] = fakeDownload
	r.env["BUILT"] = archive(t, tr.program, file.Env["GPURENT_VERSION"])
	if err := r.run(t.Context(), job); err != nil {
		t.Fatalf("%v\n%v", err, r.printed)
	}
	if len(r.replaced) > 0 {
		t.Errorf("no step is called %v: what fetches the release ran as it is", slices.Collect(maps.Keys(r.replaced)))
	}
	expect(t, r.printed, map[string]string{
		"Initialise":                        "The configuration is valid",
		"Plan":                              "Plan: 1 to add, 0 to change, 0 to destroy.",
		"Apply":                             "Resources: 1 added, 0 changed, 0 destroyed.",
		"A second plan finds nothing to do": "No changes.",
		"Destroy":                           "Resources: 1 destroyed.",
		"Test the module":                   "5 passed, 0 failed.",
		"Break the service, and see that the module survives": "It survived",
	})
}
