package handbook_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// hasS3Backend reports whether the CLI contains the backend of the GitHub example.
// The Terraform that this project builds has none of the remote backends that are
// modules of their own.
func hasS3Backend(t *testing.T, tr *trial) bool {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "main.tf"), []byte("terraform {\n  backend \"s3\" {}\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), filepath.Join(tr.bin, tr.cli), "init", "-input=false", "-no-color")
	command.Dir, command.Env = folder, tr.environ(nil)
	output, err := command.CombinedOutput()
	if err == nil {
		t.Fatalf("init of a backend without arguments succeeded:\n%s", output)
	}
	return strings.Contains(acctest.Words(string(output)), `The attribute "bucket" is required`)
}

// withoutS3 replaces the backend of the repository by "http". The store then accepts
// the same keys, paths and locks through that protocol.
func (g *githubWorld) withoutS3() {
	g.t.Helper()
	if err := os.WriteFile(filepath.Join(g.repository, "backend.tf"), []byte("terraform {\n  backend \"http\" {}\n}\n"), 0o600); err != nil {
		g.t.Fatal(err)
	}
}

// httpBackend returns the settings of the "http" backend for one pair of keys.
func (s *objectStore) httpBackend(id, secret string) map[string]string {
	state := s.url + "/example-terraform-state/research.tfstate"
	return map[string]string{
		"TF_HTTP_ADDRESS": state, "TF_HTTP_UPDATE_METHOD": "PUT",
		"TF_HTTP_LOCK_ADDRESS": state + ".tflock", "TF_HTTP_LOCK_METHOD": "PUT",
		"TF_HTTP_UNLOCK_ADDRESS": state + ".tflock", "TF_HTTP_UNLOCK_METHOD": "DELETE",
		"TF_HTTP_USERNAME": id, "TF_HTTP_PASSWORD": secret,
	}
}
