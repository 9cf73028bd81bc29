package instance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

type model struct {
	Template types.String `tfsdk:"template"`
	DiskGB   types.Int64  `tfsdk:"disk_gb"`

	OfferID        types.String   `tfsdk:"offer_id"`
	OfferQuery     types.Object   `tfsdk:"offer_query"`
	Name           types.String   `tfsdk:"name"`
	Type           types.String   `tfsdk:"type"`
	MaxPriceKopH   types.Int64    `tfsdk:"max_price_kop_h"`
	SSHKeyIDs      types.Set      `tfsdk:"ssh_key_ids"`
	Image          types.String   `tfsdk:"image"`
	DesiredState   types.String   `tfsdk:"desired_state"`
	OnOutbid       types.String   `tfsdk:"on_outbid"`
	ReplaceOn      types.Set      `tfsdk:"replace_on"`
	IdempotencyKey types.String   `tfsdk:"idempotency_key"`
	KeepOnTimeout  types.Bool     `tfsdk:"keep_on_timeout"`
	Timeouts       timeouts.Value `tfsdk:"timeouts"`

	ID            types.String `tfsdk:"id"`
	RentedOfferID types.String `tfsdk:"rented_offer_id"`
	QuotedKopH    types.Int64  `tfsdk:"quoted_kop_h"`
	Status        types.String `tfsdk:"status"`
	StopReason    types.String `tfsdk:"stop_reason"`
	GPU           types.Object `tfsdk:"gpu"`
	TemplateName  types.String `tfsdk:"template_name"`
	Country       types.String `tfsdk:"country"`
	Price         types.Object `tfsdk:"price"`
	SSH           types.Object `tfsdk:"ssh"`
	URLs          types.List   `tfsdk:"urls"`
	CreatedAt     types.String `tfsdk:"created_at"`
	StartedAt     types.String `tfsdk:"started_at"`
}

var (
	gpuType   = map[string]attr.Type{"slug": types.StringType, "name": types.StringType, "count": types.Int64Type, "vram_gb": types.Int64Type}
	priceType = map[string]attr.Type{"running_kop_h": types.Int64Type, "stopped_kop_h": types.Int64Type, "traffic_kop_gb": types.Int64Type}
	sshType   = map[string]attr.Type{"host": types.StringType, "port": types.Int64Type, "user": types.StringType, "command": types.StringType}
	urlType   = types.ObjectType{AttrTypes: map[string]attr.Type{"label": types.StringType, "url": types.StringType}}
)

// fromAPI is the read side: prior with everything that the service returned put in.
// What the service does not return, or left out because it is optional, stays as it was.
func fromAPI(prior model, inst rental.Instance) model {
	m := prior
	m.ID = types.StringValue(inst.ID)
	if !inst.Omitted.Name || prior.Name.IsUnknown() {
		m.Name = types.StringPointerValue(inst.Name)
	}
	m.Status = types.StringValue(string(inst.Status))
	m.DesiredState = readDesiredState(prior.DesiredState, inst)
	m.Type = tfkit.ValueOrPrior(tfkit.Text(inst.Type), prior.Type)
	m.Template = tfkit.ValueOrPrior(tfkit.Text(inst.Template.Slug), prior.Template)
	m.TemplateName = tfkit.ValueOrPrior(tfkit.Text(inst.Template.Name), prior.TemplateName)
	m.Image = tfkit.PriorOrValue(prior.Image, tfkit.Text(inst.Image)) // a server keeps its image
	m.DiskGB = diskValue(inst.DiskGB, prior.DiskGB)
	m.StopReason = stopReason(prior, inst)
	m.Country = tfkit.ValueOrPrior(types.StringPointerValue(inst.Country), prior.Country)
	m.CreatedAt = tfkit.ValueOrPrior(tfkit.Time(inst.CreatedAt), prior.CreatedAt)
	m.StartedAt = tfkit.ValueOrPrior(tfkit.TimePointer(inst.StartedAt), prior.StartedAt)
	m.GPU = gpuValue(inst.GPU, prior.GPU)
	m.Price = types.ObjectValueMust(priceType, map[string]attr.Value{
		"running_kop_h": types.Int64Value(inst.Price.RunningKopH), "stopped_kop_h": types.Int64Value(inst.Price.StoppedKopH),
		"traffic_kop_gb": types.Int64Value(inst.Price.TrafficKopGB),
	})
	m.SSH, m.URLs = sshValue(inst.SSH), urlsValue(inst.URLs)
	if running := inst.Status == rental.StatusRunning; running && prior.Status.Equal(m.Status) {
		if inst.Omitted.SSH && !prior.SSH.IsUnknown() {
			m.SSH = prior.SSH
		}
		if inst.Omitted.URLs && !prior.URLs.IsUnknown() && !prior.URLs.IsNull() {
			m.URLs = prior.URLs
		}
	}
	return m
}

// diskValue keeps the prior size where the service left it out or rounds it up: a disk never grows, and another size
// would replace the server.
func diskValue(gb int64, prior types.Int64) types.Int64 {
	if gb == 0 || !prior.IsNull() && !prior.IsUnknown() && gb > prior.ValueInt64() {
		return prior
	}
	return types.Int64Value(gb)
}

// stopReason keeps the prior reason of a server that does not run where the service left it out.
func stopReason(prior model, inst rental.Instance) types.String {
	keeps := inst.Omitted.StopReason && !prior.StopReason.IsUnknown() && prior.Status.Equal(types.StringValue(string(inst.Status)))
	if keeps && inst.Status != rental.StatusRunning {
		return prior.StopReason
	}
	return types.StringPointerValue(inst.StopReason)
}

// gpuValue keeps the prior VRAM, or all of the prior value, where the service left it out.
func gpuValue(gpu rental.InstanceGPU, prior types.Object) types.Object {
	known := !prior.IsNull() && !prior.IsUnknown()
	if known && gpu.Slug == "" && gpu.Count == 0 {
		return prior
	}
	vram := types.Int64PointerValue(gpu.VRAMGB)
	if before, ok := prior.Attributes()["vram_gb"].(types.Int64); known && ok && vram.IsNull() {
		vram = before
	}
	return types.ObjectValueMust(gpuType, map[string]attr.Value{
		"slug": types.StringValue(gpu.Slug), "name": types.StringValue(gpu.Name), "count": types.Int64Value(gpu.Count), "vram_gb": vram,
	})
}

// readDesiredState takes the intent from the service, so that a server stopped
// in the console shows as a difference. Where the service does not say, a
// settled status speaks for it.
func readDesiredState(prior types.String, inst rental.Instance) types.String {
	switch {
	case inst.DesiredState != "":
		return types.StringValue(string(inst.DesiredState))
	case inst.Status == rental.StatusRunning:
		return types.StringValue(string(rental.DesiredRunning))
	case inst.Status == rental.StatusStopped:
		return types.StringValue(string(rental.DesiredStopped))
	}
	return prior
}

func sshValue(ssh *rental.SSH) types.Object {
	if ssh == nil {
		return types.ObjectNull(sshType)
	}
	return types.ObjectValueMust(sshType, map[string]attr.Value{
		"host": types.StringValue(ssh.Host), "port": types.Int64Value(ssh.Port),
		"user": types.StringValue(ssh.User), "command": sshCommand(*ssh),
	})
}

func urlsValue(urls []rental.InstanceURL) types.List {
	values := make([]attr.Value, len(urls))
	for i, u := range urls {
		values[i] = types.ObjectValueMust(urlType.AttrTypes, map[string]attr.Value{
			"label": types.StringValue(u.Label), "url": types.StringPointerValue(u.URL),
		})
	}
	return types.ListValueMust(urlType, values)
}

// applied is the state after an apply: what the plan promised, and for the
// rest what the service says now.
func applied(plan model, inst rental.Instance) model {
	now := fromAPI(plan, inst)
	m := plan
	m.ID = tfkit.Prefer(plan.ID, now.ID)
	m.RentedOfferID = tfkit.Prefer(plan.RentedOfferID, types.StringNull())
	m.QuotedKopH = tfkit.Prefer(plan.QuotedKopH, types.Int64Null())
	m.Type = tfkit.Prefer(plan.Type, now.Type)
	m.Image = tfkit.Prefer(plan.Image, now.Image)
	m.DesiredState = tfkit.Prefer(plan.DesiredState, now.DesiredState)
	m.Status = tfkit.Prefer(plan.Status, now.Status)
	m.StopReason = tfkit.Prefer(plan.StopReason, now.StopReason)
	m.GPU = tfkit.Prefer(plan.GPU, now.GPU)
	m.TemplateName = tfkit.Prefer(plan.TemplateName, now.TemplateName)
	m.Country = tfkit.Prefer(plan.Country, now.Country)
	m.Price = tfkit.Prefer(plan.Price, now.Price)
	m.SSH = tfkit.Prefer(plan.SSH, now.SSH)
	m.URLs = tfkit.Prefer(plan.URLs, now.URLs)
	m.CreatedAt = tfkit.Prefer(plan.CreatedAt, now.CreatedAt)
	m.StartedAt = tfkit.Prefer(plan.StartedAt, now.StartedAt)
	return m
}

// toCreate is the write side. The offer is still to be chosen.
func toCreate(ctx context.Context, plan model) (rental.InstanceCreate, diag.Diagnostics) {
	create := rental.InstanceCreate{
		Template: plan.Template.ValueString(),
		DiskGB:   plan.DiskGB.ValueInt64(),
		Name:     plan.Name.ValueString(),
		Type:     rental.RentalType(plan.Type.ValueString()),
	}
	if create.Template == customTemplate {
		create.Image = plan.Image.ValueString()
	}
	if plan.SSHKeyIDs.IsNull() {
		return create, nil
	}
	create.SSHKeyIDs = []string{}
	return create, plan.SSHKeyIDs.ElementsAs(ctx, &create.SSHKeyIDs, false)
}
