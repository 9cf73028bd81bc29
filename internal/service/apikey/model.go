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

// fromAPI returns the state of a key. A key cannot change, so the state keeps what it has, such as the secret, which
// the API returns only once. Null is a value of expires_in_days, except after an import, which sets only the id.
func fromAPI(ctx context.Context, prior keyModel, key rental.APIKey) (keyModel, diag.Diagnostics) {
	scopes, diags := types.SetValueFrom(ctx, types.StringType, tfkit.Unique(key.Scopes))
	m := prior
	m.ID = types.StringValue(key.ID)
	m.Name = tfkit.PriorOrValue(prior.Name, tfkit.OptionalString(key.Name))
	m.Scopes = tfkit.PriorOrValue(prior.Scopes, scopes)
	m.Prefix = tfkit.PriorOrValue(prior.Prefix, tfkit.OptionalString(key.Prefix))
	m.Source = tfkit.PriorOrValue(prior.Source, tfkit.OptionalString(key.Source))
	m.CreatedAt = tfkit.PriorOrValue(prior.CreatedAt, tfkit.Time(key.CreatedAt))
	m.ExpiresAt = tfkit.PriorOrValue(prior.ExpiresAt, tfkit.TimePointer(key.ExpiresAt))
	if imported := prior.Name.IsNull(); imported && key.ExpiresAt != nil && !key.CreatedAt.IsZero() {
		m.ExpiresInDays = types.Int64Value(int64(math.Round(key.ExpiresAt.Sub(key.CreatedAt).Hours() / day.Hours())))
	}
	return m, diags
}

// created returns the state of a new key, with its secret.
func created(ctx context.Context, plan keyModel, key rental.APIKeyCreated) (keyModel, diag.Diagnostics) {
	m, diags := fromAPI(ctx, plan, key.APIKey)
	m.Secret = types.StringValue(key.Secret)
	return m, diags
}

// toCreate returns the body of the create request.
func toCreate(ctx context.Context, plan keyModel) (rental.APIKeyCreate, diag.Diagnostics) {
	create := rental.APIKeyCreate{Name: plan.Name.ValueString(), ExpiresInDays: plan.ExpiresInDays.ValueInt64Pointer()}
	return create, plan.Scopes.ElementsAs(ctx, &create.Scopes, false)
}
