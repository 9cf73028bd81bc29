// Package sshkey implements SSH keys: the resource, the data source and the list resource gpurent_ssh_key, the
// data source gpurent_ssh_keys, and the function ssh_fingerprint.
package sshkey

import (
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/function"
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
		Functions:     []func() function.Function{newFingerprint},
	}
}
