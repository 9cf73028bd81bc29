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

// fromAPI returns the state of a key. Fields that the API omits keep their prior values. The API does not return the
// key itself: after an import, public_key is the fingerprint.
func fromAPI(prior model, key rental.SSHKey) model {
	m := prior
	m.ID = types.StringValue(key.ID)
	// A key cannot be renamed, but the API may normalize its name.
	m.Name = tfkit.PriorOrValue(prior.Name, tfkit.OptionalString(key.Name))
	m.CreatedAt = tfkit.ValueOrPrior(tfkit.Time(key.CreatedAt), prior.CreatedAt)
	if key.Fingerprint != "" {
		m.Fingerprint = types.StringValue(canonical(key.Fingerprint))
	}
	if m.PublicKey.IsNull() {
		m.PublicKey = m.Fingerprint
	}
	if m.Type.IsNull() || m.Type.IsUnknown() {
		m.Type = tfkit.OptionalString(key.Type)
	}
	return m
}

// created returns the state after a creation.
func created(plan, now model) model {
	m := plan
	m.ID, m.CreatedAt = now.ID, now.CreatedAt
	m.Name = tfkit.PlannedOrActual(plan.Name, now.Name)
	m.Type = tfkit.PlannedOrActual(plan.Type, now.Type)
	m.Fingerprint = tfkit.PlannedOrActual(plan.Fingerprint, now.Fingerprint)
	return m
}

// toCreate returns the body of the create request.
func toCreate(plan model) rental.SSHKeyCreate {
	return rental.SSHKeyCreate{Name: plan.Name.ValueString(), PublicKey: strings.TrimSpace(plan.PublicKey.ValueString())}
}
