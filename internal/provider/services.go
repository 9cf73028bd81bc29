package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gpurent/terraform-provider-gpurent/internal/service/account"
	"github.com/gpurent/terraform-provider-gpurent/internal/service/apikey"
	"github.com/gpurent/terraform-provider-gpurent/internal/service/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/service/gpu"
	"github.com/gpurent/terraform-provider-gpurent/internal/service/instance"
	"github.com/gpurent/terraform-provider-gpurent/internal/service/money"
	"github.com/gpurent/terraform-provider-gpurent/internal/service/offer"
	"github.com/gpurent/terraform-provider-gpurent/internal/service/sshkey"
	"github.com/gpurent/terraform-provider-gpurent/internal/service/template"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// services lists the service packages.
func services() []tfkit.ServicePackage {
	return []tfkit.ServicePackage{
		account.Service(),
		apikey.Service(),
		fleet.Service(),
		gpu.Service(),
		instance.Service(),
		money.Service(),
		offer.Service(),
		sshkey.Service(),
		template.Service(),
	}
}

// collect returns the types of one kind of all services.
func collect[T any](of func(tfkit.ServicePackage) []func() T) []func() T {
	var all []func() T
	for _, service := range services() {
		all = append(all, of(service)...)
	}
	return all
}

// Resources implements provider.Provider.
func (p *gpurentProvider) Resources(context.Context) []func() resource.Resource {
	return collect(func(s tfkit.ServicePackage) []func() resource.Resource { return s.Resources })
}

// DataSources implements provider.Provider.
func (p *gpurentProvider) DataSources(context.Context) []func() datasource.DataSource {
	return collect(func(s tfkit.ServicePackage) []func() datasource.DataSource { return s.DataSources })
}

// EphemeralResources implements provider.ProviderWithEphemeralResources.
func (p *gpurentProvider) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return collect(func(s tfkit.ServicePackage) []func() ephemeral.EphemeralResource { return s.EphemeralResources })
}

// ListResources implements provider.ProviderWithListResources.
func (p *gpurentProvider) ListResources(context.Context) []func() list.ListResource {
	return collect(func(s tfkit.ServicePackage) []func() list.ListResource { return s.ListResources })
}

// Actions implements provider.ProviderWithActions.
func (p *gpurentProvider) Actions(context.Context) []func() action.Action {
	return collect(func(s tfkit.ServicePackage) []func() action.Action { return s.Actions })
}

// Functions implements provider.ProviderWithFunctions.
func (p *gpurentProvider) Functions(context.Context) []func() function.Function {
	return collect(func(s tfkit.ServicePackage) []func() function.Function { return s.Functions })
}
