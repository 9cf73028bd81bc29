package fleet

import (
	"cmp"
	"context"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/reconcile"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// model is the resource in configuration, plan and state.
type model struct {
	Name           types.String   `tfsdk:"name"`
	Size           types.Int64    `tfsdk:"size"`
	Template       types.String   `tfsdk:"template"`
	DiskGB         types.Int64    `tfsdk:"disk_gb"`
	OfferQueries   types.List     `tfsdk:"offer_queries"`
	Type           types.String   `tfsdk:"type"`
	Image          types.String   `tfsdk:"image"`
	SSHKeyIDs      types.Set      `tfsdk:"ssh_key_ids"`
	DesiredState   types.String   `tfsdk:"desired_state"`
	MaxPriceKopH   types.Int64    `tfsdk:"max_price_kop_h"`
	MaxTotalKopH   types.Int64    `tfsdk:"max_total_kop_h"`
	Same           types.Set      `tfsdk:"same"`
	Allocation     types.String   `tfsdk:"allocation"`
	MinReady       types.Int64    `tfsdk:"min_ready"`
	OnOutbid       types.String   `tfsdk:"on_outbid"`
	Shrink         types.String   `tfsdk:"shrink"`
	Update         types.String   `tfsdk:"update"`
	MaxUnavailable types.Int64    `tfsdk:"max_unavailable"`
	WaitForOffer   types.String   `tfsdk:"wait_for_offer"`
	ReadyWhen      types.Object   `tfsdk:"ready_when"`
	Timeouts       timeouts.Value `tfsdk:"timeouts"`

	ID          types.String `tfsdk:"id"`
	Instances   types.Map    `tfsdk:"instances"`
	Ready       types.Int64  `tfsdk:"ready"`
	RunningKopH types.Int64  `tfsdk:"running_kop_h"`
	Hosts       types.List   `tfsdk:"hosts"`
	SSHConfig   types.String `tfsdk:"ssh_config"`
}

var memberType = types.ObjectType{AttrTypes: map[string]attr.Type{
	"id":            types.StringType,
	"status":        types.StringType,
	"desired_state": types.StringType,
	"stop_reason":   types.StringType,
	"generation":    types.Int64Type,
	"country":       types.StringType,
	"gpu":           types.ObjectType{AttrTypes: tfinstance.GPUType},
	"price":         types.ObjectType{AttrTypes: tfinstance.PriceType},
	"ssh":           types.ObjectType{AttrTypes: tfinstance.SSHType},
	"urls":          types.ListType{ElemType: tfinstance.URLType},
	"offer":         types.StringType,
}}

// withMembers returns the state with these members. Optional fields that the API omits keep the values of the state.
func (m model) withMembers(members []reconcile.Member) model {
	prior := m.Instances.Elements()
	instances := make(map[string]attr.Value, len(members))
	hosts := []attr.Value{}
	var config strings.Builder
	for _, member := range members {
		if member.Lost() {
			continue
		}
		slot, name := strconv.Itoa(member.Slot), reconcile.MemberName(m.ID.ValueString(), member.Slot)
		before, _ := prior[slot].(types.Object)
		value := memberValue(member, before)
		instances[slot] = value
		ssh, _ := value.Attributes()["ssh"].(types.Object)
		if ssh.IsNull() {
			config.WriteString(tfinstance.NoSSHConfig(name))
			continue
		}
		login := ssh.Attributes()
		address := net.JoinHostPort(text(login["host"]), strconv.FormatInt(number(login["port"]), 10))
		hosts = append(hosts, types.StringValue(address))
		config.WriteString(sshConfig(name, login))
	}
	m.Instances = types.MapValueMust(memberType, instances)
	m.Ready = types.Int64Value(int64(reconcile.Ready(members, rental.DesiredState(m.DesiredState.ValueString()))))
	m.RunningKopH = types.Int64Value(reconcile.RunningKopH(members))
	m.Hosts = types.ListValueMust(types.StringType, hosts)
	m.SSHConfig = types.StringValue(config.String())
	return m
}

// sshConfig returns the block of a member for an SSH configuration file, a comment if the login is not usable.
func sshConfig(alias string, login map[string]attr.Value) string {
	host, port, user := text(login["host"]), number(login["port"]), text(login["user"])
	if tfinstance.CheckLogin(host, port, user) != nil {
		return tfinstance.NoSSHConfig(alias)
	}
	return tfinstance.SSHConfigBlock(alias, host, port, user)
}

// memberValue returns the element of instances. before is its prior value, which may be null.
func memberValue(member reconcile.Member, before types.Object) types.Object {
	inst, was := member.Instance, before.Attributes()
	sameInstance := !before.IsNull() && was["id"].Equal(types.StringValue(inst.ID))
	if !sameInstance {
		was = map[string]attr.Value{}
	}
	country, _ := was["country"].(types.String)
	gpu, _ := was["gpu"].(types.Object)
	ssh, urls := tfinstance.SSHValue(inst.SSH), tfinstance.URLsValue(inst.URLs)
	running := types.StringValue(string(rental.StatusRunning))
	if inst.Status == rental.StatusRunning && sameInstance && was["status"].Equal(running) {
		if prior, ok := was["ssh"].(types.Object); ok && inst.Omitted.SSH {
			ssh = prior
		}
		if prior, ok := was["urls"].(types.List); ok && inst.Omitted.URLs {
			urls = prior
		}
	}
	if !sameInstance {
		gpu = types.ObjectNull(tfinstance.GPUType)
	}
	generation := types.Int64Null()
	if member.Generation > 0 {
		generation = types.Int64Value(int64(member.Generation))
	}
	offer := types.StringNull()
	if member.Offer != nil {
		offer = types.StringValue(member.Offer.ID)
	}
	return types.ObjectValueMust(memberType.AttrTypes, map[string]attr.Value{
		"id":            types.StringValue(inst.ID),
		"status":        types.StringValue(string(inst.Status)),
		"desired_state": tfkit.OptionalString(inst.DesiredState),
		"stop_reason":   types.StringPointerValue(inst.StopReason),
		"generation":    generation,
		"country":       tfkit.ValueOrPrior(types.StringPointerValue(inst.Country), country),
		"gpu":           tfinstance.GPUValue(inst.GPU, gpu),
		"price":         tfinstance.PriceValue(inst.Price),
		"ssh":           ssh,
		"urls":          urls,
		"offer":         offer,
	})
}

// members returns the members of a state, with the fields that a plan needs, and the lost members. What the API has not
// returned of imported members is what the state has adopted from the configuration.
func (m model) members(private privateData) []reconcile.Member {
	members := private.lost()
	for slot, element := range m.Instances.Elements() {
		object, ok := element.(types.Object)
		number, err := strconv.Atoi(slot)
		if !ok || err != nil {
			continue
		}
		member := memberFrom(number, object.Attributes())
		if private.complete(&member) && member.Imported() {
			m.completeOrder(&member.Order)
		}
		members = append(members, member)
	}
	slices.SortStableFunc(members, func(a, b reconcile.Member) int { return a.Slot - b.Slot })
	return members
}

// memberIDs returns the ids of the instances of members.
func memberIDs(members []reconcile.Member) (ids []string) {
	for _, member := range members {
		if !member.Lost() {
			ids = append(ids, member.Instance.ID)
		}
	}
	return ids
}

// completeOrder sets the unknown fields of what a member was created with to the arguments.
func (m model) completeOrder(order *rental.InstanceCreate) {
	order.Template = cmp.Or(order.Template, m.Template.ValueString())
	order.DiskGB = cmp.Or(order.DiskGB, m.DiskGB.ValueInt64())
	order.Type = cmp.Or(order.Type, rental.RentalType(m.Type.ValueString()))
	if isCustom(m) && order.Template == rental.CustomTemplate {
		order.Image = cmp.Or(order.Image, m.Image.ValueString())
	}
}

// adopted returns a state with the arguments of a plan that the state does not have.
func (m model) adopted(plan model) model {
	if m.Template.IsNull() {
		m.Template = plan.Template
	}
	if m.DiskGB.IsNull() {
		m.DiskGB = plan.DiskGB
	}
	if m.Image.IsNull() {
		m.Image = plan.Image
	}
	return m
}

// memberFrom returns the member of an element of instances.
func memberFrom(slot int, values map[string]attr.Value) reconcile.Member {
	price, gpu := attributes(values["price"]), attributes(values["gpu"])
	member := reconcile.Member{
		Slot: slot, Generation: int(number(values["generation"])),
		Instance: rental.Instance{
			ID:           text(values["id"]),
			Status:       rental.InstanceStatus(text(values["status"])),
			DesiredState: rental.DesiredState(text(values["desired_state"])),
			GPU:          rental.InstanceGPU{Slug: text(gpu["slug"]), Name: text(gpu["name"]), Count: number(gpu["count"])},
			Price: rental.InstancePrice{
				RunningKopH: number(price["running_kop_h"]), StoppedKopH: number(price["stopped_kop_h"]),
				TrafficKopGB: number(price["traffic_kop_gb"]),
			},
		},
	}
	if country := text(values["country"]); country != "" {
		member.Instance.Country = &country
	}
	if reason := text(values["stop_reason"]); reason != "" {
		member.Instance.StopReason = &reason
	}
	if id := text(values["offer"]); id != "" {
		member.Offer = &reconcile.Offer{ID: id}
	}
	return member
}

// text returns the value of a string, empty for null.
func text(value attr.Value) string {
	s, _ := value.(types.String)
	return s.ValueString()
}

// number returns the value of an integer, 0 for null.
func number(value attr.Value) int64 {
	n, _ := value.(types.Int64)
	return n.ValueInt64()
}

// attributes returns the attributes of an object, none for null.
func attributes(value attr.Value) map[string]attr.Value {
	object, _ := value.(types.Object)
	return object.Attributes()
}

// spec returns the description of the fleet. It omits unknown filters.
func (m model) spec(ctx context.Context) (reconcile.Spec, diag.Diagnostics) {
	var diags diag.Diagnostics
	size := int(m.Size.ValueInt64())
	spec := reconcile.Spec{
		Name: m.Name.ValueString(), Size: size, MinReady: size,
		Order: rental.InstanceCreate{
			Template: m.Template.ValueString(), DiskGB: m.DiskGB.ValueInt64(), Type: rental.RentalType(m.Type.ValueString()),
		},
		Image:          m.Image.ValueString(),
		State:          rental.DesiredState(m.DesiredState.ValueString()),
		OnOutbid:       lifecycle.OutbidPolicy(m.OnOutbid.ValueString()),
		MaxPriceKopH:   m.MaxPriceKopH.ValueInt64(),
		MaxTotalKopH:   m.MaxTotalKopH.ValueInt64(),
		All:            m.Allocation.ValueString() == allocationAll,
		ShrinkByPrice:  m.Shrink.ValueString() == shrinkMostExpensive,
		MaxUnavailable: int(m.MaxUnavailable.ValueInt64()),
		WaitForOffer:   m.waitForOffer(),
		Ready:          tfinstance.ReadyConditions(m.ReadyWhen),
	}
	if !m.MinReady.IsNull() && !m.MinReady.IsUnknown() {
		spec.MinReady = int(m.MinReady.ValueInt64())
	}
	if spec.Order.Template == rental.CustomTemplate {
		spec.Order.Image = spec.Image
	}
	if !m.SSHKeyIDs.IsNull() {
		spec.Order.SSHKeyIDs = []string{}
		for _, id := range m.SSHKeyIDs.Elements() {
			spec.Order.SSHKeyIDs = append(spec.Order.SSHKeyIDs, text(id))
		}
	}
	for _, element := range m.Same.Elements() {
		spec.SameCountry = spec.SameCountry || text(element) == sameCountry
		spec.SameGPU = spec.SameGPU || text(element) == sameGPU
	}
	terms := tfinstance.QueryTerms{Type: spec.Order.Type, DiskGB: spec.Order.DiskGB, MaxPriceKopH: spec.MaxPriceKopH}
	for _, element := range m.OfferQueries.Elements() {
		object, ok := element.(types.Object)
		if !ok || object.IsNull() || object.IsUnknown() {
			continue
		}
		query, problems := tfinstance.PlacementQuery(ctx, object, terms)
		diags.Append(problems...)
		spec.Queries = append(spec.Queries, query)
	}
	return spec, diags
}

// waitForOffer returns wait_for_offer, 0 without it.
func (m model) waitForOffer() time.Duration {
	d, _ := time.ParseDuration(m.WaitForOffer.ValueString()) //nolint:errcheck // it is validated
	return d
}

// applyTimeout is the default of timeouts.create and timeouts.update.
func (m model) applyTimeout() time.Duration {
	return baseTimeout + time.Duration(m.Size.ValueInt64())*memberTimeout + m.waitForOffer()
}

// readDesiredState returns the state that the members are heading to, so that a fleet that was stopped or started
// outside Terraform appears as drift. It returns the prior state if the members do not agree.
func readDesiredState(prior types.String, members []reconcile.Member) types.String {
	var agreed rental.DesiredState
	for _, member := range members {
		if member.Lost() {
			continue
		}
		desired := tfinstance.DesiredState(member.Instance)
		if desired != rental.DesiredRunning && desired != rental.DesiredStopped || agreed != "" && desired != agreed {
			return prior
		}
		agreed = desired
	}
	if agreed == "" {
		return prior
	}
	return types.StringValue(string(agreed))
}
