package sshkey

import (
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// model is the model of the resource.
type model struct {
	PublicKey types.String `tfsdk:"public_key"`

	Name types.String `tfsdk:"name"`

	ID          types.String `tfsdk:"id"`
	Type        types.String `tfsdk:"type"`
	Fingerprint types.String `tfsdk:"fingerprint"`
	CreatedAt   types.String `tfsdk:"created_at"`
}

// fromAPI returns the state of a key. A key cannot change, so the state keeps what it has. The API does not return the
// key itself: after an import, public_key is the fingerprint.
func fromAPI(prior model, key rental.SSHKey) model {
	m := prior
	m.ID = types.StringValue(key.ID)
	m.Name = tfkit.PriorOrValue(prior.Name, tfkit.OptionalString(key.Name))
	m.Type = tfkit.PriorOrValue(prior.Type, tfkit.OptionalString(key.Type))
	m.Fingerprint = tfkit.PriorOrValue(prior.Fingerprint, tfkit.OptionalString(canonical(key.Fingerprint)))
	m.CreatedAt = tfkit.PriorOrValue(prior.CreatedAt, tfkit.Time(key.CreatedAt))
	m.PublicKey = tfkit.PriorOrValue(prior.PublicKey, m.Fingerprint)
	return m
}

// toCreate returns the body of the create request.
func toCreate(plan model) rental.SSHKeyCreate {
	return rental.SSHKeyCreate{Name: plan.Name.ValueString(), PublicKey: strings.TrimSpace(plan.PublicKey.ValueString())}
}
