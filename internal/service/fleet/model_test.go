package fleet

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// What the API omits keeps the prior value of the same instance. The login and the web page do so only while it runs.
func TestMemberValues_Omitted(t *testing.T) {
	t.Parallel()
	full := rental.Instance{
		ID: "i", Status: rental.StatusRunning, Country: new("NL"), GPU: rental.InstanceGPU{Slug: "rtx_4090"},
		SSH: &rental.SSH{Host: "h", Port: 22, User: "root"}, URLs: []rental.InstanceURL{{}, {URL: new("https://b")}},
	}
	omitted := rental.InstanceOmitted{SSH: true, URLs: true}
	before := memberValues(fleet.Member{Instance: full, Generation: 2}, nil)
	for name, test := range map[string]struct {
		inst rental.Instance
		want map[string]attr.Value // others are as before
	}{
		"all": {inst: rental.Instance{ID: "i", Status: rental.StatusRunning, Omitted: omitted}},
		"another order of the pages": {inst: rental.Instance{
			ID: "i", Status: rental.StatusRunning, Omitted: rental.InstanceOmitted{SSH: true},
			URLs: []rental.InstanceURL{{URL: new("https://a")}, {URL: new("https://b")}},
		}},
		"without a login": {
			inst: rental.Instance{ID: "i", Status: rental.StatusRunning},
			want: map[string]attr.Value{
				"ssh_host": types.StringNull(), "ssh_port": types.Int64Null(), "ssh_user": types.StringNull(),
				"url": types.StringNull(),
			},
		},
		"stopped": {
			inst: rental.Instance{ID: "i", Status: rental.StatusStopped, Omitted: omitted},
			want: map[string]attr.Value{
				"status": types.StringValue("stopped"), "ssh_host": types.StringNull(), "ssh_port": types.Int64Null(),
				"ssh_user": types.StringNull(), "url": types.StringNull(),
			},
		},
		"another instance": {
			inst: rental.Instance{ID: "j", Status: rental.StatusRunning, Omitted: omitted},
			want: map[string]attr.Value{
				"id": types.StringValue("j"), "gpu": types.StringNull(), "country": types.StringNull(),
				"ssh_host": types.StringNull(), "ssh_port": types.Int64Null(), "ssh_user": types.StringNull(),
				"url": types.StringNull(),
			},
		},
	} {
		got := memberValues(fleet.Member{Instance: test.inst, Generation: 2}, before)
		for attribute, want := range before {
			if changed, ok := test.want[attribute]; ok {
				want = changed
			}
			if !got[attribute].Equal(want) {
				t.Errorf("%s: %s is %v, want %v", name, attribute, got[attribute], want)
			}
		}
	}
	if !before["url"].Equal(types.StringValue("https://b")) || len(before) != len(memberType.AttrTypes) {
		t.Errorf("the values are %v", before)
	}
}
