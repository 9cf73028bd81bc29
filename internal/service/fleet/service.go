// Package fleet has the resource and the list resource gpurent_fleet.
package fleet

import (
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Service returns the resources of the package.
func Service() tfkit.ServicePackage {
	return tfkit.ServicePackage{
		Resources:     []func() resource.Resource{newResource},
		ListResources: []func() list.ListResource{newList},
	}
}
