package sshkey

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

// The API may return another spelling of the name than the planned one, which Terraform requires in the state.
func TestCreated(t *testing.T) {
	planned := model{Name: types.StringValue("Laptop"), Type: types.StringUnknown(), Fingerprint: types.StringUnknown()}
	now := model{
		ID: types.StringValue("key_1"), Name: types.StringValue("laptop"), Type: types.StringValue("ssh-ed25519"),
		Fingerprint: types.StringValue("SHA256:x"),
	}
	got := created(planned, now)
	if got.Name != planned.Name || got.ID != now.ID || got.Type != now.Type || got.Fingerprint != now.Fingerprint {
		t.Errorf("got %+v", got)
	}
}
