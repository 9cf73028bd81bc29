// Package account implements the data source gpurent_account, the profile of the account.
package account

import (
	"github.com/hashicorp/terraform-plugin-framework/datasource"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Service lists the types of this package.
func Service() tfkit.ServicePackage {
	return tfkit.ServicePackage{
		DataSources: []func() datasource.DataSource{newDataSource},
	}
}
