// Package instance has the resource and the list resource gpurent_instance, the data sources for instances and their
// logs, the actions that start, stop and restart an instance, and the function ssh_config.
package instance

import (
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Service returns the resources, data sources, actions and functions of the package.
func Service() tfkit.ServicePackage {
	return tfkit.ServicePackage{
		Resources:     []func() resource.Resource{newResource},
		DataSources:   []func() datasource.DataSource{newDataSource, newDataSources, newLogs},
		ListResources: []func() list.ListResource{newList},
		Actions:       []func() action.Action{newStart, newStop, newRestart},
		Functions:     []func() function.Function{newSSHConfig},
	}
}
