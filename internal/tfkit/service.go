// Package tfkit is the closed set of Terraform glue that service folders share:
// what a service contributes, how its types reach the API client, how an API
// error becomes a diagnostic, how nullable values become Terraform's.
package tfkit

import (
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/resource"
)

// ServicePackage is what one service folder contributes to the provider. A nil
// field contributes nothing.
type ServicePackage struct {
	// Resources are the constructors of the folder's managed resources.
	Resources []func() resource.Resource
	// DataSources are the constructors of the folder's data sources.
	DataSources []func() datasource.DataSource
	// EphemeralResources are the constructors of what lives as long as a run.
	EphemeralResources []func() ephemeral.EphemeralResource
	// ListResources are the constructors of what finds managed resources.
	ListResources []func() list.ListResource
	// Actions are the constructors of what is done to something without changing
	// its configuration.
	Actions []func() action.Action
	// Functions are the constructors of pure functions.
	Functions []func() function.Function
}
