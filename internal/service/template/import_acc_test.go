package template_test

import (
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

func TestAccTemplate_generatedConfiguration(t *testing.T) {
	for name, test := range map[string]struct{ body, want string }{
		"all arguments": {`{"name":"own","image":"registry.example/own:1","description":"D","ports":[80,443],` +
			`"env":{"A":"${b}"},"onstart":"echo a\necho b","min_disk_gb":20}`, `"echo a\necho b"`},
		"only name and image": {`{"name":"own","image":"registry.example/own:1"}`, `image = "registry.example/own:1"`},
	} {
		t.Run(name, func(t *testing.T) {
			env := acctest.Start(t)
			env.Post("templates", test.body)
			if generated := acctest.Words(env.Generated("resources/gpurent_template/import-by-string-id.tf",
				env.OwnTemplate())); !strings.Contains(generated, test.want) {
				t.Errorf("no %s in:\n%s", test.want, generated)
			}
		})
	}
}
