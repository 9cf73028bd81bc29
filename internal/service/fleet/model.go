package fleet

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// model is the resource in configuration, plan and state.
type model struct {
	tfinstance.Arguments

	Name           types.String   `tfsdk:"name"`
	Size           types.Int64    `tfsdk:"size"`
	OfferQueries   types.List     `tfsdk:"offer_queries"`
	Same           types.Set      `tfsdk:"same"`
	Allocation     types.String   `tfsdk:"allocation"`
	MinReady       types.Int64    `tfsdk:"min_ready"`
	Update         types.String   `tfsdk:"update"`
	MaxUnavailable types.Int64    `tfsdk:"max_unavailable"`
	Timeouts       timeouts.Value `tfsdk:"timeouts"`

	ID          types.String `tfsdk:"id"`
	Instances   types.Map    `tfsdk:"instances"`
	Ready       types.Int64  `tfsdk:"ready"`
	RunningKopH types.Int64  `tfsdk:"running_kop_h"`
	Hosts       types.List   `tfsdk:"hosts"`
	SSHConfig   types.String `tfsdk:"ssh_config"`
}

// memberType is the type of an element of instances.
var memberType = types.ObjectType{AttrTypes: memberTypes()}

func memberTypes() map[string]attr.Type {
	all := map[string]attr.Type{}
	for _, attribute := range memberAttributes {
		all[attribute.name] = attribute.kind
	}
	return all
}

// withMembers returns the state with these members. Optional fields that the API omits keep the values of the state.
func (m model) withMembers(members []fleet.Member) model {
	prior := m.Instances.Elements()
	instances := make(map[string]attr.Value, len(members))
	hosts := []attr.Value{}
	var config strings.Builder
	for _, member := range members {
		slot, name := strconv.Itoa(member.Slot), fleet.MemberName(m.Name.ValueString(), member.Slot)
		if member.Unknown {
			instances[slot] = unknownMember(member)
		}
		if member.Missing() {
			continue
		}
		before, _ := prior[slot].(types.Object)
		values := memberValues(member, before.Attributes())
		instances[slot] = types.ObjectValueMust(memberType.AttrTypes, values)
		if values["ssh_host"].IsNull() {
			config.WriteString(tfinstance.NoSSHConfig(name))
			continue
		}
		host, user := tfkit.StringOf(values["ssh_host"]), tfkit.StringOf(values["ssh_user"])
		port := tfkit.Int64Of(values["ssh_port"])
		hosts = append(hosts, types.StringValue(net.JoinHostPort(host, strconv.FormatInt(port, 10))))
		block, err := tfinstance.SSHConfigBlock(name, host, port, user)
		if err != nil {
			block = tfinstance.NoSSHConfig(name)
		}
		config.WriteString(block)
	}
	m.Instances = types.MapValueMust(memberType, instances)
	m.Ready = types.Int64Value(int64(fleet.Ready(members, rental.DesiredState(m.DesiredState.ValueString()))))
	m.RunningKopH = types.Int64Value(fleet.RunningKopH(members))
	m.Hosts = types.ListValueMust(types.StringType, hosts)
	m.SSHConfig = types.StringValue(config.String())
	return m
}

// unknownMember returns the element of instances for a slot whose creation had an unknown outcome. The state contains
// it, because Terraform destroys a tainted fleet without its private state.
func unknownMember(member fleet.Member) types.Object {
	values := memberValues(member, nil)
	values["id"], values["running_kop_h"] = types.StringNull(), types.Int64Null()
	values["status"] = types.StringValue(string(fleet.StatusUnknown))
	return types.ObjectValueMust(memberType.AttrTypes, values)
}

// memberValues returns the attributes of an element of instances. before are the prior ones of the slot.
func memberValues(member fleet.Member, before map[string]attr.Value) map[string]attr.Value {
	inst := member.Instance
	values := map[string]attr.Value{
		"id":            types.StringValue(inst.ID),
		"status":        types.StringValue(string(inst.Status)),
		"gpu":           tfkit.OptionalString(inst.GPU.Slug),
		"country":       types.StringPointerValue(inst.Country),
		"running_kop_h": types.Int64Value(inst.Price.RunningKopH),
		"offer_id":      tfkit.OptionalString(member.Offer.ID),
		"ssh_host":      types.StringNull(),
		"ssh_port":      types.Int64Null(),
		"ssh_user":      types.StringNull(),
		"url":           types.StringPointerValue(firstURL(inst.URLs, tfkit.StringOf(before["url"]))),
		"generation":    types.Int64Null(),
	}
	if ssh := inst.SSH; ssh != nil {
		values["ssh_host"], values["ssh_port"] = types.StringValue(ssh.Host), types.Int64Value(ssh.Port)
		values["ssh_user"] = types.StringValue(ssh.User)
	}
	if member.Generation > 0 {
		values["generation"] = types.Int64Value(int64(member.Generation))
	}
	if sameInstance := values["id"].Equal(before["id"]); !sameInstance {
		return values
	}
	var omitted []string
	for _, name := range []string{"gpu", "country"} {
		if values[name].IsNull() {
			omitted = append(omitted, name)
		}
	}
	if inst.Status == rental.StatusRunning && before["status"].Equal(values["status"]) {
		if inst.Omitted.SSH {
			omitted = append(omitted, "ssh_host", "ssh_port", "ssh_user")
		}
		if inst.Omitted.URLs {
			omitted = append(omitted, "url")
		}
	}
	for _, name := range omitted {
		values[name] = before[name]
	}
	return values
}

// firstURL returns the address of the first web page that has one. The order of the pages can vary, so
// that the prior one counts as the first.
func firstURL(pages []rental.InstanceURL, prior string) (first *string) {
	for _, page := range pages {
		switch {
		case page.URL == nil:
		case *page.URL == prior:
			return page.URL
		case first == nil:
			first = page.URL
		}
	}
	return first
}

// members returns the members of a state, with the fields that a plan needs, and the missing members. What the API has
// not returned of imported members is what the state has adopted from the configuration.
func (m model) members(private privateMembers) []fleet.Member {
	elements := m.Instances.Elements()
	members := slices.DeleteFunc(private.members(true), func(missing fleet.Member) bool {
		return elements[strconv.Itoa(missing.Slot)] != nil
	})
	for slot, element := range elements {
		object, ok := element.(types.Object)
		number, err := strconv.Atoi(slot)
		if !ok || err != nil {
			continue
		}
		member := memberFrom(number, object.Attributes())
		if member.Instance.Status == rental.StatusOutbid {
			// The service bids again for a server that is to run: such a member has to be stopped.
			member.Instance.DesiredState = rental.DesiredState(m.DesiredState.ValueString())
		}
		if private.complete(&member) && member.Imported() {
			m.completeRequest(&member.Request)
		}
		members = append(members, member)
	}
	slices.SortStableFunc(members, func(a, b fleet.Member) int { return cmp.Compare(a.Slot, b.Slot) })
	return members
}

// memberIDs returns the ids of the instances of members.
func memberIDs(members []fleet.Member) (ids []string) {
	for _, member := range members {
		if !member.Missing() {
			ids = append(ids, member.Instance.ID)
		}
	}
	return ids
}

// completeRequest sets the unknown fields of what a member was created with to the arguments.
func (m model) completeRequest(request *rental.InstanceCreate) {
	request.Template = cmp.Or(request.Template, m.Template.ValueString())
	request.DiskGB = cmp.Or(request.DiskGB, m.DiskGB.ValueInt64())
	request.Type = cmp.Or(request.Type, rental.RentalType(m.Type.ValueString()))
	if isCustom(m) && request.Template == rental.CustomTemplate {
		request.Image = cmp.Or(request.Image, m.Image.ValueString())
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
func memberFrom(slot int, values map[string]attr.Value) fleet.Member {
	member := fleet.Member{
		Slot: slot, Generation: int(tfkit.Int64Of(values["generation"])),
		Instance: rental.Instance{
			ID:     tfkit.StringOf(values["id"]),
			Status: rental.InstanceStatus(tfkit.StringOf(values["status"])),
			GPU:    rental.InstanceGPU{Slug: tfkit.StringOf(values["gpu"])},
			Price:  rental.InstancePrice{RunningKopH: tfkit.Int64Of(values["running_kop_h"])},
		},
		Offer: fleet.Offer{ID: tfkit.StringOf(values["offer_id"])},
	}
	member.Unknown = member.Missing() && member.Instance.Status == fleet.StatusUnknown
	if country := tfkit.StringOf(values["country"]); country != "" {
		member.Instance.Country = &country
	}
	return member
}

// spec returns the description of the fleet. It omits unknown filters.
func (m model) spec() fleet.Spec {
	size := int(m.Size.ValueInt64())
	spec := fleet.Spec{
		Name: m.Name.ValueString(), Size: size, MinReady: min(int(m.MinReady.ValueInt64()), size),
		Request:        m.Order(),
		Image:          m.Image.ValueString(),
		All:            m.Allocation.ValueString() == allocationAll,
		MaxUnavailable: int(m.MaxUnavailable.ValueInt64()),
		Offers:         market.Demand{Queries: m.Queries(m.OfferQueries.Elements()), Wait: m.Wait()},
		Target: lifecycle.Target{
			State:        rental.DesiredState(m.DesiredState.ValueString()),
			OnOutbid:     lifecycle.OutbidPolicy(m.OnOutbid.ValueString()),
			MaxPriceKopH: m.MaxPriceKopH.ValueInt64(),
			Template:     m.Template.ValueString(),
			Ready:        m.Conditions(),
		},
	}
	for _, element := range m.Same.Elements() {
		spec.Offers.SameCountry = spec.Offers.SameCountry || tfkit.StringOf(element) == sameCountry
		spec.Offers.SameGPU = spec.Offers.SameGPU || tfkit.StringOf(element) == sameGPU
	}
	return spec
}

// applyTimeout is the default of timeouts.create and timeouts.update.
func (m model) applyTimeout() time.Duration {
	return baseTimeout + time.Duration(m.Size.ValueInt64())*memberTimeout + m.Wait()
}

// readDesiredState returns the state that the members are heading to, so that a fleet that was stopped or started
// outside Terraform appears as drift. It returns the prior state if the members do not agree.
func readDesiredState(prior types.String, members []fleet.Member) types.String {
	var agreed rental.DesiredState
	for _, member := range members {
		if member.Missing() {
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
