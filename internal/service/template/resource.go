// Package template implements templates: the resource and the list resource gpurent_template, and the data sources
// gpurent_template and gpurent_templates.
package template

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var (
	_ resource.ResourceWithConfigure      = (*templateResource)(nil)
	_ resource.ResourceWithValidateConfig = (*templateResource)(nil)
	_ resource.ResourceWithImportState    = (*templateResource)(nil)
	_ resource.ResourceWithIdentity       = (*templateResource)(nil)
)

type templateResource struct{ tfkit.Resource }

// NewResource returns the resource gpurent_template.
func NewResource() resource.Resource { return &templateResource{tfkit.Resource{Name: "template"}} }

// Create creates the template.
func (r *templateResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	create, diags := toCreate(ctx, plan)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	object := r.Meta.NewObject(ctx)
	template, err := r.Meta.Client.CreateTemplate(ctx, create)
	if err != nil && template.Slug == "" { // with a slug, an error is about the rest of the response
		tfkit.AddAPIError(&resp.Diagnostics, "create template", err, "name", "image", "description", "launch_mode", "ports",
			"env", "onstart", "min_disk_gb", "recommended_disk_gb")
		return
	}
	r.Meta.Cache.Templates.Created(template)
	now, diags := fromAPI(ctx, plan, template)
	resp.Diagnostics.Append(diags...)
	resp.Diagnostics.Append(resp.State.Set(ctx, now)...)
	resp.Diagnostics.Append(tfkit.Identify(ctx, resp.Identity, now.ID)...)
	resp.Diagnostics.Append(r.Meta.SetCreated(ctx, resp.Private, object)...)
}

// Read refreshes the state from the list of templates, because the API has no request for a single template.
func (r *templateResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	if r.BeginRead(ctx, req, resp); !r.Meta.Ready() {
		return
	}
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	slug := state.ID.ValueString()
	template, found, err := r.Meta.Cache.Templates.Find(ctx, slug)
	switch {
	case err != nil:
		tfkit.AddAPIError(&resp.Diagnostics, tfkit.Textf("read template %s", slug), err)
	case !found:
		r.RemoveMissing(ctx, req, resp, "template", slug, r.Meta.Cache.Templates.Lag())
	case template.Owner == rental.OwnerCatalog:
		addNotOwn(&resp.Diagnostics, slug)
	default:
		now, diags := fromAPI(ctx, state, template)
		resp.Diagnostics.Append(diags...)
		resp.Diagnostics.Append(resp.State.Set(ctx, now)...)
		r.Meta.CompleteObject(ctx, req.Private, resp.Private, &resp.Diagnostics)
	}
}

// Update sends no request: only the spelling of an image changes in place, and a description between null and "".
func (r *templateResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	tfkit.Adopt(ctx, req, resp)
}

// Delete deletes the template.
func (r *templateResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	remove := func(ctx context.Context, slug string) error {
		r.Meta.Cache.Templates.Deleted(slug)
		return r.Meta.Client.DeleteTemplate(ctx, slug)
	}
	r.DeleteObject(ctx, req, resp, "delete", "template", r.Meta.Cache.Templates.Has, remove)
}
