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

// model is the model of the resource.
type model struct {
	keyModel

	RotateBeforeDays types.Int64 `tfsdk:"rotate_before_days"`
	AllowSelfRevoke  types.Bool  `tfsdk:"allow_self_revoke"`
}

// keyModel has the attributes that the resource and the ephemeral resource share.
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

// fromAPI returns the state of a key. Fields that the API omits keep their prior values, because a key cannot change.
// The API does not return the secret again.
func fromAPI(ctx context.Context, prior model, key rental.APIKey) (model, diag.Diagnostics) {
	m := prior
	var diags diag.Diagnostics
	if len(key.Scopes) > 0 || prior.Scopes.IsNull() {
		m.Scopes, diags = types.SetValueFrom(ctx, types.StringType, tfkit.Unique(key.Scopes))
	}
	// A key cannot be renamed, but the API may normalize its name.
	m.Name = tfkit.PriorOrValue(prior.Name, tfkit.OptionalString(key.Name))
	m.ID = types.StringValue(key.ID)
	m.Prefix = tfkit.ValueOrPrior(tfkit.OptionalString(key.Prefix), prior.Prefix)
	m.Source = tfkit.ValueOrPrior(tfkit.OptionalString(key.Source), prior.Source)
	m.CreatedAt = tfkit.ValueOrPrior(tfkit.Time(key.CreatedAt), prior.CreatedAt)
	m.ExpiresAt = tfkit.ValueOrPrior(tfkit.TimePointer(key.ExpiresAt), prior.ExpiresAt)
	if m.ExpiresInDays.IsNull() && key.ExpiresAt != nil && !key.CreatedAt.IsZero() {
		// After an import, expires_in_days is the lifetime of the key.
		m.ExpiresInDays = types.Int64Value(int64(math.Round(key.ExpiresAt.Sub(key.CreatedAt).Hours() / day.Hours())))
	}
	return m, diags
}

// created returns the state of a key after its creation, with the planned arguments and the secret.
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

// toCreate returns the body of the create request.
func toCreate(ctx context.Context, plan keyModel) (rental.APIKeyCreate, diag.Diagnostics) {
	create := rental.APIKeyCreate{Name: plan.Name.ValueString(), ExpiresInDays: plan.ExpiresInDays.ValueInt64Pointer()}
	return create, plan.Scopes.ElementsAs(ctx, &create.Scopes, false)
}
