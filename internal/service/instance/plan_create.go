package instance

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/poll"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// customTemplate is the slug of the catalogue's template for any image.
const customTemplate = "custom"

// planCreation checks what a plan is about to rent, before money is spent. before is the server that it replaces, nil
// for none: then what keeps the new server from being rented is an error, since the old one would be destroyed first.
func (r *instanceResource) planCreation(ctx context.Context, plan model, before *predecessor, diags *diag.Diagnostics) {
	if before != nil {
		r.fleet().replacing.add(before.ID)
	}
	r.refuseSharedKey(ctx, plan, diags)
	r.refuseImage(ctx, plan, diags)
	r.checkTemplate(ctx, plan, before, diags)
	if diags.HasError() {
		return
	}
	r.warnOfNamesakes(ctx, plan, before, diags)
	r.checkPrice(ctx, plan, before, diags)
}

// refuseImage refuses an image that the server would not get: the service takes one for the custom template only, and
// uses the template's image otherwise. A generated configuration names that image, which is fine.
func (r *instanceResource) refuseImage(ctx context.Context, plan model, diags *diag.Diagnostics) {
	slug := plan.Template.ValueString()
	if plan.Image.IsNull() || plan.Image.IsUnknown() || plan.Template.IsUnknown() || slug == customTemplate || !r.Meta.Ready() {
		return
	}
	template, found, err := tfkit.FindTemplate(ctx, r.Meta, slug)
	switch {
	case err != nil:
		tfkit.AddError(diags, "read template "+slug, err)
	case found && !rental.SameImage(template.Image, plan.Image.ValueString()):
		diags.AddAttributeError(path.Root("image"), "Image differs from the template's image",
			fmt.Sprintf("The template %q uses the image %q, and image is %q. Only the template %q accepts any image. Remove image, or choose template = %[4]q, "+
				"or create a gpurent_template with this image.", tfkit.OneLine(slug), tfkit.OneLine(template.Image), tfkit.OneLine(plan.Image.ValueString()), customTemplate))
	}
}

// refuseSharedKey refuses an idempotency key that another instance has: one in the
// state that still exists, or one that the same plan creates.
func (r *instanceResource) refuseSharedKey(ctx context.Context, plan model, diags *diag.Diagnostics) {
	key := plan.IdempotencyKey.ValueString()
	if key == "" {
		return
	}
	keys, holder := &r.fleet().keys, keyHolder{name: plan.Name.ValueString()}
	if other, found := keys.keeper(key); found && r.exists(ctx, other.id) && !r.releasesKey(ctx, other.id) {
		addSharedKey(diags, key, holder, other)
		return
	}
	if !r.Meta.Run.Single() {
		return // the creation finds out: see rent
	}
	if other, clash := keys.plan(key, holder); clash {
		addSharedKey(diags, key, holder, other)
	}
}

// releasesKey reports whether the server with a key is replaced, or its resource destroyed. When one process serves
// several runs, the key may be known from an earlier run, so it waits a moment for this run to plan that.
func (r *instanceResource) releasesKey(ctx context.Context, id string) bool {
	for wait := namesakeWait; ; wait -= namesakeInterval {
		if r.fleet().replacing.has(id) {
			return true
		}
		if r.Meta.Run.Single() || wait <= 0 || poll.Pause(ctx, namesakeInterval) != nil {
			return false
		}
	}
}

// exists reports whether the service has the instance. It is true when reading it fails.
func (r *instanceResource) exists(ctx context.Context, id string) bool {
	inst, found, err := r.fleet().find(ctx, r.Meta, id)
	return err != nil || found && !gone(inst)
}

func addSharedKey(diags *diag.Diagnostics, key string, one, other keyHolder) {
	diags.AddAttributeError(path.Root("idempotency_key"), "Two servers share an idempotency key",
		fmt.Sprintf("%s and %s both have idempotency_key = %q. The service rents one server for a key, so both would be the same one. Give each a key of its own, "+
			"with count.index or each.key in it.", strings.ToUpper(one.String()[:1])+one.String()[1:], other, tfkit.OneLine(key)))
}

// checkTemplate refuses a template that does not exist, and a disk below its minimum. It reports an unusable API key,
// before an apply has created half of what it needs.
func (r *instanceResource) checkTemplate(ctx context.Context, plan model, before *predecessor, diags *diag.Diagnostics) {
	slug := plan.Template.ValueString()
	if slug == "" {
		return
	}
	template, found, err := tfkit.FindTemplate(ctx, r.Meta, slug)
	switch {
	case rental.IsUnauthorized(err), err != nil && before != nil:
		tfkit.AddError(diags, "read template "+slug, err)
	case err != nil: // The service itself refuses what does not fit.
	case !found:
		diags.AddAttributeError(path.Root("template"), "No such template",
			fmt.Sprintf("Neither the service's catalogue nor this account has a template with the slug %q. The data source gpurent_templates lists all templates.", tfkit.OneLine(slug)))
	case !plan.DiskGB.IsUnknown() && plan.DiskGB.ValueInt64() < template.MinDiskGB:
		diags.AddAttributeError(path.Root("disk_gb"), "Disk below the template's minimum",
			fmt.Sprintf("The template %q needs at least %d GB, and disk_gb is %d. Raise disk_gb: a disk cannot grow later.", tfkit.OneLine(slug), template.MinDiskGB, plan.DiskGB.ValueInt64()))
	}
}

// maxNamesakes is how many servers with the planned name a warning lists.
const maxNamesakes = 3

// warnOfNamesakes names active servers that have the planned name and that this run
// does not know: one of them may be what an interrupted run has rented.
func (r *instanceResource) warnOfNamesakes(ctx context.Context, plan model, before *predecessor, diags *diag.Diagnostics) {
	found, err := r.unknownNamesakes(ctx, plan.Name.ValueString(), before)
	if len(found) == 0 {
		r.warnOfUncheckedName(plan, err, diags)
		return
	}
	slices.SortFunc(found, func(a, b rental.Instance) int { // what a killed run has left is among the newest
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	text := namesakesText(plan.Name.ValueString(), found, plan.IdempotencyKey.ValueString()) + r.twinTemplateText(ctx, found[0], plan)
	diags.AddAttributeWarning(path.Root("name"), fmt.Sprintf("Instance %s already has this name", tfkit.OneLine(found[0].ID)), text)
}

// warnOfUncheckedName reports, once for a plan, that the account has too many servers to look for those that a killed run
// has left. A run with an idempotency key takes its server over.
func (r *instanceResource) warnOfUncheckedName(plan model, err error, diags *diag.Diagnostics) {
	const summary = "Cannot check the names of all instances"
	if !rental.IsListTooLong(err) || !plan.IdempotencyKey.IsNull() || !r.fleet().spending.firstWarning(r.Meta, summary) {
		return
	}
	diags.AddAttributeWarning(path.Root("name"), summary, fmt.Sprintf("%s\n\n"+
		"If a run was killed before it saved its state, this plan cannot find the server that it rented, and the apply rents one more. "+
		"Set idempotency_key, and the apply takes such a server over.", err))
}

const (
	// namesakeWait bounds how long a plan waits until a server that has the planned name turns out to be in the state.
	namesakeWait = time.Second
	// namesakeInterval is how often it checks that meanwhile.
	namesakeInterval = 20 * time.Millisecond
)

// unknownNamesakes returns active servers with the name that this run does not know. Terraform reads and plans the
// resources of a configuration at the same time and in any order, so it waits a moment for those of the state.
// With an error there may be others.
func (r *instanceResource) unknownNamesakes(ctx context.Context, name string, before *predecessor) (found []rental.Instance, err error) {
	if name == "" {
		return nil, nil
	}
	active, err := r.fleet().instances(ctx, r.Meta)
	for _, inst := range active {
		if nameOf(inst) == name && (before == nil || before.ID != inst.ID) && !gone(inst) {
			found = append(found, inst)
		}
	}
	known := func(inst rental.Instance) bool { return r.fleet().ids.has(inst.ID) }
	for wait := namesakeWait; ; wait -= namesakeInterval {
		found = slices.DeleteFunc(found, known)
		if len(found) == 0 || wait <= 0 || poll.Pause(ctx, namesakeInterval) != nil {
			return found, err
		}
	}
}

// twinTemplateText adds that an own template has to be imported, too: a new one would replace the imported server.
func (r *instanceResource) twinTemplateText(ctx context.Context, twin rental.Instance, plan model) string {
	if plan.IdempotencyKey.ValueString() != "" || twin.Template.Slug == plan.Template.ValueString() {
		return ""
	}
	template, found, err := tfkit.FindTemplate(ctx, r.Meta, twin.Template.Slug)
	if err != nil || !found || template.Owner != rental.OwnerMe {
		return ""
	}
	text := fmt.Sprintf("\n\nIt was created from the own template %q. If that is in no state either, import it as well, or the server is replaced", tfkit.OneLine(twin.Template.Slug))
	block, ok := tfkit.ImportBlock("gpurent_template", twin.Template.Slug)
	if !ok {
		return text + ". " + noImportBlock
	}
	return text + ":\n\n" + block
}

func namesakesText(name string, found []rental.Instance, key string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "Active servers with the name %q, which this run has not read from the state:\n", tfkit.OneLine(name))
	for _, inst := range found[:min(len(found), maxNamesakes)] {
		fmt.Fprintf(&text, "  %s, %s, rented %s, costs %s\n", tfkit.OneLine(inst.ID), tfkit.OneLine(inst.Status), tfkit.Time(inst.CreatedAt).ValueString(), tfkit.HourlyRubles(kopHNow(inst)))
	}
	if more := len(found) - maxNamesakes; more > 0 {
		fmt.Fprintf(&text, "  and %d more\n", more)
	}
	if key == "" {
		text.WriteString("One may be left from a run that was killed before it saved its state. This plan rents one more server, and both are billed. ")
	} else {
		fmt.Fprintf(&text, "If a killed run rented one of them with idempotency_key = %q, the apply takes it over and rents none. Otherwise the apply rents one more server, and both are billed. ", tfkit.OneLine(key))
	}
	if block, ok := tfkit.ImportBlock("gpurent_instance", found[0].ID); ok {
		text.WriteString("To keep the existing server instead, add this block with the address of this resource, and plan again:\n\n" + block)
	} else {
		text.WriteString("To keep the existing server instead, import it with the address of this resource, and plan again. " + noImportBlock)
	}
	text.WriteString("\n\nIf a resource of this or another configuration manages it, there is nothing to do: an apply prints this also for servers of its own state. " +
		"If no configuration manages it and nobody needs it, destroy it in the service's console.")
	return text.String()
}

// noImportBlock replaces an import block for an id that could be more than an id in a configuration.
const noImportBlock = "There is no import block to copy, because the id has unusual characters or is very long. Look it up in the service's console."

// kopHNow is what a server burns at present, kopecks per hour.
func kopHNow(inst rental.Instance) int64 {
	switch inst.Status {
	case rental.StatusStopped, rental.StatusOutbid:
		return inst.Price.StoppedKopH
	case rental.StatusFailed, rental.StatusDestroying, rental.StatusDestroyed:
		return 0
	default:
		return inst.Price.RunningKopH
	}
}
