package handbook_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

func testGitLabCI(t *testing.T, tr *trial) {
	acctest.FirstCLIOnly(t)
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the file is for Linux machines with amd64")
	}
	needs(t, "curl")
	r := newGitLabRunner(t, tr, example(exampleFolder), "gitlab-ci.yml", map[string]string{
		`go install "github.com/gpurent/terraform-provider-gpurent@v$GPURENT_VERSION"`: `mkdir -p "$GOBIN" && cp "$BUILT" "$GOBIN/terraform-provider-gpurent"`,
		`apk add --no-cache curl`: `command -v curl`,
	})
	r.given = func(gitlabJob) map[string]string { return map[string]string{"BUILT": tr.program} }
	r.file.Variables["PROVIDER_HOST"] = tr.host
	if err := r.pipeline(t.Context()); err != nil {
		t.Fatalf("%v\n%v", err, r.printed)
	}
	for line := range r.unused {
		t.Errorf("no job has the line %q: what fetches something ran as it is", line)
	}
	expect(t, r.printed, map[string]string{
		"module":  "5 passed, 0 failed.",
		"trouble": "It survived",
		"plan":    "Plan: 1 to add, 0 to change, 0 to destroy.",
		"apply":   "Resources: 1 destroyed.",
	})
	if planned, applied := accountKey(t, r.artifacts), accountKey(t, r.project); planned == "" || planned != applied {
		t.Errorf("it was planned for the account of key %q and applied to that of %q", planned, applied)
	}
	expect(t, r.printed, map[string]string{"module": "The configuration is valid", "apply": "No changes."})
	for name, job := range r.file.Jobs {
		if _, ran := r.printed[name]; !ran && !strings.HasPrefix(name, ".") {
			t.Errorf("job %s, of stage %q, never runs", name, job.Stage)
		}
	}
}

// accountKey tells services apart: each has an API key of its own, which its state file holds.
func accountKey(t *testing.T, folder string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, "service.json"))
	if err != nil {
		t.Fatal(err)
	}
	var service struct{ APIKey string }
	if err := json.Unmarshal(content, &service); err != nil {
		t.Fatal(err)
	}
	return service.APIKey
}
