# The root configuration that the pipelines apply. Replace it with your own.

terraform {
  required_version = ">= 1.11"

  required_providers {
    gpurent = {
      source  = "gpurent/gpurent"
      version = ">= 0.1"
    }
  }
}

# The address and the API key come from GPURENT_BASE_URL and GPURENT_API_KEY, so the
# same configuration works with the simulator in tests and with the service later.
provider "gpurent" {
  poll_interval = var.poll_interval
}

variable "poll_interval" {
  description = "Initial interval between two polls of a server that is starting or stopping."
  type        = string
  default     = "5s"
}

variable "type" {
  description = "on_demand, or interruptible, which is cheaper but can be outbid."
  type        = string
  default     = "on_demand"
}

variable "public_key" {
  description = "Your public SSH key. The default is an example without a private key."
  type        = string
  default     = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPda/jbbPNZ5RTRp1pUygscksPU2bS3oBzgjOijSa2L2 you@example"
}

resource "gpurent_ssh_key" "me" {
  name       = "trainer"
  public_key = var.public_key
}

module "trainer" {
  source = "./module"

  name        = "trainer"
  type        = var.type
  ssh_key_ids = [gpurent_ssh_key.me.id]
}

output "id" {
  description = "Id of the server."
  value       = module.trainer.id
}

output "ssh" {
  description = "SSH command that logs in. Null while the server is stopped."
  value       = module.trainer.ssh
}
