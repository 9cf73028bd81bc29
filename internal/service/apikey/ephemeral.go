package apikey

import (
	"context"
	"encoding/json"
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
	// defaultDays is how long a key works that nobody could revoke.
	defaultDays = 1
	// private is where Open leaves for Close what is to be revoked.
	private = "key"
	// closing bounds a revocation while the run goes on: OpenTofu takes one that
	// lasts ten seconds for one that never ends.
	closing = 9 * time.Second
)

type keyEphemeral struct{ tfkit.Ephemeral }

func newEphemeral() ephemeral.EphemeralResource {
	return &keyEphemeral{tfkit.Ephemeral{Name: "api_key"}}
}

// Open issues the key. From the moment it is there the process knows that it has to
// revoke it, whether or not the CLI ever asks for that.
func (e *keyEphemeral) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var config keyModel
	resp.Diagnostics.Append(tfkit.Get(ctx, req.Config.Raw, req.Config.Schema, &config)...)
	if config.ExpiresInDays.IsNull() {
		config.ExpiresInDays = types.Int64Value(defaultDays)
	}
	create, diags := toCreate(ctx, config)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() || !e.CanOpen(&resp.Diagnostics) {
		return
	}
	made, ok := e.Meta.Cleanup.Making()
	if !ok {
		addNotIssued(&resp.Diagnostics, create, context.Canceled)
		return
	}
	defer made()
	release := e.Meta.Client.Reserve() // a request to revoke it with
	key, err := issue(ctx, e.Meta, create)
	if err != nil {
		release()
		addNotIssued(&resp.Diagnostics, create, err)
		return
	}
	opened := open(key.APIKey)
	opened.owe(ctx, e.Meta, release)
	resp.Diagnostics.Append(resp.Result.Set(ctx, created(config, key))...)
	handedOver, err := json.Marshal(opened)
	if err == nil {
		resp.Diagnostics.Append(resp.Private.SetKey(ctx, private, handedOver)...)
		err = ctx.Err() // in a run that was interrupted nobody uses the key
	}
	if err != nil {
		addNotIssued(&resp.Diagnostics, create, err)
	}
	if resp.Diagnostics.HasError() {
		e.close(ctx, opened, &resp.Diagnostics)
	}
}

// Close revokes the key.
func (e *keyEphemeral) Close(ctx context.Context, req ephemeral.CloseRequest, resp *ephemeral.CloseResponse) {
	handedOver, diags := req.Private.GetKey(ctx, private)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	var opened openKey
	if err := json.Unmarshal(handedOver, &opened); err != nil {
		resp.Diagnostics.AddError("Cannot revoke API key", "What was kept of it since it was issued cannot be read: "+err.Error()+". It is revoked when this run ends.")
		return
	}
	e.close(ctx, opened, &resp.Diagnostics)
}

// close revokes a key also when the run was interrupted.
func (e *keyEphemeral) close(ctx context.Context, key openKey, diags *diag.Diagnostics) {
	ctx, stop := tfkit.Detach(ctx)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, closing)
	defer cancel()
	err := key.revoke(ctx, e.Meta)
	if err == nil {
		return
	}
	summary := "Cannot revoke API key " + tfkit.OneLine(key.ID)
	detail := err.Error() + "\n\nIt is tried once more when this run ends. If that fails as well, the key works until it expires " + key.end() +
		". To end it before, revoke it in the service's console."
	// That the request limit is spent fails no run, nor that the provider's own key was
	// revoked in it: the key expires soon.
	if rental.IsRateLimited(err) || rental.IsUnauthorized(err) {
		diags.AddWarning(summary, detail)
	} else {
		diags.AddError(summary, detail)
	}
}
