package tfinstance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// The types of the objects in Attributes.
var (
	GPUType   = AttributeTypes(Attributes()["gpu"])
	PriceType = AttributeTypes(Attributes()["price"])
	SSHType   = AttributeTypes(Attributes()["ssh"])
	URLType   = types.ObjectType{AttrTypes: AttributeTypes(Attributes()["urls"])}
)

var noSSH = tfkit.NullAttributes(context.Background(), SSHType)

// AttributeTypes returns the types of the attributes of an object, or of the objects in a list.
func AttributeTypes(attribute interface{ GetType() attr.Type }) map[string]attr.Type {
	kind := attribute.GetType()
	if list, ok := kind.(types.ListType); ok {
		kind = list.ElemType
	}
	object, _ := kind.(types.ObjectType)
	return object.AttrTypes
}

// GPUValue returns the attribute gpu. It keeps the prior VRAM, or the whole prior value, if the API omits it.
func GPUValue(gpu rental.InstanceGPU, prior types.Object) types.Object {
	known := !prior.IsNull() && !prior.IsUnknown()
	if known && gpu.Slug == "" && gpu.Count == 0 {
		return prior
	}
	vram := types.Int64PointerValue(gpu.VRAMGB)
	if before, ok := prior.Attributes()["vram_gb"].(types.Int64); known && ok && vram.IsNull() {
		vram = before
	}
	return types.ObjectValueMust(GPUType, map[string]attr.Value{
		"slug":    types.StringValue(gpu.Slug),
		"name":    types.StringValue(gpu.Name),
		"count":   types.Int64Value(gpu.Count),
		"vram_gb": vram,
	})
}

// PriceValue returns the attribute price.
func PriceValue(price rental.InstancePrice) types.Object {
	return types.ObjectValueMust(PriceType, map[string]attr.Value{
		"running_kop_h":  types.Int64Value(price.RunningKopH),
		"stopped_kop_h":  types.Int64Value(price.StoppedKopH),
		"traffic_kop_gb": types.Int64Value(price.TrafficKopGB),
	})
}

// SSHValue returns the attribute ssh. Without a login, its attributes are null.
func SSHValue(ssh *rental.SSH) types.Object {
	if ssh == nil {
		return noSSH
	}
	return types.ObjectValueMust(SSHType, map[string]attr.Value{
		"host": types.StringValue(ssh.Host), "port": types.Int64Value(ssh.Port),
		"user": types.StringValue(ssh.User), "command": SSHCommand(*ssh),
	})
}

// URLsValue returns the attribute urls.
func URLsValue(urls []rental.InstanceURL) types.List {
	values := make([]attr.Value, len(urls))
	for i, u := range urls {
		values[i] = types.ObjectValueMust(URLType.AttrTypes, map[string]attr.Value{
			"label": types.StringValue(u.Label), "url": types.StringPointerValue(u.URL),
		})
	}
	return types.ListValueMust(URLType, values)
}

// DesiredState returns the state that an instance is heading to. If the API omits it, DesiredState derives it from the
// status where possible; else it is empty.
func DesiredState(inst rental.Instance) rental.DesiredState {
	switch {
	case inst.DesiredState != "":
		return inst.DesiredState
	case inst.Status == rental.StatusRunning:
		return rental.DesiredRunning
	case inst.Status == rental.StatusStopped:
		return rental.DesiredStopped
	}
	return ""
}
