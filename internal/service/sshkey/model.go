package sshkey

import (
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

type model struct {
	PublicKey types.String `tfsdk:"public_key"`

	Name types.String `tfsdk:"name"`

	ID          types.String `tfsdk:"id"`
	Type        types.String `tfsdk:"type"`
	Fingerprint types.String `tfsdk:"fingerprint"`
	CreatedAt   types.String `tfsdk:"created_at"`
}

// fromAPI is the read side: prior with what the service returns put in. What it leaves out keeps its prior value. It does
// not say the key itself, for which the fingerprint stands after an import; type and
// fingerprint follow from the key.
func fromAPI(prior model, key rental.SSHKey) model {
	m := prior
	m.ID = types.StringValue(key.ID)
	m.Name = tfkit.PriorOrValue(prior.Name, tfkit.Text(key.Name)) // a key cannot be renamed, but its name be normalized
	m.CreatedAt = tfkit.ValueOrPrior(tfkit.Time(key.CreatedAt), prior.CreatedAt)
	if key.Fingerprint != "" {
		m.Fingerprint = types.StringValue(canonical(key.Fingerprint))
	}
	if m.PublicKey.IsNull() {
		m.PublicKey = m.Fingerprint
	}
	if m.Type.IsNull() || m.Type.IsUnknown() {
		m.Type = tfkit.Text(key.Type)
	}
	return m
}

// created is the state after a creation: what was planned stands.
func created(plan, now model) model {
	m := plan
	m.ID, m.CreatedAt = now.ID, now.CreatedAt
	m.Name = tfkit.Prefer(plan.Name, now.Name)
	m.Type = tfkit.Prefer(plan.Type, now.Type)
	m.Fingerprint = tfkit.Prefer(plan.Fingerprint, now.Fingerprint)
	return m
}

// toCreate is the write side.
func toCreate(plan model) rental.SSHKeyCreate {
	return rental.SSHKeyCreate{Name: plan.Name.ValueString(), PublicKey: strings.TrimSpace(plan.PublicKey.ValueString())}
}
