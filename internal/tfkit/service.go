// Package tfkit has the Terraform helpers that service packages share: the base of each kind of type, the configured
// provider, diagnostics, and conversions of values.
package tfkit

import (
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/resource"
)

// ServicePackage is what one service package adds to the provider.
type ServicePackage struct {
	Resources          []func() resource.Resource
	DataSources        []func() datasource.DataSource
	EphemeralResources []func() ephemeral.EphemeralResource
	ListResources      []func() list.ListResource
	Actions            []func() action.Action
	Functions          []func() function.Function
}
