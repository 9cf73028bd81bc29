package instance

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// predecessor is the server that a planned one replaces. The plan for it leaves
// a note for the plan of its successor, which otherwise knows nothing of it.
type predecessor struct {
	ID      string `json:"id"`
	Starts  int64  `json:"starts"`  // what its own plan counted as started, kopecks per hour
	Added   int64  `json:"added"`   // and as added to the burn rate
	RunKopH int64  `json:"run_kop"` // what it burns now
}

// planCreation looks at what a plan is about to rent, before money is spent.
func (r *instanceResource) planCreation(ctx context.Context, plan model, before *predecessor, diags *diag.Diagnostics) {
	if !r.Meta.Ready() {
		return
	}
	r.refuseSharedKey(ctx, plan, diags)
	r.checkTemplate(ctx, plan, diags)
	if diags.HasError() {
		return
	}
	r.warnOfTwins(ctx, plan, before, diags)
	r.checkPrice(ctx, plan, before, diags)
}

// refuseSharedKey refuses an idempotency key that another instance has: one in the
// state that still exists, or one that the same plan creates.
func (r *instanceResource) refuseSharedKey(ctx context.Context, plan model, diags *diag.Diagnostics) {
	key := plan.IdempotencyKey.ValueString()
	if key == "" {
		return
	}
	keys, holder := &r.fleet().keys, keyHolder{name: plan.Name.ValueString()}
	if other, found := keys.keeper(key); found && !r.fleet().replacing.has(other.id) && r.exists(ctx, other.id) {
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

// exists reports whether the service lists the instance. It is true when the listing fails.
func (r *instanceResource) exists(ctx context.Context, id string) bool {
	active, err := r.fleet().instances(ctx, r.Meta)
	inst, listed := active[id]
	return err != nil || listed && !gone(inst)
}

func addSharedKey(diags *diag.Diagnostics, key string, one, other keyHolder) {
	diags.AddAttributeError(path.Root("idempotency_key"), "Two servers share an idempotency key",
		fmt.Sprintf("%s and %s both have idempotency_key = %q. The service rents one server for a key, so both would be the same one. Give each a key of its own, "+
			"with count.index or each.key in it.", strings.ToUpper(one.String()[:1])+one.String()[1:], other, key))
}

// checkTemplate refuses a template that is not there, and a disk below its minimum. A key that the service does not
// know is told here, before an apply has made half of what it needs.
func (r *instanceResource) checkTemplate(ctx context.Context, plan model, diags *diag.Diagnostics) {
	slug := plan.Template.ValueString()
	if slug == "" {
		return
	}
	template, found, err := tfkit.FindTemplate(ctx, r.Meta, slug)
	switch {
	case rental.IsUnauthorized(err):
		tfkit.AddError(diags, "read template "+slug, err)
	case err != nil: // The service itself refuses what does not fit.
	case !found:
		diags.AddAttributeError(path.Root("template"), "No such template",
			fmt.Sprintf("Neither the service's catalogue nor this account has a template with the slug %q. The data source gpurent_templates lists what there is.", slug))
	case !plan.DiskGB.IsUnknown() && plan.DiskGB.ValueInt64() < template.MinDiskGB:
		diags.AddAttributeError(path.Root("disk_gb"), "Disk below the template's minimum",
			fmt.Sprintf("The template %q needs at least %d GB, and disk_gb is %d. Raise disk_gb: a disk cannot grow later.", slug, template.MinDiskGB, plan.DiskGB.ValueInt64()))
	}
}

// maxTwins is how many twins are named.
const maxTwins = 3

// warnOfTwins names active servers that bear the planned name and that this run
// does not know: one of them may be what an interrupted run has rented.
func (r *instanceResource) warnOfTwins(ctx context.Context, plan model, before *predecessor, diags *diag.Diagnostics) {
	name := plan.Name.ValueString()
	if name == "" {
		return
	}
	active, err := r.fleet().instances(ctx, r.Meta)
	if err != nil {
		return // a warning that cannot be given is no reason to stop
	}
	var twins []rental.Instance
	for _, inst := range active {
		if nameOf(inst) == name && !r.fleet().ids.has(inst.ID) && (before == nil || before.ID != inst.ID) && !gone(inst) {
			twins = append(twins, inst)
		}
	}
	if len(twins) == 0 {
		return
	}
	slices.SortFunc(twins, func(a, b rental.Instance) int { // what a killed run has left is among the newest
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	text := twinText(name, twins, plan.IdempotencyKey.ValueString()) + r.twinTemplateText(ctx, twins[0], plan)
	diags.AddAttributeWarning(path.Root("name"), fmt.Sprintf("Instance %s already bears this name", twins[0].ID), text)
}

// twinTemplateText adds that an own template has to be imported, too: made once
// more, it would be another one, and the imported server be replaced for it.
func (r *instanceResource) twinTemplateText(ctx context.Context, twin rental.Instance, plan model) string {
	if plan.IdempotencyKey.ValueString() != "" || twin.Template.Slug == plan.Template.ValueString() {
		return ""
	}
	template, found, err := tfkit.FindTemplate(ctx, r.Meta, twin.Template.Slug)
	if err != nil || !found || template.Owner != rental.OwnerMe {
		return ""
	}
	return fmt.Sprintf("\n\nIt was made from the own template %[1]q. If no state knows that one either, import it as well, or the server is replaced:\n\n  import {\n    to = gpurent_template.NAME\n    id = %[1]q\n  }",
		twin.Template.Slug)
}

func twinText(name string, twins []rental.Instance, key string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "There are active servers named %q that this run does not know:\n", name)
	for _, twin := range twins[:min(len(twins), maxTwins)] {
		fmt.Fprintf(&text, "  %s, %s, rented %s, costs %s\n", twin.ID, twin.Status, tfkit.Time(twin.CreatedAt).ValueString(), tfkit.HourlyRubles(kopHNow(twin)))
	}
	if more := len(twins) - maxTwins; more > 0 {
		fmt.Fprintf(&text, "  and %d more\n", more)
	}
	if key == "" {
		text.WriteString("One may be left from a run that was killed before it saved its state. This plan rents another besides, and both are billed. To")
	} else {
		fmt.Fprintf(&text, "If one is left from a run that was killed, and had idempotency_key = %q too, the apply takes it over and rents none. Otherwise it rents another besides, and both are billed: to", key)
	}
	fmt.Fprintf(&text, " keep the server instead, add this block, with the address of this resource, and plan again:\n\n  import {\n    to = gpurent_instance.NAME\n    id = %q\n  }\n\n"+
		"If nobody needs it, destroy it in the service's console. If it is managed already, here or in another configuration, there is nothing to do.", twins[0].ID)
	return text.String()
}

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

// checkPrice looks at the offer as it is now. One that is gone is only worth a
// warning: after a crash our own rental may be the reason, and an error would
// keep the next apply from taking it over.
func (r *instanceResource) checkPrice(ctx context.Context, plan model, before *predecessor, diags *diag.Diagnostics) {
	if !watchesMoney(r.Meta) && plan.MaxPriceKopH.IsNull() {
		return
	}
	price, known := r.estimate(ctx, plan, diags)
	if !known {
		return
	}
	c := change{starts: price, added: price}
	if before != nil {
		c.added -= before.RunKopH
		if r.Meta.Run.Single() { // the total has what the plan for the predecessor counted
			c.starts -= before.Starts
			c.added -= before.Added
		}
	}
	checkMoney(ctx, r.Meta, c, diags)
}

// estimate is what the server would cost if it were rented now.
func (r *instanceResource) estimate(ctx context.Context, plan model, diags *diag.Diagnostics) (kopH int64, known bool) {
	if plan.Type.IsUnknown() || plan.MaxPriceKopH.IsUnknown() {
		return 0, false
	}
	if plan.OfferID.IsNull() {
		return r.estimateQuery(ctx, plan, diags)
	}
	id := plan.OfferID.ValueString()
	if id == "" {
		return 0, false
	}
	offer, err := r.fleet().market.glimpse(ctx, r.Meta, id, rental.RentalType(plan.Type.ValueString()))
	if err != nil {
		return 0, false
	}
	if offer == nil {
		diags.AddAttributeWarning(path.Root("offer_id"), "Offer "+id+" is gone",
			"It cannot be rented now: somebody has it, or its host left. Unless an earlier run with the same idempotency_key rented it, the apply is going to fail. "+
				"Choose another, or use offer_query, which takes the best that is there when the server is rented.")
		return 0, false
	}
	rentalType := rental.RentalType(plan.Type.ValueString())
	price, rentable := priceOf(*offer, rentalType)
	if limit := plan.MaxPriceKopH.ValueInt64(); limit > 0 && rentable && price > limit {
		addTooDear(diags, id, price, limit)
		return 0, false
	}
	if !rentable {
		addNoInterruptible(diags, id)
	}
	return price, rentable
}

// estimateQuery takes the offer that the server would get if nobody else were
// quicker, and each server of the plan another.
func (r *instanceResource) estimateQuery(ctx context.Context, plan model, diags *diag.Diagnostics) (kopH int64, known bool) {
	if plan.OfferQuery.IsUnknown() {
		return 0, false
	}
	query, problems := offerQuery(ctx, plan)
	if problems.HasError() {
		return 0, false
	}
	matching := 0
	for _, most := range []int{fewCandidates, maxCandidates} {
		offers, err := r.fleet().market.list(ctx, r.Meta.Client, query, r.Meta.MaxAge(glance), most)
		if err != nil {
			return 0, false
		}
		for _, offer := range offers {
			if price, rentable := priceOf(offer, query.Type); rentable && (!r.Meta.Run.Single() || r.fleet().planned.reserve(offer.ID)) {
				return price, true
			}
		}
		if matching = len(offers); matching < most {
			break
		}
	}
	diags.AddAttributeWarning(path.Root("offer_query"), "No offer matches now",
		noOfferNow(matching)+" Unless that changes until it is applied, or an earlier run with the same idempotency_key rented the server, the apply is going to fail. "+
			"Loosen the query or raise max_price_kop_h.")
	return 0, false
}

func noOfferNow(matching int) string {
	if matching == 0 {
		return "The market has no offer for this query."
	}
	return fmt.Sprintf("The market has %d offers for this query, and other servers of the plan need them all.", matching)
}
