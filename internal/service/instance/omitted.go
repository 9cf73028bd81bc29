package instance

import (
	"cmp"
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// omittedReads is how often a server is read again for optional fields that an answer left out.
const omittedReads = 3

// readOmitted reads a server again while its answers leave out fields that an import or a takeover needs. It returns
// the server as it was given, with those fields as far as they were returned.
func readOmitted(ctx context.Context, client *rental.Client, inst rental.Instance) rental.Instance {
	for range omittedReads {
		if !omitsNeeded(inst) {
			break
		}
		again, err := client.GetInstance(ctx, inst.ID)
		if err != nil {
			break
		}
		inst.DiskGB = cmp.Or(inst.DiskGB, again.DiskGB)
		inst.Image = cmp.Or(inst.Image, again.Image)
		inst.Template = cmp.Or(inst.Template, again.Template)
		inst.DesiredState = cmp.Or(inst.DesiredState, again.DesiredState)
		if inst.CreatedAt.IsZero() {
			inst.CreatedAt = again.CreatedAt
		}
		if inst.Omitted.Name && !again.Omitted.Name {
			inst.Name, inst.Omitted.Name = again.Name, false
		}
		if inst.Omitted.SSH && !again.Omitted.SSH {
			inst.SSH, inst.Omitted.SSH = again.SSH, false
		}
	}
	return inst
}

func omitsNeeded(inst rental.Instance) bool {
	return inst.DiskGB == 0 || inst.Template.Slug == "" || inst.Image == "" || inst.CreatedAt.IsZero() || inst.Omitted.Name ||
		inst.Omitted.SSH && inst.Status == rental.StatusRunning
}

// A configured value is adopted, and replaces nothing, while the state has none: the service left the field out of
// every answer since the import.
const replacesText = "A change replaces the server, unless the service has not returned the current value."

func replacesByTemplate() planmodifier.String {
	return stringplanmodifier.RequiresReplaceIf(replacesKnownText, replacesText, replacesText)
}

func replacesByImage() planmodifier.String {
	return stringplanmodifier.RequiresReplaceIf(func(
		ctx context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse,
	) {
		if !req.ConfigValue.IsNull() {
			replacesKnownText(ctx, req, resp)
		}
	}, replacesText, replacesText)
}

func replacesKnownText(
	_ context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse,
) {
	resp.RequiresReplace = !req.StateValue.IsNull()
}

func replacesByDisk() planmodifier.Int64 {
	return int64planmodifier.RequiresReplaceIf(func(
		_ context.Context, req planmodifier.Int64Request, resp *int64planmodifier.RequiresReplaceIfFuncResponse,
	) {
		resp.RequiresReplace = !req.StateValue.IsNull()
	}, replacesText, replacesText)
}
