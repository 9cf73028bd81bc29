// Package gpu implements the data sources gpurent_gpu and gpurent_gpus, the GPU models.
package gpu

import (
	"github.com/hashicorp/terraform-plugin-framework/datasource"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Service lists the types of this package.
func Service() tfkit.ServicePackage {
	return tfkit.ServicePackage{
		DataSources: []func() datasource.DataSource{newDataSource, newDataSources},
	}
}
