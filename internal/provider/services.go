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
)

// Resources implements provider.Provider.
func (p *gpurentProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{
		apikey.NewResource, fleet.NewResource, instance.NewResource, sshkey.NewResource, template.NewResource,
	}
}

// DataSources implements provider.Provider.
func (p *gpurentProvider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{
		account.NewDataSource,
		apikey.NewDataSource, apikey.NewDataSources,
		gpu.NewDataSource, gpu.NewDataSources,
		instance.NewDataSource, instance.NewDataSources, instance.NewLogs,
		money.NewBalance, money.NewTransactions,
		offer.NewDataSource, offer.NewDataSources,
		sshkey.NewDataSource, sshkey.NewDataSources,
		template.NewDataSource, template.NewDataSources,
	}
}

// EphemeralResources implements provider.ProviderWithEphemeralResources.
func (p *gpurentProvider) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{apikey.NewEphemeral}
}

// ListResources implements provider.ProviderWithListResources.
func (p *gpurentProvider) ListResources(context.Context) []func() list.ListResource {
	return []func() list.ListResource{
		apikey.NewList, instance.NewList, sshkey.NewList, template.NewList,
	}
}

// Actions implements provider.ProviderWithActions.
func (p *gpurentProvider) Actions(context.Context) []func() action.Action {
	return []func() action.Action{instance.NewStart, instance.NewStop, instance.NewRestart}
}

// Functions implements provider.ProviderWithFunctions.
func (p *gpurentProvider) Functions(context.Context) []func() function.Function {
	return []func() function.Function{
		instance.NewSSHConfig, money.NewFormatRub, sshkey.NewFingerprint,
	}
}
