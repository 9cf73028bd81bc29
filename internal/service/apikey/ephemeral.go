package apikey

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var (
	_ ephemeral.EphemeralResourceWithConfigure = (*keyEphemeral)(nil)
	_ ephemeral.EphemeralResourceWithClose     = (*keyEphemeral)(nil)
)

const (
	// defaultDays is the lifetime of a key that could not be revoked.
	defaultDays = 1
	// private is the name of the private data in which Open passes the key to Close.
	private = "key"
	// revokeTimeout limits a revocation during the run: OpenTofu reports an error after ten seconds.
	revokeTimeout = 9 * time.Second
)

type keyEphemeral struct{ tfkit.Ephemeral }

// NewEphemeral returns the ephemeral resource gpurent_api_key.
func NewEphemeral() ephemeral.EphemeralResource {
	return &keyEphemeral{tfkit.Ephemeral{Name: "api_key"}}
}

// Open creates the key, and registers its revocation at the end of the process, because the CLI may never call Close.
func (e *keyEphemeral) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var config keyModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if config.ExpiresInDays.IsNull() {
		config.ExpiresInDays = types.Int64Value(defaultDays)
	}
	create, diags := toCreate(ctx, config)
	resp.Diagnostics.Append(diags...)
	if e.Meta.RequireConfig(&resp.Diagnostics); resp.Diagnostics.HasError() {
		return
	}
	end, ok := e.Meta.Cleanup.Begin()
	if !ok {
		addNotIssued(&resp.Diagnostics, create, context.Canceled)
		return
	}
	defer end()
	key, err := issue(ctx, e.Meta, create)
	if err != nil {
		addNotIssued(&resp.Diagnostics, create, err)
		return
	}
	opened := newEphemeralKey(key.APIKey)
	opened.register(ctx, e.Meta)
	result, diags := created(ctx, config, key)
	resp.Diagnostics.Append(diags...)
	resp.Diagnostics.Append(resp.Result.Set(ctx, result)...)
	resp.Diagnostics.Append(tfkit.SetPrivate(ctx, resp.Private, private, opened)...)
	if err := ctx.Err(); err != nil { // nothing uses the key after an interruption
		addNotIssued(&resp.Diagnostics, create, err)
	}
	if resp.Diagnostics.HasError() {
		e.close(ctx, opened, &resp.Diagnostics)
	}
}

// Close revokes the key.
func (e *keyEphemeral) Close(ctx context.Context, req ephemeral.CloseRequest, resp *ephemeral.CloseResponse) {
	opened := tfkit.GetPrivate[*ephemeralKey](ctx, req.Private, private, &resp.Diagnostics)
	if opened != nil { // else the end of the process revokes it
		e.close(ctx, *opened, &resp.Diagnostics)
	}
}

// close revokes a key, even after an interruption.
func (e *keyEphemeral) close(ctx context.Context, key ephemeralKey, diags *diag.Diagnostics) {
	ctx, stop := rental.Detached(ctx)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, revokeTimeout)
	defer cancel()
	if err := key.revoke(ctx, e.Meta); err != nil {
		addCannotRevoke(diags, key, err)
	}
}
