# What the pipeline applies: GPU servers for research.

terraform {
  required_version = ">= 1.11" # of Terraform and of OpenTofu: keys for one run

  required_providers {
    gpurent = {
      source  = "gpurent/gpurent"
      version = ">= 0.1"
    }
  }
}

# A commit, because a tag or branch can be moved after the review.
module "pool" {
  source = "git::https://github.com/gpurent/terraform-provider-gpurent.git//examples/modules/gpu-pool?ref=136469cfec6944517223ca4d090a2ea79106a2a7"

  name            = "research"
  size            = 1
  offer_query     = { gpu = ["rtx_4090"], num_gpus = [1] }
  max_price_kop_h = 9000  # 90 rubles an hour for each server
  max_total_kop_h = 20000 # 200 rubles an hour for all of them
}

output "servers" {
  description = "The servers by name."
  value       = module.pool.servers
}
