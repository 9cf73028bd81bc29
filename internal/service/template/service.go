// Package template contributes own templates and the template catalogue:
// the resource gpurent_template and the data source gpurent_templates.
package template

import (
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Service lists what this folder contributes.
func Service() tfkit.ServicePackage {
	return tfkit.ServicePackage{
		Resources:   []func() resource.Resource{newResource},
		DataSources: []func() datasource.DataSource{newDataSources},
	}
}
