package template

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ list.ListResourceWithConfigure = (*templateList)(nil)

type templateList struct{ tfkit.Resource }

// NewList returns the list resource gpurent_template.
func NewList() list.ListResource { return &templateList{tfkit.Resource{Name: "template"}} }

// ListResourceConfigSchema implements list.ListResource.
func (l *templateList) ListResourceConfigSchema(
	_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse,
) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lists the account's own templates. The data source `gpurent_templates` also reads the " +
			"templates of the catalog, which cannot be managed." + tfkit.AboutLimit,
	}
}

// List implements list.ListResource.
func (l *templateList) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	results := tfkit.ListResults[rental.Template, model]{
		Kind:    "templates",
		List:    l.Meta.Client.ListTemplates,
		Matches: func(t rental.Template) bool { return t.Owner == rental.OwnerMe },
		Display: func(t rental.Template) (id, name string) { return t.Slug, fmt.Sprintf("%s (%s)", t.Name, t.Image) },
		Import:  func(empty model, t rental.Template) (model, diag.Diagnostics) { return fromAPI(ctx, empty, t) },
	}
	results.Stream(ctx, l.Meta, req, stream)
}
