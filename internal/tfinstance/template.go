package tfinstance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// CheckTemplate reports an error for a template that does not exist, a disk below its minimum, and an image of a
// template other than the custom one, because the API accepts an image only for that. It warns if nobody could log in,
// and if ready_when waits for an SSH server that the template does not have. replaces reports that the creation
// replaces an instance: then a template that cannot be read is an error, too.
func CheckTemplate(
	ctx context.Context, meta *tfkit.Meta, arguments Arguments, replaces bool, diags *diag.Diagnostics,
) {
	slug := arguments.Template.ValueString()
	if slug == "" {
		return
	}
	template, found, err := meta.Cache.Templates.Find(ctx, slug)
	image := arguments.Image.ValueString()
	hasOwnImage := image != "" && slug != rental.CustomTemplate
	switch {
	case err != nil && (rental.IsUnauthorized(err) || replaces || hasOwnImage):
		tfkit.AddAPIError(diags, "read the template", err)
		return
	case err != nil:
		tfkit.WarnUnchecked(diags, err)
		return // the API validates the request at apply
	case !found:
		addNoTemplate(diags)
		return
	}
	if hasOwnImage && !rental.SameImage(template.Image, image) {
		addOtherImage(diags, template.Image)
	}
	if disk := arguments.DiskGB.ValueInt64(); !arguments.DiskGB.IsUnknown() && disk < template.MinDiskGB {
		addDiskBelowMinimum(diags, template.MinDiskGB, disk)
	}
	checkSSHKeys(ctx, meta, arguments.SSHKeyIDs, template.LaunchMode == rental.LaunchSSH, replaces, diags)
	if template.LaunchMode == rental.LaunchEntrypoint && arguments.Conditions().SSHReachable {
		addNoSSHExpected(diags)
	}
}

// checkSSHKeys reports ids that the account does not have: an error if the creation replaces an instance. It warns if
// nobody could log in to an instance: needsKey, ids is omitted, and the account has no key.
func checkSSHKeys(
	ctx context.Context, meta *tfkit.Meta, ids types.Set, needsKey, replaces bool, diags *diag.Diagnostics,
) {
	if none := len(ids.Elements()) == 0; ids.IsUnknown() || none && (!needsKey || !ids.IsNull()) {
		return
	}
	keys, err := meta.Cache.SSHKeys.List(ctx)
	if err != nil || len(keys.Skipped) > 0 {
		return // the API checks the request at apply
	}
	if len(ids.Elements()) == 0 && len(keys.Items) == 0 {
		addNoSSHKeys(diags)
	}
	for _, id := range ids.Elements() {
		if _, found := keys.Find(tfkit.StringOf(id)); !found && !id.IsUnknown() {
			addUnknownSSHKey(diags, replaces)
			return
		}
	}
}
