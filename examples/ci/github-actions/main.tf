# The GPU servers that the pipeline manages.

terraform {
  required_version = ">= 1.11" # of Terraform and OpenTofu, for ephemeral resources

  required_providers {
    gpurent = {
      source  = "gpurent/gpurent"
      version = ">= 0.1"
    }
  }
}

# A commit, because a tag or a branch can be moved after the review.
module "pool" {
  source = "git::https://github.com/gpurent/terraform-provider-gpurent.git//examples/modules/gpu-pool?ref=136469cfec6944517223ca4d090a2ea79106a2a7"

  name            = "research"
  size            = 1
  offer_query     = { gpu = ["rtx_4090"], num_gpus = [1] }
  max_price_kop_h = 9000  # 90 rubles per hour for each server
  max_total_kop_h = 20000 # 200 rubles per hour for all servers
}

output "servers" {
  description = "The servers by name."
  value       = module.pool.servers
}
