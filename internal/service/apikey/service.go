// Package apikey implements API keys: the resource, the data source, the ephemeral resource and the list resource
// gpurent_api_key, and the data source gpurent_api_keys.
package apikey

import (
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Service lists the types of this package.
func Service() tfkit.ServicePackage {
	return tfkit.ServicePackage{
		Resources:          []func() resource.Resource{newResource},
		DataSources:        []func() datasource.DataSource{newDataSource, newDataSources},
		EphemeralResources: []func() ephemeral.EphemeralResource{newEphemeral},
		ListResources:      []func() list.ListResource{newList},
	}
}
