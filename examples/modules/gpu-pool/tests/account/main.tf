# Reads the servers of the account from the API, to compare them with the outputs of the
# runs of a test.

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
  description = "Ids of the servers in an earlier run, by name."
  type        = map(string)
  default     = {}
}

variable "now" {
  description = "Output \"servers\" of the pool."
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
  description = "Ids of the servers in the API, by name."
  value       = { for server in data.gpurent_instances.pool.instances : server.name => server.id }
}

output "agrees" {
  description = "Whether the API returns exactly the servers in the output of the pool."
  value       = { for server in data.gpurent_instances.pool.instances : server.name => server.id } == { for name, server in var.now : "test-${name}" => server.id }
}

output "cheapest_kop_h" {
  description = "Lowest price of a server with one RTX 4090 and space for 1000 GB, in kopecks per hour, without extra disk."
  value       = data.gpurent_offers.cheapest.offers[0].price.on_demand_kop_h
}
