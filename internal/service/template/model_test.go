package template

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

var full = rental.Template{
	Slug: "t", Name: "Trainer", Description: "d", Image: "ubuntu:24.04", LaunchMode: rental.LaunchSSH,
	Ports: []int64{22, 8888},
	Env:   map[string]string{"A": "b"}, OnStart: new("run"), MinDiskGB: 20, RecommendedDiskGB: 40, Owner: rental.OwnerMe,
}

var createOfFull = rental.TemplateCreate{
	Name: "Trainer", Description: "d", Image: "ubuntu:24.04", LaunchMode: rental.LaunchSSH, Ports: []int64{22, 8888},
	Env: full.Env, OnStart: "run",
}

// A template cannot change, so fields that the API omits or normalizes keep their prior values.
func TestFromAPI_KeepsPriorValues(t *testing.T) {
	prior, diags := fromAPI(t.Context(), model{}, full)
	if diags.HasError() {
		t.Fatal(diags)
	}
	for name, now := range map[string]rental.Template{
		"only the slug": {Slug: "t"},
		"normalized": {
			Slug: "t", Name: "trainer", Description: " d", Image: "docker.io/library/ubuntu:24.04", LaunchMode: "secure_shell",
			Ports: []int64{8888, 22, 22},
			Env:   map[string]string{"A": "b", "TZ": "UTC"}, OnStart: new("run\n"), MinDiskGB: 20, RecommendedDiskGB: 40,
			Owner: rental.OwnerMe,
		},
	} {
		got, diags := fromAPI(t.Context(), prior, now)
		if diff := cmp.Diff(prior, got); diags.HasError() || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, diags, diff)
		}
		if !sameContent(createOfFull, func() rental.Template {
			now.Name, now.Image = "Trainer", "index.docker.io/library/ubuntu:24.04"
			if now.Ports != nil {
				now.Ports = []int64{22, 8888}
			}
			if now.Env != nil {
				now.Env = full.Env
			}
			return now
		}()) {
			t.Errorf("%s: no match with the create request", name)
		}
	}
	other := full
	if other.Env = map[string]string{"A": "c"}; sameContent(createOfFull, other) {
		t.Error("another environment counts as the same content")
	}
	other.Image, other.LaunchMode, other.Ports = "ubuntu:22.04", rental.LaunchJupyter, []int64{1}
	got, _ := fromAPI(t.Context(), prior, other)
	if got.Image != types.StringValue("ubuntu:22.04") || got.LaunchMode != types.StringValue("jupyter") ||
		got.Ports.Equal(prior.Ports) {
		t.Errorf("a different template has no difference: %+v", got)
	}
}
