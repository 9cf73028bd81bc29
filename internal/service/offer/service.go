// Package offer contributes the market: the data sources gpurent_offer and
// gpurent_offers.
package offer

import (
	"github.com/hashicorp/terraform-plugin-framework/datasource"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Service lists what this folder contributes.
func Service() tfkit.ServicePackage {
	return tfkit.ServicePackage{
		DataSources: []func() datasource.DataSource{newDataSource, newDataSources},
	}
}
