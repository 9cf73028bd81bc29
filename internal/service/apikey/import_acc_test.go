package apikey_test

import (
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

func TestAccAPIKey_generatedConfiguration(t *testing.T) {
	env := acctest.Start(t)
	id := env.Post("api-keys", `{"name":"ci","scopes":["instances:read"],"expires_in_days":30}`)
	generated := acctest.Words(env.Generated("resources/gpurent_api_key/import-by-string-id.tf", id))
	for _, want := range []string{`name = "ci"`, `expires_in_days = 30`, `scopes = ["instances:read"]`} {
		if !strings.Contains(generated, want) {
			t.Errorf("no %s in:\n%s", want, generated)
		}
	}
}
