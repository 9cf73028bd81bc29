# What the service itself says of the account, whatever the state says, beside
# what the runs of a test have left.

terraform {
  required_providers {
    gpurent = {
      source = "gpurent/gpurent"
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

output "ids" {
  description = "Ids of the servers that are rented, by name."
  value       = { for server in data.gpurent_instances.pool.instances : server.name => server.id }
}

output "agrees" {
  description = "Whether the service has the servers that the pool says, and no others."
  value       = { for server in data.gpurent_instances.pool.instances : server.name => server.id } == { for name, server in var.now : "test-${name}" => server.id }
}
