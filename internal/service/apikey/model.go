package apikey

import (
	"context"
	"math"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// model is a key that a state keeps.
type model struct {
	keyModel

	RotateBeforeDays types.Int64 `tfsdk:"rotate_before_days"`
	AllowSelfRevoke  types.Bool  `tfsdk:"allow_self_revoke"`
}

// keyModel is what every issued key has, wherever it is kept.
type keyModel struct {
	Name   types.String `tfsdk:"name"`
	Scopes types.Set    `tfsdk:"scopes"`

	ExpiresInDays types.Int64 `tfsdk:"expires_in_days"`

	ID        types.String `tfsdk:"id"`
	Prefix    types.String `tfsdk:"prefix"`
	Secret    types.String `tfsdk:"secret"`
	Source    types.String `tfsdk:"source"`
	CreatedAt types.String `tfsdk:"created_at"`
	ExpiresAt types.String `tfsdk:"expires_at"`
}

const day = 24 * time.Hour

// fromAPI is the read side: prior with what the service returns put in. What it leaves out keeps its prior value, for the service cannot
// change a key. It never returns the secret again.
func fromAPI(ctx context.Context, prior model, key rental.APIKey) (model, diag.Diagnostics) {
	m := prior
	var diags diag.Diagnostics
	if len(key.Scopes) > 0 || prior.Scopes.IsNull() {
		m.Scopes, diags = types.SetValueFrom(ctx, types.StringType, tfkit.Unique(key.Scopes))
	}
	m.Name = tfkit.PriorOrValue(prior.Name, tfkit.OptionalString(key.Name)) // a key cannot be renamed, but its name be normalized
	m.ID = types.StringValue(key.ID)
	m.Prefix = tfkit.ValueOrPrior(tfkit.OptionalString(key.Prefix), prior.Prefix)
	m.Source = tfkit.ValueOrPrior(tfkit.OptionalString(key.Source), prior.Source)
	m.CreatedAt = tfkit.ValueOrPrior(tfkit.Time(key.CreatedAt), prior.CreatedAt)
	m.ExpiresAt = tfkit.ValueOrPrior(tfkit.TimePointer(key.ExpiresAt), prior.ExpiresAt)
	if m.ExpiresInDays.IsNull() && key.ExpiresAt != nil && !key.CreatedAt.IsZero() {
		// After an import: the lifetime it was issued with.
		m.ExpiresInDays = types.Int64Value(int64(math.Round(key.ExpiresAt.Sub(key.CreatedAt).Hours() / day.Hours())))
	}
	return m, diags
}

// created is a key after its creation: what was planned stands, and the secret is
// told now or never.
func created(plan keyModel, key rental.APIKeyCreated) keyModel {
	m := plan
	m.ID = types.StringValue(key.ID)
	m.Prefix = tfkit.OptionalString(key.Prefix)
	m.Secret = types.StringValue(key.Secret)
	m.Source = tfkit.OptionalString(key.Source)
	m.CreatedAt = tfkit.Time(key.CreatedAt)
	m.ExpiresAt = tfkit.TimePointer(key.ExpiresAt)
	return m
}

// toCreate is the write side.
func toCreate(ctx context.Context, plan keyModel) (rental.APIKeyCreate, diag.Diagnostics) {
	create := rental.APIKeyCreate{Name: plan.Name.ValueString(), ExpiresInDays: plan.ExpiresInDays.ValueInt64Pointer()}
	return create, plan.Scopes.ElementsAs(ctx, &create.Scopes, false)
}
