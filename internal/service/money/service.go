// Package money implements the data sources gpurent_balance and gpurent_transactions, and the functions format_rub,
// kopecks and monthly_kop.
package money

import (
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/function"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Service lists the types of this package.
func Service() tfkit.ServicePackage {
	return tfkit.ServicePackage{
		DataSources: []func() datasource.DataSource{newBalance, newTransactions},
		Functions:   []func() function.Function{newFormatRub, newKopecks, newMonthlyKop},
	}
}
