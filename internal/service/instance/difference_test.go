package instance

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// A server of an earlier run is taken over only where it is what the configuration orders. What the service leaves out, and another
// spelling of the image, are no differences.
func TestDiffers(t *testing.T) {
	t.Parallel()
	plan := model{
		Template: types.StringValue("custom"), DiskGB: types.Int64Value(60), Type: types.StringValue("on_demand"),
		Image: types.StringValue("ubuntu:24.04"),
	}
	same := rental.Instance{
		Template: rental.TemplateRef{Slug: "custom"}, DiskGB: 60, Type: rental.OnDemand, Image: "docker.io/library/ubuntu:24.04",
	}
	for name, test := range map[string]struct {
		change func(*rented)
		want   string
	}{
		"the same":            {func(*rented) {}, ""},
		"everything left out": {func(s *rented) { s.Instance = rental.Instance{} }, ""},
		"another template":    {func(s *rented) { s.Template.Slug = "pytorch" }, "template is pytorch"},
		"a twin of its template": {func(s *rented) {
			s.Template.Slug, s.twinTemplate = "t2", "t2"
		}, ""},
		"a smaller disk": {func(s *rented) { s.DiskGB = 50 }, "disk_gb is 50"},
		"a larger disk":  {func(s *rented) { s.DiskGB = 70 }, "disk_gb is 70"},
		"another type":   {func(s *rented) { s.Type = rental.Interruptible }, "type is interruptible"},
		"another image":  {func(s *rented) { s.Image = "debian:12" }, "image is debian:12"},
	} {
		server := rented{Instance: same, takenOver: true}
		test.change(&server)
		if got := differs(server, plan); (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
