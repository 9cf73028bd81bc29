package apikey

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ list.ListResourceWithConfigure = (*keyList)(nil)

type keyList struct{ tfkit.Resource }

// NewList returns the list resource gpurent_api_key.
func NewList() list.ListResource { return &keyList{tfkit.Resource{Name: "api_key"}} }

// ListResourceConfigSchema implements list.ListResource.
func (l *keyList) ListResourceConfigSchema(
	_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse,
) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lists the active API keys of the account, without their secrets. Requires the scope " +
			"`user:read`.\n\nThe results include the provider's own key, without which every later request " +
			"fails." + tfkit.AboutLimit,
	}
}

// List implements list.ListResource.
func (l *keyList) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	results := tfkit.ListResults[rental.APIKey, model]{
		Kind:    "API keys",
		List:    l.Meta.Client.ListAPIKeys,
		Display: l.display,
		Import: func(imported model, k rental.APIKey) (_ model, diags diag.Diagnostics) {
			imported.keyModel, diags = fromAPI(ctx, imported.keyModel, k)
			return imported, diags
		},
	}
	results.Stream(ctx, l.Meta, req, stream)
}

// display returns the id and the display name of a key.
func (l *keyList) display(k rental.APIKey) (id, name string) {
	parts := []string{k.Prefix + "…", "from the " + k.Source, "never expires"}
	if k.ExpiresAt != nil {
		parts[2] = "expires " + k.ExpiresAt.UTC().Format(time.DateOnly)
	}
	if l.Meta.Owns(k.Prefix) {
		parts = append(parts, "the one in use here")
	}
	return k.ID, fmt.Sprintf("%s (%s)", k.Name, strings.Join(parts, ", "))
}
