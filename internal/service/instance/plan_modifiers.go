package instance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
)

// If the state has no value, the configured one replaces nothing: the API has omitted the field in every response since
// the import.
const replaceDescription = "A change replaces the instance, unless the API has not returned the current value."

func replaceIfStateHasText() planmodifier.String {
	return stringplanmodifier.RequiresReplaceIf(func(
		_ context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse,
	) {
		resp.RequiresReplace = !req.StateValue.IsNull()
	}, replaceDescription, replaceDescription)
}

func replaceIfConfiguredText() planmodifier.String {
	return stringplanmodifier.RequiresReplaceIf(func(
		_ context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse,
	) {
		resp.RequiresReplace = !req.ConfigValue.IsNull() && !req.StateValue.IsNull()
	}, replaceDescription, replaceDescription)
}

func replaceIfStateHasDisk() planmodifier.Int64 {
	return int64planmodifier.RequiresReplaceIf(func(
		_ context.Context, req planmodifier.Int64Request, resp *int64planmodifier.RequiresReplaceIfFuncResponse,
	) {
		resp.RequiresReplace = !req.StateValue.IsNull()
	}, replaceDescription, replaceDescription)
}
