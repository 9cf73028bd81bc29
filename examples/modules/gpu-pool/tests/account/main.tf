# What the service itself says of the account, whatever the state says, beside
# what the runs of a test have left.

terraform {
  required_version = ">= 1.9" # same as the pool

  required_providers {
    gpurent = {
      source  = "gpurent/gpurent"
      version = ">= 0.1"
    }
  }
}

variable "before" {
  description = "Ids of the servers that an earlier run found, by name."
  type        = map(string)
  default     = {}
}

variable "now" {
  description = "The pool's output \"servers\"."
  type        = map(object({ id = string }))
}

data "gpurent_instances" "pool" {
  name_prefix = "test-"
}

data "gpurent_offers" "cheapest" {
  gpu         = ["rtx_4090"]
  num_gpus    = [1]
  min_disk_gb = 1000
}

output "ids" {
  description = "Ids of the servers that are rented, by name."
  value       = { for server in data.gpurent_instances.pool.instances : server.name => server.id }
}

output "agrees" {
  description = "Whether the service has the servers that the pool says, and no others."
  value       = { for server in data.gpurent_instances.pool.instances : server.name => server.id } == { for name, server in var.now : "test-${name}" => server.id }
}

output "cheapest_kop_h" {
  description = "Lowest price of a server with one RTX 4090 and room for 1000 GB, kopecks per hour, before extra disk."
  value       = data.gpurent_offers.cheapest.offers[0].price.on_demand_kop_h
}
