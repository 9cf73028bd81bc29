package provider

import (
	"github.com/gpurent/terraform-provider-gpurent/internal/service/apikey"
	"github.com/gpurent/terraform-provider-gpurent/internal/service/gpu"
	"github.com/gpurent/terraform-provider-gpurent/internal/service/instance"
	"github.com/gpurent/terraform-provider-gpurent/internal/service/money"
	"github.com/gpurent/terraform-provider-gpurent/internal/service/offer"
	"github.com/gpurent/terraform-provider-gpurent/internal/service/sshkey"
	"github.com/gpurent/terraform-provider-gpurent/internal/service/template"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// services is the list: one line for each service folder.
func services() []tfkit.ServicePackage {
	return []tfkit.ServicePackage{
		apikey.Service(),
		gpu.Service(),
		instance.Service(),
		money.Service(),
		offer.Service(),
		sshkey.Service(),
		template.Service(),
	}
}
