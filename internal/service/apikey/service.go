// Package apikey contributes API keys: the resource gpurent_api_key.
package apikey

import (
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Service lists what this folder contributes.
func Service() tfkit.ServicePackage {
	return tfkit.ServicePackage{
		Resources: []func() resource.Resource{newResource},
	}
}
