package handbook_test

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A Terraform that the tests build from source has no S3 backend: the module proxy does not serve it. The stories of the
// GitHub example then keep the same objects with the http backend. OpenTofu, and a Terraform from a release, use S3.

// hasS3 reports whether the CLI knows the S3 backend.
func (tr *trial) hasS3(t *testing.T) bool {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "main.tf"), []byte("terraform {\n  backend \"s3\" {}\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	probe := exec.CommandContext(t.Context(), filepath.Join(tr.bin, tr.cli), "init", "-input=false")
	probe.Dir, probe.Env = folder, tr.environ(nil)
	output, err := probe.CombinedOutput()
	if err == nil {
		t.Fatalf("init of an S3 backend without a bucket succeeds:\n%s", output)
	}
	return strings.Contains(string(output), "bucket")
}

// overHTTP makes the repository keep its state in the store with the http backend.
func (s *objectStore) overHTTP(t *testing.T, repository string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(repository, "backend_override.tf"), []byte("terraform {\n  backend \"http\" {}\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// stateObject is the path of the state that the example keeps.
const stateObject = "/example-terraform-state/research.tfstate"

// httpBackend are the environment variables of the http backend.
func (s *objectStore) httpBackend(user, password string) map[string]string {
	return map[string]string{
		"TF_HTTP_ADDRESS": s.url + "/http", "TF_HTTP_LOCK_ADDRESS": s.url + "/http", "TF_HTTP_UNLOCK_ADDRESS": s.url + "/http",
		"TF_HTTP_USERNAME": user, "TF_HTTP_PASSWORD": password, "TF_HTTP_RETRY_MAX": "0",
	}
}

// serveHTTPBackend is the store's side of the http backend. The caller holds the lock of the store.
func (s *objectStore) serveHTTPBackend(w http.ResponseWriter, r *http.Request) {
	user, _, _ := r.BasicAuth()
	if user != storeWriter && (user != storeReader || r.Method != http.MethodGet) {
		http.Error(w, "403 Forbidden", http.StatusForbidden)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	state, found := s.objects[stateObject]
	held, locked := s.objects[stateObject+".tflock"]
	switch {
	case r.Method == http.MethodGet && !found:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodGet:
		_, err = w.Write(state)
	case r.Method == http.MethodPost:
		s.objects[stateObject] = body
		s.kept.Write(body)
	case r.Method == "LOCK" && locked:
		w.WriteHeader(http.StatusLocked)
		_, err = w.Write(held)
	case r.Method == "LOCK":
		s.objects[stateObject+".tflock"] = body
	case r.Method == "UNLOCK":
		delete(s.objects, stateObject+".tflock")
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}
