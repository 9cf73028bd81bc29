package tfkit

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource"
)

// RemoveMissing ends the read of an object that the API does not find: it removes the object from the state, with a
// warning. It keeps an object that may belong to another account, with an error, and one that was created less than lag
// ago, because the API may not find that yet.
func (r *Resource) RemoveMissing(
	ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse, kind Text, id string, lag time.Duration,
) {
	object := GetObject(ctx, req.Private, &resp.Diagnostics)
	// Only responses that no cache can serve show the time of the API, from which the age of the object follows.
	_, _ = r.Meta.origin(ctx, false) //nolint:errcheck // CheckOrigin reads the account again if that is necessary
	if resp.Diagnostics.HasError() || !r.Meta.CheckOrigin(ctx, object, kind+Textf(" %s", id), &resp.Diagnostics) ||
		r.Meta.Client.LagLeft(object.CreatedAt, lag) > 0 {
		return
	}
	resp.State.RemoveResource(ctx)
	AddMissing(&resp.Diagnostics, kind, id)
}
