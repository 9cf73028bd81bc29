# What the pipeline applies: your own root configuration stands here.

terraform {
  required_version = ">= 1.6" # same as the module

  required_providers {
    gpurent = {
      source  = "gpurent/gpurent"
      version = ">= 0.1"
    }
  }
}

# Address and key come from GPURENT_BASE_URL and GPURENT_API_KEY. So the same
# configuration talks to the simulator in tests and to the service afterwards.
provider "gpurent" {
  poll_interval = var.poll_interval
}

variable "poll_interval" {
  description = "First pause between two looks at a server that is starting or stopping."
  type        = string
  default     = "5s"
}

variable "type" {
  description = "\"on_demand\" or \"interruptible\"."
  type        = string
  default     = "on_demand"
}

module "trainer" {
  source = "./module"

  name = "trainer"
  type = var.type
}

output "id" {
  description = "Id of the server."
  value       = module.trainer.id
}

output "ssh" {
  description = "Command that logs in."
  value       = module.trainer.ssh
}
