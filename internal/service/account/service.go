// Package account contributes the profile of the account: the data source
// gpurent_account.
package account

import (
	"github.com/hashicorp/terraform-plugin-framework/datasource"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Service lists what this folder contributes.
func Service() tfkit.ServicePackage {
	return tfkit.ServicePackage{
		DataSources: []func() datasource.DataSource{newDataSource},
	}
}
