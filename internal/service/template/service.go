// Package template implements templates: the resource and the list resource gpurent_template, and the data sources
// gpurent_template and gpurent_templates.
package template

import (
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Service lists the types of this package.
func Service() tfkit.ServicePackage {
	return tfkit.ServicePackage{
		Resources:     []func() resource.Resource{newResource},
		DataSources:   []func() datasource.DataSource{newDataSource, newDataSources},
		ListResources: []func() list.ListResource{newList},
	}
}
