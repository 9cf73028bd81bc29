package tfinstance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// CheckCreation checks at plan what new instances need: an account that may rent, a template, its disk and image, and
// SSH keys. replaces reports that they replace instances: then what cannot be read is an error, too, because the apply
// destroys the old instances first. Otherwise the API checks the request at apply.
func CheckCreation(
	ctx context.Context, meta *tfkit.Meta, arguments Arguments, replaces bool, diags *diag.Diagnostics,
) {
	user, err := meta.Account(ctx)
	switch {
	case rental.IsForbidden(err): // the API key may not read the account
	case err != nil && replaces:
		tfkit.AddAPIError(diags, "read the account", err)
	case err != nil:
		tfkit.WarnUnchecked(diags, err)
	case user.EmailVerified != nil && !*user.EmailVerified:
		tfkit.AddError(diags, "E-mail address is not verified", "The API refuses every rental until the e-mail "+
			"address of the account is verified. Nothing was rented or destroyed. Confirm the address in the service's "+
			"console, then run again.")
	}
	if arguments.Template.ValueString() != "" && !diags.HasError() {
		checkTemplate(ctx, meta, arguments, replaces, diags)
	}
}

// checkTemplate checks a known template, and the arguments that depend on it. Its messages do not contain the slug,
// which may be sensitive.
func checkTemplate(
	ctx context.Context, meta *tfkit.Meta, arguments Arguments, replaces bool, diags *diag.Diagnostics,
) {
	slug, image := arguments.Template.ValueString(), arguments.Image.ValueString()
	template, found, err := meta.Cache.Templates.Find(ctx, slug)
	hasOwnImage := image != "" && slug != rental.CustomTemplate // the API accepts an image for the custom template only
	switch {
	case err != nil && (rental.IsUnauthorized(err) || replaces || hasOwnImage):
		tfkit.AddAPIError(diags, "read the template", err)
		return
	case err != nil:
		tfkit.WarnUnchecked(diags, err)
		return
	case !found:
		tfkit.AddAttributeError(diags, path.Root("template"), "No such template",
			"Neither the catalog nor this account has a template with the slug in template. The data source "+
				"gpurent_templates lists all. If the template was created less than a minute ago, plan again later.")
		return
	}
	if hasOwnImage && !rental.SameImage(template.Image, image) {
		tfkit.AddAttributeError(diags, path.Root("image"), "Image differs from the template's image", tfkit.Textf(
			"The template uses the image %q, and image is another one. Only the template %q accepts any image. Remove image, "+
				"set template = %q, or create a gpurent_template with this image.",
			template.Image, rental.CustomTemplate, rental.CustomTemplate))
	}
	if disk := arguments.DiskGB.ValueInt64(); !arguments.DiskGB.IsUnknown() && disk < template.MinDiskGB {
		tfkit.AddAttributeError(diags, path.Root("disk_gb"), "Disk below the template's minimum", tfkit.Textf(
			"The template needs at least %d GB, and disk_gb is %d. Raise disk_gb: a disk cannot grow later.",
			template.MinDiskGB, disk))
	}
	checkSSHKeys(ctx, meta, arguments.SSHKeyIDs, template.LaunchMode == rental.LaunchSSH, replaces, diags)
	if template.LaunchMode == rental.LaunchEntrypoint && arguments.Conditions().SSHReachable {
		tfkit.AddAttributeWarning(diags, path.Root("ready_when"), "ready_when waits for SSH, and the template has none",
			"The template launches its entrypoint, and such instances usually have no SSH server. The apply may wait until "+
				"its timeout. Remove ready_when.ssh_reachable, or use log_pattern or urls_reachable.")
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
		tfkit.AddAttributeWarning(diags, path.Root("ssh_key_ids"), "No SSH key for the instance",
			"The template is used over SSH, and the account has no SSH key. Keys cannot be attached later, so nobody could "+
				"log in to the instance. Create a gpurent_ssh_key, and reference its id in ssh_key_ids.")
	}
	add := tfkit.AddAttributeWarning
	if replaces {
		add = tfkit.AddAttributeError
	}
	for _, id := range ids.Elements() {
		if _, found := keys.Find(tfkit.StringOf(id)); !found && !id.IsUnknown() {
			add(diags, path.Root("ssh_key_ids"), "No such SSH key", "ssh_key_ids contains an id that this account does not "+
				"have. The API may reject the request after a replaced instance is destroyed, or nobody could log in to the new "+
				"one. Remove it, or create the key first.")
			return
		}
	}
}
