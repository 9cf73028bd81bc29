package tfinstance

import (
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

const summaryUnknownSSHKey = "No such SSH key"

// addNoTemplate does not print the slug, which may be sensitive.
func addNoTemplate(diags *diag.Diagnostics) {
	tfkit.AddAttributeError(diags, path.Root("template"), "No such template",
		"Neither the catalog nor this account has a template with the slug in template. The data source "+
			"gpurent_templates lists all. If the template was created less than a minute ago, plan again later.")
}

func addOtherImage(diags *diag.Diagnostics, templateImage string) {
	tfkit.AddAttributeError(diags, path.Root("image"), "Image differs from the template's image", tfkit.Textf(
		"The template uses the image %q, and image is another one. Only the template %q accepts any image. Remove image, "+
			"set template = %q, or create a gpurent_template with this image.",
		templateImage, rental.CustomTemplate, rental.CustomTemplate))
}

func addDiskBelowMinimum(diags *diag.Diagnostics, minimum, disk int64) {
	tfkit.AddAttributeError(diags, path.Root("disk_gb"), "Disk below the template's minimum", tfkit.Textf(
		"The template needs at least %d GB, and disk_gb is %d. Raise disk_gb: a disk cannot grow later.", minimum, disk))
}

func addNoSSHKeys(diags *diag.Diagnostics) {
	tfkit.AddAttributeWarning(diags, path.Root("ssh_key_ids"), "No SSH key for the instance",
		"The template is used over SSH, and the account has no SSH key. Keys cannot be attached later, so nobody could "+
			"log in to the instance. Create a gpurent_ssh_key, and reference its id in ssh_key_ids.")
}

func addUnknownSSHKey(diags *diag.Diagnostics, replaces bool) {
	text := tfkit.Text("ssh_key_ids contains an id that this account does not have. The API may reject the request, or " +
		"nobody could log in to the instance. Remove it, or create the key first.")
	if replaces {
		tfkit.AddAttributeError(diags, path.Root("ssh_key_ids"), summaryUnknownSSHKey,
			text+" A replacement destroys an instance and its disk first. Nothing was destroyed.")
		return
	}
	tfkit.AddAttributeWarning(diags, path.Root("ssh_key_ids"), summaryUnknownSSHKey, text)
}

func addNoSSHExpected(diags *diag.Diagnostics) {
	tfkit.AddAttributeWarning(diags, path.Root("ready_when"), "ready_when waits for SSH, and the template has none",
		"The template launches its entrypoint, and such instances usually have no SSH server. The apply may wait until "+
			"its timeout. Remove ready_when.ssh_reachable, or use log_pattern or urls_reachable.")
}
