package tfinstance

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Bounds of the API.
const (
	minDiskGB  = 10
	maxDiskGB  = 2000
	maxSSHKeys = 10 // of an instance
)

// DefaultOnOutbid is the default of on_outbid, which an import sets, too.
const DefaultOnOutbid = string(lifecycle.OutbidRestart)

// Arguments are the arguments that instances and fleets share.
type Arguments struct {
	Template     types.String `tfsdk:"template"`
	DiskGB       types.Int64  `tfsdk:"disk_gb"`
	Type         types.String `tfsdk:"type"`
	Image        types.String `tfsdk:"image"`
	SSHKeyIDs    types.Set    `tfsdk:"ssh_key_ids"`
	DesiredState types.String `tfsdk:"desired_state"`
	OnOutbid     types.String `tfsdk:"on_outbid"`
	MaxPriceKopH types.Int64  `tfsdk:"max_price_kop_h"`
	WaitForOffer types.String `tfsdk:"wait_for_offer"`
	ReadyWhen    types.Object `tfsdk:"ready_when"`
}

// ArgumentAttributes are the attributes of Arguments except image and wait_for_offer. replaces ends the descriptions of
// the arguments whose change replaces instances, and keysChange that of ssh_key_ids.
func ArgumentAttributes(replaces, keysChange string) map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"template": schema.StringAttribute{
			Required:            true,
			MarkdownDescription: "Slug of the template. Must not be empty." + replaces,
			Validators:          []validator.String{tfkit.NotEmpty()},
		},
		"disk_gb": schema.Int64Attribute{
			Required: true,
			MarkdownDescription: "Disk size in GB. Must be between 10 and 2000, and at least `min_disk_gb` of the template." +
				replaces,
			Validators: []validator.Int64{int64validator.Between(minDiskGB, maxDiskGB)},
		},
		"type": schema.StringAttribute{
			Optional: true, Computed: true,
			Default: stringdefault.StaticString(string(rental.OnDemand)),
			MarkdownDescription: "Rental type. Valid values: `on_demand`, `interruptible` ([can be " +
				"outbid](../guides/interruptible-servers.md)). Defaults to `on_demand`." + replaces,
			Validators: []validator.String{tfkit.OneOf(string(rental.OnDemand), string(rental.Interruptible))},
		},
		"ssh_key_ids": schema.SetAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "Ids of the SSH keys of new instances, such as `[gpurent_ssh_key.me.id]`. `[]` attaches " +
				"none. Defaults to all keys that the account has at the rental: reference a key that the same apply creates. " +
				"Up to 10 ids. Ids must not be empty." + keysChange,
			Validators: []validator.Set{
				setvalidator.SizeAtMost(maxSSHKeys), tfkit.Elements(tfkit.NotEmpty()),
			},
		},
		"desired_state": schema.StringAttribute{
			Optional: true, Computed: true,
			Default: stringdefault.StaticString(string(rental.DesiredRunning)),
			MarkdownDescription: "Desired state. Valid values: `running`, `stopped` (only the disk is billed). Defaults to " +
				"`running`.",
			Validators: []validator.String{tfkit.OneOf(string(rental.DesiredRunning), string(rental.DesiredStopped))},
		},
		"on_outbid": schema.StringAttribute{
			Optional: true, Computed: true,
			Default: stringdefault.StaticString(DefaultOnOutbid),
			MarkdownDescription: "Policy for an interruptible instance that was outbid. Valid values: `restart` (places a " +
				"new bid), `keep` (leaves it outbid), `replace` (rents another instance). Defaults to `restart`.",
			Validators: []validator.String{tfkit.OneOf(
				string(lifecycle.OutbidRestart), string(lifecycle.OutbidKeep), string(lifecycle.OutbidReplace),
			)},
		},
		"max_price_kop_h": schema.Int64Attribute{
			Optional: true,
			MarkdownDescription: "Maximum price of a whole server in kopecks per hour, without extra disk, beyond the " +
				"offer's base disk. Must be at least 1. No maximum by default. Applies to every creation, start and new bid.",
			Validators: []validator.Int64{int64validator.AtLeast(1)},
		},
		"ready_when": readyWhenAttribute(),
	}
}

// ImageAttribute is the attribute image. replaces is that of ArgumentAttributes.
func ImageAttribute(replaces string) schema.StringAttribute {
	return schema.StringAttribute{
		Optional: true,
		MarkdownDescription: "Container image. With `template = \"custom\"`, any image. With another template, only " +
			"its own image, which is the default. Must not be empty." + replaces,
		Validators:    []validator.String{tfkit.NotEmpty()},
		PlanModifiers: []planmodifier.String{sameImage{}},
	}
}

// Wait returns wait_for_offer, 0 without it.
func (a Arguments) Wait() time.Duration {
	d, _ := time.ParseDuration(a.WaitForOffer.ValueString()) //nolint:errcheck // it is validated
	return d
}

// Order returns the request to create an instance, without the offer and the name.
func (a Arguments) Order() rental.InstanceCreate {
	order := rental.InstanceCreate{
		Template: a.Template.ValueString(), DiskGB: a.DiskGB.ValueInt64(), Type: rental.RentalType(a.Type.ValueString()),
	}
	if order.Template == rental.CustomTemplate {
		order.Image = a.Image.ValueString()
	}
	if !a.SSHKeyIDs.IsNull() {
		order.SSHKeyIDs = []string{}
		for _, element := range a.SSHKeyIDs.Elements() {
			order.SSHKeyIDs = append(order.SSHKeyIDs, tfkit.StringOf(element))
		}
	}
	return order
}

// Changed returns the arguments that differ from those of a state and of which every change replaces an instance,
// except the image. An unknown argument may differ. If the state has no value, the configured one replaces nothing: the
// API has omitted the field in every response since the import.
func (a Arguments) Changed(state Arguments) (changed path.Paths) {
	for _, argument := range []struct {
		name        string
		before, now attr.Value
	}{
		{"template", state.Template, a.Template}, {"disk_gb", state.DiskGB, a.DiskGB}, {"type", state.Type, a.Type},
	} {
		if !argument.before.IsNull() && !argument.now.Equal(argument.before) {
			changed = append(changed, path.Root(argument.name))
		}
	}
	return changed
}

// FullyKnown reports whether no part of the given values is unknown.
func FullyKnown(ctx context.Context, values ...attr.Value) bool {
	for _, value := range values {
		raw, err := value.ToTerraformValue(ctx)
		if err != nil || !raw.IsFullyKnown() {
			return false
		}
	}
	return true
}

var _ planmodifier.String = sameImage{}

// sameImage plans the image of the state if the configuration has another spelling of the same reference.
type sameImage struct{}

// Description implements planmodifier.String.
func (sameImage) Description(context.Context) string {
	return "Another spelling of the same image is not a change."
}

// MarkdownDescription implements planmodifier.String.
func (m sameImage) MarkdownDescription(ctx context.Context) string { return m.Description(ctx) }

// PlanModifyString implements planmodifier.String.
func (sameImage) PlanModifyString(
	_ context.Context,
	req planmodifier.StringRequest,
	resp *planmodifier.StringResponse,
) {
	if req.StateValue.IsNull() || req.PlanValue.IsNull() || req.PlanValue.IsUnknown() {
		return
	}
	if rental.SameImage(req.StateValue.ValueString(), req.PlanValue.ValueString()) {
		resp.PlanValue = req.StateValue
	}
}
